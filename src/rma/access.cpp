// SPDX-License-Identifier: BSD-3-Clause
// Which way an operation goes, and operations that the host MPI carries out on images of device
// buffers. An image lives until the host MPI has completed the operation. A synchronisation call or
// the request tells that (sync.cpp). Then results are written to the device.
#include <new>

#include "host_mpi/error.hpp"
#include "rma/carry_out.hpp"
#include "rma/direct.hpp"

namespace telpher::rma {
namespace {

bool on_device(const buffer& b) noexcept {
  if (b.count <= 0 || (b.address != MPI_BOTTOM && memory::surely_host(b.address))) return false;
  const auto found = datatype::layout_of(b.type);
  if (!found || (*found)->blocks.empty()) return false;  // the host MPI says what is wrong with it
  const datatype::layout& l = **found;
  return memory::classify(static_cast<const std::byte*>(b.address) + l.blocks.front().offset)
             .on_device() ||
         (b.address == MPI_BOTTOM && datatype::mixes_places(l, b.address));
}

// The host memory that stands for the buffer; filled if the operation reads the buffer.
status stand_in(staging::host_images& images, const buffer& b, bool reads, void*& out) {
  out = const_cast<void*>(b.address);
  if (!on_device(b)) return status::ok;
  staging::plan p{.segments = {{0, b.count, b.type}}, .copy_in = reads, .copy_out = !reads};
  const auto made = images.add(out, p);
  TELPHER_TRY(made);
  out = *made;
  return status::ok;
}

class request_work final : public staging::pending {
 public:
  request_work(MPI_Win win, std::shared_ptr<staged_operation> op) noexcept
      : win_(win), op_(std::move(op)) {}
  // Without a request it is the window's, which tells of errors where it is synchronised.
  status after_completion() noexcept override { return given_up_ ? status::ok : op_->finish(); }
  void given_up() noexcept override { given_up_ = true; }
  host_mpi::error_owner owner(const host_mpi::kept_comm& of_call) const noexcept override {
    // It may have been freed.
    return find(win_) ? host_mpi::error_owner::window(win_) : of_call.owner();
  }

 private:
  const MPI_Win win_;
  const std::shared_ptr<staged_operation> op_;
  bool given_up_ = false;
};

int fail(const access& a, status s) noexcept {
  return host_mpi::fail(host_mpi::error_owner::window(a.win), a.call, s,
                        "a device buffer could not be copied to or from the host");
}

int stage(const access& a, MPI_Aint displacement, const host_access& host) {
  auto op = std::make_shared<staged_operation>(a.rank);
  void *origin = nullptr, *result = nullptr, *compare = nullptr;
  status s = stand_in(op->images, a.origin, true, origin);
  if (!failed(s)) s = stand_in(op->images, a.result, false, result);
  const buffer compared{a.compare, a.compare ? 1 : 0, a.type};
  if (!failed(s)) s = stand_in(op->images, compared, true, compare);
  if (!failed(s)) s = op->images.copy_in();
  if (failed(s)) return fail(a, s);
  window& w = record_of(a.win);
  std::list<std::shared_ptr<staged_operation>> entry{op};
  std::unique_ptr<request_work> work;
  if (a.request) work = std::make_unique<request_work>(a.win, op);
  if (const int code = host({origin, result, compare, displacement}); code != MPI_SUCCESS)
    return code;
  if (a.request) {
    int complete = 0;
    if (host_mpi::look_at(*a.request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete)
      return (s = op->finish()) == status::ok ? MPI_SUCCESS : fail(a, s);
    staging::attach(a.call, MPI_COMM_SELF, a.request, std::move(work), false);
  }
  const std::lock_guard lock(w.guard);
  // A program may complete operations by their requests alone, and never synchronise.
  while (!w.pending.empty() && w.pending.front()->finished()) w.pending.pop_front();
  op->number = ++w.issued;
  w.pending.splice(w.pending.end(), entry);
  return MPI_SUCCESS;
}

// What the program takes for the target's memory may be a range on the target's device.
int to_image(const access& a, attached_images& there, MPI_Aint& at) {
  const auto l = datatype::layout_of(a.type);
  if (!l || (*l)->blocks.empty() || a.count <= 0) return MPI_SUCCESS;
  const span s = span_of(**l, a.count);
  const auto shift = there.find(a.rank, at + (*l)->blocks.front().offset, at + s.low, at + s.high);
  if (shift) at += *shift;
  if (shift.error() == status::invalid_argument)
    return host_mpi::fail_with(host_mpi::error_owner::window(a.win), a.call, MPI_ERR_RMA_RANGE,
                               "the target's elements do not lie in one range that it attached");
  return shift ? MPI_SUCCESS
               : host_mpi::fail(host_mpi::error_owner::window(a.win), a.call, shift.error(),
                                "what the target has attached could not be read");
}

}  // namespace

bool access::plain() const noexcept {
  if (rank == MPI_PROC_NULL) return true;
  window* const w = find(win);
  return !(w && (w->attached || is_direct(*this, *w))) && on_host();
}

bool access::on_host() const noexcept {
  const buffer compared{compare, compare ? 1 : 0, type};
  return !on_device(origin) && !on_device(result) && !on_device(compared);
}

int access::run(const host_access& host) const noexcept {
  window* const w = find(win);
  try {
    if (w && is_direct(*this, *w)) return run_direct(*this, *w);
    MPI_Aint at = displacement;
    if (w && w->attached && w->valid(rank))
      if (const int code = to_image(*this, *w->attached, at); code != MPI_SUCCESS) return code;
    if (!on_host()) return stage(*this, at, host);
    return host({origin.address, const_cast<void*>(result.address), compare, at});
  } catch (const std::bad_alloc&) {
    return fail(*this, status::out_of_memory);
  }
}

}  // namespace telpher::rma
