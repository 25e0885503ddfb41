// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/reserve.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/thread_local.hpp"

namespace telpher::host_mpi {
namespace {

// Block sizes are powers of two, including this heading. A freed block is reused for its size only.
// Protected by the guard.
struct alignas(16) heading {
  std::size_t size;
  heading* next;  // of the free ones
};

constexpr std::size_t least_block = 64;
constinit std::mutex guard;
alignas(16) constinit std::byte memory[reserve::bytes]{};
constinit std::size_t dealt = 0;
constinit thread_local TELPHER_NEAR_TLS int left_alone = 0;  // so many objects without_reserve
constinit std::array<heading*, 64> free_blocks{};

heading*& free_of(std::size_t size) noexcept {
  return free_blocks[static_cast<std::size_t>(std::countr_zero(size))];
}

void* take(std::size_t wanted) noexcept {
  if (wanted > reserve::bytes / 2 || left_alone > 0) return nullptr;
  const std::size_t size = std::max(least_block, std::bit_ceil(wanted + sizeof(heading)));
  const std::lock_guard lock(guard);
  heading*& spare = free_of(size);
  heading* block = spare;
  if (block) {
    spare = block->next;
  } else {
    if (size > reserve::bytes - dealt) return nullptr;
    block = new (memory + dealt) heading{size, nullptr};
    dealt += size;
  }
  reserve::in_use.fetch_add(size, std::memory_order_relaxed);
  return block + 1;
}

void give(void* piece) noexcept {
  heading* const block = static_cast<heading*>(piece) - 1;
  const std::lock_guard lock(guard);
  block->next = free_of(block->size);
  free_of(block->size) = block;
  reserve::in_use.fetch_sub(block->size, std::memory_order_relaxed);
}

bool reserve_holds(const void* piece) noexcept {
  return reinterpret_cast<std::uintptr_t>(piece) - reinterpret_cast<std::uintptr_t>(memory) <
         reserve::bytes;
}

}  // namespace

without_reserve::without_reserve() noexcept {
  ++left_alone;
}
without_reserve::~without_reserve() {
  --left_alone;
}

bool malloc_fails() noexcept {
  constexpr std::size_t some = 65536;        // enough for a call and what it leaves in flight
  void* volatile found = std::malloc(some);  // volatile: a compiler may remove an unused malloc
  std::free(found);
  return found == nullptr;
}

}  // namespace telpher::host_mpi

// The array and sized forms call these.

void* operator new(std::size_t bytes) {
  if (void* const found = std::malloc(bytes ? bytes : 1)) [[likely]]
    return found;
  if (void* const found = telpher::host_mpi::take(bytes)) return found;
  throw std::bad_alloc();
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes ? bytes : 1);
}

void operator delete(void* piece) noexcept {
  if (telpher::host_mpi::reserve_holds(piece)) [[unlikely]]
    telpher::host_mpi::give(piece);
  else
    std::free(piece);
}

void operator delete(void* piece, std::size_t) noexcept {
  ::operator delete(piece);
}
