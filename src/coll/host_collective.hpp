// SPDX-License-Identifier: BSD-3-Clause
// One collective call whose buffers may be device memory. The wrapper names each buffer and its
// region and gets the address to pass to the host MPI: the buffer itself if it is host memory (no
// region is evaluated then, and nothing is allocated), else that of a host image, or also the
// buffer itself, if the host MPI takes device memory (handover.hpp). Inputs are named before
// outputs: MPI_IN_PLACE among them makes the outputs inputs too.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/trace.hpp"
#include "coll/handover.hpp"
#include "coll/regions.hpp"
#include "coll/stopwatch.hpp"
#include "memory/memory.hpp"
#include "host_mpi/asserted.hpp"
#include "host_mpi/error.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll {

/// What a collective does with data.
enum class effect { moves, reduces };

class host_collective {
 public:
  /// `time`: of a blocking call, until its outputs are there.
  host_collective(const char* call, MPI_Comm comm, effect does, const stopwatch& time = {}) noexcept
      : traced_(call, [&] { return traced_facts(comm); }),
        call_(call),
        group_(comm),
        effect_(does),
        time_(time) {}
  host_collective(const host_collective&) = delete;
  host_collective& operator=(const host_collective&) = delete;

  template <class Region>
  const void* input(const void* buffer, const Region& region) noexcept {
    in_place_ |= buffer == MPI_IN_PLACE;
    return resolve(const_cast<void*>(buffer), region, {.copy_in = true});
  }
  template <class Region>
  void* output(void* buffer, const Region& region) noexcept {
    return resolve(buffer, region, {.copy_in = in_place_, .copy_out = true});
  }
  template <class Region>
  void* inout(void* buffer, const Region& region) noexcept {
    return resolve(buffer, region, {.copy_in = true, .copy_out = true});
  }

  static constexpr rank_count size() noexcept { return rank_count::question::size; }
  static constexpr rank_count in_degree() noexcept { return rank_count::question::in_degree; }
  static constexpr rank_count out_degree() noexcept { return rank_count::question::out_degree; }
  bool at_root(int root) const noexcept { return group_.is_root(root); }

  /// A blocking call: `f` calls the host MPI and returns its code.
  template <class F>
  int run(F&& f) noexcept {
    const bool images = !plain();
    if (images) [[unlikely]]
      if (const int code = copy_in(); code != MPI_SUCCESS) return code;
    const int code = [&] {
      ticket::blocking_call blocked;
      return f();
    }();
    if (code != MPI_SUCCESS) return code;
    const int copied = images ? copy_out() : MPI_SUCCESS;
    time_.stop();
    if (handover_) [[unlikely]]
      handover_->end();
    return copied;
  }

  /// A non-blocking call that makes `*request`.
  template <class F>
  int start(MPI_Request* request, F&& f) noexcept {
    if (plain()) [[likely]]
      return f();
    if (const int code = copy_in(); code != MPI_SUCCESS) return code;
    const int code = f();
    return code == MPI_SUCCESS ? finish_later(request) : code;
  }

  /// A call that makes a persistent `*request`; inputs are copied when it is started.
  template <class F>
  int init(MPI_Request* request, F&& f) noexcept {
    if (plain()) [[likely]]
      return f();
    if (failed(failure_)) return fail(failure_);
    const int code = f();
    if (code == MPI_SUCCESS) staging::attach(call_, group_.comm(), request, std::move(work_), true);
    return code;
  }

 private:
  struct directions {
    bool copy_in = false;
    bool copy_out = false;
  };

  bool plain() const noexcept { return !work_ && !failed(failure_); }

  template <class Region>
  void* resolve(void* buffer, const Region& region, directions d) noexcept {
    if (buffer == MPI_IN_PLACE) return buffer;
    // MPI_BOTTOM: the addresses are in the types.
    const bool taken = work_ && work_->stands_at(buffer);
    if (buffer != MPI_BOTTOM && !taken && !on_device(buffer)) [[likely]]
      return buffer;
    return stage(buffer, d, [&](plan& p) { region.evaluate(group_, p); });
  }

  bool on_device(const void* buffer) const noexcept {
    return !host_mpi::asserts_host(group_.comm()) && memory::classify(buffer).on_device();
  }

  template <class Evaluate>
  [[gnu::noinline]] void* stage(void* buffer, directions d, Evaluate evaluate) noexcept {
    if (failed(failure_)) return buffer;
    try {
      plan p{.segments = {}, .copy_in = d.copy_in, .copy_out = d.copy_out};
      evaluate(p);
      if (p.segments.empty() || hands_over(buffer, p)) return buffer;
      return image_of(buffer, p);
    } catch (const std::bad_alloc&) {
      failure_ = status::out_of_memory;
      return buffer;
    }
  }

  bool hands_over(const void* buffer, const plan& p) noexcept;
  void* image_of(void* buffer, const plan& p);
  int copy_in() noexcept;
  int copy_out() noexcept;
  int finish_later(MPI_Request* request) noexcept;
  int fail(status s) const noexcept;

  static trace::facts traced_facts(MPI_Comm comm) noexcept;

  trace::span traced_;
  const char* call_;
  group group_;
  effect effect_;
  bool in_place_ = false;
  status failure_ = status::ok;
  stopwatch time_;
  std::optional<handover> handover_;  // from the first buffer on that is device memory
  std::unique_ptr<staging::host_images> work_;
};

}  // namespace telpher::coll
