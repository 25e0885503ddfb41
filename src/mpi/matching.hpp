// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives that are matched once and run in streams: telpher_match, and what the calls
// that start and wait in streams do with such requests (path/matched.hpp moves the bytes).
//
// The requests are partitioned ones (partitioned_request.hpp): of these both ends know which send
// meets which receive before any message of the program. Those of telpher_matched_send_init and
// telpher_matched_recv_init have one partition, which is ready with the start. telpher_match
// settles for each pair whether it is matched. If it is, the devices move the bytes alone, or, for
// partitions that go to another node, with the relay (far_partitions.hpp). The ranks settle it by
// notes:
//   sender    invitation: its room, the bytes of a message, whether it could serve
//   receiver  answer: its room, whether it could serve and has opened the sender's
//   sender    verdict: whether it has opened the receiver's
// So both ends know whether the pair is matched. If it is not, both start and wait as for any
// partitioned request. Notes (cards) travel on the private communicator of partitioned
// communication. A rank that waits for a note takes whichever come, and keeps those for requests
// that it has still to match.
#pragma once

#include <vector>

#include "mpi/partitioned.hpp"

namespace telpher::partitioned {

int match(const char* call, int count, const MPI_Request requests[]) noexcept;

/// Starts those of the requests that were matched, in the stream; `others` gets the rest.
int start_matched(const char* call, int count, const MPI_Request requests[], void* native,
                  std::vector<MPI_Request>& others) noexcept;

/// The same for a wait; `others` gets the places of the rest.
int wait_matched(const char* call, int count, const MPI_Request requests[], MPI_Status* statuses,
                 void* native, std::vector<int>& others) noexcept;

/// Marks a partition ready in the order of a stream. `served` is false for a request that was not
/// matched.
int ready_in_stream(const char* call, int partition, MPI_Request request, void* native,
                    bool& served) noexcept;

/// What kernels get of a partitioned request that was matched.
int handle_for_kernels(const char* call, MPI_Request request, const void** handle) noexcept;

/// When the job starts, and before the host MPI's end.
void start_cards() noexcept;
void forget_cards() noexcept;

}  // namespace telpher::partitioned
