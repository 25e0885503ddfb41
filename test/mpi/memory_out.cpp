// SPDX-License-Identifier: BSD-3-Clause
// Messages while the host's memory has run out at one rank: every allocation of Telpher's fails in
// turn, or all of them do for a while. What a call begins ends, or the call answers MPI_ERR_NO_MEM
// and the message is none; no process ends, and nobody waits for ever. The same of non-blocking
// collectives without end.
#include "emulated.hpp"
#include "failing_malloc.hpp"
#include "suite.hpp"

namespace {

using namespace mpi_test;

constexpr int tag = 3;
enum class way { isend, send, persistent };

struct world {
  suite& s;
  MPI_Comm comm;  // errors come back
  bool sends;     // this rank

  /// One try at this rank's end of a message; an error class.
  int attempt(way how, void* data, int bytes) const {
    MPI_Request r = MPI_REQUEST_NULL;
    const int peer = 1 - s.rank;
    int rc = MPI_SUCCESS;
    if (how == way::send && sends)
      return class_of(MPI_Send(data, bytes, MPI_BYTE, peer, tag, comm));
    if (how == way::send)
      return class_of(MPI_Recv(data, bytes, MPI_BYTE, peer, tag, comm, MPI_STATUS_IGNORE));
    if (how == way::isend)
      rc = sends ? MPI_Isend(data, bytes, MPI_BYTE, peer, tag, comm, &r)
                 : MPI_Irecv(data, bytes, MPI_BYTE, peer, tag, comm, &r);
    else
      rc = sends ? MPI_Send_init(data, bytes, MPI_BYTE, peer, tag, comm, &r)
                 : MPI_Recv_init(data, bytes, MPI_BYTE, peer, tag, comm, &r);
    if (rc == MPI_SUCCESS && how == way::persistent) rc = MPI_Start(&r);
    const int waited = rc == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : rc;
    if (how == way::persistent && r != MPI_REQUEST_NULL) MPI_Request_free(&r);
    return class_of(waited);
  }
  static int class_of(int code) {
    int found = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
    return found;
  }
};

/// The `nth` allocation fails at this rank's end, or all from there; whether it was reached.
bool one_message(const world& w, way how, int bytes, long nth, bool all, bool fails_here) {
  const kind k = kinds().back();
  void* const data = try_allocate(k, static_cast<std::size_t>(bytes));
  std::vector<unsigned char> wanted(static_cast<std::size_t>(bytes)), got(wanted.size());
  write_pattern(static_cast<std::uint64_t>(nth), wanted.data(), wanted.size());
  copy(k, data, w.sends ? wanted.data() : got.data(), wanted.size());
  w.s.meet(1 - w.s.rank);
  if (fails_here) fail_malloc(nth, all);
  int code = w.attempt(how, data, bytes);
  const bool struck = fails_here && stop_failing();
  w.s.expect(code == MPI_SUCCESS || code == MPI_ERR_NO_MEM, "success or MPI_ERR_NO_MEM");
  if (code == MPI_ERR_NO_MEM) code = w.attempt(how, data, bytes);
  w.s.expect_equal(code, MPI_SUCCESS, "the call with memory");
  copy(k, got.data(), data, got.size());
  w.s.expect(got == wanted, "the bytes");
  release(k, data);
  return struck;
}

void check_in_turn(const world& w, bool all) {
  for (const way how : {way::isend, way::send, way::persistent})
    for (const int bytes : {200, 5000, 300000})
      for (const int failing : {0, 1}) {
        int struck = 1;
        for (long nth = 1; struck && nth < 100; ++nth) {
          w.s.note("way %d, %d bytes, rank %d, allocation %ld", static_cast<int>(how), bytes,
                   failing, nth);
          struck = one_message(w, how, bytes, nth, all, w.s.rank == failing);
          MPI_Bcast(&struck, 1, MPI_INT, failing, w.s.control);
          w.s.still_alive();
        }
      }
}

/// Sends while there is no memory, until one is refused; then those that were not arrive.
void check_refusal(const world& w) {
  constexpr int bytes = 2000, most = 100000;
  const kind k = kinds().back();
  void* const data = try_allocate(k, bytes);
  int sent = 0, refused = MPI_SUCCESS;
  std::vector<MPI_Request> requests(most);
  if (w.sends) {
    fail_malloc(1, true);
    for (; sent < most && refused == MPI_SUCCESS; ++sent)
      refused = w.class_of(MPI_Isend(data, bytes, MPI_BYTE, 1 - w.s.rank, tag, w.comm,
                                     &requests[static_cast<std::size_t>(sent)]));
    stop_failing();
    w.s.expect_equal(refused, MPI_ERR_NO_MEM, "the answer when the reserve was used up");
    if (refused != MPI_SUCCESS) --sent;
  }
  MPI_Bcast(&sent, 1, MPI_INT, 0, w.s.control);
  w.s.note("%d messages", sent);
  if (w.sends) {
    MPI_Waitall(sent, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    for (int i = 0; i < sent; ++i)
      MPI_Recv(data, bytes, MPI_BYTE, 0, tag, w.comm, MPI_STATUS_IGNORE);
  }
  w.s.note("one more");
  w.s.meet(1 - w.s.rank);  // nothing is under way
  w.s.expect_equal(w.attempt(way::isend, data, bytes), MPI_SUCCESS, "a message afterwards");
  release(k, data);
}

/// Sums and exchanges of one int a rank; the input says which call it is.
class calls_under_way {
 public:
  static constexpr int most = 100000;

  explicit calls_under_way(const world& w) : w_(w), requests_(most) {
    for (int i = 0; i < 2; ++i) counts_[i] = 1, places_[i] = i;
    const int own[] = {w.s.rank + 1, w.s.rank + 3};
    copy(k_, in_, own, sizeof own);
#if MPI_TEST_HAS_MPI_4
    MPI_Allreduce_init(in_, out_, 2, MPI_INT, MPI_SUM, w.comm, MPI_INFO_NULL, &persistent_);
#endif
  }
  calls_under_way(const calls_under_way&) = delete;
  calls_under_way& operator=(const calls_under_way&) = delete;
  ~calls_under_way() {
    if (has_persistent()) MPI_Request_free(&persistent_);
    release(k_, in_);
    release(k_, out_);
  }

  int initiate(int i) {
    MPI_Request* const r = &requests_[static_cast<std::size_t>(i)];
    if (i % 2 == 0) return w_.class_of(MPI_Iallreduce(in_, out_, 2, MPI_INT, MPI_SUM, w_.comm, r));
    return w_.class_of(MPI_Ialltoallv(in_, counts_, places_, MPI_INT, out_, counts_, places_,
                                      MPI_INT, w_.comm, r));
  }
  bool has_persistent() const {
    return persistent_ != MPI_REQUEST_NULL;
  }
  int start() {
    return w_.class_of(MPI_Start(&persistent_));
  }
  /// The first `n`, and then the persistent one, or a blocking one.
  void finish(int n) {
    MPI_Waitall(n, requests_.data(), MPI_STATUSES_IGNORE);
    if (has_persistent()) {
      w_.s.expect_equal(start(), MPI_SUCCESS, "MPI_Start with memory");
      MPI_Wait(&persistent_, MPI_STATUS_IGNORE);
    } else {
      MPI_Allreduce(in_, out_, 2, MPI_INT, MPI_SUM, w_.comm);
    }
    int sums[2];
    copy(k_, sums, out_, sizeof sums);
    w_.s.expect(sums[0] == 3 && sums[1] == 7, "the sums");
  }

 private:
  const world& w_;
  const kind k_ = kinds().back();
  void* const in_ = try_allocate(k_, 2 * sizeof(int));
  void* const out_ = try_allocate(k_, 2 * sizeof(int));
  int counts_[2], places_[2];
  std::vector<MPI_Request> requests_;
  MPI_Request persistent_ = MPI_REQUEST_NULL;
};

/// A call that is refused was not begun: this rank may make it again, and the others wait for it.
void check_refused_collectives(const world& w) {
  calls_under_way calls(w);
  for (int i = 0; i < 4; ++i) w.s.expect_equal(calls.initiate(i), MPI_SUCCESS, "a first call");
  calls.finish(4);
  int begun = 0, refused = MPI_SUCCESS;
  if (w.sends) {
    fail_malloc(1, true);
    while (begun < calls.most && (refused = calls.initiate(begun)) == MPI_SUCCESS) ++begun;
    const int started = calls.has_persistent() ? calls.start() : MPI_ERR_NO_MEM;
    stop_failing();
    w.s.expect_equal(refused, MPI_ERR_NO_MEM, "the answer when the reserve was used up");
    w.s.expect_equal(started, MPI_ERR_NO_MEM, "that of MPI_Start");
    w.s.expect_equal(calls.initiate(begun), MPI_SUCCESS, "the same call with memory");
  }
  MPI_Bcast(&begun, 1, MPI_INT, 0, w.s.control);
  w.s.note("%d calls", begun);
  for (int i = 0; !w.sends && i <= begun; ++i)
    w.s.expect_equal(calls.initiate(i), MPI_SUCCESS, "a call of the other rank");
  calls.finish(begun + 1);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const world w{s, comm, s.rank == 0};
  if (find_telpher()) {
    s.run("in turn", [&] { check_in_turn(w, false); });
    s.run("all from one on", [&] { check_in_turn(w, true); });
    s.run("refusal", [&] { check_refusal(w); });
    s.run("refused collectives", [&] { check_refused_collectives(w); });
  }
  MPI_Comm_free(&comm);
  return s.finish();
}
