// SPDX-License-Identifier: BSD-3-Clause
// How a send goes out: as it is, by ticket, or as raw bytes copied from the device.
#pragma once

#include <memory>
#include <optional>

#include "base/short_way.hpp"
#include "mpi/request_kinds.hpp"
#include "mpi/pt2pt.hpp"

namespace telpher::mpi {

/// What a send's buffer turned out to be. Host memory, no bytes and MPI_PROC_NULL are the host
/// MPI's.
struct outgoing {
  const datatype::layout* layout = nullptr;
  memory::place where;
  device::pointer_info info;  // of a device buffer
  memory::cached_pointer cached;
  bool may_wait = false;  // the call returns when the message is complete
  bool mixed = false;     // its blocks lie in several kinds of memory
  bool on_device() const noexcept { return mixed || where.on_device(); }
};
/// Recognises most host buffers by their address alone. An element's bytes lie in the same memory
/// as the address that it is given by. Sends of them are the host MPI's own.
[[gnu::always_inline]] inline bool stays_on_host(const void* buffer) noexcept {
  return short_way::open_to_all_threads() && memory::known_host(buffer);
}
/// The same where the host MPI may block: nothing of ours may be under way.
[[gnu::always_inline]] inline bool may_stay_on_host(const void* buffer) noexcept {
  return short_way::open() && ticket::progress().idle() && memory::known_host(buffer);
}
outgoing inspect(const pt2pt::send_args& a) noexcept;

/// Starts the send of a device buffer; null and an MPI error code in `rc` on failure.
/// `for_program`: the operation carries a request.
std::unique_ptr<request_object> start_device_send(const pt2pt::send_args& a, outgoing&& o,
                                                  bool for_program, int* rc) noexcept;

/// MPI_SUCCESS, or the error that the host MPI raises for the arguments of a send that is not
/// started yet.
int check_arguments(const pt2pt::send_args& a) noexcept;

/// PMPI's send of the mode, with the form that fits the count.
int host_send(const pt2pt::send_args& a) noexcept;
int host_isend(const pt2pt::send_args& a, MPI_Request* request) noexcept;
int host_send_init(const pt2pt::send_args& a, MPI_Request* request) noexcept;
int host_recv_init(const pt2pt::receive_args& a, MPI_Request* request) noexcept;

/// A contiguous copy of what a replace call sends, in memory of the same kind.
struct detached_bytes {
  path::region payload;
  memory::buffer keep;
};
std::optional<detached_bytes> detach_bytes(const pt2pt::send_args& a, int* rc) noexcept;
std::unique_ptr<request_object> start_detached(const pt2pt::send_args& a, detached_bytes&& bytes,
                                               int* rc) noexcept;

}  // namespace telpher::mpi
