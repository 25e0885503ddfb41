// SPDX-License-Identifier: BSD-3-Clause
// One call from the words of agreement to the end of its kernel, step by step: who waits for it
// polls advance(), which never waits. Whatever is decided here is decided from what all ranks know,
// so that all decide the same; what a rank alone knows (it cannot map a buffer) is put to the vote.
#pragma once

#include <array>
#include <optional>

#include "coll/exchange/arguments.hpp"
#include "coll/exchange/launch.hpp"
#include "coll/exchange/program.hpp"
#include "coll/exchange/selection.hpp"
#include "coll/exchange/stepped.hpp"
#include "memory/imported.hpp"

namespace telpher::coll::exchange {

class communicator;

enum class form : std::uint8_t { blocking, deferred };  // as in agreement.hpp

class attempt {
 public:
  enum class outcome : std::uint8_t { pending, done, staged };

  /// The agreement of `c` must have begun the call, or do so before the first advance.
  attempt(const char* call, communicator& c, arguments& a, form f) noexcept;
  attempt(const attempt&) = delete;
  attempt& operator=(const attempt&) = delete;

  /// Does what can be done now. staged: all ranks have agreed to stage, or this one did.
  outcome advance() noexcept;
  /// Once done.
  status result() const noexcept { return result_; }

  /// Of a deferred call: takes it back, unless it is decided that all ranks try.
  bool withdraw() noexcept;
  /// It runs among the devices for sure.
  bool committed() const noexcept { return committed_; }

  /// What it waits for, as the end of a sentence.
  void describe(char* text, std::size_t size) const noexcept;

 private:
  // What a step came to: on with the next one, or later again.
  enum class then : std::uint8_t { next, later, staged, done };
  using stage = then (attempt::*)() noexcept;

  then say() noexcept;
  then hear() noexcept;
  then hear_made() noexcept;
  then hear_opened() noexcept;
  then choose_path() noexcept;
  then take_path() noexcept;
  then hear_chosen() noexcept;
  then follow_choice() noexcept;
  then hear_mapped() noexcept;
  then commit() noexcept;
  then watch_kernel() noexcept;
  then watch_steps() noexcept;
  then open_library() noexcept;
  then hear_library() noexcept;
  then watch_joining() noexcept;
  then hear_joined() noexcept;
  then go_without_library() noexcept;
  then watch_library() noexcept;
  then go(stage next, const char* awaited) noexcept;
  then leave() noexcept;
  then end(status s) noexcept;

  bool eligible() noexcept;
  bool same_call() const noexcept;
  bool offer_number() noexcept;
  bool take_number() noexcept;
  bool find_workspaces() noexcept;
  void use_workspace(int rank, std::byte* base) noexcept;
  then make_workspace() noexcept;
  bool open_workspaces() noexcept;
  bool open_workspace(int rank);
  then spoil_workspaces() noexcept;
  bool all_exportable() const noexcept;
  bool map_buffers(bool& fresh) noexcept;
  bool map_one(int rank, const path::exported_memory& m, bool& fresh);
  bool mappings_gone() noexcept;
  void forget_mappings() noexcept;
  void drop_old() noexcept;
  std::uint64_t address_of(int rank, const path::exported_memory& m) const noexcept;
  void place_spaces() noexcept;
  status launch_kernel() noexcept;
  bool may_use_library() noexcept;
  status start_library() noexcept;
  bool somebody_failed() noexcept;
  void explain() const noexcept;

  const char* call_;
  communicator& c_;
  arguments& a_;
  form form_;
  stage stage_ = &attempt::say;
  const char* awaited_ = "its last words are read";
  bool offered_ = false;
  bool heard_ = false;
  bool committed_ = false;
  memory::allocations::pause keeps_mappings_;
  status result_ = status::ok;

  problem what_;
  facts known_;
  choice chosen_;
  lane lane_;
  std::uint64_t number_ = 0;  // of the call: call_number
  space_map map_{};
  std::array<std::uint64_t*, most_ranks> kernel_flags_{};
  std::optional<compilation> compiled_;
  run run_;
  bool given_up_ = false;
  stepped::terms terms_{};
  std::optional<stepped> steps_;
  std::uint32_t polls_ = 0;
};

}  // namespace telpher::coll::exchange
