// SPDX-License-Identifier: BSD-3-Clause
#include "base/descriptor.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace telpher {
namespace {

// By fstatat(), which thread sanitizers do not follow: they take a look at a number that the
// program has closed and given to another file for a race, and to notice just that is what it is
// for.
bool file_of(int number, struct stat& info) noexcept {
  return ::fstatat(number, "", &info, AT_EMPTY_PATH) == 0;
}

// The lowest number that a kept descriptor takes: half of the process's limit, because programs get
// the lowest free numbers. At most 500, so that the kernel's table of descriptors does not grow for
// it.
int first_kept() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 100;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 2, 500));
}

// Moves a descriptor to a high number. If all high numbers are taken, any number above those of the
// standard streams will do.
int moved(int opened) noexcept {
  int high = ::fcntl(opened, F_DUPFD_CLOEXEC, first_kept());
  if (high < 0 && opened <= STDERR_FILENO)
    high = ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (high < 0) return opened;
  ::close(opened);
  return high;
}

}  // namespace

descriptor::descriptor(int opened) noexcept {
  if (opened < 0) return;
  number_ = moved(opened);
  struct stat info {};
  if (!file_of(number_, info)) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

descriptor::~descriptor() {
  if (const int number = get(); number >= 0) ::close(number);
}

int descriptor::get() const noexcept {
  struct stat info {};
  const bool ours =
      number_ >= 0 && file_of(number_, info) && info.st_dev == device_ && info.st_ino == inode_;
  return ours ? number_ : -1;
}

// In another PID namespace the same pid and number may name anything. Opening a device or a pipe
// can have side effects, so stat() looks at the file before open().
int open_of_process(pid_t pid, int number, std::uint64_t bytes) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(pid), number);
  struct stat info {};
  const auto as_named = [&] {
    return S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == bytes;
  };
  if (::stat(path, &info) != 0 || !as_named()) return -1;
  const int opened = ::open(path, O_RDWR | O_CLOEXEC);
  if (opened < 0 || (::fstat(opened, &info) == 0 && as_named())) return opened;
  ::close(opened);
  return -1;
}

}  // namespace telpher
