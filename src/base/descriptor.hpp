// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that the library keeps for a long time. It has a high number, away from the
// numbers that a program gets, and never 0 to 2: a program may have closed those and still write to
// them. A program that closes descriptors it did not open may close this one and reuse its number.
// So get() checks device and inode before each use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>

namespace telpher {

class descriptor {
 public:
  descriptor() = default;
  /// Takes an open descriptor, or a negative number for none.
  explicit descriptor(int opened) noexcept;
  descriptor(descriptor&& other) noexcept { swap(other); }
  descriptor& operator=(descriptor&& other) noexcept {
    swap(other);
    return *this;
  }
  ~descriptor();

  /// Its number; -1 if there is none, or if the program closed it.
  int get() const noexcept;
  /// Whether one was opened, even if it has been closed since.
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  void swap(descriptor& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
  }

  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Opens, for reading and writing, the file behind another process's descriptor. It must be a
/// regular file of `bytes` bytes; -1 otherwise. The caller closes it soon (it is not moved to a
/// high number).
int open_of_process(pid_t pid, int number, std::uint64_t bytes) noexcept;

}  // namespace telpher
