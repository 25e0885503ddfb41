// SPDX-License-Identifier: BSD-3-Clause
#include "path/batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "base/log.hpp"
#include "kernel/copy_batch.hpp"
#include "path/path.hpp"

namespace telpher::path {
namespace {

constexpr std::size_t slot_count = 32;
constexpr int threads = 512;
constexpr memory::stream_role roles[] = {memory::stream_role::batch_a, memory::stream_role::batch_b,
                                         memory::stream_role::batch_c,
                                         memory::stream_role::batch_d};
// A block moves about this much before another block pays off (results/: 8 to 16 blocks fill an
// NVLink).
constexpr std::uint64_t block_bytes = 16 * 1024;
constexpr std::size_t capacity = kernel::copy_batch::capacity;

}  // namespace

status batched_copier::prepare() noexcept {
  if (!slots_.empty()) return status::ok;
  constexpr std::size_t bytes = slot_count * capacity * sizeof(std::uint32_t);
  TELPHER_TRY(memory::buffer::for_kernels(bytes, where_.owner).into(flags_));
  TELPHER_TRY(memory::buffer::device(where_, bytes).into(counters_));
  auto s = memory::stream(where_, memory::stream_role::kernel);
  TELPHER_TRY(s);
  TELPHER_TRY(where_.owner->fill(counters_.data(), 0, bytes, *s));
  TELPHER_TRY(where_.owner->synchronise(*s));  // launches go to several streams
  device::device_properties properties;
  TELPHER_TRY(where_.owner->properties(where_.device, properties));
  processors_ = std::max(1, properties.processors);
  std::memset(flags_.data(), 0, bytes);
  for (std::size_t i = 0; i < slot_count; ++i)
    slots_.push_back({static_cast<std::uint32_t*>(flags_.data()) + i * capacity,
                      static_cast<std::uint32_t*>(counters_.data()) + i * capacity});
  return status::ok;
}

result<std::size_t> batched_copier::free_slot() noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].outstanding == 0 && !slots_[i].lost) return i;
  return status::would_block;
}

result<batched_copier::ticket> batched_copier::launch(const kernel::copy_batch::piece* pieces,
                                                      std::size_t count) noexcept {
  TELPHER_TRY(prepare());
  auto index = free_slot();
  TELPHER_TRY(index);
  slot& free = slots_[*index];
  kernel::copy_batch k;
  std::copy_n(pieces, count, k.pieces);
  k.count = static_cast<std::uint16_t>(count);
  k.done = free.done;
  k.arrivals = free.arrivals;
  k.done_value = ++free.round;
  const int blocks = kernel::deal_blocks(k, 2 * processors_, block_bytes);
  // Streams in turn: between two kernels of the same stream a link is idle for 6 us.
  auto s = memory::stream(where_, roles[turn_++ % std::size(roles)]);
  TELPHER_TRY(s);
  TELPHER_TRY(where_.owner->launch(kernel::id::copy_batch, &k, blocks, threads, *s));
  free.pieces = free.outstanding = count;
  free.stream = *s;
  free.watch.begin();
  ++in_flight_;
  for (std::size_t i = 0; i < count; ++i) bytes_in_flight_ += pieces[i].bytes;
  return ticket{static_cast<std::uint16_t>(*index), 0};
}

// The acquire load pairs with the kernel's release store (system scope) after the piece's bytes.
bool batched_copier::arrived(const slot& s, std::uint16_t piece) const noexcept {
  return std::atomic_ref(s.done[piece]).load(std::memory_order_acquire) == s.round;
}

// Whether the kernel has ended without setting all its flags, so that they will never be set.
bool batched_copier::is_lost(slot& s) noexcept {
  if (s.lost || s.watch.poll(where_, s.stream) == status::would_block) return s.lost;
  for (std::size_t i = 0; i < s.pieces; ++i) s.lost |= !arrived(s, static_cast<std::uint16_t>(i));
  if (s.lost)
    TELPHER_ERROR("a kernel that copies messages ended without saying so: a device fault");
  return s.lost;
}

status batched_copier::poll(const ticket& t, std::size_t bytes) noexcept {
  slot& s = slots_[t.batch];
  if (!arrived(s, t.piece) && !is_lost(s)) return status::would_block;
  bytes_in_flight_ -= bytes;
  if (--s.outstanding == 0) --in_flight_;
  return arrived(s, t.piece) ? status::ok : status::device_error;
}

}  // namespace telpher::path
