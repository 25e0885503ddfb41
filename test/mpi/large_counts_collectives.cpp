// SPDX-License-Identifier: BSD-3-Clause
// Every large-count form of a collective: what it must give is what the blocking call with counts
// of int gives in host memory.
#include <algorithm>

#include "collective.hpp"
#include "large_counts.hpp"
#include "topologies.hpp"

#if MPI_VERSION >= 4
namespace mpi_test::large_counts {
namespace {

void small_ints(unsigned char* to, std::size_t bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i + sizeof(int) <= bytes; i += sizeof(int)) {
    const int value = static_cast<int>(mix(seed + i) % 1000);
    std::memcpy(to + i, &value, sizeof value);
  }
}

/// A collective of the two names and arguments, in terms of `s` and `r`, on buffers of so many
/// ints.
#define LARGE(blocking_, nonblocking_, send_, receive_, ...)                                 \
  collective {                                                                               \
    std::string(#blocking_ "_c"), sizeof(int) * static_cast<std::size_t>(send_),             \
        sizeof(int) * static_cast<std::size_t>(receive_),                                    \
        [=](const void* s, void* r) { (void)s, (void)r, MPI_##blocking_##_c(__VA_ARGS__); }, \
        [=](const void* s, void* r, MPI_Request* q) {                                        \
          (void)s, (void)r, MPI_##nonblocking_##_c(__VA_ARGS__, q);                          \
        },                                                                                   \
        [=](const void* s, void* r, MPI_Request* q) {                                        \
          (void)s, (void)r, MPI_##blocking_##_init_c(__VA_ARGS__, MPI_INFO_NULL, q);         \
        },                                                                                   \
        small_ints,                                                                          \
        [=](const void* s, void* r) { (void)s, (void)r, MPI_##blocking_(__VA_ARGS__); }      \
  }

/// Counts or places, as an array of whichever type a function takes.
class list {
 public:
  template <class Of>
  list(int n, Of of) {
    for (int i = 0; i < n; ++i) {
      ints_.push_back(of(i));
      counts_.push_back(of(i));
      places_.push_back(of(i));
    }
  }
  template <class T>
  operator const T*() const {
    if constexpr (std::is_same_v<T, int>)
      return ints_.data();
    else if constexpr (std::is_same_v<T, MPI_Count>)
      return counts_.data();
    else
      return places_.data();
  }

 private:
  std::vector<int> ints_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> places_;
};

/// Blocks for `parts` ranks or neighbours: of `n` ints, or of differing numbers with gaps.
struct blocks {
  int n, parts, rank;
  int space = parts * (n + 5);  // of uneven blocks, gaps included
  // To and from another rank the same number.
  list counts{parts, [this](int i) { return n + (i + rank) % 3; }};
  list places{parts, [this](int i) { return (parts - 1 - i) * (n + 5); }};
  list byte_places{parts, [this](int i) { return (parts - 1 - i) * (n + 5) * 4; }};
  // The same at all ranks.
  list each{parts, [this](int i) { return n + i % 3; }};
  int own = n + rank % 3;
  int sum = parts * n + (parts / 3 * 3) + (parts % 3 == 2 ? 1 : 0);
};

std::vector<collective> rooted(const blocks& b, int root, MPI_Comm comm) {
  const MPI_Datatype t = MPI_INT;
  const int n = b.n, all = n * b.parts, own = b.own;
  const list each = b.each, places = b.places;
  return {
      LARGE(Bcast, Ibcast, 0, n, r, n, t, root, comm),
      LARGE(Gather, Igather, n, all, s, n, t, r, n, t, root, comm),
      LARGE(Scatter, Iscatter, all, n, s, n, t, r, n, t, root, comm),
      LARGE(Gatherv, Igatherv, own, b.space, s, own, t, r, each, places, t, root, comm),
      LARGE(Scatterv, Iscatterv, b.space, own, s, each, places, t, r, own, t, root, comm),
  };
}

std::vector<collective> unrooted(const blocks& b, MPI_Comm comm) {
  const MPI_Datatype t = MPI_INT;
  const int n = b.n, all = n * b.parts, own = b.own, space = b.space;
  const list each = b.each, places = b.places, counts = b.counts, bytes = b.byte_places;
  static const std::vector<MPI_Datatype> types(64, MPI_INT);
  const MPI_Datatype* const y = types.data();
  return {
      LARGE(Allgather, Iallgather, n, all, s, n, t, r, n, t, comm),
      LARGE(Allgatherv, Iallgatherv, own, space, s, own, t, r, each, places, t, comm),
      LARGE(Alltoall, Ialltoall, all, all, s, n, t, r, n, t, comm),
      LARGE(Alltoallv, Ialltoallv, space, space, s, counts, places, t, r, counts, places, t, comm),
      LARGE(Alltoallw, Ialltoallw, space, space, s, counts, bytes, y, r, counts, bytes, y, comm),
  };
}

std::vector<collective> reducing(const blocks& b, int root, MPI_Comm comm) {
  const MPI_Datatype t = MPI_INT;
  const MPI_Op op = MPI_SUM;
  const int n = b.n;
  const list each = b.each;
  return {
      LARGE(Reduce, Ireduce, n, n, s, r, n, t, op, root, comm),
      LARGE(Allreduce, Iallreduce, n, n, s, r, n, t, op, comm),
      LARGE(Reduce_scatter_block, Ireduce_scatter_block, n * b.parts, n, s, r, n, t, op, comm),
      LARGE(Reduce_scatter, Ireduce_scatter, b.sum, b.own, s, r, each, t, op, comm),
      LARGE(Scan, Iscan, n, n, s, r, n, t, op, comm),
      LARGE(Exscan, Iexscan, n, n, s, r, n, t, op, comm),
      {"Reduce_local_c",
       sizeof(int) * static_cast<std::size_t>(n),
       sizeof(int) * static_cast<std::size_t>(n),
       [=](const void* s, void* r) { MPI_Reduce_local_c(s, r, n, t, op); },
       {},
       {},
       small_ints,
       [=](const void* s, void* r) { MPI_Reduce_local(s, r, n, t, op); }},
  };
}

/// On a ring: each rank's blocks are for its left and its right neighbour.
std::vector<collective> among_neighbours(const blocks& b, MPI_Comm comm) {
  const MPI_Datatype t = MPI_INT;
  const int n = b.n, space = b.space;
  const list even(2, [n](int) { return n; }), places = b.places;
  static constexpr MPI_Aint far[] = {0, 4000};
  static const MPI_Datatype y[] = {MPI_INT, MPI_INT};
  return {
      LARGE(Neighbor_allgather, Ineighbor_allgather, n, 2 * n, s, n, t, r, n, t, comm),
      LARGE(Neighbor_allgatherv, Ineighbor_allgatherv, n, space, s, n, t, r, even, places, t, comm),
      LARGE(Neighbor_alltoall, Ineighbor_alltoall, 2 * n, 2 * n, s, n, t, r, n, t, comm),
      LARGE(Neighbor_alltoallv, Ineighbor_alltoallv, space, space, s, even, places, t, r, even,
            places, t, comm),
      LARGE(Neighbor_alltoallw, Ineighbor_alltoallw, 1000 + n, 1000 + n, s, even, far, y, r, even,
            far, y, comm),
  };
}

void check(suite& s, const std::vector<collective>& all) {
  for (const collective& c : all) s.run(c.name, [&] { collective_test(s).check(c); });
}

}  // namespace

void collectives(suite& s) {
  const blocks b{300, s.ranks, s.rank};
  check(s, rooted(b, s.ranks - 1, MPI_COMM_WORLD));
  check(s, unrooted(b, MPI_COMM_WORLD));
}

void reductions(suite& s) {
  check(s, reducing({300, s.ranks, s.rank}, s.ranks - 1, MPI_COMM_WORLD));
}

void neighbours(suite& s) {
  const topology t = make_grid(s, {0}, true);
  check(s, among_neighbours({300, 2, s.rank}, t.comm));
  MPI_Comm comm = t.comm;
  MPI_Comm_free(&comm);
}

}  // namespace mpi_test::large_counts
#endif
