// SPDX-License-Identifier: BSD-3-Clause
// A libgdrapi.so that maps ordinary memory: "pinned" memory is visible at another address through a
// second mapping. It refuses what GDRCopy refuses: a range that does not begin and end at pages of
// 64 KiB. TEST_GDR=nomodule makes gdr_open fail.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

struct pin {
  unsigned long number;
};
constexpr unsigned long page = 64 * 1024;
std::map<unsigned long, unsigned long> pinned;  // number to address
unsigned long last = 0;
int live = 0;

}  // namespace

extern "C" {

void* gdr_open() {
  const char* how = std::getenv("TEST_GDR");
  static int session;
  return how && std::strcmp(how, "nomodule") == 0 ? nullptr : &session;
}

int gdr_pin_buffer(void*, unsigned long address, std::size_t bytes, std::uint64_t, std::uint32_t,
                   pin* out) {
  if (address % page != 0 || bytes % page != 0 || bytes == 0) return 22;
  pinned[out->number = ++last] = address;
  ++live;
  return 0;
}

int gdr_unpin_buffer(void*, pin handle) {
  live -= static_cast<int>(pinned.erase(handle.number));
  return 0;
}

// The memory must be a shared mapping: mremap with an old size of 0 then makes a second mapping of
// it.
int gdr_map(void*, pin handle, void** address, std::size_t bytes) {
  *address = ::mremap(reinterpret_cast<void*>(pinned.at(handle.number)), 0, bytes, MREMAP_MAYMOVE);
  return *address == MAP_FAILED ? 12 : 0;
}

int gdr_unmap(void*, pin, void* address, std::size_t bytes) {
  return ::munmap(address, bytes);
}

int fake_gdr_live() {
  return live;
}
}
