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

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ireduce,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             int root, MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, root, comm, request)) {
  if (!entry::active())
    return pmpi::Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ireduce", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(count, datatype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(count, datatype) : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Ireduce(s, r, count, datatype, op, root, on, made);
    });
  };
  return mpi::start_collective("MPI_Ireduce", comm,
                               coll::exchange::reduce(sendbuf, recvbuf, count, datatype, op, root),
                               staged, request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iallreduce,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, request)) {
  if (!entry::active())
    return pmpi::Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Iallreduce", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.start(made, [&] {
      return pmpi::Iallreduce(s, r, count, datatype, op, on, made);
    });
  };
  return mpi::start_collective("MPI_Iallreduce", comm,
                               coll::exchange::allreduce(sendbuf, recvbuf, count, datatype, op),
                               staged, request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ireduce_scatter_block,
            (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, recvcount, datatype, op, comm, request)) {
  if (!entry::active())
    return pmpi::Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ireduce_scatter_block", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(recvcount, datatype, local_group::size(on)));
    void* r = call.output(recvbuf,
                          coll::uniform(recvcount, datatype,
                                        sendbuf == MPI_IN_PLACE ? local_group::size(on) : 1));
    return call.start(made, [&] {
      return pmpi::Ireduce_scatter_block(s, r, recvcount, datatype, op, on, made);
    });
  };
  return mpi::start_collective("MPI_Ireduce_scatter_block", comm,
                               coll::exchange::reduce_scatter_block(sendbuf, recvbuf, recvcount,
                                                                    datatype, op), staged, request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ireduce_scatter,
            (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
             MPI_Op op, MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, recvcounts, datatype, op, comm, request)) {
  if (!entry::active())
    return pmpi::Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](const auto* own_recvcounts, MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ireduce_scatter", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               coll::uniform(local_group::total(on, own_recvcounts), datatype));
    void* r = call.output(recvbuf,
                          coll::uniform(sendbuf == MPI_IN_PLACE
                                        ? local_group::total(on, own_recvcounts)
                                        : local_group::own(on, own_recvcounts), datatype));
    return call.start(made, [&] {
      return pmpi::Ireduce_scatter(s, r, own_recvcounts, datatype, op, on, made);
    });
  };
  return mpi::start_collective("MPI_Ireduce_scatter", comm,
                               coll::exchange::reduce_scatter(sendbuf, recvbuf, recvcounts,
                                                              datatype, op),
                               coll::exchange::with_own(staged, coll::exchange::types(),
                                                        recvcounts), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iscan,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, request)) {
  if (!entry::active()) return pmpi::Iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Iscan", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.start(made, [&] { return pmpi::Iscan(s, r, count, datatype, op, on, made); });
  };
  return mpi::start_collective("MPI_Iscan", comm,
                               coll::exchange::scan(sendbuf, recvbuf, count, datatype, op), staged,
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iexscan,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, request)) {
  if (!entry::active()) return pmpi::Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Iexscan", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.inout(recvbuf,
                         sendbuf == MPI_IN_PLACE || local_group::rank(on) > 0
                         ? coll::uniform(count, datatype) : coll::nothing());
    return call.start(made, [&] { return pmpi::Iexscan(s, r, count, datatype, op, on, made); });
  };
  return mpi::start_collective("MPI_Iexscan", comm,
                               coll::exchange::exscan(sendbuf, recvbuf, count, datatype, op),
                               staged, request);
}

#if TELPHER_HOST_HAS_Ireduce_c  // large counts, MPI 4.0

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ireduce_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             int root, MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, root, comm, request)) {
  if (!entry::active())
    return pmpi::Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ireduce_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               root >= 0 ? coll::uniform(count, datatype) : coll::nothing());
    void* r = call.output(recvbuf,
                          call.at_root(root) ? coll::uniform(count, datatype) : coll::nothing());
    return call.start(made, [&] {
      return pmpi::Ireduce_c(s, r, count, datatype, op, root, on, made);
    });
  };
  return mpi::start_collective("MPI_Ireduce_c", comm,
                               coll::exchange::reduce(sendbuf, recvbuf, count, datatype, op, root),
                               staged, request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iallreduce_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, request)) {
  if (!entry::active())
    return pmpi::Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Iallreduce_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.start(made, [&] {
      return pmpi::Iallreduce_c(s, r, count, datatype, op, on, made);
    });
  };
  return mpi::start_collective("MPI_Iallreduce_c", comm,
                               coll::exchange::allreduce(sendbuf, recvbuf, count, datatype, op),
                               staged, request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ireduce_scatter_block_c,
            (const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
             MPI_Op op, MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, recvcount, datatype, op, comm, request)) {
  if (!entry::active())
    return pmpi::Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ireduce_scatter_block_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(recvcount, datatype, local_group::size(on)));
    void* r = call.output(recvbuf,
                          coll::uniform(recvcount, datatype,
                                        sendbuf == MPI_IN_PLACE ? local_group::size(on) : 1));
    return call.start(made, [&] {
      return pmpi::Ireduce_scatter_block_c(s, r, recvcount, datatype, op, on, made);
    });
  };
  return mpi::start_collective("MPI_Ireduce_scatter_block_c", comm,
                               coll::exchange::reduce_scatter_block(sendbuf, recvbuf, recvcount,
                                                                    datatype, op), staged, request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ireduce_scatter_c,
            (const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, recvcounts, datatype, op, comm, request)) {
  if (!entry::active())
    return pmpi::Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](const auto* own_recvcounts, MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Ireduce_scatter_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf,
                               coll::uniform(local_group::total(on, own_recvcounts), datatype));
    void* r = call.output(recvbuf,
                          coll::uniform(sendbuf == MPI_IN_PLACE
                                        ? local_group::total(on, own_recvcounts)
                                        : local_group::own(on, own_recvcounts), datatype));
    return call.start(made, [&] {
      return pmpi::Ireduce_scatter_c(s, r, own_recvcounts, datatype, op, on, made);
    });
  };
  return mpi::start_collective("MPI_Ireduce_scatter_c", comm,
                               coll::exchange::reduce_scatter(sendbuf, recvbuf, recvcounts,
                                                              datatype, op),
                               coll::exchange::with_own(staged, coll::exchange::types(),
                                                        recvcounts), request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iscan_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, request)) {
  if (!entry::active()) return pmpi::Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Iscan_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.output(recvbuf, coll::uniform(count, datatype));
    return call.start(made, [&] { return pmpi::Iscan_c(s, r, count, datatype, op, on, made); });
  };
  return mpi::start_collective("MPI_Iscan_c", comm,
                               coll::exchange::scan(sendbuf, recvbuf, count, datatype, op), staged,
                               request);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Iexscan_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm, MPI_Request* request),
            (sendbuf, recvbuf, count, datatype, op, comm, request)) {
  if (!entry::active())
    return pmpi::Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  const auto staged = [=](MPI_Comm on, MPI_Request* made) {
    coll::host_collective call("MPI_Iexscan_c", on, coll::effect::reduces);
    const void* s = call.input(sendbuf, coll::uniform(count, datatype));
    void* r = call.inout(recvbuf,
                         sendbuf == MPI_IN_PLACE || local_group::rank(on) > 0
                         ? coll::uniform(count, datatype) : coll::nothing());
    return call.start(made, [&] { return pmpi::Iexscan_c(s, r, count, datatype, op, on, made); });
  };
  return mpi::start_collective("MPI_Iexscan_c", comm,
                               coll::exchange::exscan(sendbuf, recvbuf, count, datatype, op),
                               staged, request);
}

#endif  // TELPHER_HOST_HAS_Ireduce_c

}  // extern "C"
