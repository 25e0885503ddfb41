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

// 6.9 Global reduction operations
[[gnu::noinline]] static int slow_Reduce(const void* sendbuf, void* recvbuf, int count,
                                         MPI_Datatype datatype, MPI_Op op, int root,
                                         MPI_Comm comm) {
  if (!entry::active()) return pmpi::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Reduce", comm,
                                         coll::exchange::reduce(sendbuf, recvbuf, count, datatype,
                                                                op, root), &code, &time))
    return code;
  coll::host_collective call("MPI_Reduce", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf, root >= 0 ? coll::uniform(count, datatype) : coll::nothing());
  void* r = call.output(recvbuf,
                        call.at_root(root) ? coll::uniform(count, datatype) : coll::nothing());
  return call.run([&] { return pmpi::Reduce(s, r, count, datatype, op, root, comm); });
}
TELPHER_MPI(Reduce,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             int root, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
  }
  return slow_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}

// 6.9 Global reduction operations
[[gnu::noinline]] static int slow_Allreduce(const void* sendbuf, void* recvbuf, int count,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Allreduce", comm,
                                         coll::exchange::allreduce(sendbuf, recvbuf, count,
                                                                   datatype, op), &code, &time))
    return code;
  coll::host_collective call("MPI_Allreduce", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf, coll::uniform(count, datatype));
  void* r = call.output(recvbuf, coll::uniform(count, datatype));
  return call.run([&] { return pmpi::Allreduce(s, r, count, datatype, op, comm); });
}
TELPHER_MPI(Allreduce,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  }
  return slow_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

// 6.9 Global reduction operations
TELPHER_MPI(Reduce_local,
            (const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype, MPI_Op op),
            (inbuf, inoutbuf, count, datatype, op)) {
  if (!entry::active()) return pmpi::Reduce_local(inbuf, inoutbuf, count, datatype, op);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {inbuf, inoutbuf});
  if (int code = 0; coll::exchange::reduce_local(inbuf, inoutbuf, count, datatype, op, &code))
    return code;
  coll::host_collective call("MPI_Reduce_local", MPI_COMM_SELF, coll::effect::reduces);
  const void* s = call.input(inbuf, coll::uniform(count, datatype));
  void* r = call.inout(inoutbuf, coll::uniform(count, datatype));
  return call.run([&] { return pmpi::Reduce_local(s, r, count, datatype, op); });
}

// 6.10 Reduce-scatter
[[gnu::noinline]] static int slow_Reduce_scatter_block(const void* sendbuf, void* recvbuf,
                                                       int recvcount, MPI_Datatype datatype,
                                                       MPI_Op op, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Reduce_scatter_block", comm,
                                         coll::exchange::reduce_scatter_block(sendbuf, recvbuf,
                                                                              recvcount, datatype,
                                                                              op), &code, &time))
    return code;
  coll::host_collective call("MPI_Reduce_scatter_block", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf, coll::uniform(recvcount, datatype, local_group::size(comm)));
  void* r = call.output(recvbuf,
                        coll::uniform(recvcount, datatype,
                                      sendbuf == MPI_IN_PLACE ? local_group::size(comm) : 1));
  return call.run([&] {
    return pmpi::Reduce_scatter_block(s, r, recvcount, datatype, op, comm);
  });
}
TELPHER_MPI(Reduce_scatter_block,
            (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm), (sendbuf, recvbuf, recvcount, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
  }
  return slow_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

// 6.10 Reduce-scatter
[[gnu::noinline]] static int slow_Reduce_scatter(const void* sendbuf, void* recvbuf,
                                                 const int recvcounts[], MPI_Datatype datatype,
                                                 MPI_Op op, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Reduce_scatter", comm,
                                         coll::exchange::reduce_scatter(sendbuf, recvbuf,
                                                                        recvcounts, datatype, op),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Reduce_scatter", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf,
                             coll::uniform(local_group::total(comm, recvcounts), datatype));
  void* r = call.output(recvbuf,
                        coll::uniform(sendbuf == MPI_IN_PLACE ? local_group::total(comm, recvcounts)
                                      : local_group::own(comm, recvcounts), datatype));
  return call.run([&] { return pmpi::Reduce_scatter(s, r, recvcounts, datatype, op, comm); });
}
TELPHER_MPI(Reduce_scatter,
            (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
             MPI_Op op, MPI_Comm comm), (sendbuf, recvbuf, recvcounts, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  }
  return slow_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

// 6.11 Scan
[[gnu::noinline]] static int slow_Scan(const void* sendbuf, void* recvbuf, int count,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Scan(sendbuf, recvbuf, count, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Scan", comm,
                                                  coll::exchange::scan(sendbuf, recvbuf, count,
                                                                       datatype, op), &code))
    return code;
  coll::host_collective call("MPI_Scan", comm, coll::effect::reduces);
  const void* s = call.input(sendbuf, coll::uniform(count, datatype));
  void* r = call.output(recvbuf, coll::uniform(count, datatype));
  return call.run([&] { return pmpi::Scan(s, r, count, datatype, op, comm); });
}
TELPHER_MPI(Scan,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Scan(sendbuf, recvbuf, count, datatype, op, comm);
  }
  return slow_Scan(sendbuf, recvbuf, count, datatype, op, comm);
}

// 6.11 Scan
[[gnu::noinline]] static int slow_Exscan(const void* sendbuf, void* recvbuf, int count,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Exscan(sendbuf, recvbuf, count, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Exscan", comm,
                                                  coll::exchange::exscan(sendbuf, recvbuf, count,
                                                                         datatype, op), &code))
    return code;
  coll::host_collective call("MPI_Exscan", comm, coll::effect::reduces);
  const void* s = call.input(sendbuf, coll::uniform(count, datatype));
  void* r = call.inout(recvbuf,
                       sendbuf == MPI_IN_PLACE || local_group::rank(comm) > 0
                       ? coll::uniform(count, datatype) : coll::nothing());
  return call.run([&] { return pmpi::Exscan(s, r, count, datatype, op, comm); });
}
TELPHER_MPI(Exscan,
            (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Exscan(sendbuf, recvbuf, count, datatype, op, comm);
  }
  return slow_Exscan(sendbuf, recvbuf, count, datatype, op, comm);
}

#if TELPHER_HOST_HAS_Reduce_c  // large counts, MPI 4.0

// 6.9 Global reduction operations
[[gnu::noinline]] static int slow_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                           MPI_Datatype datatype, MPI_Op op, int root,
                                           MPI_Comm comm) {
  if (!entry::active()) return pmpi::Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Reduce_c", comm,
                                         coll::exchange::reduce(sendbuf, recvbuf, count, datatype,
                                                                op, root), &code, &time))
    return code;
  coll::host_collective call("MPI_Reduce_c", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf, root >= 0 ? coll::uniform(count, datatype) : coll::nothing());
  void* r = call.output(recvbuf,
                        call.at_root(root) ? coll::uniform(count, datatype) : coll::nothing());
  return call.run([&] { return pmpi::Reduce_c(s, r, count, datatype, op, root, comm); });
}
TELPHER_MPI(Reduce_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             int root, MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
  }
  return slow_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
}

// 6.9 Global reduction operations
[[gnu::noinline]] static int slow_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Allreduce_c", comm,
                                         coll::exchange::allreduce(sendbuf, recvbuf, count,
                                                                   datatype, op), &code, &time))
    return code;
  coll::host_collective call("MPI_Allreduce_c", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf, coll::uniform(count, datatype));
  void* r = call.output(recvbuf, coll::uniform(count, datatype));
  return call.run([&] { return pmpi::Allreduce_c(s, r, count, datatype, op, comm); });
}
TELPHER_MPI(Allreduce_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
  }
  return slow_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
}

// 6.9 Global reduction operations
TELPHER_MPI(Reduce_local_c,
            (const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op),
            (inbuf, inoutbuf, count, datatype, op)) {
  if (!entry::active()) return pmpi::Reduce_local_c(inbuf, inoutbuf, count, datatype, op);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {inbuf, inoutbuf});
  if (int code = 0; coll::exchange::reduce_local(inbuf, inoutbuf, count, datatype, op, &code))
    return code;
  coll::host_collective call("MPI_Reduce_local_c", MPI_COMM_SELF, coll::effect::reduces);
  const void* s = call.input(inbuf, coll::uniform(count, datatype));
  void* r = call.inout(inoutbuf, coll::uniform(count, datatype));
  return call.run([&] { return pmpi::Reduce_local_c(s, r, count, datatype, op); });
}

// 6.10 Reduce-scatter
[[gnu::noinline]] static int slow_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf,
                                                         MPI_Count recvcount, MPI_Datatype datatype,
                                                         MPI_Op op, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Reduce_scatter_block_c", comm,
                                         coll::exchange::reduce_scatter_block(sendbuf, recvbuf,
                                                                              recvcount, datatype,
                                                                              op), &code, &time))
    return code;
  coll::host_collective call("MPI_Reduce_scatter_block_c", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf, coll::uniform(recvcount, datatype, local_group::size(comm)));
  void* r = call.output(recvbuf,
                        coll::uniform(recvcount, datatype,
                                      sendbuf == MPI_IN_PLACE ? local_group::size(comm) : 1));
  return call.run([&] {
    return pmpi::Reduce_scatter_block_c(s, r, recvcount, datatype, op, comm);
  });
}
TELPHER_MPI(Reduce_scatter_block_c,
            (const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
             MPI_Op op, MPI_Comm comm), (sendbuf, recvbuf, recvcount, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm);
  }
  return slow_Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

// 6.10 Reduce-scatter
[[gnu::noinline]] static int slow_Reduce_scatter_c(const void* sendbuf, void* recvbuf,
                                                   const MPI_Count recvcounts[],
                                                   MPI_Datatype datatype, MPI_Op op,
                                                   MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Reduce_scatter_c", comm,
                                         coll::exchange::reduce_scatter(sendbuf, recvbuf,
                                                                        recvcounts, datatype, op),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Reduce_scatter_c", comm, coll::effect::reduces, time);
  const void* s = call.input(sendbuf,
                             coll::uniform(local_group::total(comm, recvcounts), datatype));
  void* r = call.output(recvbuf,
                        coll::uniform(sendbuf == MPI_IN_PLACE ? local_group::total(comm, recvcounts)
                                      : local_group::own(comm, recvcounts), datatype));
  return call.run([&] { return pmpi::Reduce_scatter_c(s, r, recvcounts, datatype, op, comm); });
}
TELPHER_MPI(Reduce_scatter_c,
            (const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
            (sendbuf, recvbuf, recvcounts, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  }
  return slow_Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

// 6.11 Scan
[[gnu::noinline]] static int slow_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Scan_c(sendbuf, recvbuf, count, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Scan_c", comm,
                                                  coll::exchange::scan(sendbuf, recvbuf, count,
                                                                       datatype, op), &code))
    return code;
  coll::host_collective call("MPI_Scan_c", comm, coll::effect::reduces);
  const void* s = call.input(sendbuf, coll::uniform(count, datatype));
  void* r = call.output(recvbuf, coll::uniform(count, datatype));
  return call.run([&] { return pmpi::Scan_c(s, r, count, datatype, op, comm); });
}
TELPHER_MPI(Scan_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Scan_c(sendbuf, recvbuf, count, datatype, op, comm);
  }
  return slow_Scan_c(sendbuf, recvbuf, count, datatype, op, comm);
}

// 6.11 Scan
[[gnu::noinline]] static int slow_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Exscan_c(sendbuf, recvbuf, count, datatype, op, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Exscan_c", comm,
                                                  coll::exchange::exscan(sendbuf, recvbuf, count,
                                                                         datatype, op), &code))
    return code;
  coll::host_collective call("MPI_Exscan_c", comm, coll::effect::reduces);
  const void* s = call.input(sendbuf, coll::uniform(count, datatype));
  void* r = call.inout(recvbuf,
                       sendbuf == MPI_IN_PLACE || local_group::rank(comm) > 0
                       ? coll::uniform(count, datatype) : coll::nothing());
  return call.run([&] { return pmpi::Exscan_c(s, r, count, datatype, op, comm); });
}
TELPHER_MPI(Exscan_c,
            (const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
             MPI_Comm comm), (sendbuf, recvbuf, count, datatype, op, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Exscan_c(sendbuf, recvbuf, count, datatype, op, comm);
  }
  return slow_Exscan_c(sendbuf, recvbuf, count, datatype, op, comm);
}

#endif  // TELPHER_HOST_HAS_Reduce_c

}  // extern "C"
