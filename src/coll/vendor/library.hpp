// SPDX-License-Identifier: BSD-3-Clause
// The vendor's own library of collectives (NCCL, RCCL), opened at run time: nothing of it is needed
// to build. Its interface is declared here, in interface.def; which file it is the device's back
// end knows, or TELPHER_CCL says. A library is opened once in a process and never closed.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "device/device.hpp"

namespace telpher::coll::vendor {

struct unique_id {
  char bytes[128];
};
using handle = void*;

constexpr int success = 0;
constexpr int in_progress =
    7;  // of communicators that the library's own settings keep from waiting

class library {
 public:
  /// For the devices of a back end. Null, which is logged once, where there is none, it cannot be
  /// opened, or TELPHER_CCL keeps it out.
  static const library* for_backend(device::backend& owner) noexcept;

  /// Ranks could not join, for a reason that this process saw: communicator::open() fails from now
  /// on, so that all ranks hear of it before they try again.
  void spoil() const noexcept { spoiled_.store(true, std::memory_order_relaxed); }
  bool spoiled() const noexcept { return spoiled_.load(std::memory_order_relaxed); }

  std::string file;
  int version = 0;  // as it tells: 22703 is 2.27.3
  const char* (*error_string)(int) = nullptr;
#define TELPHER_CCL_CALL(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "coll/vendor/interface.def"
#undef TELPHER_CCL_CALL

 private:
  bool open(std::string& why);

  mutable std::atomic<bool> spoiled_{false};
};

}  // namespace telpher::coll::vendor
