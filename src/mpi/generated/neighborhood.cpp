// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Neighborhood collective communication on process topologies (chapter 8),
// in the sections of MPI 4.0.
#include "coll/host_collective.hpp"
#include "mpi/by_messages.hpp"
#include "mpi/entry.hpp"
#include "mpi/names.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_allgather,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (!entry::active())
    return pmpi::Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_allgather", comm,
                                          mpi::by_messages::neighbor_allgather(sendbuf, sendcount,
                                                                               sendtype, recvbuf,
                                                                               recvcount, recvtype),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_allgather", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.run([&] {
    return pmpi::Neighbor_allgather(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_allgather,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                     comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_allgather", comm,
                                            mpi::by_messages::neighbor_allgather(sendbuf, sendcount,
                                                                                 sendtype, recvbuf,
                                                                                 recvcount,
                                                                                 recvtype), request,
                                            &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_allgather", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.start(request, [&] {
    return pmpi::Ineighbor_allgather(s, sendcount, sendtype, r, recvcount, recvtype, comm, request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_allgatherv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)) {
  if (!entry::active())
    return pmpi::Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                     recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_allgatherv", comm,
                                          mpi::by_messages::neighbor_allgatherv(sendbuf, sendcount,
                                                                                sendtype, recvbuf,
                                                                                recvcounts, displs,
                                                                                recvtype), &code))
    return code;
  coll::host_collective call("MPI_Neighbor_allgatherv", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, displs, recvtype));
  return call.run([&] {
    return pmpi::Neighbor_allgatherv(s, sendcount, sendtype, r, recvcounts, displs, recvtype, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_allgatherv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                      recvtype, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_allgatherv", comm,
                                            mpi::by_messages::neighbor_allgatherv(sendbuf,
                                                                                  sendcount,
                                                                                  sendtype, recvbuf,
                                                                                  recvcounts,
                                                                                  displs, recvtype),
                                            request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_allgatherv", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, displs, recvtype));
  return call.start(request, [&] {
    return pmpi::Ineighbor_allgatherv(s, sendcount, sendtype, r, recvcounts, displs, recvtype, comm,
                                      request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_alltoall,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                   comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_alltoall", comm,
                                          mpi::by_messages::neighbor_alltoall(sendbuf, sendcount,
                                                                              sendtype, recvbuf,
                                                                              recvcount, recvtype),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_alltoall", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.out_degree()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.run([&] {
    return pmpi::Neighbor_alltoall(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_alltoall,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_alltoall", comm,
                                            mpi::by_messages::neighbor_alltoall(sendbuf, sendcount,
                                                                                sendtype, recvbuf,
                                                                                recvcount,
                                                                                recvtype), request,
                                            &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_alltoall", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.out_degree()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.start(request, [&] {
    return pmpi::Ineighbor_alltoall(s, sendcount, sendtype, r, recvcount, recvtype, comm, request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_alltoallv,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
             MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
             comm)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                    rdispls, recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_alltoallv", comm,
                                          mpi::by_messages::neighbor_alltoallv(sendbuf, sendcounts,
                                                                               sdispls, sendtype,
                                                                               recvbuf, recvcounts,
                                                                               rdispls, recvtype),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_alltoallv", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtype));
  return call.run([&] {
    return pmpi::Neighbor_alltoallv(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                    recvtype, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_alltoallv,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                     rdispls, recvtype, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_alltoallv", comm,
                                            mpi::by_messages::neighbor_alltoallv(sendbuf,
                                                                                 sendcounts,
                                                                                 sdispls, sendtype,
                                                                                 recvbuf,
                                                                                 recvcounts,
                                                                                 rdispls, recvtype),
                                            request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_alltoallv", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtype));
  return call.start(request, [&] {
    return pmpi::Ineighbor_alltoallv(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                     recvtype, comm, request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_alltoallw,
            (const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
             comm)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                    rdispls, recvtypes, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_alltoallw", comm,
                                          mpi::by_messages::neighbor_alltoallw(sendbuf, sendcounts,
                                                                               sdispls, sendtypes,
                                                                               recvbuf, recvcounts,
                                                                               rdispls, recvtypes),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_alltoallw", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtypes));
  return call.run([&] {
    return pmpi::Neighbor_alltoallw(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls,
                                    recvtypes, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_alltoallw,
            (const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                     rdispls, recvtypes, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_alltoallw", comm,
                                            mpi::by_messages::neighbor_alltoallw(sendbuf,
                                                                                 sendcounts,
                                                                                 sdispls, sendtypes,
                                                                                 recvbuf,
                                                                                 recvcounts,
                                                                                 rdispls,
                                                                                 recvtypes),
                                            request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_alltoallw", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtypes));
  return call.start(request, [&] {
    return pmpi::Ineighbor_alltoallw(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls,
                                     recvtypes, comm, request);
  });
}

#if TELPHER_HOST_HAS_Neighbor_allgather_init  // MPI 4.0

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_allgather_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_allgather_init", comm,
                                           mpi::by_messages::neighbor_allgather(sendbuf, sendcount,
                                                                                sendtype, recvbuf,
                                                                                recvcount,
                                                                                recvtype), request,
                                           &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_allgather_init", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.init(request, [&] {
    return pmpi::Neighbor_allgather_init(s, sendcount, sendtype, r, recvcount, recvtype, comm, info,
                                         request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_allgatherv_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Info info, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_allgatherv_init", comm,
                                           mpi::by_messages::neighbor_allgatherv(sendbuf, sendcount,
                                                                                 sendtype, recvbuf,
                                                                                 recvcounts, displs,
                                                                                 recvtype), request,
                                           &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_allgatherv_init", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, displs, recvtype));
  return call.init(request, [&] {
    return pmpi::Neighbor_allgatherv_init(s, sendcount, sendtype, r, recvcounts, displs, recvtype,
                                          comm, info, request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_alltoall_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                        comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_alltoall_init", comm,
                                           mpi::by_messages::neighbor_alltoall(sendbuf, sendcount,
                                                                               sendtype, recvbuf,
                                                                               recvcount, recvtype),
                                           request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_alltoall_init", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.out_degree()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.init(request, [&] {
    return pmpi::Neighbor_alltoall_init(s, sendcount, sendtype, r, recvcount, recvtype, comm, info,
                                        request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_alltoallv_init,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                         recvcounts, rdispls, recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_alltoallv_init", comm,
                                           mpi::by_messages::neighbor_alltoallv(sendbuf, sendcounts,
                                                                                sdispls, sendtype,
                                                                                recvbuf, recvcounts,
                                                                                rdispls, recvtype),
                                           request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_alltoallv_init", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtype));
  return call.init(request, [&] {
    return pmpi::Neighbor_alltoallv_init(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                         recvtype, comm, info, request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_alltoallw_init,
            (const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                         recvcounts, rdispls, recvtypes, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_alltoallw_init", comm,
                                           mpi::by_messages::neighbor_alltoallw(sendbuf, sendcounts,
                                                                                sdispls, sendtypes,
                                                                                recvbuf, recvcounts,
                                                                                rdispls, recvtypes),
                                           request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_alltoallw_init", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtypes));
  return call.init(request, [&] {
    return pmpi::Neighbor_alltoallw_init(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls,
                                         recvtypes, comm, info, request);
  });
}

#endif  // TELPHER_HOST_HAS_Neighbor_allgather_init

#if TELPHER_HOST_HAS_Neighbor_allgather_c  // large counts, MPI 4.0

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_allgather_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (!entry::active())
    return pmpi::Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_allgather_c", comm,
                                          mpi::by_messages::neighbor_allgather(sendbuf, sendcount,
                                                                               sendtype, recvbuf,
                                                                               recvcount, recvtype),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_allgather_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.run([&] {
    return pmpi::Neighbor_allgather_c(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_allgather_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ineighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                       comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_allgather_c", comm,
                                            mpi::by_messages::neighbor_allgather(sendbuf, sendcount,
                                                                                 sendtype, recvbuf,
                                                                                 recvcount,
                                                                                 recvtype), request,
                                            &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_allgather_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.start(request, [&] {
    return pmpi::Ineighbor_allgather_c(s, sendcount, sendtype, r, recvcount, recvtype, comm,
                                       request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_allgather_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                           recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_allgather_init_c", comm,
                                           mpi::by_messages::neighbor_allgather(sendbuf, sendcount,
                                                                                sendtype, recvbuf,
                                                                                recvcount,
                                                                                recvtype), request,
                                           &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_allgather_init_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.init(request, [&] {
    return pmpi::Neighbor_allgather_init_c(s, sendcount, sendtype, r, recvcount, recvtype, comm,
                                           info, request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_allgatherv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
             MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)) {
  if (!entry::active())
    return pmpi::Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                       recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_allgatherv_c", comm,
                                          mpi::by_messages::neighbor_allgatherv(sendbuf, sendcount,
                                                                                sendtype, recvbuf,
                                                                                recvcounts, displs,
                                                                                recvtype), &code))
    return code;
  coll::host_collective call("MPI_Neighbor_allgatherv_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, displs, recvtype));
  return call.run([&] {
    return pmpi::Neighbor_allgatherv_c(s, sendcount, sendtype, r, recvcounts, displs, recvtype,
                                       comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_allgatherv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                        recvtype, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_allgatherv_c", comm,
                                            mpi::by_messages::neighbor_allgatherv(sendbuf,
                                                                                  sendcount,
                                                                                  sendtype, recvbuf,
                                                                                  recvcounts,
                                                                                  displs, recvtype),
                                            request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_allgatherv_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, displs, recvtype));
  return call.start(request, [&] {
    return pmpi::Ineighbor_allgatherv_c(s, sendcount, sendtype, r, recvcounts, displs, recvtype,
                                        comm, request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_allgatherv_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                            displs, recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_allgatherv_init_c", comm,
                                           mpi::by_messages::neighbor_allgatherv(sendbuf, sendcount,
                                                                                 sendtype, recvbuf,
                                                                                 recvcounts, displs,
                                                                                 recvtype), request,
                                           &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_allgatherv_init_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, displs, recvtype));
  return call.init(request, [&] {
    return pmpi::Neighbor_allgatherv_init_c(s, sendcount, sendtype, r, recvcounts, displs, recvtype,
                                            comm, info, request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_alltoall_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                     comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_alltoall_c", comm,
                                          mpi::by_messages::neighbor_alltoall(sendbuf, sendcount,
                                                                              sendtype, recvbuf,
                                                                              recvcount, recvtype),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_alltoall_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.out_degree()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.run([&] {
    return pmpi::Neighbor_alltoall_c(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_alltoall_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_alltoall_c", comm,
                                            mpi::by_messages::neighbor_alltoall(sendbuf, sendcount,
                                                                                sendtype, recvbuf,
                                                                                recvcount,
                                                                                recvtype), request,
                                            &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_alltoall_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.out_degree()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.start(request, [&] {
    return pmpi::Ineighbor_alltoall_c(s, sendcount, sendtype, r, recvcount, recvtype, comm,
                                      request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_alltoall_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                          recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_alltoall_init_c", comm,
                                           mpi::by_messages::neighbor_alltoall(sendbuf, sendcount,
                                                                               sendtype, recvbuf,
                                                                               recvcount, recvtype),
                                           request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_alltoall_init_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.out_degree()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.in_degree()));
  return call.init(request, [&] {
    return pmpi::Neighbor_alltoall_init_c(s, sendcount, sendtype, r, recvcount, recvtype, comm,
                                          info, request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_alltoallv_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
             comm)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                      rdispls, recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_alltoallv_c", comm,
                                          mpi::by_messages::neighbor_alltoallv(sendbuf, sendcounts,
                                                                               sdispls, sendtype,
                                                                               recvbuf, recvcounts,
                                                                               rdispls, recvtype),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_alltoallv_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtype));
  return call.run([&] {
    return pmpi::Neighbor_alltoallv_c(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                      recvtype, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_alltoallv_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                       rdispls, recvtype, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_alltoallv_c", comm,
                                            mpi::by_messages::neighbor_alltoallv(sendbuf,
                                                                                 sendcounts,
                                                                                 sdispls, sendtype,
                                                                                 recvbuf,
                                                                                 recvcounts,
                                                                                 rdispls, recvtype),
                                            request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_alltoallv_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtype));
  return call.start(request, [&] {
    return pmpi::Ineighbor_alltoallv_c(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                       recvtype, comm, request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_alltoallv_init_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                           recvcounts, rdispls, recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_alltoallv_init_c", comm,
                                           mpi::by_messages::neighbor_alltoallv(sendbuf, sendcounts,
                                                                                sdispls, sendtype,
                                                                                recvbuf, recvcounts,
                                                                                rdispls, recvtype),
                                           request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_alltoallv_init_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtype));
  return call.init(request, [&] {
    return pmpi::Neighbor_alltoallv_init_c(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                           recvtype, comm, info, request);
  });
}

// 8.6 Neighborhood collective communication
TELPHER_MPI(Neighbor_alltoallw_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
             comm)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                      rdispls, recvtypes, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Neighbor_alltoallw_c", comm,
                                          mpi::by_messages::neighbor_alltoallw(sendbuf, sendcounts,
                                                                               sdispls, sendtypes,
                                                                               recvbuf, recvcounts,
                                                                               rdispls, recvtypes),
                                          &code))
    return code;
  coll::host_collective call("MPI_Neighbor_alltoallw_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtypes));
  return call.run([&] {
    return pmpi::Neighbor_alltoallw_c(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls,
                                      recvtypes, comm);
  });
}

// 8.7 Nonblocking neighborhood communication
TELPHER_MPI(Ineighbor_alltoallw_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                       rdispls, recvtypes, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ineighbor_alltoallw_c", comm,
                                            mpi::by_messages::neighbor_alltoallw(sendbuf,
                                                                                 sendcounts,
                                                                                 sdispls, sendtypes,
                                                                                 recvbuf,
                                                                                 recvcounts,
                                                                                 rdispls,
                                                                                 recvtypes),
                                            request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ineighbor_alltoallw_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtypes));
  return call.start(request, [&] {
    return pmpi::Ineighbor_alltoallw_c(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls,
                                       recvtypes, comm, request);
  });
}

// 8.8 Persistent neighborhood communication
TELPHER_MPI(Neighbor_alltoallw_init_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                           recvcounts, rdispls, recvtypes, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Neighbor_alltoallw_init_c", comm,
                                           mpi::by_messages::neighbor_alltoallw(sendbuf, sendcounts,
                                                                                sdispls, sendtypes,
                                                                                recvbuf, recvcounts,
                                                                                rdispls, recvtypes),
                                           request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Neighbor_alltoallw_init_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             coll::ragged(call.out_degree(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.in_degree(), recvcounts, rdispls, recvtypes));
  return call.init(request, [&] {
    return pmpi::Neighbor_alltoallw_init_c(s, sendcounts, sdispls, sendtypes, r, recvcounts,
                                           rdispls, recvtypes, comm, info, request);
  });
}

#endif  // TELPHER_HOST_HAS_Neighbor_allgather_c

}  // extern "C"
