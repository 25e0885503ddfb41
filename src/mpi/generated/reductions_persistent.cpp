// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Collective communication that reduces (chapter 6),
// in the sections of MPI 4.0.
#include "coll/exchange/arguments_of.hpp"
#include "coll/host_collective.hpp"
#include "mpi/deferred.hpp"
#include "mpi/entry.hpp"
#include "mpi/local_group.hpp"
#include "mpi/names.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

#if TELPHER_HOST_HAS_Reduce_init  // MPI 4.0

// 6.13 Persistent collective operations
TELPHER_MPI(Reduce_init,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             int root, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, root, comm, info, request)) {
  if (!entry::active())
    return pmpi::Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Reduce_init", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(count, datatype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(count, datatype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Reduce_init(s, r, count, datatype, op, root, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Reduce_init", comm,
                              coll::exchange::reduce(sendbuf, recvbuf, count, datatype, op, root),
                              staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Allreduce_init,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Allreduce_init", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.init(made, [&] {
      return pmpi::Allreduce_init(s, r, count, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Allreduce_init", comm,
                              coll::exchange::allreduce(sendbuf, recvbuf, count, datatype, op),
                              staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Reduce_scatter_block_init,
            (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
                                           request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Reduce_scatter_block_init", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(recvcount, datatype, local_group::size(on)));
    void* r = call.output(recvbuf,
                          coll::uniform(recvcount, datatype,
                                        sendbuf == MPI_IN_PLACE ? local_group::size(on) : 1));
    return call.init(made, [&] {
      return pmpi::Reduce_scatter_block_init(s, r, recvcount, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Reduce_scatter_block_init", comm,
                              coll::exchange::reduce_scatter_block(sendbuf, recvbuf, recvcount,
                                                                   datatype, op), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Reduce_scatter_init,
            (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
             MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info,
                                     request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Reduce_scatter_init", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               coll::uniform(local_group::total(on, recvcounts), datatype));
    void* r = call.output(recvbuf,
                          coll::uniform(sendbuf == MPI_IN_PLACE ? local_group::total(on, recvcounts)
                                        : local_group::own(on, recvcounts), datatype));
    return call.init(made, [&] {
      return pmpi::Reduce_scatter_init(s, r, recvcounts, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Reduce_scatter_init", comm,
                              coll::exchange::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype,
                                                             op), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Scan_init,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Scan_init", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.init(made, [&] {
      return pmpi::Scan_init(s, r, count, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Scan_init", comm,
                              coll::exchange::scan(sendbuf, recvbuf, count, datatype, op), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Exscan_init,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Exscan_init", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.inout(recvbuf,
                         sendbuf == MPI_IN_PLACE || local_group::rank(on) > 0
                         ? coll::uniform(count, datatype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Exscan_init(s, r, count, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Exscan_init", comm,
                              coll::exchange::exscan(sendbuf, recvbuf, count, datatype, op), staged,
                              request);
}

#endif  // TELPHER_HOST_HAS_Reduce_init

#if TELPHER_HOST_HAS_Reduce_init_c  // large counts, MPI 4.0

// 6.13 Persistent collective operations
TELPHER_MPI(Reduce_init_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             int root, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, root, comm, info, request)) {
  if (!entry::active())
    return pmpi::Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Reduce_init_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(count, datatype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(count, datatype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Reduce_init_c(s, r, count, datatype, op, root, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Reduce_init_c", comm,
                              coll::exchange::reduce(sendbuf, recvbuf, count, datatype, op, root),
                              staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Allreduce_init_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Allreduce_init_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.init(made, [&] {
      return pmpi::Allreduce_init_c(s, r, count, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Allreduce_init_c", comm,
                              coll::exchange::allreduce(sendbuf, recvbuf, count, datatype, op),
                              staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Reduce_scatter_block_init_c,
            (const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
             MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
                                             request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Reduce_scatter_block_init_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(recvcount, datatype, local_group::size(on)));
    void* r = call.output(recvbuf,
                          coll::uniform(recvcount, datatype,
                                        sendbuf == MPI_IN_PLACE ? local_group::size(on) : 1));
    return call.init(made, [&] {
      return pmpi::Reduce_scatter_block_init_c(s, r, recvcount, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Reduce_scatter_block_init_c", comm,
                              coll::exchange::reduce_scatter_block(sendbuf, recvbuf, recvcount,
                                                                   datatype, op), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Reduce_scatter_init_c,
            (const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info,
                                       request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Reduce_scatter_init_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               coll::uniform(local_group::total(on, recvcounts), datatype));
    void* r = call.output(recvbuf,
                          coll::uniform(sendbuf == MPI_IN_PLACE ? local_group::total(on, recvcounts)
                                        : local_group::own(on, recvcounts), datatype));
    return call.init(made, [&] {
      return pmpi::Reduce_scatter_init_c(s, r, recvcounts, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Reduce_scatter_init_c", comm,
                              coll::exchange::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype,
                                                             op), staged, request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Scan_init_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Scan_init_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.init(made, [&] {
      return pmpi::Scan_init_c(s, r, count, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Scan_init_c", comm,
                              coll::exchange::scan(sendbuf, recvbuf, count, datatype, op), staged,
                              request);
}

// 6.13 Persistent collective operations
TELPHER_MPI(Exscan_init_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, info, request)) {
  if (!entry::active())
    return pmpi::Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  entry::keep_order(comm);
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Exscan_init_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.inout(recvbuf,
                         sendbuf == MPI_IN_PLACE || local_group::rank(on) > 0
                         ? coll::uniform(count, datatype) : coll::nothing());
    return call.init(made, [&] {
      return pmpi::Exscan_init_c(s, r, count, datatype, op, on, info, made);
    });
  };
  return mpi::init_collective("MPI_Exscan_init_c", comm,
                              coll::exchange::exscan(sendbuf, recvbuf, count, datatype, op), staged,
                              request);
}

#endif  // TELPHER_HOST_HAS_Reduce_init_c

}  // extern "C"
