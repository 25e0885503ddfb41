// SPDX-License-Identifier: BSD-3-Clause
#include "rma/attached_images.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "ticket/blocking_call.hpp"

namespace telpher::rma {
namespace {

constexpr int word_bytes = sizeof(std::uint64_t);

}  // namespace

// --- the directory ---

int attached_images::open(MPI_Comm comm) noexcept {
  const ticket::blocking_call guard;
  pmpi::Comm_rank(comm, &rank_);
  pmpi::Comm_size(comm, &ranks_);
  const std::size_t bytes = static_cast<std::size_t>(ranks_) * word_bytes + sizeof(ranges);
  directory_.reset(new (std::nothrow) std::byte[bytes]());
  if (!directory_) return MPI_ERR_NO_MEM;
  if (const int rc = pmpi::Win_create(directory_.get(), static_cast<MPI_Aint>(bytes), word_bytes,
                                      MPI_INFO_NULL, comm, &window_))
    return rc;
  pmpi::Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  return pmpi::Win_lock_all(MPI_MODE_NOCHECK, window_);
}

std::uint64_t attached_images::changes_of(int rank) noexcept {
  pmpi::Win_sync(window_);
  return std::atomic_ref(changes()[rank]).load(std::memory_order_acquire);
}

status attached_images::publish(std::size_t place, const range& r) noexcept {
  const ticket::blocking_call guard;
  own_ranges()[place] = r;
  pmpi::Win_sync(window_);
  ++changes_;
  for (int to = 0; to < ranks_; ++to)
    if (pmpi::Accumulate(&changes_, 1, MPI_UINT64_T, to, rank_, 1, MPI_UINT64_T, MPI_REPLACE,
                         window_) != MPI_SUCCESS)
      return status::host_mpi_error;
  return pmpi::Win_flush_all(window_) == MPI_SUCCESS ? status::ok : status::host_mpi_error;
}

const attached_images::ranges* attached_images::ranges_of(int target,
                                                          std::uint64_t changes) noexcept {
  known* k = nullptr;
  try {
    k = &known_[target];
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  if (k->changes == changes) return &k->of;
  const ticket::blocking_call guard;
  constexpr int n = sizeof(ranges) / word_bytes;
  int rc = pmpi::Get(&k->of, n, MPI_UINT64_T, target, ranks_, n, MPI_UINT64_T, window_);
  if (rc == MPI_SUCCESS) rc = pmpi::Win_flush(target, window_);
  if (rc != MPI_SUCCESS) return nullptr;
  k->changes = changes;
  return &k->of;
}

result<MPI_Aint> attached_images::find(int target, MPI_Aint address, MPI_Aint low,
                                       MPI_Aint high) noexcept {
  const std::uint64_t changes = changes_of(target);
  if (changes == 0) return MPI_Aint{0};
  const std::lock_guard lock(known_guard_);
  const ranges* const all = ranges_of(target, changes);
  if (!all) return status::host_mpi_error;
  for (const range& r : *all) {
    const auto begin = static_cast<MPI_Aint>(r.device),
               end = begin + static_cast<MPI_Aint>(r.bytes);
    if (address < begin || address >= end) continue;
    if (low < begin || high > end) return status::invalid_argument;
    return static_cast<MPI_Aint>(r.image) - begin;
  }
  return MPI_Aint{0};
}

// --- this rank's memory ---

status attached_images::attach(MPI_Win window, const memory::place& where, std::byte* device,
                               std::size_t bytes, int& raised) noexcept {
  const std::lock_guard lock(own_guard_);
  range* const all = own_ranges();
  range* const free = std::find_if(all, all + most, [](const range& r) { return r.bytes == 0; });
  if (free == all + most) return status::not_supported;
  std::list<mirrored> made;
  try {
    made.emplace_back();
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  mirrored& m = made.front();
  m.place = static_cast<std::size_t>(free - all);
  const auto size = static_cast<MPI_Aint>(bytes);
  if (pmpi::Alloc_mem(size, MPI_INFO_NULL, &m.public_copy) != MPI_SUCCESS)
    return status::out_of_memory;
  TELPHER_TRY(m.mirror.start(where, device, bytes));
  m.mirror.lie_over(static_cast<std::byte*>(m.public_copy));
  raised = pmpi::Win_attach(window, m.public_copy, size);
  if (raised != MPI_SUCCESS) return status::ok;
  images_.splice(images_.end(), made);
  return publish(m.place, {reinterpret_cast<std::uintptr_t>(device), bytes,
                           reinterpret_cast<std::uintptr_t>(m.public_copy)});
}

// The standard has the program complete all operations on the memory before.
status attached_images::detach(MPI_Win window, const void* device, int& raised) noexcept {
  const std::lock_guard lock(own_guard_);
  const auto of = std::find_if(images_.begin(), images_.end(), [&](const mirrored& m) {
    return own_ranges()[m.place].device == reinterpret_cast<std::uintptr_t>(device);
  });
  if (of == images_.end()) return status::not_supported;
  bool found = false;
  const status merged = of->mirror.merge_written(found);
  const status told = publish(of->place, {});
  raised = pmpi::Win_detach(window, of->public_copy);
  images_.erase(of);
  return failed(merged) ? merged : told;
}

status attached_images::merge() noexcept {
  const std::lock_guard lock(own_guard_);
  for (mirrored& m : images_) TELPHER_TRY(m.mirror.merge());
  return status::ok;
}

status attached_images::merge_written(bool& found) noexcept {
  const std::lock_guard lock(own_guard_);
  for (mirrored& m : images_) TELPHER_TRY(m.mirror.merge_written(found));
  return status::ok;
}

status attached_images::close() noexcept {
  bool found = false;
  const status s = merge_written(found);
  const ticket::blocking_call guard;
  images_.clear();
  pmpi::Win_unlock_all(window_);
  pmpi::Win_free(&window_);
  return s;
}

}  // namespace telpher::rma
