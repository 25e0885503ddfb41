// SPDX-License-Identifier: BSD-3-Clause
// Runs one rank's schedule where ranks are on several nodes, exactly as the verifier has it. The
// progress engine polls it; nothing here waits. It walks the list of steps:
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
// On the devices all buffers are memory of the room's device. Where a message is compressed
// (coding.hpp), work in the same stream does it. The compressed form is kept as long as the values
// for which it stands, and passed on as it is.
//
// In host memory (images.hpp) the walk begins when the inputs are there. The CPU does each copy and
// reduction when the walk comes to it, and results go to the device behind the last step. No step
// costs a device anything. Small calls run so, and calls in which some rank has host memory.
//
// Where this rank's buffers have gaps (packing.hpp), the walk begins when they are packed, and
// unpacking follows the last step.
//
// Errors. A rank that fails goes on through its list and moves nothing more: its signals and
// messages say that it has failed, and who takes one has failed as well. So every rank that needed
// what is missing returns an error, and nobody waits for ever. A rank without memory for its
// bookkeeping has failed, too: making a runner takes none, and what could not be noted is tried
// again.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "coll/between/coding.hpp"
#include "coll/between/images.hpp"
#include "coll/between/messages.hpp"
#include "coll/between/packing.hpp"
#include "coll/exchange/launch.hpp"
#include "coll/reduction.hpp"
#include "coll/schedule/schedule.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::between {

struct call {
  const char* name;
  std::shared_ptr<const between::plan> plan;
  std::uint64_t unit;  // bytes of an element
  reduction by;
  program_buffer input, output;
  coding how;                         // of messages
  std::uint64_t bytes;                // of the longest vector
  bool on_host;                       // runs in host memory
  copies packed{};                    // of buffers with gaps, in place of which they are
  exchange::launch_context kernel{};  // where it is one kernel (kernel_runner.hpp)
};

/// Packs or unpacks the copies of a call, once: would_block while it is under way. What fails is
/// noted with its messages; a rank that has failed moves nothing.
status move_copies(const call& c, messages& of, bool& begun,
                   status (exchange::packed_copies::*begin)() noexcept) noexcept;

class runner final : public ticket::worker {
 public:
  /// `mine`: what this rank has failed with before it began, if it has.
  runner(room& r, call&& c, status mine = status::ok) noexcept;
  ~runner() override { retire(); }
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;

  bool done() const noexcept { return done_; }
  /// When it is done.
  status outcome() const noexcept { return messages_->outcome(); }
  std::uint64_t bytes() const noexcept { return call_.bytes; }
  /// The largest exponent of a bound of what compression has changed here.
  std::optional<int> error_exponent() const noexcept { return error_; }

  // --- for the progress engine ---
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
  /// In use until the device work of this number is done.
  struct used {
    std::uint64_t work;
    std::shared_ptr<coded_form> form;
    bool made_here;
  };
  static constexpr std::uint64_t not_given = ~std::uint64_t{0};  // device work

  void start_on_device() noexcept;
  void expect();
  status move_images(bool& done, status (images::*act)() noexcept) noexcept;
  status walk();
  status take_step(const step& s);
  status move(const step& s);
  void move_on_host(const step& s, std::byte* to, std::uint64_t bytes);
  void send(const step& s);
  status receive(const step& s);
  std::shared_ptr<coded_form> code(const span& from, const codec::plan& p);
  void make_landing(const span& to, const codec::plan& p);
  void overwrite(const std::byte* at) { coded_.erase(at); }
  void put_mark();
  bool look_at_marks() noexcept;
  bool send_signals() noexcept;
  bool all_done() const noexcept;
  void look_at_clock(bool moved) noexcept;
  bool failing() const noexcept { return failed(messages_->outcome()); }
  void keep(status s) noexcept {
    if (failed(s)) messages_->fail(s);
  }
  std::byte* at(const span& s) const noexcept;

  const std::vector<step>& steps() const noexcept { return call_.plan->own.steps; }

  room& room_;
  call call_;
  std::optional<images> images_;  // where it runs in host memory
  exchange::launch_context context_;
  exchange::run launched_;
  std::optional<messages> messages_;
  std::vector<const std::byte*> sources_;  // of the reduction at hand
  std::size_t expected_ = 0;               // steps up to here, if they are messages
  std::size_t next_ = 0;                   // step
  std::uint64_t work_ = 0;                 // device work given
  std::uint64_t finished_ = 0;             // all up to here is done
  std::list<mark> marks_;
  std::list<signal> signals_;
  std::list<used> used_;
  std::map<const std::byte*, std::shared_ptr<coded_form>> coded_;  // by what it stands for
  used* landing_ = nullptr;                                        // of the message that is awaited
  std::optional<int> error_;
  int awaited_ = -1;
  bool loaded_ = false, stored_ = false;    // of the images
  bool packed_ = false, unpacked_ = false;  // what has begun
  bool walked_ = false;                     // to the end
  bool begun_ = false;                      // something has come from another rank
  bool done_ = false;
  stall_clock still_;
};

}  // namespace telpher::coll::between
