// SPDX-License-Identifier: BSD-3-Clause
// Runs one rank's schedule where ranks are on several nodes, exactly as the verifier has it. The
// engine's progress polls it; nothing here waits. It walks the list of steps:
//
//   copy, reduce   given to the device, in one stream in the order of the list
//   signal         noted; stored once the device work before it is done
//   wait           the walk goes on when the peer's signal is there
//   send           noted; leaves once the device work before it is done (messages.hpp)
//   receive        the walk goes on when the message is there
//
// A step that overwrites what is being sent is not walked past until that has left its place.
// Device work is numbered; an event behind it tells up to which number it is done.
//
// The program's buffers may be of any kind of memory: a reduction's source that lies elsewhere is
// copied to this rank's device first.
//
// Errors. A rank that fails goes on through its list and moves nothing more: its signals and
// messages say that it has failed, and who takes one has failed as well. So every rank that needed
// what is missing returns an error, and nobody waits for ever.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "coll/between/messages.hpp"
#include "coll/exchange/launch.hpp"
#include "coll/reduction.hpp"
#include "coll/schedule/schedule.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::between {

struct call {
  const char* name;
  schedule plan;
  std::uint64_t unit;  // bytes of an element
  reduction by;
  memory_ref input, output;
};

class runner final : public ticket::worker {
 public:
  runner(room& r, call&& c);
  ~runner() override;
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;

  bool done() const noexcept { return done_; }
  /// When it is done.
  status outcome() const noexcept { return messages_->outcome(); }

  // --- for the engine ---
  bool advance() noexcept override;
  bool detach() noexcept override { return done_; }
  void report(log::level at) const noexcept override;

 private:
  void describe(char* text, std::size_t size) const noexcept;
  struct mark {
    std::uint64_t work;
    memory::pooled_event event;
  };
  struct signal {
    std::uint64_t after;
    int peer;
  };
  struct image {
    std::uint64_t work;
    memory::buffer data;
  };

  status prepare() noexcept;
  status walk();
  status take_step(const step& s);
  status move(const step& s);
  status copy(memory_ref to, memory_ref from, std::uint64_t bytes) noexcept;
  status reduce(memory_ref to, const step& s, std::uint64_t bytes);
  result<std::byte*> image_of(std::uint64_t bytes);
  void put_mark();
  bool look_at_marks() noexcept;
  bool send_signals() noexcept;
  bool all_done() const noexcept;
  void look_at_clock(bool moved) noexcept;
  bool failing() const noexcept { return failed(messages_->outcome()); }
  void keep(status s) noexcept {
    if (failed(s)) messages_->fail(s);
  }
  memory_ref at(const span& s) const noexcept;

  room& room_;
  call call_;
  exchange::lane lane_;
  exchange::run launched_;
  std::optional<messages> messages_;
  std::size_t next_ = 0;        // step
  std::uint64_t work_ = 0;      // device work given
  std::uint64_t finished_ = 0;  // all up to here is done
  std::deque<mark> marks_;
  std::deque<signal> signals_;
  std::deque<image> images_;
  int awaited_ = -1;
  bool begun_ = false;  // something has come from another rank
  bool done_ = false;
  path::stall_clock still_;
};

/// Runs it and returns when it is done; the engine's progress goes on meanwhile.
status run_blocking(room& r, call&& c) noexcept;

}  // namespace telpher::coll::between
