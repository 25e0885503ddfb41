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

#if TELPHER_HOST_HAS_Bcast_init  // MPI 4.0

// 6.13 Persistent collective operations
TELPHER_MPI(Bcast_init,
            (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
             MPI_Request* request), (buffer, count, datatype, root, comm, info, request)) {
  if (!entry::active()) return pmpi::Bcast_init(buffer, count, datatype, root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buffer});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Bcast_init", on, coll::effect::moves);
    const auto data = coll::uniform(count, datatype);
    void* b = call.at_root(root) ? const_cast<void*>(call.input(buffer, data))
        : call.output(buffer, root >= 0 ? data : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Bcast_init(b, count, datatype, root, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Bcast_init", comm,
                              coll::exchange::bcast(buffer, count, datatype, root), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Gather_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                             info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Gather_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(recvcount, recvtype, call.size())
                          : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Gather_init(s, sendcount, sendtype, r, recvcount, recvtype, root, on, info,
                               made);
    });
  };
  return mpi::init_collective("MPI_Gather_init", comm,
                              coll::exchange::gather(sendbuf, sendcount, sendtype, recvbuf,
                                                     recvcount, recvtype, root), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Gatherv_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Gatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                              root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Gatherv_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root)
                          ? coll::ragged(call.size(), recvcounts, displs, recvtype)
                          : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Gatherv_init(s, sendcount, sendtype, r, recvcounts, displs, recvtype, root, on,
                                info, made);
    });
  };
  return mpi::init_collective("MPI_Gatherv_init", comm,
                              coll::exchange::gatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcounts, displs, recvtype, root), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Scatter_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                              comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Scatter_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root) ? coll::uniform(sendcount, sendtype, call.size())
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Scatter_init(s, sendcount, sendtype, r, recvcount, recvtype, root, on, info,
                                made);
    });
  };
  return mpi::init_collective("MPI_Scatter_init", comm,
                              coll::exchange::scatter(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcount, recvtype, root), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Scatterv_init,
            (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Info info, MPI_Request* request),
            (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                               root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Scatterv_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root)
                               ? coll::ragged(call.size(), sendcounts, displs, sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Scatterv_init(s, sendcounts, displs, sendtype, r, recvcount, recvtype, root, on,
                                 info, made);
    });
  };
  return mpi::init_collective("MPI_Scatterv_init", comm,
                              coll::exchange::scatterv(sendbuf, sendcounts, displs, sendtype,
                                                       recvbuf, recvcount, recvtype, root), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Allgather_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Allgather_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
    void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
    return call.init(made, [&] {
      return pmpi::Allgather_init(s, sendcount, sendtype, r, recvcount, recvtype, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Allgather_init", comm,
                              coll::exchange::allgather(sendbuf, sendcount, sendtype, recvbuf,
                                                        recvcount, recvtype), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Allgatherv_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Info info, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Allgatherv_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
    void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, displs, recvtype));
    return call.init(made, [&] {
      return pmpi::Allgatherv_init(s, sendcount, sendtype, r, recvcounts, displs, recvtype, on,
                                   info, made);
    });
  };
  return mpi::init_collective("MPI_Allgatherv_init", comm,
                              coll::exchange::allgatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                         recvcounts, displs, recvtype), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Alltoall_init,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                               info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Alltoall_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.size()));
    void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
    return call.init(made, [&] {
      return pmpi::Alltoall_init(s, sendcount, sendtype, r, recvcount, recvtype, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Alltoall_init", comm,
                              coll::exchange::alltoall(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcount, recvtype), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Alltoallv_init,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
             MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Alltoallv_init", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtype));
    void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtype));
    return call.init(made, [&] {
      return pmpi::Alltoallv_init(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                  recvtype, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Alltoallv_init", comm,
                              coll::exchange::alltoallv(sendbuf, sendcounts, sdispls, sendtype,
                                                        recvbuf, recvcounts, rdispls, recvtype),
                              staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Alltoallw_init,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Alltoallw_init", comm,
                                           mpi::by_messages::alltoallw(sendbuf, sendcounts, sdispls,
                                                                       sendtypes, recvbuf,
                                                                       recvcounts, rdispls,
                                                                       recvtypes), request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Alltoallw_init", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtypes));
  return call.init(request, [&] {
    return pmpi::Alltoallw_init(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls,
                                recvtypes, comm, info, request);
  });
}

#endif  // TELPHER_HOST_HAS_Bcast_init

#if TELPHER_HOST_HAS_Bcast_init_c  // large counts, MPI 4.0

// 6.13 Persistent collective operations
TELPHER_MPI(Bcast_init_c,
            (void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
             MPI_Info info, MPI_Request* request),
            (buffer, count, datatype, root, comm, info, request)) {
  if (!entry::active())
    return pmpi::Bcast_init_c(buffer, count, datatype, root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buffer});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Bcast_init_c", on, coll::effect::moves);
    const auto data = coll::uniform(count, datatype);
    void* b = call.at_root(root) ? const_cast<void*>(call.input(buffer, data))
        : call.output(buffer, root >= 0 ? data : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Bcast_init_c(b, count, datatype, root, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Bcast_init_c", comm,
                              coll::exchange::bcast(buffer, count, datatype, root), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Gather_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Gather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                               comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Gather_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(recvcount, recvtype, call.size())
                          : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Gather_init_c(s, sendcount, sendtype, r, recvcount, recvtype, root, on, info,
                                 made);
    });
  };
  return mpi::init_collective("MPI_Gather_init_c", comm,
                              coll::exchange::gather(sendbuf, sendcount, sendtype, recvbuf,
                                                     recvcount, recvtype, root), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Gatherv_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Gatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Gatherv_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root)
                          ? coll::ragged(call.size(), recvcounts, displs, recvtype)
                          : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Gatherv_init_c(s, sendcount, sendtype, r, recvcounts, displs, recvtype, root, on,
                                  info, made);
    });
  };
  return mpi::init_collective("MPI_Gatherv_init_c", comm,
                              coll::exchange::gatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcounts, displs, recvtype, root), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Scatter_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Scatter_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                                comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Scatter_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root) ? coll::uniform(sendcount, sendtype, call.size())
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Scatter_init_c(s, sendcount, sendtype, r, recvcount, recvtype, root, on, info,
                                  made);
    });
  };
  return mpi::init_collective("MPI_Scatter_init_c", comm,
                              coll::exchange::scatter(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcount, recvtype, root), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Scatterv_init_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
             MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             int root, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                 recvtype, root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Scatterv_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf,
                               call.at_root(root)
                               ? coll::ragged(call.size(), sendcounts, displs, sendtype)
                               : coll::nothing());
    void* r = call.output(recvbuf,
                          root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Scatterv_init_c(s, sendcounts, displs, sendtype, r, recvcount, recvtype, root,
                                   on, info, made);
    });
  };
  return mpi::init_collective("MPI_Scatterv_init_c", comm,
                              coll::exchange::scatterv(sendbuf, sendcounts, displs, sendtype,
                                                       recvbuf, recvcount, recvtype, root), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Allgather_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                  info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Allgather_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
    void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
    return call.init(made, [&] {
      return pmpi::Allgather_init_c(s, sendcount, sendtype, r, recvcount, recvtype, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Allgather_init_c", comm,
                              coll::exchange::allgather(sendbuf, sendcount, sendtype, recvbuf,
                                                        recvcount, recvtype), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Allgatherv_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info,
             request)) {
  if (!entry::active())
    return pmpi::Allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Allgatherv_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
    void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, displs, recvtype));
    return call.init(made, [&] {
      return pmpi::Allgatherv_init_c(s, sendcount, sendtype, r, recvcounts, displs, recvtype, on,
                                     info, made);
    });
  };
  return mpi::init_collective("MPI_Allgatherv_init_c", comm,
                              coll::exchange::allgatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                         recvcounts, displs, recvtype), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Alltoall_init_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request)) {
  if (!entry::active())
    return pmpi::Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                 info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Alltoall_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.size()));
    void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
    return call.init(made, [&] {
      return pmpi::Alltoall_init_c(s, sendcount, sendtype, r, recvcount, recvtype, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Alltoall_init_c", comm,
                              coll::exchange::alltoall(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcount, recvtype), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Alltoallv_init_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                  rdispls, recvtype, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Alltoallv_init_c", on, coll::effect::moves);
    const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtype));
    void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtype));
    return call.init(made, [&] {
      return pmpi::Alltoallv_init_c(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls,
                                    recvtype, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Alltoallv_init_c", comm,
                              coll::exchange::alltoallv(sendbuf, sendcounts, sdispls, sendtype,
                                                        recvbuf, recvcounts, rdispls, recvtype),
                              staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Alltoallw_init_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
             MPI_Request* request),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
             info, request)) {
  if (!entry::active())
    return pmpi::Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                  rdispls, recvtypes, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::init("MPI_Alltoallw_init_c", comm,
                                           mpi::by_messages::alltoallw(sendbuf, sendcounts, sdispls,
                                                                       sendtypes, recvbuf,
                                                                       recvcounts, rdispls,
                                                                       recvtypes), request, &code))
    return code;
  entry::keep_order(comm);
  coll::host_collective call("MPI_Alltoallw_init_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtypes));
  return call.init(request, [&] {
    return pmpi::Alltoallw_init_c(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls,
                                  recvtypes, comm, info, request);
  });
}

#endif  // TELPHER_HOST_HAS_Bcast_init_c

}  // extern "C"
