// SPDX-License-Identifier: BSD-3-Clause
#include "base/shared_memory.hpp"

#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/log.hpp"

namespace telpher {
namespace {

std::atomic<bool> offers_all{false};

}  // namespace

std::uint64_t random_bits() noexcept {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) == sizeof bits) return bits;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return static_cast<std::uint64_t>(now) * 0x9e3779b97f4a7c15u ^
         static_cast<std::uint64_t>(::getpid()) << 32;
}

result<shared_memory> shared_memory::create(std::size_t bytes, const char* label) noexcept {
  shared_memory m;
  m.descriptor_ = descriptor(::memfd_create(label, MFD_CLOEXEC));
  const int file = m.descriptor_.get();
  if (file < 0) {
    TELPHER_ERROR("memfd_create: %m");
    return status::out_of_memory;
  }
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    TELPHER_ERROR("cannot size shared memory to %zu bytes: %m", bytes);
    return status::out_of_memory;
  }
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (address == MAP_FAILED) {
    TELPHER_ERROR("cannot map %zu bytes of shared memory: %m", bytes);
    return status::out_of_memory;
  }
  m.address_ = static_cast<std::byte*>(address);
  m.bytes_ = bytes;
  m.name_ = {::getpid(), file, bytes, random_bits(), {}};
  std::memcpy(m.address_, &m.name_.cookie, sizeof m.name_.cookie);
  if (offers_all.load(std::memory_order_relaxed)) TELPHER_TRY(m.offer());
  return m;
}

status shared_memory::offer() noexcept {
  const int file = descriptor_.get();
  auto offer = descriptor_broker::instance().offer(file < 0 ? -1 : ::dup(file));
  TELPHER_TRY(offer);
  offer_ = kept_offer(*offer);
  name_.offer = *offer;
  return status::ok;
}

void shared_memory::offer_all() noexcept {
  offers_all.store(true, std::memory_order_relaxed);
}

result<shared_memory> shared_memory::open(const shared_memory_name& name) noexcept {
  auto seen = map(open_of_process(name.pid, name.descriptor, name.bytes), name);
  if (seen || !name.offer) return seen;
  const auto fetched = descriptor_broker::fetch(name.offer);
  if (!fetched) return status::not_supported;
  return map(*fetched, name);
}

// It takes the descriptor: peers open the creator's, so this one is not needed.
result<shared_memory> shared_memory::map(int opened, const shared_memory_name& name) noexcept {
  if (opened < 0) return status::not_supported;
  struct stat info {};
  const bool whole = ::fstat(opened, &info) == 0 && S_ISREG(info.st_mode) &&
                     static_cast<std::uint64_t>(info.st_size) == name.bytes;
  void* const address = whole ? ::mmap(nullptr, name.bytes, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_NORESERVE, opened, 0)
                              : MAP_FAILED;
  ::close(opened);
  if (address == MAP_FAILED) return status::not_supported;
  shared_memory m;
  m.address_ = static_cast<std::byte*>(address);
  m.bytes_ = name.bytes;
  m.name_ = name;
  if (std::memcmp(m.address_, &name.cookie, sizeof name.cookie) != 0) return status::not_supported;
  return m;
}

shared_memory::~shared_memory() {
  if (address_) ::munmap(address_, bytes_);
}

void shared_memory::swap(shared_memory& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(offer_, other.offer_);
  std::swap(name_, other.name_);
}

}  // namespace telpher
