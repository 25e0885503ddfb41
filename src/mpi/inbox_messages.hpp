// SPDX-License-Identifier: BSD-3-Clause
// Messages that go from stream to stream through an inbox (stream_messages.hpp has the protocol).
// Each function returns MPI's code, or nothing where the message cannot go that way: then nothing
// was done.
#pragma once

#include <optional>
#include <vector>

#include "mpi/pt2pt.hpp"

namespace telpher::mpi {

/// With a `request` (not null) the program waits for the message later, by wait_through_inbox or in
/// any other way.
std::optional<int> send_through_inbox(const pt2pt::send_args& a, MPI_Request* request,
                                      void* native) noexcept;
std::optional<int> receive_through_inbox(const pt2pt::receive_args& a, MPI_Status* status,
                                         MPI_Request* request, void* native) noexcept;
std::optional<int> sendrecv_through_inbox(const pt2pt::send_args& s, const pt2pt::receive_args& r,
                                          MPI_Status* status, void* native) noexcept;

/// Starts persistent requests, from the first one on up to one that cannot go that way, and takes
/// what it has started out of `requests`. Returns MPI's code.
int start_through_inbox(const char* call, std::vector<MPI_Request>& requests,
                        void* native) noexcept;

}  // namespace telpher::mpi
