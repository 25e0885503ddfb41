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

// 6.4 Broadcast
[[gnu::noinline]] static int slow_Bcast(void* buffer, int count, MPI_Datatype datatype, int root,
                                        MPI_Comm comm) {
  if (!entry::active()) return pmpi::Bcast(buffer, count, datatype, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buffer});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Bcast", comm,
                                         coll::exchange::bcast(buffer, count, datatype, root),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Bcast", comm, coll::effect::moves, time);
  const auto data = coll::uniform(count, datatype);
  void* b = call.at_root(root) ? const_cast<void*>(call.input(buffer, data))
      : call.output(buffer, root >= 0 ? data : coll::nothing());
  return call.run([&] { return pmpi::Bcast(b, count, datatype, root, comm); });
}
TELPHER_MPI(Bcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
            (buffer, count, datatype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {buffer})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Bcast(buffer, count, datatype, root, comm);
  }
  return slow_Bcast(buffer, count, datatype, root, comm);
}

// 6.5 Gather
[[gnu::noinline]] static int slow_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                         void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                         int root, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Gather", comm,
                                                  coll::exchange::gather(sendbuf, sendcount,
                                                                         sendtype, recvbuf,
                                                                         recvcount, recvtype, root),
                                                  &code))
    return code;
  coll::host_collective call("MPI_Gather", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
  void* r = call.output(recvbuf,
                        call.at_root(root) ? coll::uniform(recvcount, recvtype, call.size())
                        : coll::nothing());
  return call.run([&] {
    return pmpi::Gather(s, sendcount, sendtype, r, recvcount, recvtype, root, comm);
  });
}
TELPHER_MPI(Gather,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  return slow_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

// 6.5 Gather
[[gnu::noinline]] static int slow_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, const int recvcounts[], const int displs[],
                                          MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                         comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Gatherv", comm,
                                                  coll::exchange::gatherv(sendbuf, sendcount,
                                                                          sendtype, recvbuf,
                                                                          recvcounts, displs,
                                                                          recvtype, root), &code))
    return code;
  coll::host_collective call("MPI_Gatherv", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
  void* r = call.output(recvbuf,
                        call.at_root(root) ? coll::ragged(call.size(), recvcounts, displs, recvtype)
                        : coll::nothing());
  return call.run([&] {
    return pmpi::Gatherv(s, sendcount, sendtype, r, recvcounts, displs, recvtype, root, comm);
  });
}
TELPHER_MPI(Gatherv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
             MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                         comm);
  }
  return slow_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                      comm);
}

// 6.6 Scatter
[[gnu::noinline]] static int slow_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                          int root, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Scatter", comm,
                                                  coll::exchange::scatter(sendbuf, sendcount,
                                                                          sendtype, recvbuf,
                                                                          recvcount, recvtype,
                                                                          root), &code))
    return code;
  coll::host_collective call("MPI_Scatter", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             call.at_root(root) ? coll::uniform(sendcount, sendtype, call.size())
                             : coll::nothing());
  void* r = call.output(recvbuf, root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
  return call.run([&] {
    return pmpi::Scatter(s, sendcount, sendtype, r, recvcount, recvtype, root, comm);
  });
}
TELPHER_MPI(Scatter,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  return slow_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

// 6.6 Scatter
[[gnu::noinline]] static int slow_Scatterv(const void* sendbuf, const int sendcounts[],
                                           const int displs[], MPI_Datatype sendtype, void* recvbuf,
                                           int recvcount, MPI_Datatype recvtype, int root,
                                           MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                          comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Scatterv", comm,
                                                  coll::exchange::scatterv(sendbuf, sendcounts,
                                                                           displs, sendtype,
                                                                           recvbuf, recvcount,
                                                                           recvtype, root), &code))
    return code;
  coll::host_collective call("MPI_Scatterv", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             call.at_root(root)
                             ? coll::ragged(call.size(), sendcounts, displs, sendtype)
                             : coll::nothing());
  void* r = call.output(recvbuf, root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
  return call.run([&] {
    return pmpi::Scatterv(s, sendcounts, displs, sendtype, r, recvcount, recvtype, root, comm);
  });
}
TELPHER_MPI(Scatterv,
            (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
            (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                          comm);
  }
  return slow_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                       comm);
}

// 6.7 Gather-to-all
[[gnu::noinline]] static int slow_Allgather(const void* sendbuf, int sendcount,
                                            MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                            MPI_Datatype recvtype, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Allgather", comm,
                                         coll::exchange::allgather(sendbuf, sendcount, sendtype,
                                                                   recvbuf, recvcount, recvtype),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Allgather", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
  return call.run([&] {
    return pmpi::Allgather(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}
TELPHER_MPI(Allgather,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  return slow_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

// 6.7 Gather-to-all
[[gnu::noinline]] static int slow_Allgatherv(const void* sendbuf, int sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             const int recvcounts[], const int displs[],
                                             MPI_Datatype recvtype, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Allgatherv", comm,
                                         coll::exchange::allgatherv(sendbuf, sendcount, sendtype,
                                                                    recvbuf, recvcounts, displs,
                                                                    recvtype), &code, &time))
    return code;
  coll::host_collective call("MPI_Allgatherv", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, displs, recvtype));
  return call.run([&] {
    return pmpi::Allgatherv(s, sendcount, sendtype, r, recvcounts, displs, recvtype, comm);
  });
}
TELPHER_MPI(Allgatherv,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                            comm);
  }
  return slow_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

// 6.8 All-to-all scatter/gather
[[gnu::noinline]] static int slow_Alltoall(const void* sendbuf, int sendcount,
                                           MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                           MPI_Datatype recvtype, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Alltoall", comm,
                                         coll::exchange::alltoall(sendbuf, sendcount, sendtype,
                                                                  recvbuf, recvcount, recvtype),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Alltoall", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.size()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
  return call.run([&] {
    return pmpi::Alltoall(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}
TELPHER_MPI(Alltoall,
            (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
             int recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  return slow_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

// 6.8 All-to-all scatter/gather
[[gnu::noinline]] static int slow_Alltoallv(const void* sendbuf, const int sendcounts[],
                                            const int sdispls[], MPI_Datatype sendtype,
                                            void* recvbuf, const int recvcounts[],
                                            const int rdispls[], MPI_Datatype recvtype,
                                            MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                           recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Alltoallv", comm,
                                         coll::exchange::alltoallv(sendbuf, sendcounts, sdispls,
                                                                   sendtype, recvbuf, recvcounts,
                                                                   rdispls, recvtype), &code,
                                         &time))
    return code;
  coll::host_collective call("MPI_Alltoallv", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtype));
  return call.run([&] {
    return pmpi::Alltoallv(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls, recvtype,
                           comm);
  });
}
TELPHER_MPI(Alltoallv,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
             MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
             comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                           recvtype, comm);
  }
  return slow_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                        recvtype, comm);
}

// 6.8 All-to-all scatter/gather
TELPHER_MPI(Alltoallw,
            (const void* sendbuf, const int sendcounts[], const int sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
             const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
             comm)) {
  if (!entry::active())
    return pmpi::Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                           recvtypes, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Alltoallw", comm,
                                          mpi::by_messages::alltoallw(sendbuf, sendcounts, sdispls,
                                                                      sendtypes, recvbuf,
                                                                      recvcounts, rdispls,
                                                                      recvtypes), &code))
    return code;
  coll::host_collective call("MPI_Alltoallw", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtypes));
  return call.run([&] {
    return pmpi::Alltoallw(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls, recvtypes,
                           comm);
  });
}

#if TELPHER_HOST_HAS_Bcast_c  // large counts, MPI 4.0

// 6.4 Broadcast
[[gnu::noinline]] static int slow_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype,
                                          int root, MPI_Comm comm) {
  if (!entry::active()) return pmpi::Bcast_c(buffer, count, datatype, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {buffer});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Bcast_c", comm,
                                         coll::exchange::bcast(buffer, count, datatype, root),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Bcast_c", comm, coll::effect::moves, time);
  const auto data = coll::uniform(count, datatype);
  void* b = call.at_root(root) ? const_cast<void*>(call.input(buffer, data))
      : call.output(buffer, root >= 0 ? data : coll::nothing());
  return call.run([&] { return pmpi::Bcast_c(b, count, datatype, root, comm); });
}
TELPHER_MPI(Bcast_c,
            (void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm),
            (buffer, count, datatype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {buffer})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Bcast_c(buffer, count, datatype, root, comm);
  }
  return slow_Bcast_c(buffer, count, datatype, root, comm);
}

// 6.5 Gather
[[gnu::noinline]] static int slow_Gather_c(const void* sendbuf, MPI_Count sendcount,
                                           MPI_Datatype sendtype, void* recvbuf,
                                           MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                           MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Gather_c", comm,
                                                  coll::exchange::gather(sendbuf, sendcount,
                                                                         sendtype, recvbuf,
                                                                         recvcount, recvtype, root),
                                                  &code))
    return code;
  coll::host_collective call("MPI_Gather_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
  void* r = call.output(recvbuf,
                        call.at_root(root) ? coll::uniform(recvcount, recvtype, call.size())
                        : coll::nothing());
  return call.run([&] {
    return pmpi::Gather_c(s, sendcount, sendtype, r, recvcount, recvtype, root, comm);
  });
}
TELPHER_MPI(Gather_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  return slow_Gather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

// 6.5 Gather
[[gnu::noinline]] static int slow_Gatherv_c(const void* sendbuf, MPI_Count sendcount,
                                            MPI_Datatype sendtype, void* recvbuf,
                                            const MPI_Count recvcounts[], const MPI_Aint displs[],
                                            MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Gatherv_c", comm,
                                                  coll::exchange::gatherv(sendbuf, sendcount,
                                                                          sendtype, recvbuf,
                                                                          recvcounts, displs,
                                                                          recvtype, root), &code))
    return code;
  coll::host_collective call("MPI_Gatherv_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             root >= 0 ? coll::uniform(sendcount, sendtype) : coll::nothing());
  void* r = call.output(recvbuf,
                        call.at_root(root) ? coll::ragged(call.size(), recvcounts, displs, recvtype)
                        : coll::nothing());
  return call.run([&] {
    return pmpi::Gatherv_c(s, sendcount, sendtype, r, recvcounts, displs, recvtype, root, comm);
  });
}
TELPHER_MPI(Gatherv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
             MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           root, comm);
  }
  return slow_Gatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                        comm);
}

// 6.6 Scatter
[[gnu::noinline]] static int slow_Scatter_c(const void* sendbuf, MPI_Count sendcount,
                                            MPI_Datatype sendtype, void* recvbuf,
                                            MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                            MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Scatter_c", comm,
                                                  coll::exchange::scatter(sendbuf, sendcount,
                                                                          sendtype, recvbuf,
                                                                          recvcount, recvtype,
                                                                          root), &code))
    return code;
  coll::host_collective call("MPI_Scatter_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             call.at_root(root) ? coll::uniform(sendcount, sendtype, call.size())
                             : coll::nothing());
  void* r = call.output(recvbuf, root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
  return call.run([&] {
    return pmpi::Scatter_c(s, sendcount, sendtype, r, recvcount, recvtype, root, comm);
  });
}
TELPHER_MPI(Scatter_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  return slow_Scatter_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

// 6.6 Scatter
[[gnu::noinline]] static int slow_Scatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                             const MPI_Aint displs[], MPI_Datatype sendtype,
                                             void* recvbuf, MPI_Count recvcount,
                                             MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                            root, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; coll::exchange::call_blocking("MPI_Scatterv_c", comm,
                                                  coll::exchange::scatterv(sendbuf, sendcounts,
                                                                           displs, sendtype,
                                                                           recvbuf, recvcount,
                                                                           recvtype, root), &code))
    return code;
  coll::host_collective call("MPI_Scatterv_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf,
                             call.at_root(root)
                             ? coll::ragged(call.size(), sendcounts, displs, sendtype)
                             : coll::nothing());
  void* r = call.output(recvbuf, root >= 0 ? coll::uniform(recvcount, recvtype) : coll::nothing());
  return call.run([&] {
    return pmpi::Scatterv_c(s, sendcounts, displs, sendtype, r, recvcount, recvtype, root, comm);
  });
}
TELPHER_MPI(Scatterv_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
             MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
             int root, MPI_Comm comm),
            (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                            root, comm);
  }
  return slow_Scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                         comm);
}

// 6.7 Gather-to-all
[[gnu::noinline]] static int slow_Allgather_c(const void* sendbuf, MPI_Count sendcount,
                                              MPI_Datatype sendtype, void* recvbuf,
                                              MPI_Count recvcount, MPI_Datatype recvtype,
                                              MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Allgather_c", comm,
                                         coll::exchange::allgather(sendbuf, sendcount, sendtype,
                                                                   recvbuf, recvcount, recvtype),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Allgather_c", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
  return call.run([&] {
    return pmpi::Allgather_c(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}
TELPHER_MPI(Allgather_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  return slow_Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

// 6.7 Gather-to-all
[[gnu::noinline]] static int slow_Allgatherv_c(const void* sendbuf, MPI_Count sendcount,
                                               MPI_Datatype sendtype, void* recvbuf,
                                               const MPI_Count recvcounts[],
                                               const MPI_Aint displs[], MPI_Datatype recvtype,
                                               MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                              comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Allgatherv_c", comm,
                                         coll::exchange::allgatherv(sendbuf, sendcount, sendtype,
                                                                    recvbuf, recvcounts, displs,
                                                                    recvtype), &code, &time))
    return code;
  coll::host_collective call("MPI_Allgatherv_c", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, displs, recvtype));
  return call.run([&] {
    return pmpi::Allgatherv_c(s, sendcount, sendtype, r, recvcounts, displs, recvtype, comm);
  });
}
TELPHER_MPI(Allgatherv_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
             MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                              comm);
  }
  return slow_Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                           comm);
}

// 6.8 All-to-all scatter/gather
[[gnu::noinline]] static int slow_Alltoall_c(const void* sendbuf, MPI_Count sendcount,
                                             MPI_Datatype sendtype, void* recvbuf,
                                             MPI_Count recvcount, MPI_Datatype recvtype,
                                             MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Alltoall_c", comm,
                                         coll::exchange::alltoall(sendbuf, sendcount, sendtype,
                                                                  recvbuf, recvcount, recvtype),
                                         &code, &time))
    return code;
  coll::host_collective call("MPI_Alltoall_c", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::uniform(sendcount, sendtype, call.size()));
  void* r = call.output(recvbuf, coll::uniform(recvcount, recvtype, call.size()));
  return call.run([&] {
    return pmpi::Alltoall_c(s, sendcount, sendtype, r, recvcount, recvtype, comm);
  });
}
TELPHER_MPI(Alltoall_c,
            (const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  return slow_Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

// 6.8 All-to-all scatter/gather
[[gnu::noinline]] static int slow_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                              const MPI_Aint sdispls[], MPI_Datatype sendtype,
                                              void* recvbuf, const MPI_Count recvcounts[],
                                              const MPI_Aint rdispls[], MPI_Datatype recvtype,
                                              MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                             recvtype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  coll::stopwatch time;
  if (int code = 0; mpi::call_collective("MPI_Alltoallv_c", comm,
                                         coll::exchange::alltoallv(sendbuf, sendcounts, sdispls,
                                                                   sendtype, recvbuf, recvcounts,
                                                                   rdispls, recvtype), &code,
                                         &time))
    return code;
  coll::host_collective call("MPI_Alltoallv_c", comm, coll::effect::moves, time);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtype));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtype));
  return call.run([&] {
    return pmpi::Alltoallv_c(s, sendcounts, sdispls, sendtype, r, recvcounts, rdispls, recvtype,
                             comm);
  });
}
TELPHER_MPI(Alltoallv_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
             comm)) {
  if (coll::exchange::left_to_host(comm, {sendbuf, recvbuf})) [[likely]] {
    entry::blocking_call guard;
    return pmpi::Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                             recvtype, comm);
  }
  return slow_Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                          recvtype, comm);
}

// 6.8 All-to-all scatter/gather
TELPHER_MPI(Alltoallw_c,
            (const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
             const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
            (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
             comm)) {
  if (!entry::active())
    return pmpi::Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                             recvtypes, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {sendbuf, recvbuf});
  if (int code = 0; mpi::by_messages::run("MPI_Alltoallw_c", comm,
                                          mpi::by_messages::alltoallw(sendbuf, sendcounts, sdispls,
                                                                      sendtypes, recvbuf,
                                                                      recvcounts, rdispls,
                                                                      recvtypes), &code))
    return code;
  coll::host_collective call("MPI_Alltoallw_c", comm, coll::effect::moves);
  const void* s = call.input(sendbuf, coll::ragged(call.size(), sendcounts, sdispls, sendtypes));
  void* r = call.output(recvbuf, coll::ragged(call.size(), recvcounts, rdispls, recvtypes));
  return call.run([&] {
    return pmpi::Alltoallw_c(s, sendcounts, sdispls, sendtypes, r, recvcounts, rdispls, recvtypes,
                             comm);
  });
}

#endif  // TELPHER_HOST_HAS_Bcast_c

}  // extern "C"
