// SPDX-License-Identifier: BSD-3-Clause
// What libtelpher-emu.so exports.
#include "device/emu/arena.hpp"
#include "device/emu/emu.hpp"
#include "device/registry.hpp"

extern "C" [[gnu::visibility("default")]] telpher::device::backend* telpher_create_backend(
    int version) {
  return version == telpher::device::interface_version ? telpher::device::emu::instance() : nullptr;
}

/// A counter of device/emu/emu.hpp by its name; -1 for an unknown name.
extern "C" [[gnu::visibility("default")]] long long telpher_emu_counter(const char* name) {
  return telpher::device::emu::count(name);
}

/// What a vendor's prefetch does with managed memory; device -1: back to the host. 0, or an error.
extern "C" [[gnu::visibility("default")]] int telpher_emu_prefetch(void* address, int device) {
  return static_cast<int>(telpher::device::emu::arena::instance().prefetch(address, device));
}

/// Addresses for chunks, and chunks of that many bytes there, exported as descriptors or not at
/// all; for tests. Not 0: it is done.
extern "C" [[gnu::visibility("default")]] void* telpher_emu_reserve(int device, std::size_t bytes) {
  return telpher::device::emu::reserve_chunks(device, bytes);
}
extern "C" [[gnu::visibility("default")]] int telpher_emu_unreserve(void* address,
                                                                    std::size_t bytes) {
  return telpher::device::emu::unreserve_chunks(address, bytes);
}
extern "C" [[gnu::visibility("default")]] int telpher_emu_map(void* address, int exports,
                                                              std::size_t bytes,
                                                              std::size_t chunk_bytes) {
  return telpher::device::emu::map_chunks(address, exports != 0, bytes, chunk_bytes);
}
extern "C" [[gnu::visibility("default")]] int telpher_emu_unmap(void* address, std::size_t bytes) {
  return telpher::device::emu::unmap_chunks(address, bytes);
}

/// Replaces the faults of TELPHER_TEST_EMU_FAULTS; for tests.
extern "C" [[gnu::visibility("default")]] void telpher_emu_faults(const char* text) {
  telpher::device::emu::set_faults(text);
}
