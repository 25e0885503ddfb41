// SPDX-License-Identifier: BSD-3-Clause
#include "memory/direct_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>

#include "base/library.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"

namespace telpher::memory {
namespace {

// --- the library ---

struct error {
  int code;  // 0: success
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
constexpr int type_of_descriptor = 1;
struct properties {
  unsigned major, minor;
  std::size_t poll_threshold, largest;
  unsigned serves;    // a bit for each kind of file system, see bits_for
  unsigned rest[64];  // of no interest here, and longer than what follows
};

struct cufile {
#define TELPHER_CUFILE_CALL(result, name, symbol, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "memory/direct_file.def"
#undef TELPHER_CUFILE_CALL
  device::backend* owner = nullptr;  // null: it cannot be used
  unsigned serves = 0;
};

/// Calls `f` while the device is current, as the library wants it.
template <class F>
status with(const place& where, F f) noexcept {
  return where.owner->call_with(
      where.device, [](void* call) { (*static_cast<F*>(call))(); }, &f);
}

/// What is wrong, or nothing.
std::string open_library(const std::string& file, const place& where, cufile& l) {
  std::string why;
  const library opened = library::open(file, why);
  if (!opened) return why;
  const char* missing = nullptr;
  const auto find = [&](const char* symbol, auto*& function) {
    if (!opened.find(symbol, function)) missing = symbol;
  };
#define TELPHER_CUFILE_CALL(result, name, symbol, ...) find(symbol, l.name);
#include "memory/direct_file.def"
#undef TELPHER_CUFILE_CALL
  if (missing) return std::string("it has no ") + missing;
  properties found{};
  error problem{};
  const status called = with(where, [&] {
    problem = l.open_driver();
    if (problem.code == 0) problem = l.get_properties(&found);
  });
  if (failed(called) || problem.code != 0)
    return "its driver does not open: error " + std::to_string(problem.code);
  l.serves = found.serves;
  l.owner = where.owner;
  return {};
}

/// That of the first back end that has one, which is the only one. Opened once, never closed.
const cufile& library_for(const place& where) {
  static const cufile* const one = [&] {
    auto* made = new cufile;
    const std::string file = where.owner->libraries().files;
    const std::string why = open_library(file, where, *made);
    if (!why.empty() && config().gds == "auto")
      TELPHER_INFO("no GPUDirect Storage by %s: %s", file.c_str(), why.c_str());
    else if (!why.empty())
      TELPHER_WARN("no GPUDirect Storage by %s, files go through host memory: %s", file.c_str(),
                   why.c_str());
    return made;
  }();
  return *one;
}

/// The bits of properties::serves for the file system of a file. A local file system is served
/// where the kind of disk is.
unsigned bits_for(int descriptor) noexcept {
  constexpr unsigned lustre = 1u << 0, nfs = 1u << 2, gpfs = 1u << 3, beegfs = 1u << 9;
  constexpr unsigned nvme = 1u << 4, nvme_over_fabrics = 1u << 5, nvme_peer = 1u << 11;
  struct statfs found {};
  if (::fstatfs(descriptor, &found) != 0) return 0;
  switch (static_cast<unsigned long>(found.f_type)) {
    case 0x0bd00bd0:
      return lustre;
    case 0x6969:
      return nfs;
    case 0x47504653:
      return gpfs;
    case 0x19830326:
      return beegfs;
    case 0xef53:      // ext4
    case 0x58465342:  // xfs
      return nvme | nvme_over_fabrics | nvme_peer;
    default:
      return 0;
  }
}

}  // namespace

// --- a file ---

std::unique_ptr<direct_file> direct_file::open(const char* path, int flags) noexcept {
  int fd = ::open(path, flags | O_CLOEXEC | O_DIRECT);  // as the library wants it, where it can be
  if (fd < 0 && errno == EINVAL) fd = ::open(path, flags | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat found {};
  auto made = ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode)
                  ? std::unique_ptr<direct_file>(new (std::nothrow) direct_file(fd))
                  : nullptr;
  if (!made) ::close(fd);
  return made;
}

direct_file::~direct_file() {
  if (handle_) library_for({}).remove_file(handle_);
  ::close(descriptor_);
}

bool direct_file::serves(const place& where) noexcept {
  const std::lock_guard lock(guard_);
  if (!asked_) {
    asked_ = where.owner;
    handle_ = add_to_library(where);
  }
  return handle_ && asked_ == where.owner && !failed_;
}

void* direct_file::add_to_library(const place& where) noexcept try {
  if (!where.owner->libraries().files) return nullptr;
  const cufile& library = library_for(where);
  if (library.owner != where.owner ||
      (config().gds == "auto" && (library.serves & bits_for(descriptor_)) == 0))
    return nullptr;
  description d{type_of_descriptor, {descriptor_}, nullptr};
  void* handle = nullptr;
  error problem{};
  const status called = with(where, [&] { problem = library.add_file(&handle, &d); });
  if (!failed(called) && problem.code == 0) return handle;
  TELPHER_INFO("GPUDirect Storage does not take a file: error %d", problem.code);
  return nullptr;
} catch (const std::bad_alloc&) {
  return nullptr;
}

result<std::uint64_t> direct_file::move(const place& where, bool reads, void* device,
                                        std::uint64_t bytes, std::uint64_t offset) noexcept {
  const cufile& library = library_for(where);
  void* const memory = where.owner->kernel_address(device);
  const auto at = static_cast<off_t>(offset);
  ssize_t moved = 0;
  int cause = 0;
  TELPHER_TRY(with(where, [&] {
    moved = reads ? library.read(handle_, memory, bytes, at, 0)
                  : library.write(handle_, memory, bytes, at, 0);
    cause = errno;
  }));
  if (moved >= 0) return static_cast<std::uint64_t>(moved);
  failed_ = true;
  TELPHER_WARN(
      "GPUDirect Storage cannot %s a file: %zd, errno %d; from here on it goes through host memory",
      reads ? "read" : "write", moved, cause);
  return status::device_error;
}

}  // namespace telpher::memory
