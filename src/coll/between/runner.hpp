// SPDX-License-Identifier: BSD-3-Clause
// Runs one rank's schedule where ranks are on several nodes (running.hpp), exactly as the verifier
// has it. It walks the list of steps:
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
// The signals of a rank that has failed say so, as its messages do. Making a runner takes no
// memory.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "coll/between/images.hpp"
#include "coll/between/running.hpp"
#include "coll/exchange/launch.hpp"
#include "coll/schedule/schedule.hpp"

namespace telpher::coll::between {

class runner final : public running {
 public:
  /// `mine`: what this rank has failed with before it began, if it has.
  runner(room& r, call&& c, status mine = status::ok) noexcept
      : runner(r, std::move(c), mine, context_for(r, c)) {}
  ~runner() override { retire(); }

  /// The largest exponent of a bound of what compression has changed here.
  std::optional<int> error_exponent() const noexcept { return error_; }

 private:
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

  runner(room& r, call&& c, status mine, exchange::launch_context&& context) noexcept;
  /// Empty in host memory, and where it could not be had.
  static exchange::launch_context context_for(const room& r, const call& c) noexcept;
  static std::optional<device::stream> stream_of(const call& c,
                                                 const exchange::launch_context& of) noexcept;

  bool move() override;
  bool at_end() const noexcept override;
  void abandon() noexcept override {
    if (images_) images_->abandon();
  }
  void describe(char* text, std::size_t size) const noexcept override;

  void expect();
  status move_images(bool& done, status (images::*act)() noexcept) noexcept;
  status walk();
  status take_step(const step& s);
  status move_data(const step& s);
  void move_on_host(const step& s, std::byte* to, std::uint64_t bytes);
  void send(const step& s);
  status receive(const step& s);
  std::shared_ptr<coded_form> code(const span& from, const codec::plan& p);
  void make_landing(const span& to, const codec::plan& p);
  void overwrite(const std::byte* at) { coded_.erase(at); }
  void put_mark();
  bool look_at_marks() noexcept;
  bool send_signals() noexcept;
  std::byte* at(const span& s) const noexcept;

  const std::vector<step>& steps() const noexcept { return call_.plan->own.steps; }

  std::optional<images> images_;  // where it runs in host memory
  exchange::launch_context context_;
  exchange::run launched_;
  std::vector<const std::byte*> sources_;  // of the reduction at hand
  std::uint64_t work_ = 0;                 // device work given
  std::uint64_t finished_ = 0;             // all up to here is done
  std::list<mark> marks_;
  std::list<signal> signals_;
  std::list<used> used_;
  std::map<const std::byte*, std::shared_ptr<coded_form>> coded_;  // by what it stands for
  used* landing_ = nullptr;                                        // of the message that is awaited
  std::optional<int> error_;
  int awaited_ = -1;
  bool loaded_ = false, stored_ = false;  // of the images
};

}  // namespace telpher::coll::between
