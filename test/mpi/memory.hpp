// SPDX-License-Identifier: BSD-3-Clause
// Memory of every kind for the MPI tests: guarded buffers, byte patterns and comparison. Telpher's
// functions are looked up at run time, so that a test also runs on the bare host MPI, where only
// host memory exists; that is how the tests themselves are validated.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "telpher/telpher.h"

namespace mpi_test {

enum class kind { host, pinned, managed, device };

inline const char* name(kind k) {
  static constexpr const char* names[] = {"host", "pinned", "managed", "device"};
  return names[static_cast<int>(k)];
}

/// Telpher's memory functions, or nulls where it is not in the process.
struct memory_functions {
  template <class F>
  static F* find(const char* symbol) {
    return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, symbol));
  }
  decltype(telpher_malloc)* allocate = find<decltype(telpher_malloc)>("telpher_malloc");
  decltype(telpher_free)* release = find<decltype(telpher_free)>("telpher_free");
  decltype(telpher_memcpy)* copy = find<decltype(telpher_memcpy)>("telpher_memcpy");
  decltype(telpher_memset)* set = find<decltype(telpher_memset)>("telpher_memset");
  decltype(telpher_backend)* backend = find<decltype(telpher_backend)>("telpher_backend");
};

inline const memory_functions& functions() {
  static const memory_functions f;
  return f;
}

inline const char* backend_name() {
  return functions().backend != nullptr ? functions().backend() : "bare MPI";
}

/// As `mpi_memory_alloc_kinds` names the memory of the back end in use.
inline std::string device_kind() {
  const std::string backend = backend_name();
  if (backend == "emu") return "telpher_emu:device";
  if (backend == "hip") return "rocm:device";
  return (backend == "sycl" ? "level_zero" : backend) + ":device";
}

[[noreturn]] inline void memory_failure(const char* what, std::size_t bytes, int error) {
  std::fprintf(stderr, "FAILED memory: %s of %zu bytes gives error %d\n", what, bytes, error);
  std::exit(3);
}

/// Allocates, or returns null where the kind does not exist.
inline void* try_allocate(kind k, std::size_t bytes) {
  if (k == kind::host) return std::malloc(bytes);
  void* address = nullptr;
  if (functions().allocate == nullptr ||
      functions().allocate(&address, bytes, static_cast<telpher_memory>(k)) != 0)
    return nullptr;
  return address;
}

inline void release(kind k, void* address) {
  if (k == kind::host)
    std::free(address);
  else if (const int error = functions().release(address); error != 0)
    memory_failure("telpher_free", 0, error);
}

inline void copy(kind k, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (k == kind::host)
    std::memcpy(to, from, bytes);
  else if (const int error = functions().copy(to, from, bytes); error != 0)
    memory_failure("telpher_memcpy", bytes, error);
}

/// The kinds that exist in this process: host, and with an active back end the others.
inline const std::vector<kind>& kinds() {
  static const std::vector<kind> found = [] {
    std::vector<kind> list{kind::host};
    for (kind k : {kind::pinned, kind::managed, kind::device}) {
      void* address = try_allocate(k, 64);
      if (address == nullptr) continue;
      release(k, address);
      list.push_back(k);
    }
    return list;
  }();
  return found;
}

// --- deterministic bytes ---

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(state_++); }
  /// 0 <= value < bound; bound > 0.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

/// The bytes of message `id`. A prefix of a longer message of the same id.
inline void write_pattern(std::uint64_t id, unsigned char* to, std::size_t bytes) {
  const std::uint64_t seed = mix(id);
  for (std::size_t i = 0; i < bytes; i += 8) {
    const std::uint64_t word = mix(seed + i);
    std::memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

inline constexpr unsigned char guard_byte = 0xa5;

/// What the first difference is, or "" where `got` and `wanted` are equal.
inline std::string difference(const unsigned char* got, const unsigned char* wanted,
                              std::size_t bytes, const char* what) {
  if (bytes == 0 || std::memcmp(got, wanted, bytes) == 0) return {};
  std::size_t first = 0;
  while (got[first] == wanted[first]) ++first;
  std::size_t wrong = 0;
  for (std::size_t i = first; i < bytes; ++i) wrong += got[i] != wanted[i];
  char text[160];
  std::snprintf(text, sizeof text, "%s: byte %zu of %zu is %02x instead of %02x, %zu wrong", what,
                first, bytes, got[first], wanted[first], wrong);
  return text;
}

/// A buffer of some kind with a window for the payload and guard bytes round it. The guard behind
/// is longer than a ticket, so that a ticket that lands in a small buffer is seen.
class buffer {
 public:
  static constexpr std::size_t guard_before = 64;
  static constexpr std::size_t guard_behind = 512;

  buffer(kind k, std::size_t capacity, std::size_t offset = 0)
      : kind_(k), capacity_(capacity + offset), bytes_(capacity), offset_(offset) {
    const std::size_t total = guard_before + capacity_ + guard_behind;
    base_ = static_cast<unsigned char*>(try_allocate(k, total));
    if (base_ == nullptr) memory_failure(name(k), total, TELPHER_ERR_MEMORY);
  }
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~buffer() {
    if (base_ != nullptr) release(kind_, base_);
  }

  kind memory() const { return kind_; }
  std::size_t bytes() const { return bytes_; }
  unsigned char* data() const { return base_ + guard_before + offset_; }

  /// Moves the payload's window; offset + bytes must fit the capacity.
  void place(std::size_t offset, std::size_t bytes) {
    if (offset + bytes > capacity_) memory_failure("a window", offset + bytes, 0);
    offset_ = offset;
    bytes_ = bytes;
  }

  void write(const unsigned char* from, std::size_t bytes) { copy(kind_, data(), from, bytes); }

  /// The payload becomes the bytes of message `id`.
  void fill(std::uint64_t id) {
    std::vector<unsigned char>& bytes = scratch(bytes_);
    write_pattern(id, bytes.data(), bytes_);
    write(bytes.data(), bytes_);
  }

  /// The window and its guards become guard bytes.
  void clear() {
    const std::size_t total = guard_before + bytes_ + guard_behind;
    if (kind_ == kind::host)
      std::memset(data() - guard_before, guard_byte, total);
    else if (functions().set(data() - guard_before, guard_byte, total) != 0)
      memory_failure("telpher_memset", total, TELPHER_ERR_DEVICE);
  }

  /// "" if the window holds exactly the first `received` bytes of message `id` and neither the rest
  /// nor the guards were touched since clear().
  std::string compare(std::uint64_t id, std::size_t received) const {
    thread_local std::vector<unsigned char> wanted;
    wanted.resize(bytes_);
    write_pattern(id, wanted.data(), received);
    if (received < bytes_) std::memset(wanted.data() + received, guard_byte, bytes_ - received);
    return compare(wanted.data());
  }

  /// The same with any expected content of the whole window.
  std::string compare(const unsigned char* wanted) const {
    std::vector<unsigned char>& got = scratch(guard_before + bytes_ + guard_behind);
    copy(kind_, got.data(), data() - guard_before, guard_before + bytes_ + guard_behind);
    static const std::vector<unsigned char> guard(guard_behind, guard_byte);
    std::string text = difference(got.data() + guard_before, wanted, bytes_, "content");
    if (text.empty()) text = difference(got.data(), guard.data(), guard_before, "guard before");
    if (text.empty())
      text = difference(got.data() + guard_before + bytes_, guard.data(), guard_behind,
                        "guard behind");
    return text;
  }

 private:
  static std::vector<unsigned char>& scratch(std::size_t bytes) {
    thread_local std::vector<unsigned char> memory;
    if (memory.size() < bytes) memory.resize(bytes);
    return memory;
  }
  void swap(buffer& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(base_, other.base_);
    std::swap(capacity_, other.capacity_);
    std::swap(bytes_, other.bytes_);
    std::swap(offset_, other.offset_);
  }

  kind kind_ = kind::host;
  unsigned char* base_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace mpi_test
