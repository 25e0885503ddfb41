// SPDX-License-Identifier: BSD-3-Clause
// Random sequences of operations in two streams: messages, requests, persistent requests,
// collectives and graphs, and ordinary calls where the stream has been waited for, with ranks that
// are late. Each step sends its own bytes and keeps what it got, all in the stream's order.
#include <memory>

#include "graph_calls.hpp"
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

constexpr int most_bytes = 100000, fixed_bytes = 5000;

int sent_byte(long step, int rank) {
  return static_cast<int>((step * 7 + rank * 3 + 1) & 0xff);
}

/// A stream with a communicator, and the first and the last byte that each step brought.
class line {
 public:
  line(suite& s, long steps);
  ~line() {
    for (MPI_Request& one : persistent_)
      if (one != MPI_REQUEST_NULL) MPI_Request_free(&one);
    MPI_Comm_free(&comm_);
  }
  line(const line&) = delete;
  line& operator=(const line&) = delete;

  /// The same arguments on all ranks.
  void step(long number, random_numbers& random);
  void wait() const { stream_.wait(); }
  void check();

 private:
  void sendrecv(int n);
  void by_requests(int n);
  void by_persistent_requests();
  void by_the_cpu(int n);
  void combine(int n);

  suite& s_;
  const int peer_;
  const bool paired_;
  const test_stream stream_;
  bytes out_{most_bytes, 0}, in_{most_bytes, 0}, log_;
  std::vector<int> wanted_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Request persistent_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::unique_ptr<graph> graph_;
};

line::line(suite& s, long steps)
    : s_(s),
      peer_(s.rank ^ 1),
      paired_(peer_ < s.ranks),
      log_(static_cast<std::size_t>(2 * steps), 0),
      wanted_(static_cast<std::size_t>(steps), 0) {
  MPI_Comm_dup(s.control, &comm_);
  if (!paired_) return;
  MPI_Recv_init(in_.data(), fixed_bytes, MPI_BYTE, peer_, 8, comm_, &persistent_[0]);
  MPI_Send_init(out_.data(), fixed_bytes, MPI_BYTE, peer_, 8, comm_, &persistent_[1]);
  if (!graph_calls()) return;
  graph_ = std::make_unique<graph>(stream_);
  sendrecv(fixed_bytes);
  s.expect(graph_->end(), "a graph with a message");
}

void line::sendrecv(int n) {
  STREAM_CALL(telpher_sendrecv_enqueue)
  (out_.data(), n, MPI_BYTE, peer_, 1, in_.data(), n, MPI_BYTE, peer_, 1, comm_, MPI_STATUS_IGNORE,
   stream_);
}

void line::by_requests(int n) {
  MPI_Request r[2];
  STREAM_CALL(telpher_irecv_enqueue)(in_.data(), n, MPI_BYTE, peer_, 2, comm_, &r[0], stream_);
  STREAM_CALL(telpher_isend_enqueue)(out_.data(), n, MPI_BYTE, peer_, 2, comm_, &r[1], stream_);
  STREAM_CALL(telpher_waitall_enqueue)(2, r, MPI_STATUSES_IGNORE, stream_);
}

void line::by_persistent_requests() {
  STREAM_CALL(telpher_startall_enqueue)(2, persistent_, stream_);
  STREAM_CALL(telpher_waitall_enqueue)(2, persistent_, MPI_STATUSES_IGNORE, stream_);
}

void line::by_the_cpu(int n) {
  stream_.wait();
  MPI_Sendrecv(out_.data(), n, MPI_BYTE, peer_, 1, in_.data(), n, MPI_BYTE, peer_, 1, comm_,
               MPI_STATUS_IGNORE);
}

// No sum, because the host MPI decides what becomes of one that needs more than eight bits.
void line::combine(int n) {
  STREAM_CALL(telpher_allreduce_enqueue)
  (out_.data(), in_.data(), n, MPI_UNSIGNED_CHAR, MPI_BXOR, comm_, stream_);
}

void line::step(long number, random_numbers& random) {
  static constexpr int sizes[] = {1, 64, fixed_bytes, 20000, most_bytes};
  const auto kind = random.below(8);
  int n = sizes[random.below(std::size(sizes))];
  if (kind == 3 || kind == 5 || kind == 6) n = fixed_bytes;
  if (kind != 0 && !paired_) return;  // a stream has room for so much work before what it waits for
  stream_.set(out_.data(), sent_byte(number, s_.rank), static_cast<std::size_t>(n));
  stream_.set(in_.data(), 0, static_cast<std::size_t>(n));
  int wanted = sent_byte(number, peer_);
  if (kind == 0) {
    combine(n);
    wanted = 0;
    for (int rank = 0; rank < s_.ranks; ++rank) wanted ^= sent_byte(number, rank);
  } else if (kind == 1) {
    by_requests(n);
  } else if (kind == 2) {
    by_the_cpu(n);
  } else if (kind == 3) {
    by_persistent_requests();
  } else if ((kind == 5 || kind == 6) && graph_) {
    s_.expect(graph_->launch(stream_), "a replay");
  } else {
    sendrecv(n);
  }
  wanted_[static_cast<std::size_t>(number)] = wanted;
  stream_.copy(log_.data() + 2 * number, in_.data(), 1);
  stream_.copy(log_.data() + 2 * number + 1, in_.data() + n - 1, 1);
}

void line::check() {
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    if (!log_.all(wanted_[i], 2 * i, 2)) s_.fail("step %zu: not what was sent", i);
  s_.expect_equal(STREAM_CALL(telpher_stream_status)(stream_), MPI_SUCCESS, "the stream's status");
}

void sequence(suite& s, std::uint64_t seed, long steps) {
  line a(s, steps), b(s, steps);
  random_numbers random(seed), late(seed * 31 + static_cast<std::uint64_t>(s.rank));
  for (long i = 0; i < steps; ++i) {
    s.note("step %ld of seed %llu", i, static_cast<unsigned long long>(seed));
    a.step(i, random);
    b.step(i, random);
    if (late.chance(3)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  a.wait();
  b.wait();
  a.check();
  b.check();
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  const long steps = s.opt.messages > 0 ? s.opt.messages : 150;
  for (std::uint64_t i = 0; i < 3; ++i)
    s.run("sequence/" + std::to_string(i), [&] { sequence(s, s.opt.seed + i, steps); });
  return s.finish();
}
