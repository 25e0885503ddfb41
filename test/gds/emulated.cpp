// SPDX-License-Identifier: BSD-3-Clause
// A library with cuFile's interface for the emulated device, so that the way of files through a
// vendor's library is tested without a GPU (TELPHER_GDS=<this file>). It moves the bytes between
// the file and the addresses at which kernels find the device's memory.
//
// TEST_GDS_FAULT makes it fail: `driver` when it is opened, `file` when it is given a file. What it
// does with the calls that move bytes, test programs say by emulated_gds.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct error {
  int code;
  int of_driver;
};
struct description {
  int type;
  union {
    int descriptor;
    void* other;
  };
  const void* operations;
};
struct properties {
  unsigned versions[2];
  std::size_t sizes[2];
  unsigned serves;
  unsigned others[6];
};
constexpr int failure = 5000 + 1, type_of_descriptor = 1;

std::atomic<long> calls{0};
std::atomic<std::size_t> most{SIZE_MAX};  // that a call moves
std::atomic<long> failing{0};             // the call of this number, counted from 1, and all later

bool says(const char* variable, const char* word) {
  const char* text = std::getenv(variable);
  return text && std::strcmp(text, word) == 0;
}

int file_of(void* handle) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
}

template <class Move>
ssize_t one_call(std::size_t bytes, Move move) {
  const long number = ++calls;
  if (failing != 0 && number >= failing) {
    errno = EIO;
    return -1;
  }
  return move(std::min(bytes, most.load()));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] error cuFileDriverOpen() {
  return {says("TEST_GDS_FAULT", "driver") ? failure : 0, 0};
}

[[gnu::visibility("default")]] error cuFileDriverGetProperties(properties* p) {
  *p = {};
  if (says("TEST_GDS_SERVES", "all")) p->serves = ~0u;
  return {0, 0};
}

[[gnu::visibility("default")]] error cuFileHandleRegister(void** handle, description* d) {
  if (says("TEST_GDS_FAULT", "file") || d->type != type_of_descriptor) return {failure, 0};
  // Its own, through the page cache: direct transfers of the host want aligned bytes.
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", d->descriptor);
  const int mode = ::fcntl(d->descriptor, F_GETFL) & O_ACCMODE;
  const int fd = ::open(path, mode | O_CLOEXEC);
  if (fd < 0) return {failure, 0};
  *handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd));
  return {0, 0};
}

[[gnu::visibility("default")]] void cuFileHandleDeregister(void* handle) {
  ::close(file_of(handle));
}

[[gnu::visibility("default")]] ssize_t cuFileRead(void* handle, void* base, std::size_t bytes,
                                                  off_t at, off_t within) {
  return one_call(bytes, [&](std::size_t n) {
    return ::pread(file_of(handle), static_cast<char*>(base) + within, n, at);
  });
}

[[gnu::visibility("default")]] ssize_t cuFileWrite(void* handle, const void* base,
                                                   std::size_t bytes, off_t at, off_t within) {
  return one_call(bytes, [&](std::size_t n) {
    return ::pwrite(file_of(handle), static_cast<const char*>(base) + within, n, at);
  });
}

/// From now on a call moves at most `bytes`, and the call of number `fails` and later ones fail (0:
/// none). Returns how many calls there were before, which are counted anew.
[[gnu::visibility("default")]] long emulated_gds(std::size_t bytes, long fails) {
  most = bytes;
  failing = fails;
  return calls.exchange(0);
}

}  // extern "C"
