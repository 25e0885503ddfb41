// SPDX-License-Identifier: BSD-3-Clause
// Collectives that are enqueued in rounds, on buffers in turn, and what must come in each.
#pragma once

#include "matched_pairs.hpp"

namespace mpi_test {

constexpr int sets = 3;  // of buffers, in turn

/// What every byte of a rank's input is in a round; sums of words have no carries.
inline int byte_of(int round, int rank) {
  return 1 + (round * 3 + rank) % 25;
}
inline int sum_to(int ranks, int round) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += byte_of(round, r);
  return sum;
}

/// A collective of words, or so many for each rank; rank 1 is the root.
struct collective {
  collective_call which;
  bool out_of_all, into_all;
  int (*expected)(const suite& s, int round, int block);

  std::string name() const { return name_of(which); }
  /// With n words.
  int call(const void* in, void* out, int n, MPI_Comm comm, void* stream) const {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    call_arguments x;
    x.comm = comm;
    x.root = 1;
    x.out = in;
    x.in = which == collective_call::bcast && rank == 1 ? const_cast<void*>(in) : out;
    x.sent = x.received = n;
    x.out_type = x.in_type = MPI_INT;
    return enqueue_call(which, x, stream);
  }
};

inline int sum_of_all(const suite& s, int round, int) {
  return sum_to(s.ranks, round);
}
inline int from_each(const suite&, int round, int block) {
  return byte_of(round, block);
}

inline const collective all[] = {
    {collective_call::allreduce, false, false, sum_of_all},
    {collective_call::bcast, false, false,
     [](const suite& s, int round, int) { return s.rank == 1 ? 0 : byte_of(round, 1); }},
    {collective_call::allgather, false, true, from_each},
    {collective_call::alltoall, true, true, from_each},
    {collective_call::reduce_scatter_block, true, false, sum_of_all},
    {collective_call::scan, false, false,
     [](const suite& s, int round, int) { return sum_to(s.rank + 1, round); }},
    {collective_call::reduce, false, false,
     [](const suite& s, int round, int) { return s.rank == 1 ? sum_to(s.ranks, round) : 0; }},
    {collective_call::gather, false, true,
     [](const suite& s, int round, int block) { return s.rank == 1 ? byte_of(round, block) : 0; }},
    {collective_call::scatter, true, false,
     [](const suite&, int round, int) { return byte_of(round, 1); }},
};
constexpr int rooted = 6;  // of these, the first one whose root alone may be in place

/// The memory of rounds of a collective: buffers in turn, and a log of what came.
class rounds_of {
 public:
  rounds_of(const suite& s, const collective& what, std::size_t block, int rounds)
      : what_(what),
        block_(block),
        in_(block * (what.out_of_all ? static_cast<std::size_t>(s.ranks) : 1)),
        out_(block * (what.into_all ? static_cast<std::size_t>(s.ranks) : 1)),
        inputs_(in_ * sets, 0),
        outputs_(out_ * sets, 0),
        log_(out_ * static_cast<std::size_t>(rounds), 0) {}

  unsigned char* input(int round) const { return inputs_.data() + in_ * place(round); }
  unsigned char* output(int round) const { return outputs_.data() + out_ * place(round); }
  int words() const { return static_cast<int>(block_ / 4); }
  std::size_t out_bytes() const { return out_; }

  void fill(const suite& s, int round, const test_stream& stream) const {
    stream.set(input(round), byte_of(round, s.rank), in_);
    stream.set(output(round), 0, out_);
  }
  void keep(int round, const test_stream& stream) const {
    stream.copy(log_.data() + out_ * static_cast<std::size_t>(round), output(round), out_);
  }
  void run(suite& s, int round, MPI_Comm comm, const test_stream& stream) const {
    fill(s, round, stream);
    s.expect_equal(what_.call(input(round), output(round), words(), comm, stream), MPI_SUCCESS,
                   name_of(what_.which));
    keep(round, stream);
  }
  bool right(const suite& s, int round) const {
    for (std::size_t b = 0; b < out_ / block_; ++b)
      if (!log_.all(what_.expected(s, round, static_cast<int>(b)),
                    out_ * static_cast<std::size_t>(round) + b * block_, block_))
        return false;
    return true;
  }

 private:
  static std::size_t place(int round) { return static_cast<std::size_t>(round % sets); }

  const collective& what_;
  std::size_t block_, in_, out_;
  bytes inputs_, outputs_, log_;
};

inline void expect_right(suite& s, const rounds_of& r, int rounds) {
  for (int round = 0; round < rounds; ++round)
    if (!r.right(s, round)) s.fail("what came in round %d", round);
}

}  // namespace mpi_test
