// SPDX-License-Identifier: BSD-3-Clause
// The device interface. Everything that depends on what a GPU can do goes through it.
//
// A `backend` is one vendor's runtime as this process sees it, with the devices it shows. One
// process may have several. device/registry opens back ends. Nothing outside src/device names a
// vendor, a vendor's type or a vendor's call.
//
// Rules for every implementation:
// - After each call the program's current device and context are what they were before.
// - No call starts a runtime that the program has not started, except calls that allocate or create
//   an object on a device (they start it on that device).
// - Streams are our own and do not synchronise with the default stream. Copies and launches are
//   ordered within a stream only. `query` returns would_block until all work before it is done and
//   visible to the host and to other devices.
// - Addresses are unified: a copy needs no direction. The pointer that ipc_open returns may be used
//   in copies and kernels on the device it was opened for.
// - A failed vendor call is logged once, here, with the vendor's text; the caller gets a status.
//   The vendor's sticky error is cleared. `not_supported` is not an error and is not logged.
// - All functions are thread-safe.
// - Nothing throws. Calls during or after process exit do nothing and return device_error.
#pragma once

#include "base/status.hpp"
#include "device/types.hpp"
#include "kernel/kernel.hpp"

namespace telpher::device {

class backend {
 public:
  virtual ~backend() = default;

  // --- identity ---
  virtual vendor owner() const noexcept = 0;
  virtual const char* name() const noexcept = 0;  // "cuda", "hip", "sycl", "emu"
  virtual int device_count() noexcept = 0;
  virtual status properties(int device, device_properties& out) noexcept = 0;
  /// Whether copies between the two devices go directly, and whether memory of `peer` can be opened
  /// for `device`. Enables nothing: a kernel reaches a peer's memory only through an address from
  /// ipc_open.
  virtual bool peer_access(int device, int peer) noexcept = 0;
  virtual distance distance_between(int device, int peer) noexcept = 0;

  // --- the program's memory ---
  /// True once the program (or we) started the runtime. Before that every pointer is host memory.
  virtual bool started() noexcept = 0;
  /// Looks an address up. Memory that the runtime does not know is host memory, not an error. If
  /// `detail` is false, only kind, owner and device are filled, at the least cost.
  virtual status classify(const void* address, bool detail, pointer_info& out) noexcept = 0;
  /// Copies of the program's that it has made to this memory are over: those before (a bounded
  /// wait), and from here on each when it returns. For memory of the program's that a call names;
  /// `about` is what classify answered. `may_wait`: for all that runs on the device, once. Else
  /// only those before are over.
  virtual void settle([[maybe_unused]] const pointer_info& about,
                      [[maybe_unused]] bool may_wait) noexcept {}
  /// Whether device memory may lie in the program's own heap, as with a CPU device. Addresses in
  /// the heap must then be looked up like any other. Called for each such address.
  virtual bool allocates_from_heap() noexcept { return false; }
  /// Whether this process has used the device. To use another one may take much of its memory.
  virtual bool in_use([[maybe_unused]] int device) noexcept { return true; }
  /// Makes the memory of a queue's context known. `queue` is a vendor object and stays the
  /// program's. Only for runtimes whose memory belongs to contexts that cannot be found otherwise
  /// (SYCL).
  virtual status adopt_queue([[maybe_unused]] const void* queue) noexcept {
    return status::not_supported;
  }

  /// Whether the program has destroyed what this process had on a device (cudaDeviceReset), pinned
  /// memory too. If so, the devices are asked for nothing from here on.
  virtual bool was_reset() noexcept { return false; }

  // --- our memory ---
  virtual result<void*> allocate(int device, std::size_t bytes) noexcept = 0;
  virtual status release(int device, void* address) noexcept = 0;
  /// Device memory for words that other devices or the CPU poll while kernels run. No
  /// cache hides a write to it from the others. Freed by release().
  virtual result<void*> allocate_flags(int device, std::size_t bytes) noexcept {
    return allocate(device, bytes);
  }
  virtual result<void*> allocate_pinned(std::size_t bytes) noexcept = 0;
  virtual status release_pinned(void* address) noexcept = 0;
  /// Makes existing page-aligned host memory accessible to all devices at its own address.
  virtual status register_host(void* address, std::size_t bytes) noexcept = 0;
  virtual status unregister_host(void* address) noexcept = 0;
  /// Whether the device's processors are the host's, so that kernels and copies use registered host
  /// memory as they use device memory. A registered shared segment can then stand in for device
  /// memory that peers can open.
  virtual bool shares_host_memory([[maybe_unused]] int device) noexcept { return false; }
  /// Managed memory, for tests and the public C API.
  virtual result<void*> allocate_managed(std::size_t bytes) noexcept = 0;
  virtual status release_managed(void* address) noexcept = 0;

  // --- work ---
  virtual result<stream> create_stream(int device) noexcept = 0;
  /// A stream for the program to use: an ordinary one of the vendor's. Devices run only so many
  /// streams side by side; others stand behind each other's work. Ours have queues of their own
  /// where the vendor can keep them apart, so that none stands behind a stream of the program's
  /// that waits for us.
  virtual result<stream> create_program_stream(int device) noexcept {
    return create_stream(device);
  }
  virtual void destroy_stream(stream s) noexcept = 0;
  virtual result<event> create_event(int device) noexcept = 0;
  virtual void destroy_event(event e) noexcept = 0;
  virtual status record(event e, stream s) noexcept = 0;
  /// ok when all work before the last record is done, else would_block.
  virtual status query(event e) noexcept = 0;
  virtual status synchronise(stream s) noexcept = 0;
  virtual status copy(void* to, const void* from, std::size_t bytes, stream s) noexcept = 0;
  virtual status fill(void* to, int byte, std::size_t bytes, stream s) noexcept = 0;
  /// Launches one of Telpher's kernels. `parameters` is the kernel's parameter struct; it is copied
  /// before the call returns. The grid is one-dimensional.
  virtual status launch(kernel::id k, const void* parameters, int blocks, int threads,
                        stream s) noexcept = 0;
  /// Makes a kernel ready to launch. This may take seconds if the kernel is compiled in this
  /// process (SYCL). not_supported if the kernel does not exist, so that launching it would fail.
  virtual status prepare([[maybe_unused]] int device, [[maybe_unused]] kernel::id k) noexcept {
    return status::ok;
  }
  /// Whether a running kernel may wait for writes of the host or another device. If not, the
  /// kernels that wait do not exist, and programs for an exchange kernel may only contain
  /// reductions of plain memory.
  virtual bool kernels_may_wait([[maybe_unused]] int device) noexcept { return true; }
  /// Called before kernels or streams of the device wait for us, and while none is captured: does
  /// what would wait for all that runs there, if it were first done then.
  virtual void before_waits([[maybe_unused]] int device) noexcept {}
  /// Whether 128 aligned bytes that a warp stores in one access arrive whole in memory of `peer`
  /// (kernel/exchange_lines.hpp).
  virtual bool delivers_lines([[maybe_unused]] int device, [[maybe_unused]] int peer) noexcept {
    return false;
  }
  /// Whether the blocks of one launch may wait for each other.
  virtual bool blocks_run_together([[maybe_unused]] int device) noexcept { return true; }

  // --- other processes' memory ---
  /// A handle for the whole allocation that holds `info.base`; not_supported for memory that cannot
  /// be exported. The caller keeps it (memory/imported.hpp).
  virtual result<ipc_handle> ipc_export(const pointer_info& info) noexcept = 0;
  /// Maps another process's allocation for `device` and returns the address of its first byte. The
  /// same handle must not be open twice for one device. not_supported if the system refuses
  /// (another container, no peer access, the allocation has been freed).
  virtual result<void*> ipc_open(int device, const ipc_handle& handle) noexcept = 0;
  virtual status ipc_close(int device, void* base) noexcept = 0;
  /// The same for a chunk (info.is_chunk) by a file descriptor, which reaches the other process by
  /// other means. The caller closes it; while it is open the chunk's memory is not given back.
  virtual result<int> descriptor_export([[maybe_unused]] const pointer_info& info) noexcept {
    return status::not_supported;
  }
  /// Maps chunks side by side, all or none of them, for work of `device` alone, and returns the
  /// address of the first one's first byte. `bytes`: their sizes, which the exporter's pointer_info
  /// has. The descriptors stay the caller's and may be closed then. Chunks may be open more than
  /// once.
  virtual result<void*> descriptors_open([[maybe_unused]] int device,
                                         [[maybe_unused]] std::span<const int> files,
                                         [[maybe_unused]] chunk_sizes bytes) noexcept {
    return status::not_supported;
  }
  /// Takes the sizes with which it was opened.
  virtual status descriptors_close([[maybe_unused]] int device, [[maybe_unused]] void* base,
                                   [[maybe_unused]] chunk_sizes bytes) noexcept {
    return status::not_supported;
  }

  // --- the CPU's view of device memory ---
  /// An address at which the CPU may load and store the allocation's bytes (large BAR, GDRCopy, the
  /// emulated device's window), valid until unmap_for_cpu. not_supported if there are no windows at
  /// all; another status if this allocation cannot have one.
  virtual result<void*> map_for_cpu(const pointer_info& info) noexcept = 0;
  virtual void unmap_for_cpu(const pointer_info& info, void* window) noexcept = 0;
  /// Whether windows to `device` are write-combined: plain loads of the CPU are slow and must be
  /// streaming loads (memory/window_copy.hpp).
  virtual bool windows_write_combined(int) noexcept { return false; }
  /// Orders the CPU's accesses through windows with the device's own. Called after the CPU's stores
  /// and before its loads.
  virtual void order_windows(int) noexcept {}

  // --- the program's streams ---
  /// A stream of the program's as one of ours, by the vendor's handle: work may be ordered after
  /// its work, and its work after ours. Null is the default stream of the calling thread's device.
  /// The object ends by disown_stream; the stream stays the program's.
  virtual result<stream> adopt_stream([[maybe_unused]] void* native,
                                      [[maybe_unused]] int& device) noexcept {
    return status::not_supported;
  }
  virtual void disown_stream([[maybe_unused]] stream s) noexcept {}
  /// Whether the handle names a different stream in each thread (CUDA's per-thread default stream).
  virtual bool one_for_each_thread([[maybe_unused]] const void* native) noexcept { return false; }
  /// Whether what is given to the stream is recorded for a graph now and does not run.
  virtual bool is_captured([[maybe_unused]] stream s) noexcept { return false; }
  /// Whether wait_value and write_value serve streams of the device.
  virtual bool streams_wait([[maybe_unused]] int device) noexcept { return false; }
  /// What is given to the stream later begins when the word in pinned memory is `value` or more.
  /// CUDA compares by the sign of the difference and others without a sign, so values stay below
  /// 2^31. The wait occupies no processor of the device if the vendor can do without.
  virtual status wait_value([[maybe_unused]] stream s, [[maybe_unused]] std::uint32_t* word,
                            [[maybe_unused]] std::uint32_t value) noexcept {
    return status::not_supported;
  }
  /// Writes the word when the work before it is done and visible to the host.
  virtual status write_value([[maybe_unused]] stream s, [[maybe_unused]] std::uint32_t* word,
                             [[maybe_unused]] std::uint32_t value) noexcept {
    return status::not_supported;
  }
  /// The two in one call, where the vendor has one: writes `written`, then waits for `awaited`.
  virtual status write_and_wait([[maybe_unused]] stream s, [[maybe_unused]] std::uint32_t* written,
                                [[maybe_unused]] std::uint32_t* awaited,
                                [[maybe_unused]] std::uint32_t value) noexcept {
    return status::not_supported;
  }
  /// Whether graphs hold write_value and wait_value; else a kernel does the same there.
  virtual bool graphs_hold_words() noexcept { return true; }
  /// To be called while the stream is captured. When the graph and all that was made of it are
  /// gone, some thread calls `let_go(object)`, which must not call the vendor. not_supported if
  /// graphs cannot do that.
  virtual status keep_for_graph([[maybe_unused]] stream s, [[maybe_unused]] void* object,
                                [[maybe_unused]] void (*let_go)(void*)) noexcept {
    return status::not_supported;
  }
  /// synchronise_device waits for all work of the device. synchronise_default waits for that of its
  /// default stream, and of the calling thread's own one if there is such; it does nothing while a
  /// capture forbids to ask.
  virtual status synchronise_device([[maybe_unused]] int device) noexcept {
    return status::not_supported;
  }
  virtual status synchronise_default([[maybe_unused]] int device) noexcept {
    return status::not_supported;
  }

  // --- the vendor's own libraries ---
  /// Those that take this vendor's memory and streams.
  virtual vendor_libraries libraries() noexcept { return {}; }
  /// The vendor's handle of a stream, for its libraries; null if they take none.
  virtual void* native_stream([[maybe_unused]] stream s) noexcept { return nullptr; }
  /// Calls `work` while `device` is current; for calls of such a library.
  virtual status call_with([[maybe_unused]] int device, [[maybe_unused]] void (*work)(void*),
                           [[maybe_unused]] void* argument) noexcept {
    return status::not_supported;
  }

  // --- where kernels are functions of this process: the emulated device ---
  /// The address at which a kernel finds the bytes of `address`. They differ only there.
  virtual void* kernel_address(void* address) noexcept { return address; }
  /// Launches a kernel of the program's. Its blocks are called one after the other. `parameters`
  /// are copied before the call returns.
  virtual status launch_function([[maybe_unused]] block_function run,
                                 [[maybe_unused]] const void* parameters,
                                 [[maybe_unused]] std::size_t bytes,
                                 [[maybe_unused]] unsigned blocks,
                                 [[maybe_unused]] stream s) noexcept {
    return status::not_supported;
  }
};

}  // namespace telpher::device
