// SPDX-License-Identifier: BSD-3-Clause
#include "stream/processors.hpp"

#include <sched.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"

namespace telpher::stream {
namespace {

constexpr int most = 4096;
constexpr std::size_t bytes = CPU_ALLOC_SIZE(most);

struct freed {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using processors = std::unique_ptr<cpu_set_t, freed>;

processors none() noexcept {
  processors made(CPU_ALLOC(most));
  if (made) CPU_ZERO_S(bytes, made.get());
  return made;
}

// A list as the kernel writes it: 0-15,64-79.
bool add_list(const char* path, cpu_set_t* to) {
  std::string text;
  if (!read_file(path, text)) return false;
  std::string_view left = text, part;
  while (take_part(left, part, ',')) {
    int first = 0;
    const char* const end = part.data() + part.size();
    const auto [at, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc()) break;
    int last = first;
    if (at != end && *at == '-' && std::from_chars(at + 1, end, last).ec != std::errc())
      return false;
    for (int cpu = first; cpu <= last && cpu < most; ++cpu) CPU_SET_S(cpu, bytes, to);
  }
  return true;
}

// The processors of every NUMA node that has some of `own`; all where the kernel does not tell.
void add_nodes(const cpu_set_t* own, cpu_set_t* to) {
  bool found = false;
  for (int node = 0;; ++node) {
    char path[64];
    std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
    const processors of_node = none();
    if (!of_node || !add_list(path, of_node.get())) break;
    const processors both = none();
    if (!both) break;
    CPU_AND_S(bytes, both.get(), of_node.get(), own);
    if (CPU_COUNT_S(bytes, both.get()) == 0) continue;
    CPU_OR_S(bytes, to, to, of_node.get());
    found = true;
  }
  if (!found) std::memset(to, 0xff, bytes);
}

}  // namespace

void choose_processors() noexcept {
  const processors own = none(), wanted = none();
  if (!own || !wanted || config().stream_cpus == "own") return;
  if (::sched_getaffinity(0, bytes, own.get()) != 0) return;
  if (config().stream_cpus == "auto" && CPU_COUNT_S(bytes, own.get()) > 1) return;
  try {
    add_nodes(own.get(), wanted.get());
  } catch (const std::bad_alloc&) {
    return;
  }
  if (::sched_setaffinity(0, bytes, wanted.get()) == 0)
    TELPHER_INFO(
        "the thread that serves streams may run on any processor of its NUMA node "
        "(TELPHER_STREAM_CPUS)");
}

}  // namespace telpher::stream
