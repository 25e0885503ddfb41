// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Collective communication that moves (chapter 6),
// in the sections of MPI 4.0.
#include "coll/exchange/arguments_of.hpp"
#include "coll/host_collective.hpp"
#include "mpi/by_messages.hpp"
#include "mpi/deferred.hpp"
#include "mpi/entry.hpp"
#include "mpi/local_group.hpp"
#include "mpi/names.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ibcast,
            (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
             MPI_Request* request), (buffer, count, datatype, root, comm, request)) {
  if (!entry::active()) return pmpi::Ibcast(buffer, count, datatype, root, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buffer});
  const auto staged = [=](MPI_Datatype own_datatype, MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ibcast", on, coll::effect::moves);
    const auto data = coll::uniform(count, own_datatype);
    void* b = call.at_root(root) ? const_cast<void*>(call.input(buffer, data))
        : call.output(buffer, root >= 0 ? data : coll::nothing());
    return call.start(made, [&] { return pmpi::Ibcast(b, count, own_datatype, root, on, made); });
  };
  return mpi::start_collective("MPI_Ibcast", comm,
                               coll::exchange::bcast(buffer, count, datatype, root),
                               coll::exchange::with_own(staged, coll::exchange::types(datatype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Igather,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request)) {
  if (!entry::active())
    return pmpi::Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                         request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Igather", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, own_sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(recvcount, own_recvtype, call.size())
                          : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Igather(s, sendcount, own_sendtype, r, recvcount, own_recvtype, root, on, made);
    });
  };
  return mpi::start_collective("MPI_Igather", comm,
                               coll::exchange::gather(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcount, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Igatherv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
             request)) {
  if (!entry::active())
    return pmpi::Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                          comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_recvcounts, const auto* own_displs, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Igatherv", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, own_sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root)
                          ? coll::ragged(call.size(), own_recvcounts, own_displs, own_recvtype)
                          : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Igatherv(s, sendcount, own_sendtype, r, own_recvcounts, own_displs, own_recvtype,
                            root, on, made);
    });
  };
  return mpi::start_collective("MPI_Igatherv", comm,
                               coll::exchange::gatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcounts, displs, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        recvcounts, displs), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iscatter,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request)) {
  if (!entry::active())
    return pmpi::Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                          request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iscatter", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root)
                               ? coll::uniform(sendcount, own_sendtype, call.size())
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, own_recvtype) : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Iscatter(s, sendcount, own_sendtype, r, recvcount, own_recvtype, root, on, made);
    });
  };
  return mpi::start_collective("MPI_Iscatter", comm,
                               coll::exchange::scatter(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcount, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iscatterv,
            (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
             request)) {
  if (!entry::active())
    return pmpi::Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                           root, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_sendcounts, const auto* own_displs, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iscatterv", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root)
                               ? coll::ragged(call.size(), own_sendcounts, own_displs, own_sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, own_recvtype) : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Iscatterv(s, own_sendcounts, own_displs, own_sendtype, r, recvcount,
                             own_recvtype, root, on, made);
    });
  };
  return mpi::start_collective("MPI_Iscatterv", comm,
                               coll::exchange::scatterv(sendbuf, sendcounts, displs, sendtype,
                                                        recvbuf, recvcount, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        sendcounts, displs), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iallgather,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                            request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iallgather", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, own_sendtype));
    void* r = call.output(recvbuf, coll::uniform(recvcount, own_recvtype, call.size()));
    return call.start(made, [&] {
      return pmpi::Iallgather(s, sendcount, own_sendtype, r, recvcount, own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Iallgather", comm,
                               coll::exchange::allgather(sendbuf, sendcount, sendtype, recvbuf,
                                                         recvcount, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iallgatherv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                             comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_recvcounts, const auto* own_displs, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iallgatherv", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, own_sendtype));
    void* r = call.output(recvbuf,
                          coll::ragged(call.size(), own_recvcounts, own_displs, own_recvtype));
    return call.start(made, [&] {
      return pmpi::Iallgatherv(s, sendcount, own_sendtype, r, own_recvcounts, own_displs,
                               own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Iallgatherv", comm,
                               coll::exchange::allgatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                          recvcounts, displs, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        recvcounts, displs), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ialltoall,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                           request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Ialltoall", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, own_sendtype, call.size()));
    void* r = call.output(recvbuf, coll::uniform(recvcount, own_recvtype, call.size()));
    return call.start(made, [&] {
      return pmpi::Ialltoall(s, sendcount, own_sendtype, r, recvcount, own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Ialltoall", comm,
                               coll::exchange::alltoall(sendbuf, sendcount, sendtype, recvbuf,
                                                        recvcount, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ialltoallv,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                            recvtype, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_sendcounts, const auto* own_sdispls,
                          const auto* own_recvcounts, const auto* own_rdispls, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Ialltoallv", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               coll::ragged(call.size(), own_sendcounts, own_sdispls,
                                            own_sendtype));
    void* r = call.output(recvbuf,
                          coll::ragged(call.size(), own_recvcounts, own_rdispls, own_recvtype));
    return call.start(made, [&] {
      return pmpi::Ialltoallv(s, own_sendcounts, own_sdispls, own_sendtype, r, own_recvcounts,
                              own_rdispls, own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Ialltoallv", comm,
                               coll::exchange::alltoallv(sendbuf, sendcounts, sdispls, sendtype,
                                                         recvbuf, recvcounts, rdispls, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        sendcounts, sdispls, recvcounts, rdispls),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ialltoallw,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                            recvtypes, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ialltoallw", comm,
                                            mpi::by_messages::alltoallw(sendbuf, sendcounts,
                                                                        sdispls, sendtypes, recvbuf,
                                                                        recvcounts, rdispls,
                                                                        recvtypes), request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ialltoallw", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtypes));
  return call.start(request, [&] {
    return pmpi::Ialltoallw(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls, recvtypes,
                            comm, request);
  });
}

#if TELPHER_HOST_HAS_Ibcast_c  // large counts, MPI 4.0

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ibcast_c,
            (void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
             MPI_Request* request), (buffer, count, datatype, root, comm, request)) {
  if (!entry::active()) return pmpi::Ibcast_c(buffer, count, datatype, root, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buffer});
  const auto staged = [=](MPI_Datatype own_datatype, MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ibcast_c", on, coll::effect::moves);
    const auto data = coll::uniform(count, own_datatype);
    void* b = call.at_root(root) ? const_cast<void*>(call.input(buffer, data))
        : call.output(buffer, root >= 0 ? data : coll::nothing());
    return call.start(made, [&] { return pmpi::Ibcast_c(b, count, own_datatype, root, on, made); });
  };
  return mpi::start_collective("MPI_Ibcast_c", comm,
                               coll::exchange::bcast(buffer, count, datatype, root),
                               coll::exchange::with_own(staged, coll::exchange::types(datatype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Igather_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request)) {
  if (!entry::active())
    return pmpi::Igather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                           request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Igather_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, own_sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(recvcount, own_recvtype, call.size())
                          : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Igather_c(s, sendcount, own_sendtype, r, recvcount, own_recvtype, root, on,
                             made);
    });
  };
  return mpi::start_collective("MPI_Igather_c", comm,
                               coll::exchange::gather(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcount, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Igatherv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
             request)) {
  if (!entry::active())
    return pmpi::Igatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            root, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_recvcounts, const auto* own_displs, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Igatherv_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, own_sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root)
                          ? coll::ragged(call.size(), own_recvcounts, own_displs, own_recvtype)
                          : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Igatherv_c(s, sendcount, own_sendtype, r, own_recvcounts, own_displs,
                              own_recvtype, root, on, made);
    });
  };
  return mpi::start_collective("MPI_Igatherv_c", comm,
                               coll::exchange::gatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcounts, displs, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        recvcounts, displs), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iscatter_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request)) {
  if (!entry::active())
    return pmpi::Iscatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                            request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iscatter_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root)
                               ? coll::uniform(sendcount, own_sendtype, call.size())
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, own_recvtype) : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Iscatter_c(s, sendcount, own_sendtype, r, recvcount, own_recvtype, root, on,
                              made);
    });
  };
  return mpi::start_collective("MPI_Iscatter_c", comm,
                               coll::exchange::scatter(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcount, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iscatterv_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
             MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             int root, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
             request)) {
  if (!entry::active())
    return pmpi::Iscatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                             root, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_sendcounts, const auto* own_displs, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iscatterv_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root)
                               ? coll::ragged(call.size(), own_sendcounts, own_displs, own_sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, own_recvtype) : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Iscatterv_c(s, own_sendcounts, own_displs, own_sendtype, r, recvcount,
                               own_recvtype, root, on, made);
    });
  };
  return mpi::start_collective("MPI_Iscatterv_c", comm,
                               coll::exchange::scatterv(sendbuf, sendcounts, displs, sendtype,
                                                        recvbuf, recvcount, recvtype, root),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        sendcounts, displs), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iallgather_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Iallgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                              request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iallgather_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, own_sendtype));
    void* r = call.output(recvbuf, coll::uniform(recvcount, own_recvtype, call.size()));
    return call.start(made, [&] {
      return pmpi::Iallgather_c(s, sendcount, own_sendtype, r, recvcount, own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Iallgather_c", comm,
                               coll::exchange::allgather(sendbuf, sendcount, sendtype, recvbuf,
                                                         recvcount, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iallgatherv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Iallgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_recvcounts, const auto* own_displs, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Iallgatherv_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, own_sendtype));
    void* r = call.output(recvbuf,
                          coll::ragged(call.size(), own_recvcounts, own_displs, own_recvtype));
    return call.start(made, [&] {
      return pmpi::Iallgatherv_c(s, sendcount, own_sendtype, r, own_recvcounts, own_displs,
                                 own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Iallgatherv_c", comm,
                               coll::exchange::allgatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                          recvcounts, displs, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        recvcounts, displs), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ialltoall_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request)) {
  if (!entry::active())
    return pmpi::Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                             request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Ialltoall_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, own_sendtype, call.size()));
    void* r = call.output(recvbuf, coll::uniform(recvcount, own_recvtype, call.size()));
    return call.start(made, [&] {
      return pmpi::Ialltoall_c(s, sendcount, own_sendtype, r, recvcount, own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Ialltoall_c", comm,
                               coll::exchange::alltoall(sendbuf, sendcount, sendtype, recvbuf,
                                                        recvcount, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype)),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ialltoallv_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                              recvtype, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Datatype own_sendtype, MPI_Datatype own_recvtype,
                          const auto* own_sendcounts, const auto* own_sdispls,
                          const auto* own_recvcounts, const auto* own_rdispls, MPI_Comm on,
                          MPI_Request* made) {
    coll::host_collective call("MPI_Ialltoallv_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               coll::ragged(call.size(), own_sendcounts, own_sdispls,
                                            own_sendtype));
    void* r = call.output(recvbuf,
                          coll::ragged(call.size(), own_recvcounts, own_rdispls, own_recvtype));
    return call.start(made, [&] {
      return pmpi::Ialltoallv_c(s, own_sendcounts, own_sdispls, own_sendtype, r, own_recvcounts,
                                own_rdispls, own_recvtype, on, made);
    });
  };
  return mpi::start_collective("MPI_Ialltoallv_c", comm,
                               coll::exchange::alltoallv(sendbuf, sendcounts, sdispls, sendtype,
                                                         recvbuf, recvcounts, rdispls, recvtype),
                               coll::exchange::with_own(staged,
                                                        coll::exchange::types(sendtype, recvtype),
                                                        sendcounts, sdispls, recvcounts, rdispls),
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ialltoallw_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             request)) {
  if (!entry::active())
    return pmpi::Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                              recvtypes, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::start("MPI_Ialltoallw_c", comm,
                                            mpi::by_messages::alltoallw(sendbuf, sendcounts,
                                                                        sdispls, sendtypes, recvbuf,
                                                                        recvcounts, rdispls,
                                                                        recvtypes), request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Ialltoallw_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtypes));
  return call.start(request, [&] {
    return pmpi::Ialltoallw_c(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls, recvtypes,
                              comm, request);
  });
}

#endif  // TELPHER_HOST_HAS_Ibcast_c

}  // extern "C"
