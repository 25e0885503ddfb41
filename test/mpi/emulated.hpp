// SPDX-License-Identifier: BSD-3-Clause
// What the emulated device's plug-in offers to tests beside the device: its counters and its
// faults.
#pragma once

#include "memory.hpp"

namespace mpi_test {

/// A function of the plug-in, which is in the process under the name it was opened by; null where
/// another back end is in use.
template <class F>
F* emulated(const char* symbol) {
  Dl_info here{};
  dladdr(reinterpret_cast<void*>(functions().allocate), &here);
  const std::string library = here.dli_fname ? here.dli_fname : "";
  const std::string plugin = library.substr(0, library.rfind('/')) + "/libtelpher-emu.so";
  void* opened = dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return opened ? reinterpret_cast<F*>(dlsym(opened, symbol)) : nullptr;
}

/// A count of the emulated devices' in this process; -1 elsewhere.
inline long long counted(const char* name) {
  static auto* const counter = emulated<long long(const char*)>("telpher_emu_counter");
  return counter ? counter(name) : -1;
}

/// From here on these calls fail (syntax of TELPHER_TEST_EMU_FAULTS).
inline void set_faults(const char* text) {
  static auto* const set = emulated<void(const char*)>("telpher_emu_faults");
  if (set == nullptr) memory_failure("telpher_emu_faults", 0, TELPHER_ERR_MEMORY);
  set(text);
}

/// How many injected faults have struck while this lives.
class fault_count {
 public:
  fault_count() = default;
  long long so_far() const { return counted("faults") - before_; }

 private:
  long long before_ = counted("faults");
};

/// What this process holds of the emulated devices' memory, its own and that of peers; -1
/// elsewhere.
inline long long held() {
  if (counted("imports") < 0) return -1;
  return counted("allocations") + counted("imports") + counted("registered");
}

}  // namespace mpi_test
