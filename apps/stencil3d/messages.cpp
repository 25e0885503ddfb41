// SPDX-License-Identifier: BSD-3-Clause
// The stencil as a pattern of messages: in each iteration a rank computes a 7-point stencil on a
// block of its own and exchanges k messages of one size with each neighbour.
#include <cstdio>

#include "stencil3d/stencil3d.hpp"

namespace apps::stencil3d {
namespace {

struct settings {
  std::vector<std::size_t> sizes;
  int k, iterations, warm_up, grid;
  bool staged, check;
};

/// Buffers for one message size: k messages for each direction, one after the other.
class exchange {
 public:
  exchange(const gpu& g, const rank_grid& ranks, const settings& s, std::size_t bytes)
      : ranks_(ranks),
        queue_(g),
        k_(s.k),
        bytes_(bytes),
        staged_(s.staged),
        send_(all(), TELPHER_MEMORY_DEVICE),
        receive_(all(), TELPHER_MEMORY_DEVICE),
        wrong_(checkers, TELPHER_MEMORY_DEVICE) {
    if (!staged_) return;
    host_send_ = {all(), TELPHER_MEMORY_PINNED};
    host_receive_ = {all(), TELPHER_MEMORY_PINNED};
  }

  void run() {
    if (!staged_) {
      messages(send_.data(), receive_.data());
      return;
    }
    queue_.copy(host_send_.data(), send_.kernel(), all());
    queue_.wait();
    messages(host_send_.data(), host_receive_.data());
    queue_.copy(receive_.kernel(), host_receive_.data(), all());
    queue_.wait();
  }

  /// One exchange of bytes that name their sender; how many arrived wrong.
  int check(unsigned round) {
    const std::vector<unsigned char> nothing(all(), 0xee);
    receive_.fill_from(nothing.data(), all());
    for (int d = 0; d < directions; ++d)
      queue_.run(part(), fill_messages{send_.kernel() + offset(d, 0), ranks_.rank, d, round});
    queue_.wait();
    run();
    long wrong = 0;
    for (int d = 0; d < directions; ++d) {
      const int sender = ranks_.neighbour[static_cast<std::size_t>(d)];
      queue_.run(checkers, check_messages{receive_.kernel() + offset(d, 0), part(), checkers,
                                          sender, opposite(d), round, wrong_.kernel()});
      queue_.wait();
      for (const std::uint32_t count : wrong_.to_host()) wrong += count;
    }
    return static_cast<int>(std::min(wrong, 1000000L));
  }

 private:
  static constexpr index checkers = 256;

  std::size_t part() const { return static_cast<std::size_t>(k_) * bytes_; }
  std::size_t all() const { return directions * part(); }
  std::size_t offset(int direction, int message) const {
    return static_cast<std::size_t>(direction) * part() +
           static_cast<std::size_t>(message) * bytes_;
  }

  void messages(const unsigned char* send, unsigned char* receive) {
    const int count = static_cast<int>(bytes_);
    for (int d = 0; d < directions; ++d)
      for (int j = 0; j < k_; ++j)
        MPI_Irecv(receive + offset(d, j), count, MPI_BYTE,
                  ranks_.neighbour[static_cast<unsigned>(d)], opposite(d) * k_ + j, ranks_.comm,
                  pending_.next());
    for (int d = 0; d < directions; ++d)
      for (int j = 0; j < k_; ++j)
        MPI_Isend(send + offset(d, j), count, MPI_BYTE, ranks_.neighbour[static_cast<unsigned>(d)],
                  d * k_ + j, ranks_.comm, pending_.next());
    pending_.wait();
  }

  const rank_grid& ranks_;
  queue queue_;
  const int k_;
  const std::size_t bytes_;
  const bool staged_;
  array<unsigned char> send_, receive_, host_send_, host_receive_;
  array<std::uint32_t> wrong_;
  requests pending_;
};

/// The block that each iteration computes on.
class computation {
 public:
  computation(const gpu& g, int edge) : queue_(g), block_{edge, edge, edge, 1} {
    if (edge == 0) return;
    for (auto* field : {&from_, &to_}) {
      *field = {static_cast<std::size_t>(block_.cells()), TELPHER_MEMORY_DEVICE};
      queue_.run(field->size(), heat_begin{field->kernel(), block_, 0, 0, 0, edge, edge, edge});
    }
    queue_.wait();
  }
  void run() {
    if (block_.nx == 0) return;
    queue_.run(static_cast<std::size_t>(block_.inner()),
               heat_step{from_.kernel(), to_.kernel(), block_, 0.1});
    queue_.wait();
    from_.swap(to_);
  }

 private:
  queue queue_;
  block3 block_;
  array<double> from_, to_;
};

settings settings_of(options& o) {
  return {.sizes = o.sizes("--sizes", "1:1m"),
          .k = static_cast<int>(o.number("-k", 4, 1, 1000)),
          .iterations = static_cast<int>(o.number("--iterations", 100, 1, 1000000)),
          .warm_up = static_cast<int>(o.number("--warm-up", 10, 0, 1000000)),
          .grid = static_cast<int>(o.number("--grid", 32, 0, 1024)),
          .staged = o.choice("--exchange", {"telpher", "staged"}) == "staged",
          .check = !o.flag("--no-check")};
}

}  // namespace

int run_messages(options& o) {
  const settings s = settings_of(o);
  const std::string json = o.word("--json", "");
  o.flag("--periodic");
  o.finish();

  const gpu g;
  const rank_grid ranks(true);
  const char* way = s.staged ? "staged" : "telpher";
  if (ranks.rank == 0)
    std::printf(
        "# stencil3d messages: %d x %d x %d ranks, %s, %d messages a neighbour, %s\n%10s %12s"
        " %12s %8s\n",
        ranks.size[0], ranks.size[1], ranks.size[2], g.backend(), s.k, way, "bytes", "us/iteration",
        "us/exchange", "check");
  computation compute(g, s.grid);
  std::vector<row> rows;
  int wrong = 0;
  for (const std::size_t bytes : s.sizes) {
    exchange e(g, ranks, s, bytes);
    int bad = 0;
    for (unsigned round = 0; s.check && round < 3; ++round) bad += e.check(round);
    double all = 0, exchanging = 0;
    for (int i = -s.warm_up; i < s.iterations; ++i) {
      if (i == 0) {
        MPI_Barrier(ranks.comm);
        all = -MPI_Wtime();
        exchanging = 0;
      }
      compute.run();
      exchanging -= MPI_Wtime();
      e.run();
      exchanging += MPI_Wtime();
    }
    all += MPI_Wtime();
    const double each = largest(all) / s.iterations * 1e6;
    const double exchange_us = largest(exchanging) / s.iterations * 1e6;
    const char* verdict = !s.check ? "-" : total(bad) == 0 ? "right" : "WRONG";
    if (ranks.rank == 0)
      std::printf("%10zu %12.2f %12.2f %8s\n", bytes, each, exchange_us, verdict);
    rows.push_back(row()
                       .add("app", "stencil3d")
                       .add("mode", "messages")
                       .add("backend", g.backend())
                       .add("exchange", way)
                       .add("ranks", world_size())
                       .add("k", s.k)
                       .add("bytes", static_cast<long>(bytes))
                       .add("us", each)
                       .add("exchange_us", exchange_us)
                       .add("check", verdict));
    wrong += bad;
  }
  write_rows(json, rows);
  return wrong;
}

}  // namespace apps::stencil3d
