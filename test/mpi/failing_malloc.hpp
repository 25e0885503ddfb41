// SPDX-License-Identifier: BSD-3-Clause
// malloc, of which Telpher's calls fail when they are told to; to be included once in a program.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace mpi_test {

inline std::atomic<long> fails_at{0};      // the n-th call from now on; 0: none
inline std::atomic<bool> fails_on{false};  // and all that follow
inline std::uintptr_t telpher_begin = 0, telpher_end = 0;

/// False where there is no Telpher.
inline bool find_telpher() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        const std::string_view name = info->dlpi_name ? info->dlpi_name : "";
        if (name.find("libtelpher-m") == name.npos && name.find("libtelpher-o") == name.npos)
          return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
          telpher_begin = info->dlpi_addr + part.p_vaddr;
          telpher_end = telpher_begin + part.p_memsz;
        }
        return 1;
      },
      nullptr);
  return telpher_end != 0;
}

/// From now on the n-th call fails; with `all`, each after it too.
inline void fail_malloc(long nth, bool all) {
  fails_on = all;
  fails_at = nth;
}
/// Whether the call that was to fail has been made.
inline bool stop_failing() {
  const bool struck = fails_at.exchange(0) <= 0;
  fails_on = false;
  return struck;
}

inline bool strikes(const void* caller) {
  const long at = fails_at.load(std::memory_order_relaxed);
  if (at == 0) return false;
  const auto from = reinterpret_cast<std::uintptr_t>(caller);
  if (from < telpher_begin || from >= telpher_end) return false;
  if (at < 0) return true;
  if (at > 1) return fails_at = at - 1, false;
  fails_at = fails_on ? -1 : 0;
  return true;
}

}  // namespace mpi_test

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" [[gnu::visibility("default")]] void* malloc(std::size_t bytes) {
  return mpi_test::strikes(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
