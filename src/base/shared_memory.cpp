// SPDX-License-Identifier: BSD-3-Clause
#include "base/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/log.hpp"

namespace telpher {

std::uint64_t random_bits() noexcept {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) == sizeof bits) return bits;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now) * 0x9e3779b97f4a7c15u ^
         static_cast<std::uint64_t>(::getpid()) << 32;
}

result<shared_memory> shared_memory::create(std::size_t bytes, const char* label) noexcept {
  shared_memory m;
  m.descriptor_ = ::memfd_create(label, MFD_CLOEXEC);
  if (m.descriptor_ < 0) {
    TELPHER_ERROR("memfd_create: %m");
    return status::out_of_memory;
  }
  if (::ftruncate(m.descriptor_, static_cast<off_t>(bytes)) != 0) {
    TELPHER_ERROR("cannot size shared memory to %zu bytes: %m", bytes);
    return status::out_of_memory;
  }
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m.descriptor_, 0);
  if (address == MAP_FAILED) {
    TELPHER_ERROR("cannot map %zu bytes of shared memory: %m", bytes);
    return status::out_of_memory;
  }
  m.address_ = static_cast<std::byte*>(address);
  m.bytes_ = bytes;
  m.name_ = {::getpid(), m.descriptor_, bytes, random_bits()};
  std::memcpy(m.address_, &m.name_.cookie, sizeof m.name_.cookie);
  return m;
}

result<shared_memory> shared_memory::open(const shared_memory_name& name) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", name.pid, name.descriptor);
  // In another PID namespace the same number may be anybody's: opening a device or a pipe could do
  // something to it, so that is looked at first.
  struct stat info {};
  if (::stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<std::uint64_t>(info.st_size) != name.bytes)
    return status::not_supported;
  shared_memory m;
  m.descriptor_ = ::open(path, O_RDWR | O_CLOEXEC);
  if (m.descriptor_ < 0) return status::not_supported;
  if (::fstat(m.descriptor_, &info) != 0 || static_cast<std::uint64_t>(info.st_size) != name.bytes)
    return status::not_supported;
  void* address = ::mmap(nullptr, name.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                         m.descriptor_, 0);
  if (address == MAP_FAILED) return status::not_supported;
  ::close(std::exchange(m.descriptor_, -1));  // only the maker's is asked for
  m.address_ = static_cast<std::byte*>(address);
  m.bytes_ = name.bytes;
  m.name_ = name;
  if (std::memcmp(m.address_, &name.cookie, sizeof name.cookie) != 0) return status::not_supported;
  return m;
}

shared_memory::~shared_memory() {
  if (address_) ::munmap(address_, bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void shared_memory::swap(shared_memory& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(name_, other.name_);
}

}  // namespace telpher
