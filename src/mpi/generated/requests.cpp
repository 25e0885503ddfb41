// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Completion of requests (chapter 3),
// in the sections of MPI 4.0.
#include "mpi/completion.hpp"
#include "mpi/entry.hpp"
#include "mpi/names.hpp"
#include "mpi/requests.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Wait(MPI_Request* request, MPI_Status* status) {
  if (!entry::active()) return pmpi::Wait(request, status);
  return requests::wait(request, status);
}
TELPHER_MPI_OF_REQUESTS(Wait, (MPI_Request* request, MPI_Status* status), (request, status),
                        (1, request)) {
  if (requests::none_of_ours()) [[likely]]
    return requests::wait_at_once(request, status);
  return slow_Wait(request, status);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!entry::active()) return pmpi::Test(request, flag, status);
  return requests::test(request, flag, status);
}
TELPHER_MPI_OF_REQUESTS(Test, (MPI_Request* request, int* flag, MPI_Status* status),
                        (request, flag, status), (1, request)) {
  if (requests::none_of_ours()) [[likely]]
    return requests::test_at_once(request, flag, status);
  return slow_Test(request, flag, status);
}

// 3.7 Nonblocking communication
TELPHER_MPI_OF_REQUESTS(Request_free, (MPI_Request* request), (request), (1, request)) {
  if (!entry::active()) return pmpi::Request_free(request);
  return requests::free(request);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Waitany(int count, MPI_Request array_of_requests[], int* index,
                                          MPI_Status* status) {
  if (!entry::active()) return pmpi::Waitany(count, array_of_requests, index, status);
  return requests::waitany(count, array_of_requests, index, status);
}
TELPHER_MPI_OF_REQUESTS(Waitany,
                        (int count, MPI_Request array_of_requests[], int* index,
                         MPI_Status* status), (count, array_of_requests, index, status),
                        (count, array_of_requests)) {
  if (requests::none_of_ours()) [[likely]]
    return requests::waitany_at_once(count, array_of_requests, index, status);
  return slow_Waitany(count, array_of_requests, index, status);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Testany(int count, MPI_Request array_of_requests[], int* index,
                                          int* flag, MPI_Status* status) {
  if (!entry::active()) return pmpi::Testany(count, array_of_requests, index, flag, status);
  return requests::testany(count, array_of_requests, index, flag, status);
}
TELPHER_MPI_OF_REQUESTS(Testany,
                        (int count, MPI_Request array_of_requests[], int* index, int* flag,
                         MPI_Status* status), (count, array_of_requests, index, flag, status),
                        (count, array_of_requests)) {
  if (requests::none_of_ours()) [[likely]]
    return requests::testany_at_once(count, array_of_requests, index, flag, status);
  return slow_Testany(count, array_of_requests, index, flag, status);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Waitall(int count, MPI_Request array_of_requests[],
                                          MPI_Status array_of_statuses[]) {
  if (!entry::active()) return pmpi::Waitall(count, array_of_requests, array_of_statuses);
  return requests::waitall(count, array_of_requests, array_of_statuses);
}
TELPHER_MPI_OF_REQUESTS(Waitall,
                        (int count, MPI_Request array_of_requests[],
                         MPI_Status array_of_statuses[]),
                        (count, array_of_requests, array_of_statuses), (count, array_of_requests)) {
  if (requests::none_of_ours()) [[likely]]
    return requests::waitall_at_once(count, array_of_requests, array_of_statuses);
  return slow_Waitall(count, array_of_requests, array_of_statuses);
}

// 3.7 Nonblocking communication
[[gnu::noinline]] static int slow_Testall(int count, MPI_Request array_of_requests[], int* flag,
                                          MPI_Status array_of_statuses[]) {
  if (!entry::active()) return pmpi::Testall(count, array_of_requests, flag, array_of_statuses);
  return requests::testall(count, array_of_requests, flag, array_of_statuses);
}
TELPHER_MPI_OF_REQUESTS(Testall,
                        (int count, MPI_Request array_of_requests[], int* flag,
                         MPI_Status array_of_statuses[]),
                        (count, array_of_requests, flag, array_of_statuses),
                        (count, array_of_requests)) {
  if (requests::none_of_ours()) [[likely]]
    return requests::testall_at_once(count, array_of_requests, flag, array_of_statuses);
  return slow_Testall(count, array_of_requests, flag, array_of_statuses);
}

// 3.7 Nonblocking communication
TELPHER_MPI_OF_REQUESTS(Waitsome,
                        (int incount, MPI_Request array_of_requests[], int* outcount,
                         int array_of_indices[], MPI_Status array_of_statuses[]),
                        (incount, array_of_requests, outcount, array_of_indices, array_of_statuses),
                        (incount, array_of_requests)) {
  if (!entry::active())
    return pmpi::Waitsome(incount, array_of_requests, outcount, array_of_indices,
                          array_of_statuses);
  return requests::waitsome(incount, array_of_requests, outcount, array_of_indices,
                            array_of_statuses);
}

// 3.7 Nonblocking communication
TELPHER_MPI_OF_REQUESTS(Testsome,
                        (int incount, MPI_Request array_of_requests[], int* outcount,
                         int array_of_indices[], MPI_Status array_of_statuses[]),
                        (incount, array_of_requests, outcount, array_of_indices, array_of_statuses),
                        (incount, array_of_requests)) {
  if (!entry::active())
    return pmpi::Testsome(incount, array_of_requests, outcount, array_of_indices,
                          array_of_statuses);
  return requests::testsome(incount, array_of_requests, outcount, array_of_indices,
                            array_of_statuses);
}

// 3.7 Nonblocking communication
TELPHER_MPI_OF_REQUESTS(Request_get_status, (MPI_Request request, int* flag, MPI_Status* status),
                        (request, flag, status), (1, &request)) {
  if (!entry::active()) return pmpi::Request_get_status(request, flag, status);
  return requests::get_status(request, flag, status);
}

// 3.8 Probe and cancel
TELPHER_MPI_OF_REQUESTS(Cancel, (MPI_Request* request), (request), (1, request)) {
  if (!entry::active()) return pmpi::Cancel(request);
  return requests::cancel(request);
}

// 3.9 Persistent communication requests
TELPHER_MPI_OF_REQUESTS(Start, (MPI_Request* request), (request), (1, request)) {
  if (!entry::active()) return pmpi::Start(request);
  return requests::start(request);
}

// 3.9 Persistent communication requests
TELPHER_MPI_OF_REQUESTS(Startall, (int count, MPI_Request array_of_requests[]),
                        (count, array_of_requests), (count, array_of_requests)) {
  if (!entry::active()) return pmpi::Startall(count, array_of_requests);
  return requests::startall(count, array_of_requests);
}

#if TELPHER_HOST_HAS_Request_get_status_any  // MPI 4.1

// 3.7 Nonblocking communication
TELPHER_MPI_OF_REQUESTS(Request_get_status_any,
                        (int count, const MPI_Request array_of_requests[], int* index, int* flag,
                         MPI_Status* status), (count, array_of_requests, index, flag, status),
                        (count, array_of_requests)) {
  if (!entry::active())
    return pmpi::Request_get_status_any(count, array_of_requests, index, flag, status);
  return requests::get_status_any(count, array_of_requests, index, flag, status);
}

// 3.7 Nonblocking communication
TELPHER_MPI_OF_REQUESTS(Request_get_status_all,
                        (int count, const MPI_Request array_of_requests[], int* flag,
                         MPI_Status array_of_statuses[]),
                        (count, array_of_requests, flag, array_of_statuses),
                        (count, array_of_requests)) {
  if (!entry::active())
    return pmpi::Request_get_status_all(count, array_of_requests, flag, array_of_statuses);
  return requests::get_status_all(count, array_of_requests, flag, array_of_statuses);
}

// 3.7 Nonblocking communication
TELPHER_MPI_OF_REQUESTS(Request_get_status_some,
                        (int incount, const MPI_Request array_of_requests[], int* outcount,
                         int array_of_indices[], MPI_Status array_of_statuses[]),
                        (incount, array_of_requests, outcount, array_of_indices, array_of_statuses),
                        (incount, array_of_requests)) {
  if (!entry::active())
    return pmpi::Request_get_status_some(incount, array_of_requests, outcount, array_of_indices,
                                         array_of_statuses);
  return requests::get_status_some(incount, array_of_requests, outcount, array_of_indices,
                                   array_of_statuses);
}

#endif  // TELPHER_HOST_HAS_Request_get_status_any

}  // extern "C"
