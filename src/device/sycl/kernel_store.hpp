// SPDX-License-Identifier: BSD-3-Clause
// A cache of compiled kernels on disk, in a folder of the user's that nobody else may write to. Its
// content is code that will run. So a folder or file that another user owns or that others may
// write to, a symbolic link, a wrong checksum, or another identity count as missing. Files are
// created by rename, so a reader sees a whole file or none. The cache is not needed for
// correctness: without it kernels are compiled in each run.
#pragma once

#include <string>
#include <vector>

namespace telpher::device::sycl {

class kernel_store {
 public:
  /// `setting`: "" for the user's cache folder, "off" for no cache, else a folder. `identity` names
  /// all that the content depends on.
  kernel_store(const std::string& setting, std::string identity);
  ~kernel_store();
  kernel_store(const kernel_store&) = delete;
  kernel_store& operator=(const kernel_store&) = delete;

  /// Waits, for at most three minutes, while another process makes the same content.
  void lock() noexcept;
  bool load(std::vector<char>& content) const;
  void save(const std::vector<char>& content) const;
  const std::string& path() const noexcept { return path_; }  // "" if there is no cache

 private:
  std::string identity_;
  std::string path_;
  int lock_ = -1;
};

}  // namespace telpher::device::sycl
