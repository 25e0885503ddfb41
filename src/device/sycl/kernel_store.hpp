// SPDX-License-Identifier: BSD-3-Clause
// Compiled kernels kept on disk between runs, in a folder of the user's that nobody else may write.
// What is found there is code that will run: a folder or file of another owner, one that others may
// write, a symbolic link, a wrong checksum or another identity count as nothing there. Files appear
// by rename, so a reader sees a whole file or none. Nothing here is needed for correctness: where
// the store cannot be used, kernels are compiled in each run.
#pragma once

#include <string>
#include <vector>

namespace telpher::device::sycl {

class kernel_store {
 public:
  /// `setting`: "" is the user's cache folder, "off" is no store, else a folder. `identity` names
  /// all that the content depends on.
  kernel_store(const std::string& setting, std::string identity);
  ~kernel_store();
  kernel_store(const kernel_store&) = delete;
  kernel_store& operator=(const kernel_store&) = delete;

  /// Waits, up to three minutes, until no other process makes the same content.
  void lock() noexcept;
  bool load(std::vector<char>& content) const;
  void save(const std::vector<char>& content) const;
  const std::string& path() const noexcept { return path_; }  // "" where there is no store

 private:
  std::string identity_;
  std::string path_;
  int lock_ = -1;
};

}  // namespace telpher::device::sycl
