// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that is kept. It lies among the high numbers, away from those that a program
// gets, and above all from 0 to 2, which a program may have closed and still write to. A program
// that closes descriptors it did not open may close this one, and get its number: what is there is
// looked at before each use.
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

  /// Its number; -1 if there is none, or it was closed by others.
  int get() const noexcept;
  /// Whether one was opened, be it there or not.
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

/// Opens, for reading and writing, what another process has at a descriptor: a regular file of so
/// many bytes; none if something else is there. Not for keeping.
int open_of_process(pid_t pid, int number, std::uint64_t bytes) noexcept;

}  // namespace telpher
