// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the wrappers of partitioned communication (MPI 4.0, chapter 4). Telpher serves it
// itself, for host and device memory alike, wherever all ranks of the communicator are of the job:
// a rank cannot know which memory its partner passes. On other communicators the host MPI does,
// with images of device buffers (partitioned_outside.hpp).
#pragma once

#include <functional>
#include <type_traits>

#include "host_mpi/host_mpi.hpp"

namespace telpher::partitioned {

struct init_args {
  const char* call;
  void* buffer;
  int partitions;
  MPI_Count count;  // of elements in a partition
  MPI_Datatype type;
  int peer;  // rank of `comm`
  int tag;
  MPI_Comm comm;
  MPI_Info info = MPI_INFO_NULL;
  bool whole = false;  // one partition, which is ready when the request is started
};

using host_call = std::function<int()>;

template <class Function>
struct second_parameter;
template <class R, class A, class B, class... More>
struct second_parameter<R(A, B, More...)> {
  using type = B;
};
#if TELPHER_HOST_HAS_Pready_list
/// What MPI_Pready_list's list consists of: some hosts' declaration lacks the const.
using listed_partition = std::remove_pointer_t<second_parameter<decltype(PMPI_Pready_list)>::type>;
#endif

/// In MPI_Init and MPI_Finalize, collective over the job: the private communicator.
int start() noexcept;
void stop() noexcept;

int send_init(const init_args& a, MPI_Request* request, const host_call& host) noexcept;
int recv_init(const init_args& a, MPI_Request* request, const host_call& host) noexcept;
int ready_range(const char* call, int low, int high, MPI_Request request,
                const host_call& host) noexcept;
int ready_list(const char* call, int length, const int partitions[], MPI_Request request,
               const host_call& host) noexcept;
int arrived(const char* call, MPI_Request request, int partition, int* flag,
            const host_call& host) noexcept;

}  // namespace telpher::partitioned
