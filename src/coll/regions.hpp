// SPDX-License-Identifier: BSD-3-Clause
// Regions: the part of a buffer that a collective reads or writes. The wrapper describes it by the
// call's arguments. A region is a few words made on the stack. It is evaluated (ranks counted,
// arrays of counts read) only when the buffer turns out to be device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host_mpi/host_mpi.hpp"
#include "staging/host_images.hpp"

namespace telpher::coll {

using staging::plan;

/// What a region may ask about the communicator; each question is a call of the host MPI.
class group {
 public:
  explicit group(MPI_Comm comm) noexcept : comm_(comm) {}

  MPI_Comm comm() const noexcept { return comm_; }
  /// In an intercommunicator the root says so by MPI_ROOT.
  bool is_root(int root) const noexcept;
  /// Ranks that data comes from or goes to: the remote group of an intercommunicator.
  int size() const noexcept;
  bool is_cartesian() const noexcept;
  int in_degree() const noexcept;
  int out_degree() const noexcept;

 private:
  struct degrees {
    int in = 0, out = 0;
  };
  degrees neighbours() const noexcept;

  MPI_Comm comm_;
};

/// A number of ranks: a value, or a question put off until the region is evaluated.
class rank_count {
 public:
  enum class question { none, size, in_degree, out_degree };

  constexpr rank_count(MPI_Count value) noexcept : value_(value) {}  // NOLINT: implicit on purpose
  constexpr rank_count(question asked) noexcept
      : question_(asked) {}  // NOLINT: implicit on purpose

  MPI_Count in(const group& g) const noexcept;
  question asked() const noexcept { return question_; }

 private:
  question question_ = question::none;
  MPI_Count value_ = 0;
};

/// Where some neighbours may be MPI_PROC_NULL their blocks of an output keep what they hold.
inline void expect_blocks_from(rank_count ranks, const group& g, plan& p) {
  if (p.copy_out && ranks.asked() == rank_count::question::in_degree && g.is_cartesian())
    p.copy_in = true;
}

std::int64_t extent_of(MPI_Datatype type) noexcept;

// --- regions: evaluate() adds to a plan ---

struct uniform {
  uniform(MPI_Count count_, MPI_Datatype type_, rank_count multiple_ = 1) noexcept
      : count(count_), type(type_), multiple(multiple_) {}
  MPI_Count count;
  MPI_Datatype type;
  rank_count multiple;

  void evaluate(const group& g, plan& p) const {
    p.add(0, count * multiple.in(g), type);
    expect_blocks_from(multiple, g, p);
  }
};

/// A segment for each rank. Displacements are in extents of the type (the v forms), or, where each
/// rank has a type of its own, in bytes (the w forms).
template <class Count, class Displacement>
struct ragged {
  ragged(rank_count ranks_, const Count* counts_, const Displacement* displacements_,
         MPI_Datatype type_) noexcept
      : ranks(ranks_), counts(counts_), displacements(displacements_), type(type_) {}
  ragged(rank_count ranks_, const Count* counts_, const Displacement* displacements_,
         const MPI_Datatype* types_) noexcept
      : ranks(ranks_), counts(counts_), displacements(displacements_), types(types_) {}
  rank_count ranks;
  const Count* counts;
  const Displacement* displacements;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const MPI_Datatype* types = nullptr;

  void evaluate(const group& g, plan& p) const {
    const auto n = static_cast<std::size_t>(ranks.in(g));
    const std::int64_t unit = n && !types ? extent_of(type) : 1;
    for (std::size_t i = 0; i < n; ++i)
      p.add(displacements[i] * unit, counts[i], types ? types[i] : type);
    expect_blocks_from(ranks, g, p);
  }
};

/// No part; stands for an empty region of any other kind.
struct nothing {
  void evaluate(const group&, plan&) const noexcept {}

  operator uniform() const noexcept { return {0, MPI_DATATYPE_NULL}; }
  template <class Count, class Displacement>
  operator ragged<Count, Displacement>() const noexcept {
    return {0, nullptr, nullptr, MPI_DATATYPE_NULL};
  }
};

}  // namespace telpher::coll
