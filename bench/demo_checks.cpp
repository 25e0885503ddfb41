// SPDX-License-Identifier: BSD-3-Clause
#include "demo_checks.hpp"

#include <mpi.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "window_buffer.hpp"

namespace telpher::bench {

namespace {

std::string size_text(std::size_t bytes) {
  if (bytes >= 1u << 20 && bytes % (1u << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1u << 10 && bytes % (1u << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

// The seed of a message's pattern; different for each check, sender and message.
std::uint64_t seed_of(int check, int sender, int message = 0) {
  return (static_cast<std::uint64_t>(check) * 4096 + static_cast<std::uint64_t>(sender)) * 256 +
         static_cast<std::uint64_t>(message);
}

class demonstration {
 public:
  explicit demonstration(memory_source& source) : source_(source) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    next_ = (rank_ + 1) % size_;
    previous_ = (rank_ + size_ - 1) % size_;
  }

  tally run() {
    for (const std::size_t bytes :
         {1ul, 8ul, 479ul, 480ul, 481ul, 4097ul, 65536ul, 1048576ul, 4194307ul})
      check("MPI_Send, MPI_Recv, " + size_text(bytes),
            [&] { send_receive(bytes, kind::device, kind::device); });
    check("device to host, 100000 bytes", [&] { send_receive(100000, kind::device, kind::host); });
    check("host to device, 100000 bytes", [&] { send_receive(100000, kind::host, kind::device); });
    for (const std::size_t bytes : {100ul, 65536ul, 2097152ul})
      check("MPI_Sendrecv round the ring, " + size_text(bytes), [&] { ring(bytes); });
    check("32 MPI_Isend and MPI_Irecv in flight, 64 bytes to 128 KiB", [&] { window(); });
    check("MPI_ANY_SOURCE and MPI_ANY_TAG, source, tag and count", [&] { wildcard(); });
    check("MPI_Probe tells the size of a device message", [&] { probe(); });
    check("a message to oneself, 64 KiB", [&] { to_oneself(); });
    for (const int count : {2, 1000, 500000})
      check("MPI_Allreduce of " + std::to_string(count) + " int", [&] { allreduce(count); });
    for (const std::size_t bytes : {64ul, 1048576ul})
      check("MPI_Bcast of " + size_text(bytes), [&] { broadcast(bytes); });
    return tally_;
  }

 private:
  using buffer = window_buffer;

  std::unique_ptr<buffer> make(kind k, std::size_t bytes, int slots = 1) {
    return std::make_unique<buffer>(source_, k, bytes, slots);
  }

  void check(const std::string& what, const std::function<void()>& body) {
    ++number_;
    problem_.clear();
    body();
    int right = problem_.empty() ? 1 : 0;
    if (!right) std::fprintf(stderr, "rank %d: %s: %s\n", rank_, what.c_str(), problem_.c_str());
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    ++(right ? tally_.right : tally_.wrong);
    if (rank_ == 0) std::printf("  %-60s %s\n", what.c_str(), right ? "right" : "WRONG");
    if (rank_ == 0) std::fflush(stdout);
  }

  void expect(bool holds, const char* what) {
    if (!holds && problem_.empty()) problem_ = what;
  }
  void expect_pattern(buffer& b, int slot, std::uint64_t seed) {
    std::string wrong;
    if (!b.holds(slot, seed, wrong) && problem_.empty()) problem_ = wrong;
  }

  // Even ranks send to the next rank.
  void send_receive(std::size_t bytes, kind from, kind to) {
    const int count = static_cast<int>(bytes);
    if (rank_ % 2 == 0 && rank_ + 1 < size_) {
      auto out = make(from, bytes);
      out->write(0, seed_of(number_, rank_));
      MPI_Send(out->slot(0), count, MPI_BYTE, rank_ + 1, number_, MPI_COMM_WORLD);
    } else if (rank_ % 2 == 1) {
      auto in = make(to, bytes);
      MPI_Recv(in->slot(0), count, MPI_BYTE, rank_ - 1, number_, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect_pattern(*in, 0, seed_of(number_, rank_ - 1));
    }
  }

  void ring(std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    auto out = make(kind::device, bytes);
    auto in = make(kind::device, bytes);
    out->write(0, seed_of(number_, rank_));
    MPI_Sendrecv(out->slot(0), count, MPI_BYTE, next_, number_, in->slot(0), count, MPI_BYTE,
                 previous_, number_, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_pattern(*in, 0, seed_of(number_, previous_));
    expect_pattern(*out, 0, seed_of(number_, rank_));
  }

  // Sixteen messages each way, of twelve sizes: sent to one neighbour and received from the other.
  void window() {
    constexpr int messages = 16;
    std::vector<std::unique_ptr<buffer>> out, in;
    std::vector<MPI_Request> requests(2 * messages);
    for (int m = 0; m < messages; ++m) {
      const std::size_t bytes = std::size_t{64} << (m % 12);
      in.push_back(make(kind::device, bytes));
      out.push_back(make(kind::device, bytes));
      out.back()->write(0, seed_of(number_, rank_, m));
      MPI_Irecv(in.back()->slot(0), static_cast<int>(bytes), MPI_BYTE, previous_, number_,
                MPI_COMM_WORLD, &requests[static_cast<std::size_t>(m)]);
    }
    for (std::size_t m = 0; m < messages; ++m)
      MPI_Isend(out[m]->slot(0), static_cast<int>(out[m]->bytes()), MPI_BYTE, next_, number_,
                MPI_COMM_WORLD, &requests[messages + m]);
    MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
    for (int m = 0; m < messages; ++m)
      expect_pattern(*in[static_cast<std::size_t>(m)], 0, seed_of(number_, previous_, m));
  }

  // Rank 0 receives one message from every other rank, each of a different size.
  void wildcard() {
    const auto bytes_of = [](int rank) { return 1000 * rank + 7; };
    if (rank_ != 0) {
      auto out = make(kind::device, static_cast<std::size_t>(bytes_of(rank_)));
      out->write(0, seed_of(number_, rank_));
      MPI_Send(out->slot(0), bytes_of(rank_), MPI_BYTE, 0, 500 + rank_, MPI_COMM_WORLD);
      return;
    }
    std::vector<bool> seen(static_cast<std::size_t>(size_));
    for (int i = 1; i < size_; ++i) {
      const int room = bytes_of(size_);
      auto in = make(kind::device, static_cast<std::size_t>(room));
      MPI_Status status;
      MPI_Recv(in->slot(0), room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      const int source = status.MPI_SOURCE;
      expect(source > 0 && source < size_, "the status has no source");
      if (!problem_.empty()) return;
      expect(!seen[static_cast<std::size_t>(source)], "a source came twice");
      seen[static_cast<std::size_t>(source)] = true;
      expect(status.MPI_TAG == 500 + source, "the status has another tag than was sent");
      expect(count == bytes_of(source), "the status has another count than was sent");
      expect_prefix(*in, static_cast<std::size_t>(bytes_of(source)), seed_of(number_, source));
    }
  }

  // For a message shorter than the buffer: compares only the message's bytes.
  void expect_prefix(const buffer& in, std::size_t bytes, std::uint64_t seed) {
    std::vector<std::byte> expected(bytes), found(bytes);
    fill_pattern(expected, seed);
    source_.copy(found.data(), in.slot(0), bytes);
    expect(found == expected, "the bytes are not those that were sent");
  }

  void probe() {
    for (const int bytes : {480, 123456}) {
      auto out = make(kind::device, static_cast<std::size_t>(bytes));
      out->write(0, seed_of(number_, rank_));
      MPI_Request request;
      MPI_Isend(out->slot(0), bytes, MPI_BYTE, next_, number_, MPI_COMM_WORLD, &request);
      MPI_Status status;
      MPI_Probe(previous_, number_, MPI_COMM_WORLD, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      expect(count == bytes, "MPI_Probe tells another size than was sent");
      // Not `count` slots: a message of wrong size must give one failed line and not end the
      // demonstration.
      auto in = make(kind::device, static_cast<std::size_t>(bytes));
      MPI_Recv(in->slot(0), bytes, MPI_BYTE, previous_, number_, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect_pattern(*in, 0, seed_of(number_, previous_));
    }
  }

  void to_oneself() {
    constexpr int bytes = 65536;
    auto out = make(kind::device, bytes);
    auto in = make(kind::device, bytes);
    out->write(0, seed_of(number_, rank_));
    MPI_Sendrecv(out->slot(0), bytes, MPI_BYTE, rank_, number_, in->slot(0), bytes, MPI_BYTE, rank_,
                 number_, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_pattern(*in, 0, seed_of(number_, rank_));
  }

  void allreduce(int count) {
    const auto elements = static_cast<std::size_t>(count);
    std::vector<int> values(elements), sums(elements, -1);
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i % 1000 + rank_;
    auto out = make(kind::device, elements * sizeof(int));
    auto in = make(kind::device, elements * sizeof(int));
    source_.copy(out->slot(0), values.data(), elements * sizeof(int));
    MPI_Allreduce(out->slot(0), in->slot(0), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    source_.copy(sums.data(), in->slot(0), elements * sizeof(int));
    const int ranks = size_ * (size_ - 1) / 2;
    for (int i = 0; i < count; ++i)
      expect(sums[static_cast<std::size_t>(i)] == i % 1000 * size_ + ranks, "a sum is wrong");
  }

  void broadcast(std::size_t bytes) {
    const int root = size_ - 1;
    auto data = make(kind::device, bytes);
    if (rank_ == root) data->write(0, seed_of(number_, root));
    MPI_Bcast(data->slot(0), static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
    expect_pattern(*data, 0, seed_of(number_, root));
  }

  memory_source& source_;
  int rank_ = 0, size_ = 0, next_ = 0, previous_ = 0;
  int number_ = 0;
  std::string problem_;
  tally tally_;
};

}  // namespace

tally run_demo_checks(memory_source& source) {
  return demonstration(source).run();
}

}  // namespace telpher::bench
