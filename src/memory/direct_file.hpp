// SPDX-License-Identifier: BSD-3-Clause
// Files that the vendor's own library reads into device memory, and writes from there, without a
// copy in host memory (GPUDirect Storage). The library is opened at run time: nothing of it is
// needed to build. Its interface is declared in direct_file.cpp and direct_file.def; which file it
// is the device's back end knows.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/status.hpp"
#include "memory/memory.hpp"

namespace telpher::memory {

/// A file that is open once more, for the library. Thread-safe.
class direct_file {
 public:
  /// Starts no runtime. Null where `path` names no ordinary file that can be opened so. `flags`:
  /// O_RDONLY, O_WRONLY or O_RDWR.
  static std::unique_ptr<direct_file> open(const char* path, int flags) noexcept;
  ~direct_file();
  direct_file(const direct_file&) = delete;
  direct_file& operator=(const direct_file&) = delete;

  /// Whether the library moves bytes between this file and memory there. The first call asks it.
  bool serves(const place& where) noexcept;
  /// Reads into `device`, or writes from there, where the memory is served. Returns how many bytes
  /// were moved: some of them, or 0 at the end of the file. After a failure the file is not served
  /// any more.
  result<std::uint64_t> move(const place& where, bool reads, void* device, std::uint64_t bytes,
                             std::uint64_t offset) noexcept;

 private:
  explicit direct_file(int descriptor) noexcept : descriptor_(descriptor) {}
  void* add_to_library(const place& where) noexcept;

  int descriptor_;
  std::atomic<bool> failed_{false};
  std::mutex guard_;
  device::backend* asked_ = nullptr;  // whose library was asked
  void* handle_ = nullptr;            // the library's; null: it does not serve the file
};

}  // namespace telpher::memory
