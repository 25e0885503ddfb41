// SPDX-License-Identifier: BSD-3-Clause
// The concept for a vendor's runtime R of gpurt::backend<R>: a struct of types, constants and
// static functions in CUDA's shape, most of them one-line names of vendor calls. CUDA, HIP and the
// emulated device have one each. A missing entry is a compile error that names it. A runtime may
// have further entries, such as write_and_wait, for which gpurt::backend tests.
//
// Functions that can fail return R::error_type (map_for_cpu: a status). None changes the current
// device, except enter and leave. Functions that work on "the current device" are called between
// these two.
#pragma once

#include <concepts>
#include <cstddef>

#include "base/status.hpp"
#include "device/types.hpp"
#include "kernel/kernel.hpp"

namespace telpher::device::gpurt {

template <class R>
concept gpu_runtime = requires(int device, int* number, void* address, void** address_out,
                               const void* source, std::size_t bytes, kernel::id k,
                               std::uint32_t* word, typename R::error_type error,
                               typename R::stream_type stream, typename R::event_type event,
                               typename R::saved_type& saved, ipc_handle& handle,
                               const ipc_handle& wire, pointer_info& info,
                               device_properties& properties) {
  // --- what it is ---
  { R::owner } -> std::convertible_to<vendor>;
  { R::name } -> std::convertible_to<const char*>;

  // --- errors ---
  { R::success } -> std::convertible_to<typename R::error_type>;
  { R::to_status(error) } -> std::same_as<status>;
  { R::error_text(error) } -> std::same_as<const char*>;
  R::clear_error(error);

  // --- the runtime; these start nothing ---
  { R::started() } -> std::same_as<bool>;
  { R::device_count() } -> std::same_as<int>;
  // Ordinal of the calling thread's current device; -1 if it has none.
  { R::current_device() } -> std::same_as<int>;
  // enter makes `device` current and saves the previous one; leave restores it.
  { R::enter(device, saved) } -> std::same_as<typename R::error_type>;
  R::leave(saved);
  { R::properties(device, properties) } -> std::same_as<typename R::error_type>;
  { R::peer_access(device, device) } -> std::same_as<bool>;
  { R::distance_between(device, device) } -> std::same_as<distance>;

  // --- memory ---
  // Fills `info`; an unknown address is host memory and success.
  { R::classify(source, true, info) } -> std::same_as<typename R::error_type>;
  { R::malloc(address_out, bytes) } -> std::same_as<typename R::error_type>;
  { R::malloc_flags(address_out, bytes) } -> std::same_as<typename R::error_type>;
  { R::free(address) } -> std::same_as<typename R::error_type>;
  { R::malloc_pinned(address_out, bytes) } -> std::same_as<typename R::error_type>;
  { R::free_pinned(address) } -> std::same_as<typename R::error_type>;
  { R::malloc_managed(address_out, bytes) } -> std::same_as<typename R::error_type>;
  { R::free_managed(address) } -> std::same_as<typename R::error_type>;
  { R::register_host(address, bytes) } -> std::same_as<typename R::error_type>;
  { R::unregister_host(address) } -> std::same_as<typename R::error_type>;
  { R::ipc_get(handle, address) } -> std::same_as<typename R::error_type>;
  { R::ipc_open(address_out, wire) } -> std::same_as<typename R::error_type>;
  { R::ipc_close(address) } -> std::same_as<typename R::error_type>;
  // map_for_cpu returns not_supported if the CPU cannot access device memory.
  { R::map_for_cpu(info, address_out) } -> std::same_as<status>;
  R::unmap_for_cpu(info, address);
  // Called only for a device that has given a window.
  { R::windows_write_combined(device) } -> std::same_as<bool>;
  R::order_windows(device);

  // --- work ---
  // stream_create is for our own work. Its streams have the highest priority, which keeps them out
  // of the queues of the program's streams if the vendor has queues for each priority.
  { R::stream_create(&stream) } -> std::same_as<typename R::error_type>;
  { R::program_stream_create(&stream) } -> std::same_as<typename R::error_type>;
  { R::stream_destroy(stream) } -> std::same_as<typename R::error_type>;
  { R::stream_synchronise(stream) } -> std::same_as<typename R::error_type>;
  { R::event_create(&event) } -> std::same_as<typename R::error_type>;
  { R::event_destroy(event) } -> std::same_as<typename R::error_type>;
  { R::event_record(event, stream) } -> std::same_as<typename R::error_type>;
  // Called without a current device.
  { R::event_query(event) } -> std::same_as<typename R::error_type>;
  { R::copy(address, source, bytes, stream) } -> std::same_as<typename R::error_type>;
  { R::copy_by_engine(address, source, bytes, stream) } -> std::same_as<typename R::error_type>;
  { R::fill(address, 0, bytes, stream) } -> std::same_as<typename R::error_type>;
  { R::launch(k, source, 1, 1, stream) } -> std::same_as<typename R::error_type>;

  // --- the program's streams ---
  // Called without a current device; fills the stream and its device.
  { R::adopt(address, stream, *number) } -> std::same_as<typename R::error_type>;
  { R::one_for_each_thread(source) } -> std::same_as<bool>;
  { R::is_captured(stream) } -> std::same_as<bool>;
  { R::streams_wait(device) } -> std::same_as<bool>;
  { R::wait_value(stream, word, 0u) } -> std::same_as<typename R::error_type>;
  { R::write_value(stream, word, 0u) } -> std::same_as<typename R::error_type>;
  { R::graphs_hold_words() } -> std::same_as<bool>;
  { R::synchronise_device() } -> std::same_as<typename R::error_type>;
  { R::synchronise_default() } -> std::same_as<typename R::error_type>;
};

/// A runtime with further entries: it exports chunks (pointer_info::is_chunk) as file descriptors.
template <class R>
concept gives_descriptors = requires(int device, int* file, std::span<const int> files,
                                     void* address, void** address_out, chunk_sizes bytes,
                                     const pointer_info& info) {
  { R::descriptor_get(file, info) } -> std::same_as<typename R::error_type>;
  {
    R::descriptors_open(address_out, device, files, bytes)
    } -> std::same_as<typename R::error_type>;
  { R::descriptors_close(address, bytes) } -> std::same_as<typename R::error_type>;
};

}  // namespace telpher::device::gpurt
