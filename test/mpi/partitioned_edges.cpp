// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests on communicators of every origin, at the edges, and used wrongly.
#include "partitioned.hpp"

#if MPI_TEST_HAS_MPI_4

namespace partitioned_test {

/// Communicators of every origin, with one tag for all.
void origins(suite& s, kind k) {
  std::vector<MPI_Comm> comms(7, MPI_COMM_NULL);
  MPI_Request copied = MPI_REQUEST_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank % 2, s.ranks - s.rank, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, s.rank % 2, s.rank, &comms[1]);
  MPI_Comm_idup(comms[0], &comms[2], &copied);
  MPI_Wait(&copied, MPI_STATUS_IGNORE);
  const int size = s.ranks, periodic = 1, keep = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comms[3]);
  MPI_Cart_sub(comms[3], &keep, &comms[4]);
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &comms[5]);
  MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &comms[6]);
  MPI_Group_free(&all);
  std::vector<one_end> out, in;
  for (const MPI_Comm c : comms) {
    const ring r(c);
    out.emplace_back(k, 2000);
    out.back().send(2, r.next, 7, c);
  }
  for (std::size_t i = comms.size(); i-- > 0;) {
    in.insert(in.begin(), one_end(k, 2000));
    in.front().receive(2, ring(comms[i]).before, 7, comms[i]);
  }
  for (std::size_t i = 0; i < comms.size(); ++i) {
    s.note("communicator %zu", i);
    round_trip(s, ring(comms[i]), comms[i], out[i], in[i], 2, as_int(i));
    MPI_Request_free(&out[i].request);
    MPI_Request_free(&in[i].request);
    MPI_Comm_free(&comms[i]);
  }
}

void between_groups(suite& s, kind k) {
  const int side = s.rank % 2;
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, side, s.rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 4, &inter);
  int rank = 0, remote = 0;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &remote);
  if (rank < remote) {
    one_end e(k, 9000);
    e.data.clear();
    if (side == 0) {
      e.send(3, rank, 7, inter);
      e.data.fill(identity(rank, 4, 0));
    } else {
      e.receive(2, rank, 7, inter);
    }
    MPI_Start(&e.request);
    if (side == 0) MPI_Pready_range(0, 2, e.request);
    MPI_Wait(&e.request, MPI_STATUS_IGNORE);
    if (side == 1) s.expect_none(e.data.compare(identity(rank, 4, 0), 9000));
    MPI_Request_free(&e.request);
  }
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/// Requests that are freed while they are active, nobody as partner, no partitions.
void edges(suite& s, kind k) {
  const ring r(MPI_COMM_WORLD);
  one_end out(k, 100000), in(k, 100000);
  out.send(2, r.next, 7, MPI_COMM_WORLD);
  in.receive(2, r.before, 7, MPI_COMM_WORLD);
  MPI_Start(&in.request);
  MPI_Start(&out.request);
  MPI_Pready_range(0, 1, out.request);
  MPI_Request_free(&out.request);
  s.expect(out.request == MPI_REQUEST_NULL, "a request that is freed");
  for (int flag = 0; flag == 0;) MPI_Test(&in.request, &flag, MPI_STATUS_IGNORE);
  MPI_Request_free(&in.request);
  MPI_Barrier(s.control);

  one_end nothing(k, 64);
  MPI_Status status;
  nothing.receive(2, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
  MPI_Start(&nothing.request);
  MPI_Wait(&nothing.request, &status);
  s.expect_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Request_free(&nothing.request);
  nothing.send(2, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
  MPI_Start(&nothing.request);
  MPI_Pready_range(0, 1, nothing.request);
  MPI_Wait(&nothing.request, MPI_STATUS_IGNORE);
  MPI_Request_free(&nothing.request);

  ends(s, k, k, 4, 2, 0);
  ends(s, k, k, 5000, 500, 20000);  // more than there are messages
}

void wrong_use(suite& s, kind k) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const ring r(comm);
  one_end out(k, 4000), in(k, 2000);
  int flag = 0;
  s.expect_class(MPI_Precv_init(in.data.data(), 1, 8, MPI_BYTE, MPI_ANY_SOURCE, 7, comm,
                                MPI_INFO_NULL, &in.request),
                 MPI_ERR_RANK, "a wildcard");
  s.expect_class(MPI_Psend_init(out.data.data(), -1, 8, MPI_BYTE, r.next, 7, comm, MPI_INFO_NULL,
                                &out.request),
                 MPI_ERR_ARG, "a negative number of partitions");
  out.send(4, r.next, 7, comm);
  in.receive(2, r.before, 7, comm);
  s.expect_class(MPI_Pready(0, out.request), MPI_ERR_REQUEST, "ready before the start");
  MPI_Start(&out.request);
  MPI_Start(&in.request);
  s.expect_class(MPI_Pready(4, out.request), MPI_ERR_ARG, "a partition that does not exist");
  s.expect_class(MPI_Pready(0, in.request), MPI_ERR_REQUEST, "a receive marked ready");
  s.expect_class(MPI_Parrived(out.request, 0, &flag), MPI_ERR_REQUEST, "whether a send arrived");
  s.expect_class(MPI_Parrived(in.request, 2, &flag), MPI_ERR_ARG, "a partition that is not there");
  MPI_Pready_range(0, 3, out.request);
  s.expect_class(MPI_Pready(1, out.request), MPI_ERR_ARG, "ready twice");
  s.expect_class(MPI_Wait(&in.request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "less room");
  s.expect_class(MPI_Wait(&out.request, MPI_STATUS_IGNORE), MPI_SUCCESS, "the sender of more");
  MPI_Request_free(&out.request);
  MPI_Request_free(&in.request);
  MPI_Comm_free(&comm);
}

}  // namespace partitioned_test

#endif
