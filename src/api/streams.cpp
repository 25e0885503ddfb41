// SPDX-License-Identifier: BSD-3-Clause
// telpher.h: streams of the program, and work in their order; kernels of the emulated device.
#include <mutex>
#include <unordered_map>

#include "api/api.hpp"
#include "device/adopted_stream.hpp"

namespace {

using telpher::status;
using telpher::api::current_device;
using telpher::api::error_code;
using telpher::device::active_backend;
using telpher::device::adopted_stream;
using telpher::device::backend;
using telpher::device::stream;

/// The code of `work(back end, stream)` in one of the program's streams.
template <class Work>
int run_in(void* native, const Work& work) {
  const adopted_stream s(native);
  if (!s.owner()) return TELPHER_ERR_NO_DEVICE;
  return error_code(s.get() ? work(*s.owner(), *s.get()) : s.get().error());
}

// What telpher_stream_create made, by the vendor's handle.
struct stream_table {
  struct record {
    backend* owner;
    stream made;
  };
  std::mutex mutex;
  std::unordered_map<void*, record> records;
};

stream_table& created_streams() {
  static auto* table = new stream_table;
  return *table;
}

}  // namespace

extern "C" {

int telpher_stream_create(void** made) {
  if (!made) return TELPHER_ERR_ARGUMENT;
  backend* const owner = active_backend();
  if (!owner) return TELPHER_ERR_NO_DEVICE;
  const auto s = owner->create_program_stream(current_device(owner->device_count()));
  if (!s) return error_code(s.error());
  void* const native = owner->native_stream(*s);
  if (!native) {
    owner->destroy_stream(*s);
    return TELPHER_ERR_UNSUPPORTED;
  }
  std::lock_guard lock(created_streams().mutex);
  created_streams().records[native] = {owner, *s};
  *made = native;
  return TELPHER_SUCCESS;
}

int telpher_stream_destroy(void* gone) {
  stream_table::record found;
  {
    std::lock_guard lock(created_streams().mutex);
    const auto at = created_streams().records.find(gone);
    if (at == created_streams().records.end()) return TELPHER_ERR_ARGUMENT;
    found = at->second;
    created_streams().records.erase(at);
  }
  found.owner->destroy_stream(found.made);
  return TELPHER_SUCCESS;
}

int telpher_stream_synchronize(void* waited) {
  return run_in(waited, [](backend& b, stream s) { return b.synchronise(s); });
}

int telpher_memcpy_async(void* to, const void* from, size_t bytes, void* in) {
  if (bytes == 0) return TELPHER_SUCCESS;
  if (!to || !from) return TELPHER_ERR_ARGUMENT;
  return run_in(in, [&](backend& b, stream s) { return b.copy(to, from, bytes, s); });
}

int telpher_memset_async(void* to, int byte, size_t bytes, void* in) {
  if (bytes == 0) return TELPHER_SUCCESS;
  if (!to) return TELPHER_ERR_ARGUMENT;
  return run_in(in, [&](backend& b, stream s) { return b.fill(to, byte, bytes, s); });
}

int telpher_stream_wait_value(void* in, uint32_t* word, uint32_t value) {
  if (!word) return TELPHER_ERR_ARGUMENT;
  return run_in(in, [&](backend& b, stream s) { return b.wait_value(s, word, value); });
}

int telpher_stream_write_value(void* in, uint32_t* word, uint32_t value) {
  if (!word) return TELPHER_ERR_ARGUMENT;
  return run_in(in, [&](backend& b, stream s) { return b.write_value(s, word, value); });
}

int telpher_emulated_launch(void (*kernel)(const void*, unsigned, unsigned), const void* parameters,
                            size_t bytes, unsigned blocks, void* in) {
  if (!kernel || (!parameters && bytes > 0)) return TELPHER_ERR_ARGUMENT;
  return run_in(in, [&](backend& b, stream s) {
    return b.launch_function(kernel, parameters, bytes, blocks, s);
  });
}

}  // extern "C"
