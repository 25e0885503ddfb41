// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests that are matched for streams: partitions are marked ready and looked at by
// the program's kernels, or marked in the order of a stream; by the devices alone on a node and by
// commands to the host between nodes (TEST_MATCHED=devices, which must be so), else by messages
// (TEST_MATCHED=host). One source:
// the ordinary compiler makes the program for the emulated device, nvcc the one for GPUs.
#include <algorithm>
#include <array>

#include "graph_calls.hpp"
#include "kernel_programs.hpp"
#include "matched_pairs.hpp"
#include "partition_kernels.hpp"

using namespace mpi_test;

#if MPI_TEST_HAS_MPI_4

namespace {

constexpr unsigned block_threads = 64;
constexpr std::uint64_t patient = std::uint64_t{1} << 40;

/// Words that kernels count in.
class counters {
 public:
  counters() : memory_(16, 0) {
    void* address = nullptr;
    telpher_kernel_address(memory_.data(), &address);
    for_kernels_ = static_cast<std::uint64_t*>(address);
  }
  std::uint64_t* for_kernels() const { return for_kernels_; }
  long long read(unsigned i) const {
    std::uint64_t values[2];
    functions().copy(values, memory_.data(), sizeof values);
    return static_cast<long long>(values[i]);
  }
  void clear() { memory_.set(0); }

 private:
  bytes memory_;
  std::uint64_t* for_kernels_ = nullptr;
};

/// A partitioned send to `to` and a receive from `from` of as many bytes.
class partitioned_pair {
 public:
  partitioned_pair(suite& s, int to, int from, std::size_t size, int send_partitions,
                   int receive_partitions, int tag = 4)
      : out(size, 0), in(size, 0), suite_(s) {
    const auto part = [size](int n) { return static_cast<MPI_Count>(size) / n; };
    MPI_Psend_init(out.data(), send_partitions, part(send_partitions), MPI_BYTE, to, tag, s.control,
                   MPI_INFO_NULL, &send);
    MPI_Precv_init(in.data(), receive_partitions, part(receive_partitions), MPI_BYTE, from, tag,
                   s.control, MPI_INFO_NULL, &receive);
  }
  ~partitioned_pair() {
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
  }
  std::array<MPI_Request, 2> both() const { return {receive, send}; }
  void match() {
    suite_.expect_equal(telpher_match(2, both().data()), MPI_SUCCESS, "telpher_match");
    if (!by_devices()) return;
    suite_.expect_equal(telpher_partitions_device(send, &out_parts), MPI_SUCCESS, "a handle");
    suite_.expect_equal(telpher_partitions_device(receive, &in_parts), MPI_SUCCESS, "a handle");
  }
  void start(void* stream) const { telpher_startall_enqueue(2, both().data(), stream); }
  void wait(void* stream) const {
    auto all = both();
    telpher_waitall_enqueue(2, all.data(), MPI_STATUSES_IGNORE, stream);
  }

  bytes out, in;
  MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
  parts_of out_parts = nullptr, in_parts = nullptr;

 private:
  suite& suite_;
};

template <class... P, class... A>
void launch(suite& s, void* stream, unsigned blocks, void (*kernel)(P...), A... arguments) {
  s.expect_equal(telpher_launch(kernel, blocks, block_threads, stream, arguments...), 0,
                 "a launch");
}

int next(const suite& s) {
  return (s.rank + 1) % s.ranks;
}
int before(const suite& s) {
  return (s.rank + s.ranks - 1) % s.ranks;
}

bool holds(const bytes& memory, std::uint64_t round, int rank) {
  std::vector<unsigned char> found(static_cast<std::size_t>(memory.count()));
  functions().copy(found.data(), memory.data(), found.size());
  for (std::size_t at = 0; at < found.size(); ++at)
    if (found[at] != sent_byte(round, rank, at)) return false;
  return true;
}

/// Kernels mark what they have written, and kernels take what arrives, many rounds ahead.
void by_kernels(suite& s, std::size_t size, int sends, int receives, bool by_block) {
  const test_stream stream;
  partitioned_pair p(s, next(s), before(s), size, sends, receives);
  p.match();
  counters made, taken;
  constexpr std::uint64_t rounds = 12;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    p.start(stream);
    launch(s, stream, 3, produce, p.out_parts, round, s.rank, by_block, patient,
           made.for_kernels());
    launch(s, stream, 1, consume, p.in_parts, round, before(s), patient, taken.for_kernels());
    p.wait(stream);
    if (round % 4) continue;
    stream.wait();
    s.expect(holds(p.in, round, before(s)), "what is there after the wait");
  }
  s.expect_equal(made.read(0), 0, "partitions that were not marked");
  s.expect_equal(taken.read(0), 0, "wrong bytes in partitions that had arrived");
  s.expect_equal(taken.read(1), static_cast<long long>(rounds) * receives, "partitions that came");
}

/// The stream marks them, in any order; some are large, so that several blocks send one.
void by_stream(suite& s, std::size_t size, int partitions) {
  const test_stream stream;
  partitioned_pair p(s, next(s), before(s), size, partitions, partitions);
  p.match();
  for (int round = 0; round < 9; ++round) {
    stream.set(p.out.data(), round * 16 + s.rank + 1, size);
    p.start(stream);
    for (int i = 0; i < partitions; ++i)
      telpher_pready_enqueue((i * 3 + round) % partitions, p.send, stream);
    p.wait(stream);
    if (round % 3) continue;
    stream.wait();
    s.expect(p.in.all(round * 16 + before(s) + 1), "what came");
  }
  stream.wait();
  s.expect_equal(telpher_stream_status(stream), MPI_SUCCESS, "the stream's status");
}

/// The receive is started late: a bounded mark says so, and may be tried again.
void late(suite& s) {
  if (s.rank >= s.ranks / 2 * 2) return MPI_Barrier(s.control), void();
  const int peer = s.rank ^ 1;
  const test_stream sending, receiving;
  partitioned_pair p(s, peer, peer, 300, 3, 3);
  p.match();
  counters made, taken;
  telpher_start_enqueue(p.send, sending);
  launch(s, sending, 1, produce, p.out_parts, 1, s.rank, true, std::uint64_t{20},
         made.for_kernels());
  sending.wait();
  s.expect_equal(made.read(0), 3, "partitions that could not be marked");
  MPI_Barrier(s.control);
  launch(s, sending, 1, produce, p.out_parts, 1, s.rank, true, patient, made.for_kernels());
  std::this_thread::sleep_for(std::chrono::milliseconds(s.rank % 2 ? 300 : 50));
  telpher_start_enqueue(p.receive, receiving);
  launch(s, receiving, 1, consume, p.in_parts, 1, peer, patient, taken.for_kernels());
  MPI_Status status;
  MPI_Request r = p.receive;
  telpher_wait_enqueue(&r, &status, receiving);
  r = p.send;
  telpher_wait_enqueue(&r, MPI_STATUS_IGNORE, sending);
  sending.wait();
  receiving.wait();
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  s.expect(count == 300 && status.MPI_SOURCE == peer && status.MPI_TAG == 4, "the status");
  s.expect_equal(made.read(0), 3, "no more of them");
  s.expect_equal(taken.read(0), 0, "wrong bytes");
  s.expect_equal(taken.read(1), 3, "partitions that came");
}

/// All ranks with all, themselves included, beside matched messages and an allreduce.
void everybody(suite& s) {
  const test_stream stream;
  std::vector<std::unique_ptr<partitioned_pair>> parts;
  std::vector<std::unique_ptr<pair>> messages;
  std::vector<MPI_Request> all;
  for (int rank = 0; rank < s.ranks; ++rank) {
    parts.push_back(std::make_unique<partitioned_pair>(s, rank, rank, 4000, 4, 2));
    messages.push_back(std::make_unique<pair>(s, rank, 500, 500));
    for (const MPI_Request r : parts.back()->both()) all.push_back(r);
    for (const MPI_Request r : messages.back()->both()) all.push_back(r);
  }
  const int count = static_cast<int>(all.size());
  s.expect_equal(telpher_match(count, all.data()), MPI_SUCCESS, "telpher_match");
  for (int round = 0; round < 10; ++round) {
    for (int rank = 0; rank < s.ranks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      stream.set(parts[i]->out.data(), round * 16 + rank, 4000);
      stream.set(messages[i]->out.data(), round * 16 + rank + 1, 500);
    }
    telpher_startall_enqueue(count, all.data(), stream);
    for (auto& p : parts)
      for (int i = 0; i < 4; ++i) telpher_pready_enqueue(i, p->send, stream);
    telpher_waitall_enqueue(count, all.data(), MPI_STATUSES_IGNORE, stream);
    stream.wait();
    for (auto& p : parts) s.expect(p->in.all(round * 16 + s.rank), "partitions");
    for (auto& m : messages) s.expect(m->in.all(round * 16 + s.rank + 1), "messages");
  }
}

/// A graph holds a round; each replay is another one. Outside of it again afterwards.
void replayed(suite& s) {
  const test_stream stream;
  partitioned_pair p(s, next(s), before(s), 6000, 5, 3);
  p.match();
  counters made, taken;
  {
    graph g(stream);
    p.start(stream);
    launch(s, stream, 2, produce, p.out_parts, 7, s.rank, true, patient, made.for_kernels());
    launch(s, stream, 1, consume, p.in_parts, 7, before(s), patient, taken.for_kernels());
    p.wait(stream);
    s.expect(g.end(), "a graph with partitioned requests");
    for (int round = 0; round < 10; ++round) {
      if (round == 4 && s.rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      g.launch(stream);
    }
    stream.wait();
    s.expect_equal(made.read(0), 0, "partitions that were not marked");
    s.expect_equal(taken.read(0), 0, "wrong bytes");
    s.expect_equal(taken.read(1), 30, "partitions that came");
  }
  p.start(stream);
  launch(s, stream, 1, produce, p.out_parts, 8, s.rank, true, patient, made.for_kernels());
  p.wait(stream);
  stream.wait();
  s.expect(holds(p.in, 8, before(s)), "after the graph");
}

void refused(suite& s) {
  const test_stream stream;
  partitioned_pair p(s, next(s), before(s), 400, 4, 4);
  parts_of none = nullptr;
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  s.expect_class(telpher_partitions_device(p.send, &none), MPI_ERR_UNSUPPORTED_OPERATION,
                 "a request that was not matched");
  s.expect_class(telpher_partitions_device(MPI_REQUEST_NULL, &none), MPI_ERR_REQUEST,
                 "a null request");
  s.expect_class(telpher_partitions_device(p.send, nullptr), MPI_ERR_ARG, "no place");
  p.match();
  if (by_devices()) {
    int flag = 0;
    MPI_Request r = p.send;
    s.expect_class(telpher_pready_enqueue(0, p.send, stream), MPI_ERR_REQUEST, "not started");
    s.expect_class(MPI_Start(&r), MPI_ERR_REQUEST, "a start on the CPU");
    p.start(stream);
    s.expect_class(MPI_Pready(0, p.send), MPI_ERR_REQUEST, "MPI_Pready");
    s.expect_class(MPI_Parrived(p.receive, 0, &flag), MPI_ERR_REQUEST, "MPI_Parrived");
    s.expect_class(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "a wait on the CPU");
    s.expect_class(telpher_pready_enqueue(4, p.send, stream), MPI_ERR_ARG, "partition 4");
    s.expect_class(telpher_pready_enqueue(-1, p.send, stream), MPI_ERR_ARG, "partition -1");
    s.expect_class(telpher_pready_enqueue(0, p.receive, stream), MPI_ERR_REQUEST, "of a receive");
    counters made;
    launch(s, stream, 1, wrong_marks, p.out_parts, p.in_parts, made.for_kernels());
    launch(s, stream, 1, produce, p.out_parts, 1, s.rank, true, patient, made.for_kernels());
    telpher_pready_enqueue(2, p.send, stream);  // it was marked before
    p.wait(stream);
    stream.wait();
    s.expect_equal(made.read(0), 5, "wrong calls of kernels");
    s.expect(holds(p.in, 1, before(s)), "what was refused changes nothing");
  } else {
    s.expect_class(telpher_partitions_device(p.send, &none), MPI_ERR_UNSUPPORTED_OPERATION,
                   "a request that goes by messages");
  }
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// Host memory at one end, too many partitions, and the wrong size go by messages.
void others_match_too(suite& s) {
  const test_stream stream;
  std::vector<char> host(600, 0);
  bytes out(600, 0);
  MPI_Request r[2];
  MPI_Psend_init(out.data(), 3, 200, MPI_BYTE, next(s), 1, s.control, MPI_INFO_NULL, &r[0]);
  MPI_Precv_init(host.data(), 2, 300, MPI_BYTE, before(s), 1, s.control, MPI_INFO_NULL, &r[1]);
  s.expect_equal(telpher_match(2, r), MPI_SUCCESS, "telpher_match");
  for (int round = 1; round < 4; ++round) {
    stream.set(out.data(), round, 600);
    telpher_startall_enqueue(2, r, stream);
    for (int i = 0; i < 3; ++i) telpher_pready_enqueue(i, r[0], stream);
    telpher_waitall_enqueue(2, r, MPI_STATUSES_IGNORE, stream);
    stream.wait();
    s.expect(std::count(host.begin(), host.end(), static_cast<char>(round)) == 600, "what came");
  }
  for (MPI_Request& one : r) MPI_Request_free(&one);
  if (!by_devices()) return;
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_RETURN);
  partitioned_pair many(s, next(s), before(s), 6000, 3000, 2);
  telpher_match(2, many.both().data());
  parts_of none = nullptr;
  s.expect_class(telpher_partitions_device(many.send, &none), MPI_ERR_UNSUPPORTED_OPERATION,
                 "3000 partitions to a receive of two");
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_ARE_FATAL);
  partitioned_pair alike(s, next(s), before(s), 6000, 3000, 3000, 5);
  alike.match();
}

void come_and_go(suite& s) {
  long long at_first = -1;
  for (int round = 0; round < 30; ++round) {
    s.note("round %d", round);
    const test_stream stream;
    partitioned_pair p(s, next(s), before(s), 40000, 4, 4);
    p.match();
    stream.set(p.out.data(), round + s.rank, 40000);
    p.start(stream);
    for (int i = 0; i < 4; ++i) telpher_pready_enqueue(i, p.send, stream);
    p.wait(stream);
    stream.wait();
    s.expect(p.in.all(round + before(s)), "what came");
    MPI_Barrier(s.control);  // the receiver's memory is mapped at the sender until it frees
    if (round == 10) at_first = held();
  }
  if (at_first >= 0) s.expect(held() <= at_first + 8, "memory that is held does not grow");
}

/// A device call on behalf of another rank fails (TELPHER_TEST_EMU_FAULTS): no stream is held for
/// ever, and the next call for the requests says so.
void failing(suite& s) {
  const test_stream stream;
  partitioned_pair p(s, next(s), before(s), 600, 3, 3);
  p.match();
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_RETURN);
  auto all = p.both();
  int rc = MPI_SUCCESS;
  for (int round = 0; round < 300 && rc == MPI_SUCCESS; ++round) {
    rc = telpher_startall_enqueue(2, all.data(), stream);
    if (rc != MPI_SUCCESS) break;
    for (int i = 0; i < 3; ++i) telpher_pready_enqueue(i, p.send, stream);
    rc = telpher_waitall_enqueue(2, all.data(), MPI_STATUSES_IGNORE, stream);
    stream.wait();
  }
  s.expect_class(rc, MPI_ERR_OTHER, "a call after the failure");
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(s.control);
}

}  // namespace

int main(int argc, char** argv) {
  // By the devices alone no thread of ours is needed.
  const bool low = std::getenv("TEST_LEVEL") != nullptr;
  suite s(&argc, &argv, 2, low ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
  if (!begin_kernels(s)) return s.finish();
  if (std::getenv("TEST_FAILS")) {
    s.run("failing", [&] { failing(s); });
    return s.finish();
  }
  if (by_devices()) {
    for (const auto& [size, sends, receives] :
         {std::array{600, 1, 1}, {4200, 7, 7}, {120000, 6, 4}, {4000, 40, 1}, {4000, 1, 40}})
      for (const bool by_block : {true, false})
        s.run("kernels, " + std::to_string(sends) + " to " + std::to_string(receives),
              [&, size = size, sends = sends, receives = receives] {
                by_kernels(s, static_cast<std::size_t>(size), sends, receives, by_block);
              });
    s.run("late", [&] { late(s); });
    s.run("everybody", [&] { everybody(s); });
  }
  if (by_devices() || !low) s.run("stream", [&] { by_stream(s, 4000, 4); });
  if (by_devices() || !low) s.run("stream, large", [&] { by_stream(s, 1200000, 2); });
  s.run("refused", [&] { refused(s); });
  if (!low) s.run("others match too", [&] { others_match_too(s); });
  if (by_devices() && graph_calls()) s.run("replayed", [&] { replayed(s); });
  if (by_devices()) s.run("come and go", [&] { come_and_go(s); });
  return s.finish();
}

#else

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (s.rank == 0) std::printf("# left out: the host MPI has no partitioned communication\n");
  return s.finish();
}

#endif
