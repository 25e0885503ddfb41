// SPDX-License-Identifier: BSD-3-Clause
// For tests in the order of streams: telpher.h's and stream.h's functions by their names in the
// process, a stream for the life of a case, and a gate that holds a stream up until it is opened.
#pragma once

#include <atomic>

#include "collective_calls.hpp"
#include "suite.hpp"
#include "telpher/stream.h"

namespace mpi_test {

template <class F>
F* stream_call(const char* name) {
  auto* const found = reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
  if (!found) {
    std::fprintf(stderr, "FAILED: the process has no %s\n", name);
    std::exit(3);
  }
  return found;
}
/// STREAM_CALL(telpher_send_enqueue)(...): the function is in the preloaded library.
#define STREAM_CALL(name) (::mpi_test::stream_call<decltype(name)>(#name))

/// telpher_<name>_enqueue of any collective.
inline int enqueue_call(collective_call which, const call_arguments& x, void* stream) {
#define MPI_TEST_COLLECTIVE(kind, Name, Iname, ...) \
  case collective_call::kind:                       \
    return STREAM_CALL(telpher_##kind##_enqueue)(__VA_ARGS__, stream);
  switch (which) {
#include "collective_calls.def"
  }
#undef MPI_TEST_COLLECTIVE
  return MPI_ERR_OTHER;
}

class test_stream {
 public:
  test_stream() {
    if (STREAM_CALL(telpher_stream_create)(&stream_) != 0) memory_failure("a stream", 0, -1);
  }
  ~test_stream() { STREAM_CALL(telpher_stream_destroy)(stream_); }
  test_stream(const test_stream&) = delete;
  test_stream& operator=(const test_stream&) = delete;
  operator void*() const { return stream_; }
  void wait() const { STREAM_CALL(telpher_stream_synchronize)(stream_); }
  void set(void* to, int byte, std::size_t bytes) const {
    STREAM_CALL(telpher_memset_async)(to, byte, bytes, stream_);
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    STREAM_CALL(telpher_memcpy_async)(to, from, bytes, stream_);
  }

 private:
  void* stream_ = nullptr;
};

class gate {
 public:
  gate() : word_(static_cast<std::uint32_t*>(try_allocate(kind::pinned, 64))) { *word_ = 0; }
  ~gate() { release(kind::pinned, word_); }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  /// What is given to the stream from now on waits until open().
  void hold(void* stream) { STREAM_CALL(telpher_stream_wait_value)(stream, word_, ++last_); }
  void open() { std::atomic_ref<std::uint32_t>(*word_).store(last_); }

 private:
  std::uint32_t* word_;
  std::uint32_t last_ = 0;
};

/// Device memory, filled with one byte before the case begins.
class bytes {
 public:
  bytes(std::size_t count, int byte)
      : count_(count), at_(static_cast<unsigned char*>(try_allocate(kind::device, count))) {
    set(byte);
  }
  ~bytes() { release(kind::device, at_); }
  bytes(const bytes&) = delete;
  bytes& operator=(const bytes&) = delete;
  unsigned char* data() const { return at_; }
  int count() const { return static_cast<int>(count_); }
  void set(int byte) { functions().set(at_, byte, count_); }
  /// `count` bytes from `at` on; looks at once, past every stream.
  std::vector<unsigned char> read(std::size_t at, std::size_t count) const {
    std::vector<unsigned char> found(count);
    functions().copy(found.data(), at_ + at, count);
    return found;
  }
  /// Whether they are all `byte`.
  bool all(int byte, std::size_t at, std::size_t count) const {
    for (unsigned char c : read(at, count))
      if (c != static_cast<unsigned char>(byte)) return false;
    return true;
  }
  bool all(int byte) const { return all(byte, 0, count_); }

 private:
  std::size_t count_;
  unsigned char* at_;
};

}  // namespace mpi_test
