// SPDX-License-Identifier: BSD-3-Clause
// A stream with a communicator of its own, and steps of all kinds in it: messages, requests,
// persistent and matched requests, wildcards, collectives, replays of a graph, and ordinary calls
// where the stream has been waited for. Each step sends its own bytes and keeps what it got, all in
// the stream's order. Two ranks each exchange messages; a rank that is left over takes part in the
// collectives alone, because a stream has room for so much work before what it waits for.
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "graph_calls.hpp"
#include "stream_calls.hpp"

namespace mpi_test {

class line {
 public:
  /// `replays`: one of the kinds of steps is a graph, where there is a way to capture. While there
  /// are graphs, messages go by the thread that serves streams.
  line(suite& s, long steps, bool replays);
  ~line();
  line(const line&) = delete;
  line& operator=(const line&) = delete;

  /// The same arguments on all ranks.
  void step(long number, random_numbers& random);
  void wait() const { stream_.wait(); }
  /// When all lines of all threads have been waited for.
  void check();

 private:
  static constexpr int most_bytes = 100000, fixed_bytes = 5000;
  static int sent_byte(long step, int rank) {
    return static_cast<int>((step * 7 + rank * 3 + 1) & 0xff);
  }
  /// What the first and the last byte must be.
  struct ends {
    int first = 0, last = 0;
  };

  void match();
  void sendrecv(int n);
  void by_requests(int n);
  void by_wildcards(int n);
  void by_requests_of(MPI_Request* both);
  void by_the_cpu(int n);
  void exchange(std::uint64_t kind, int n);
  ends combine(long number, int n);
  ends broadcast(long number, int n);
  ends gather_all(long number, int n);
  void keep(long number, ends wanted, int got);

  suite& s_;
  const int peer_;
  const bool paired_;
  const test_stream stream_;
  bytes out_{most_bytes, 0}, in_{most_bytes, 0}, log_;
  std::vector<ends> wanted_;
  std::deque<std::array<MPI_Status, 2>> statuses_;  // of wildcards
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::array<MPI_Request, 2> persistent_{MPI_REQUEST_NULL, MPI_REQUEST_NULL},
      matched_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};  // receive, send
  std::unique_ptr<graph> graph_;
};

inline line::line(suite& s, long steps, bool replays)
    : s_(s),
      peer_(s.rank ^ 1),
      paired_(peer_ < s.ranks),
      log_(static_cast<std::size_t>(2 * steps), 0),
      wanted_(static_cast<std::size_t>(steps)) {
  MPI_Comm_dup(s.control, &comm_);
  if (!paired_) return;
  MPI_Recv_init(in_.data(), fixed_bytes, MPI_BYTE, peer_, 8, comm_, &persistent_[0]);
  MPI_Send_init(out_.data(), fixed_bytes, MPI_BYTE, peer_, 8, comm_, &persistent_[1]);
  match();
  if (!replays || !graph_calls()) return;
  graph_ = std::make_unique<graph>(stream_);
  sendrecv(fixed_bytes);
  s.expect(graph_->end(), "a graph with a message");
}

inline line::~line() {
  graph_.reset();
  for (MPI_Request one : {persistent_[0], persistent_[1], matched_[0], matched_[1]})
    if (one != MPI_REQUEST_NULL) MPI_Request_free(&one);
  MPI_Comm_free(&comm_);
}

inline void line::match() {
  STREAM_CALL(telpher_matched_recv_init)
  (in_.data(), fixed_bytes, MPI_BYTE, peer_, 9, comm_, &matched_[0]);
  STREAM_CALL(telpher_matched_send_init)
  (out_.data(), fixed_bytes, MPI_BYTE, peer_, 9, comm_, &matched_[1]);
  s_.expect_equal(STREAM_CALL(telpher_match)(2, matched_.data()), MPI_SUCCESS, "telpher_match");
}

inline void line::sendrecv(int n) {
  STREAM_CALL(telpher_sendrecv_enqueue)
  (out_.data(), n, MPI_BYTE, peer_, 1, in_.data(), n, MPI_BYTE, peer_, 1, comm_, MPI_STATUS_IGNORE,
   stream_);
}

inline void line::by_requests(int n) {
  MPI_Request r[2];
  STREAM_CALL(telpher_irecv_enqueue)(in_.data(), n, MPI_BYTE, peer_, 2, comm_, &r[0], stream_);
  STREAM_CALL(telpher_isend_enqueue)(out_.data(), n, MPI_BYTE, peer_, 2, comm_, &r[1], stream_);
  STREAM_CALL(telpher_waitall_enqueue)(2, r, MPI_STATUSES_IGNORE, stream_);
}

inline void line::by_wildcards(int n) {
  MPI_Request r[2];
  STREAM_CALL(telpher_irecv_enqueue)
  (in_.data(), n, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &r[0], stream_);
  STREAM_CALL(telpher_isend_enqueue)(out_.data(), n, MPI_BYTE, peer_, 3, comm_, &r[1], stream_);
  STREAM_CALL(telpher_waitall_enqueue)(2, r, statuses_.emplace_back().data(), stream_);
}

inline void line::by_requests_of(MPI_Request* both) {
  STREAM_CALL(telpher_startall_enqueue)(2, both, stream_);
  STREAM_CALL(telpher_waitall_enqueue)(2, both, MPI_STATUSES_IGNORE, stream_);
}

inline void line::by_the_cpu(int n) {
  stream_.wait();
  MPI_Sendrecv(out_.data(), n, MPI_BYTE, peer_, 1, in_.data(), n, MPI_BYTE, peer_, 1, comm_,
               MPI_STATUS_IGNORE);
}

// No sum, because the host MPI decides what becomes of one that needs more than eight bits.
inline line::ends line::combine(long number, int n) {
  STREAM_CALL(telpher_allreduce_enqueue)
  (out_.data(), in_.data(), n, MPI_UNSIGNED_CHAR, MPI_BXOR, comm_, stream_);
  int all = 0;
  for (int rank = 0; rank < s_.ranks; ++rank) all ^= sent_byte(number, rank);
  return {all, all};
}

inline line::ends line::broadcast(long number, int n) {
  const int root = n % s_.ranks;  // so that calls come again
  if (s_.rank == root)
    stream_.set(in_.data(), sent_byte(number, root), static_cast<std::size_t>(n));
  STREAM_CALL(telpher_bcast_enqueue)(in_.data(), n, MPI_BYTE, root, comm_, stream_);
  return {sent_byte(number, root), sent_byte(number, root)};
}

inline line::ends line::gather_all(long number, int n) {
  stream_.set(in_.data(), 0, static_cast<std::size_t>(n * s_.ranks));
  STREAM_CALL(telpher_allgather_enqueue)
  (out_.data(), n, MPI_BYTE, in_.data(), n, MPI_BYTE, comm_, stream_);
  return {sent_byte(number, 0), sent_byte(number, s_.ranks - 1)};
}

inline void line::exchange(std::uint64_t kind, int n) {
  if (kind == 0)
    by_requests(n);
  else if (kind == 1)
    by_the_cpu(n);
  else if (kind == 2)
    by_wildcards(n);
  else if (kind == 3)
    by_requests_of(persistent_.data());
  else if (kind == 4)
    by_requests_of(matched_.data());
  else if (kind == 5 && graph_)
    s_.expect(graph_->launch(stream_), "a replay");
  else
    sendrecv(n);
}

inline void line::keep(long number, ends wanted, int got) {
  wanted_[static_cast<std::size_t>(number)] = wanted;
  stream_.copy(log_.data() + 2 * number, in_.data(), 1);
  stream_.copy(log_.data() + 2 * number + 1, in_.data() + got - 1, 1);
}

// Collectives have few sizes: those that come again are kernels from the 16th call on.
inline void line::step(long number, random_numbers& random) {
  static constexpr int sizes[] = {1, 64, fixed_bytes, 20000, most_bytes};
  constexpr std::uint64_t exchanges = 7, collectives = 3;
  const auto kind = random.below(exchanges + collectives);
  const bool collective = kind >= exchanges;
  int n = sizes[random.below(std::size(sizes))];
  if (kind >= 3 && kind <= 5) n = fixed_bytes;
  if (collective) n = n > fixed_bytes ? 64 : fixed_bytes;
  if (!collective && !paired_) return;
  stream_.set(out_.data(), sent_byte(number, s_.rank), static_cast<std::size_t>(n));
  stream_.set(in_.data(), 0, static_cast<std::size_t>(n));
  if (!collective) {
    exchange(kind, n);
    keep(number, {sent_byte(number, peer_), sent_byte(number, peer_)}, n);
  } else if (kind == exchanges) {
    keep(number, combine(number, n), n);
  } else if (kind == exchanges + 1) {
    keep(number, broadcast(number, n), n);
  } else {
    keep(number, gather_all(number, n), n * s_.ranks);
  }
}

inline void line::check() {
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    if (!log_.all(wanted_[i].first, 2 * i, 1) || !log_.all(wanted_[i].last, 2 * i + 1, 1))
      s_.fail("step %zu: not what was sent", i);
  for (const auto& both : statuses_)
    if (both[0].MPI_SOURCE != peer_ || both[0].MPI_TAG != 3)
      s_.fail("the status of a receive from any source");
  s_.expect_equal(STREAM_CALL(telpher_stream_status)(stream_), MPI_SUCCESS, "the stream's status");
}

}  // namespace mpi_test
