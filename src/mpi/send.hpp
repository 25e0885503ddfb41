// SPDX-License-Identifier: BSD-3-Clause
// How a send goes out: as it is, by ticket, or as raw bytes copied from the device.
#pragma once

#include <memory>
#include <optional>

#include "mpi/operations.hpp"
#include "mpi/pt2pt.hpp"

namespace telpher::mpi {

/// Nothing of ours to do: host memory, no bytes, or MPI_PROC_NULL.
bool is_host_send(const pt2pt::send_args& a) noexcept;

/// PMPI's send of the mode, with the form that fits the count.
int host_send(const pt2pt::send_args& a) noexcept;
int host_isend(const pt2pt::send_args& a, MPI_Request* request) noexcept;
int host_send_init(const pt2pt::send_args& a, MPI_Request* request) noexcept;

/// A contiguous copy of what a replace call sends, in memory of the same kind.
struct detached_bytes {
  path::region payload;
  memory::buffer keep;
};
std::optional<detached_bytes> detach_bytes(const pt2pt::replace_args& a, int* rc) noexcept;
std::unique_ptr<operation> start_detached(const pt2pt::replace_args& a, detached_bytes&& bytes,
                                          int* rc) noexcept;

}  // namespace telpher::mpi
