// SPDX-License-Identifier: BSD-3-Clause
// Where the programs' buffers come from: Telpher's C API, CUDA's driver, or plain host memory. All
// of it is found at run time, so that one binary runs with the library preloaded, linked or absent.
// A failed allocation or copy ends the job with a message: a benchmark has nothing better to do.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace telpher::bench {

enum class kind : char { host = 'H', pinned = 'P', managed = 'M', device = 'D' };

class memory_source {
 public:
  virtual ~memory_source() = default;
  virtual void* allocate(kind k, std::size_t bytes) = 0;
  virtual void release(kind k, void* address) = 0;
  /// Copies between any two kinds by the call a user would write; complete on return if one side is
  /// host memory, and after wait() if both are device memory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void wait() {}
  /// The device of the next allocation.
  virtual void choose_device(int device) = 0;
  virtual int device() = 0;
  virtual int device_count() = 0;
  /// "cuda", "hip", "sycl", "emu", or "none".
  virtual std::string backend() = 0;
  /// What copy() calls, for the record.
  virtual std::string copy_call() = 0;
};

/// `allocation`: "telpher" (host memory only where the library is absent), or, through CUDA's
/// driver, "malloc", "async", "vmm" or "vmm-fd". Ends the job where the choice cannot be had.
std::unique_ptr<memory_source> open_memory_source(const std::string& allocation);

/// Whether libtelpher is in the process, and its version ("" if not).
bool telpher_present();
std::string telpher_version_text();
/// The name of the path that carried this thread's last message, or "-" where the library does not
/// tell.
std::string last_path();

/// Ends the program on all ranks, which all call it, with a message of rank 0.
[[noreturn]] void give_up(const char* why);
/// Prints a message of this rank and ends the job.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...);

}  // namespace telpher::bench
