// SPDX-License-Identifier: BSD-3-Clause
#include "memory/window_copy.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace telpher::memory {
namespace {

constexpr std::size_t line = line_copy::line;

void load_plain(std::byte* to, const std::byte* window, std::size_t lines) noexcept {
  std::memcpy(to, window, lines * line);
}
void store_plain(std::byte* window, const std::byte* from, std::size_t lines) noexcept {
  std::memcpy(window, from, lines * line);
}

#if defined(__x86_64__)

// Each function is compiled for its own instruction set and called only if the CPU has it.

[[gnu::target("sse4.1")]] void load_sse41(std::byte* to, const std::byte* window,
                                          std::size_t lines) noexcept {
  auto* from = reinterpret_cast<__m128i*>(const_cast<std::byte*>(window));
  auto* out = reinterpret_cast<__m128i*>(to);
  for (std::size_t i = 0; i < lines; ++i, from += 4, out += 4) {
    const __m128i a = _mm_stream_load_si128(from), b = _mm_stream_load_si128(from + 1);
    const __m128i c = _mm_stream_load_si128(from + 2), d = _mm_stream_load_si128(from + 3);
    _mm_storeu_si128(out, a);
    _mm_storeu_si128(out + 1, b);
    _mm_storeu_si128(out + 2, c);
    _mm_storeu_si128(out + 3, d);
  }
}
[[gnu::target("sse4.1")]] void store_sse41(std::byte* window, const std::byte* from,
                                           std::size_t lines) noexcept {
  auto* in = reinterpret_cast<const __m128i*>(from);
  auto* out = reinterpret_cast<__m128i*>(window);
  for (std::size_t i = 0; i < lines * 4; ++i) _mm_stream_si128(out + i, _mm_loadu_si128(in + i));
}

[[gnu::target("avx2")]] void load_avx2(std::byte* to, const std::byte* window,
                                       std::size_t lines) noexcept {
  auto* from = reinterpret_cast<__m256i*>(const_cast<std::byte*>(window));
  auto* out = reinterpret_cast<__m256i*>(to);
  for (std::size_t i = 0; i < lines; ++i, from += 2, out += 2) {
    const __m256i a = _mm256_stream_load_si256(from), b = _mm256_stream_load_si256(from + 1);
    _mm256_storeu_si256(out, a);
    _mm256_storeu_si256(out + 1, b);
  }
}
[[gnu::target("avx2")]] void store_avx2(std::byte* window, const std::byte* from,
                                        std::size_t lines) noexcept {
  auto* in = reinterpret_cast<const __m256i*>(from);
  auto* out = reinterpret_cast<__m256i*>(window);
  for (std::size_t i = 0; i < lines * 2; ++i)
    _mm256_stream_si256(out + i, _mm256_loadu_si256(in + i));
}

[[gnu::target("avx512f")]] void load_avx512(std::byte* to, const std::byte* window,
                                            std::size_t lines) noexcept {
  for (std::size_t i = 0; i < lines * line; i += line)
    _mm512_storeu_si512(to + i, _mm512_stream_load_si512(const_cast<std::byte*>(window) + i));
}
[[gnu::target("avx512f")]] void store_avx512(std::byte* window, const std::byte* from,
                                             std::size_t lines) noexcept {
  for (std::size_t i = 0; i < lines * line; i += line)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(window + i), _mm512_loadu_si512(from + i));
}

constexpr line_copy all[] = {{"plain", load_plain, store_plain},
                             {"sse4.1", load_sse41, store_sse41},
                             {"avx2", load_avx2, store_avx2},
                             {"avx512", load_avx512, store_avx512}};

std::size_t known() noexcept {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.1")) return 1;
  if (!__builtin_cpu_supports("avx2")) return 2;
  return __builtin_cpu_supports("avx512f") ? 4 : 3;
}

// A streaming load may be served from a buffer that was filled earlier; the fence empties it.
void begin_loads() noexcept {
  _mm_mfence();
}
// Empties the write-combining buffers.
void end_stores() noexcept {
  _mm_sfence();
}

#else

constexpr line_copy all[] = {{"plain", load_plain, store_plain}};

std::size_t known() noexcept {
  return 1;
}
void begin_loads() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void end_stores() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

#endif

std::size_t offset_in_line(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % line;
}

const line_copy& widest() noexcept {
  static const line_copy& chosen = line_copies().back();
  return chosen;
}

}  // namespace

std::span<const line_copy> line_copies() noexcept {
  static const std::size_t count = known();
  return {all, count};
}

void load_from_window(const line_copy& by, void* to, const void* window,
                      std::size_t bytes) noexcept {
  auto* out = static_cast<std::byte*>(to);
  auto* in = static_cast<const std::byte*>(window);
  alignas(line) std::byte whole[line];
  begin_loads();
  // Part of a line at either end. Loading the whole line takes one bus access, loading its bytes
  // would take several.
  const auto part = [&](std::size_t offset, std::size_t count) {
    by.load(whole, in - offset, 1);
    std::memcpy(out, whole + offset, count);
    in += count;
    out += count;
    bytes -= count;
  };
  if (const std::size_t offset = offset_in_line(in); offset != 0 && bytes != 0)
    part(offset, std::min(bytes, line - offset));
  const std::size_t lines = bytes / line;
  by.load(out, in, lines);
  out += lines * line;
  in += lines * line;
  bytes -= lines * line;
  if (bytes != 0) part(0, bytes);
}

void store_to_window(const line_copy& by, void* window, const void* from,
                     std::size_t bytes) noexcept {
  auto* out = static_cast<std::byte*>(window);
  auto* in = static_cast<const std::byte*>(from);
  const std::size_t offset = offset_in_line(out);
  const std::size_t head = offset == 0 ? 0 : std::min(bytes, line - offset);
  std::memcpy(out, in, head);
  const std::size_t lines = (bytes - head) / line;
  by.store(out + head, in + head, lines);
  const std::size_t done = head + lines * line;
  std::memcpy(out + done, in + done, bytes - done);
  end_stores();
}

void load_from_window(void* to, const void* window, std::size_t bytes) noexcept {
  load_from_window(widest(), to, window, bytes);
}

void store_to_window(void* window, const void* from, std::size_t bytes) noexcept {
  store_to_window(widest(), window, from, bytes);
}

}  // namespace telpher::memory
