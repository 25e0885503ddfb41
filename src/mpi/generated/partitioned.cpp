// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Partitioned point-to-point communication (chapter 4),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"
#include "mpi/names.hpp"
#include "mpi/partitioned.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

#if TELPHER_HOST_HAS_Psend_init  // MPI 4.0

// 4.2 Partitioned communication
TELPHER_MPI(Psend_init,
            (const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
             int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (buf, partitions, count, datatype, dest, tag, comm, info, request)) {
  if (!entry::active())
    return pmpi::Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
  return partitioned::send_init({"MPI_Psend_init", const_cast<void*>(buf), partitions, count,
                                 datatype, dest, tag, comm, info}, request,
                                [&] { return pmpi::Psend_init(buf, partitions, count, datatype,
                                                              dest, tag, comm, info, request); });
}

// 4.2 Partitioned communication
TELPHER_MPI(Precv_init,
            (void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (buf, partitions, count, datatype, source, tag, comm, info, request)) {
  if (!entry::active())
    return pmpi::Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
  return partitioned::recv_init({"MPI_Precv_init", buf, partitions, count, datatype, source, tag,
                                 comm, info}, request,
                                [&] { return pmpi::Precv_init(buf, partitions, count, datatype,
                                                              source, tag, comm, info, request); });
}

// 4.2 Partitioned communication
TELPHER_MPI_OF_REQUESTS(Pready, (int partition, MPI_Request request), (partition, request),
                        (1, &request)) {
  if (!entry::active()) return pmpi::Pready(partition, request);
  return partitioned::ready_range("MPI_Pready", partition, partition, request,
                                  [&] { return pmpi::Pready(partition, request); });
}

// 4.2 Partitioned communication
TELPHER_MPI_OF_REQUESTS(Pready_range, (int partition_low, int partition_high, MPI_Request request),
                        (partition_low, partition_high, request), (1, &request)) {
  if (!entry::active()) return pmpi::Pready_range(partition_low, partition_high, request);
  return partitioned::ready_range("MPI_Pready_range", partition_low, partition_high, request,
                                  [&] { return pmpi::Pready_range(partition_low, partition_high,
                                                                  request); });
}

// 4.2 Partitioned communication
TELPHER_MPI_OF_REQUESTS(Pready_list,
                        (int length, partitioned::listed_partition array_of_partitions[],
                         MPI_Request request), (length, array_of_partitions, request),
                        (1, &request)) {
  if (!entry::active()) return pmpi::Pready_list(length, array_of_partitions, request);
  return partitioned::ready_list("MPI_Pready_list", length, array_of_partitions, request,
                                 [&] { return pmpi::Pready_list(length, array_of_partitions,
                                                                request); });
}

// 4.2 Partitioned communication
TELPHER_MPI_OF_REQUESTS(Parrived, (MPI_Request request, int partition, int* flag),
                        (request, partition, flag), (1, &request)) {
  if (!entry::active()) return pmpi::Parrived(request, partition, flag);
  return partitioned::arrived("MPI_Parrived", request, partition, flag,
                              [&] { return pmpi::Parrived(request, partition, flag); });
}

#endif  // TELPHER_HOST_HAS_Psend_init

}  // extern "C"
