// SPDX-License-Identifier: BSD-3-Clause
// Where the programs' buffers come from: Telpher's C API, CUDA's driver, or plain host memory. All
// are found at run time, so one binary runs with the library preloaded, linked or absent. A failed
// allocation or copy ends the job with a message.
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
  /// Copies between any two kinds of memory by the call that a user would write. The copy is
  /// complete on return if one side is host memory, and after wait() if both are device memory.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void wait() {}
  /// Sets the device of later allocations.
  virtual void choose_device(int device) = 0;
  virtual int device() = 0;
  virtual int device_count() = 0;
  /// "cuda", "hip", "sycl", "emu", or "none".
  virtual std::string backend() = 0;
  /// The name of the call that copy() uses; it is written to the report.
  virtual std::string copy_call() = 0;
};

/// `allocation`: "telpher" (host memory only if the library is absent) or, through CUDA's driver,
/// "malloc", "async", "vmm", "vmm-fd" or "vmm-fd-pieces". Ends the job if that is not available.
std::unique_ptr<memory_source> open_memory_source(const std::string& allocation);

/// Whether libtelpher is in the process, and its version ("" if not).
bool telpher_present();
std::string telpher_version_text();
/// The name of the path that carried this thread's last message; "-" if the library does not report
/// it.
std::string last_path();

/// Ends the program with a message of rank 0; all ranks call it.
[[noreturn]] void give_up(const char* why);
/// Prints a message of this rank and ends the job.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char* format, ...);

}  // namespace telpher::bench
