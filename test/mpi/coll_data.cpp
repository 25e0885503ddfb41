// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data: broadcast, gather, scatter, allgather, alltoall and their v and w
// forms, in place and not, with plain and with strided types, from nothing to large messages.
#include "collective.hpp"

namespace {

using namespace mpi_test;

/// What the elements of a test are made of.
struct element {
  const char* name;
  MPI_Datatype type;
  std::size_t extent;
};

class strided_type {
 public:
  strided_type() {
    MPI_Datatype rows = MPI_DATATYPE_NULL;
    MPI_Type_vector(7, 2, 3, MPI_SHORT, &rows);
    MPI_Type_create_resized(rows, 0, 48, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&rows);
  }
  strided_type(const strided_type&) = delete;
  strided_type& operator=(const strided_type&) = delete;
  ~strided_type() { MPI_Type_free(&type_); }
  element get() const { return {"strided", type_, 48}; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

struct shape {
  element e;
  int count;
  int ranks;
  int rank;
  int root;
  MPI_Comm comm;

  std::size_t one() const { return static_cast<std::size_t>(count) * e.extent; }
  std::size_t all() const { return one() * static_cast<std::size_t>(ranks); }
  std::string label(const char* name) const {
    return std::string(name) + " of " + std::to_string(count) + " " + e.name + ", root " +
           std::to_string(root);
  }
};

std::vector<collective> rooted(const shape& x) {
  const MPI_Datatype t = x.e.type;
  const int n = x.count, root = x.root;
  const MPI_Comm comm = x.comm;
  const bool here = x.rank == root;
  return {
      {x.label("Bcast"), 0, x.one(), MPI_TEST_FORMS(Bcast, Ibcast, r, n, t, root, comm), {}},
      {x.label("Gather"),
       x.one(),
       x.all(),
       MPI_TEST_FORMS(Gather, Igather, s, n, t, r, n, t, root, comm),
       {}},
      {x.label("Gather in place"),
       x.one(),
       x.all(),
       MPI_TEST_FORMS(Gather, Igather, here ? MPI_IN_PLACE : s, n, t, r, n, t, root, comm),
       {}},
      {x.label("Scatter"),
       x.all(),
       x.one(),
       MPI_TEST_FORMS(Scatter, Iscatter, s, n, t, r, n, t, root, comm),
       {}},
      {x.label("Scatter in place"),
       x.all(),
       x.one(),
       MPI_TEST_FORMS(Scatter, Iscatter, s, n, t, here ? MPI_IN_PLACE : r, n, t, root, comm),
       {}},
  };
}

std::vector<collective> unrooted(const shape& x) {
  const MPI_Datatype t = x.e.type;
  const int n = x.count;
  const MPI_Comm comm = x.comm;
  return {
      {x.label("Allgather"),
       x.one(),
       x.all(),
       MPI_TEST_FORMS(Allgather, Iallgather, s, n, t, r, n, t, comm),
       {}},
      {x.label("Allgather in place"),
       0,
       x.all(),
       MPI_TEST_FORMS(Allgather, Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r, n, t, comm),
       {}},
      {x.label("Alltoall"),
       x.all(),
       x.all(),
       MPI_TEST_FORMS(Alltoall, Ialltoall, s, n, t, r, n, t, comm),
       {}},
      {x.label("Alltoall in place"),
       0,
       x.all(),
       MPI_TEST_FORMS(Alltoall, Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r, n, t, comm),
       {}},
  };
}

/// Counts and places of the v forms: rank i has (i % 3) * count elements, in reverse order with
/// gaps.
struct ragged_lists {
  explicit ragged_lists(const shape& x)
      : counts(static_cast<std::size_t>(x.ranks)),
        places(counts),
        bytes(counts),
        types(counts.size(), x.e.type) {
    for (int i = 0; i < x.ranks; ++i) {
      const auto at = static_cast<std::size_t>(i);
      counts[at] = (i % 3) * x.count;
      places[at] = (x.ranks - 1 - i) * (2 * x.count + 3);
      bytes[at] = places[at] * as_int(x.e.extent);
    }
    span = static_cast<std::size_t>(x.ranks * (2 * x.count + 3)) * x.e.extent;
  }
  std::vector<int> counts, places, bytes;
  std::vector<MPI_Datatype> types;
  std::size_t span = 0;
};

std::vector<collective> ragged_rooted(const shape& x, const ragged_lists& l) {
  const MPI_Datatype t = x.e.type;
  const int root = x.root, mine = l.counts[static_cast<std::size_t>(x.rank)];
  const MPI_Comm comm = x.comm;
  const int *counts = l.counts.data(), *places = l.places.data();
  const std::size_t own = static_cast<std::size_t>(mine) * x.e.extent;
  return {
      {x.label("Gatherv"),
       own,
       l.span,
       MPI_TEST_FORMS(Gatherv, Igatherv, s, mine, t, r, counts, places, t, root, comm),
       {}},
      {x.label("Scatterv"),
       l.span,
       own,
       MPI_TEST_FORMS(Scatterv, Iscatterv, s, counts, places, t, r, mine, t, root, comm),
       {}},
  };
}

/// For alltoall every pair must agree: rank i sends ((i + j) % 3) * count elements to rank j.
ragged_lists pairwise(const shape& x) {
  ragged_lists l(x);
  for (int j = 0; j < x.ranks; ++j)
    l.counts[static_cast<std::size_t>(j)] = ((x.rank + j) % 3) * x.count;
  return l;
}

std::vector<collective> ragged_unrooted(const shape& x, const ragged_lists& g,
                                        const ragged_lists& a) {
  const MPI_Datatype t = x.e.type;
  const int mine = g.counts[static_cast<std::size_t>(x.rank)];
  const MPI_Comm comm = x.comm;
  const int *counts = g.counts.data(), *places = g.places.data();
  const int *each = a.counts.data(), *at = a.places.data(), *bytes = a.bytes.data();
  const MPI_Datatype* types = a.types.data();
  const std::size_t own = static_cast<std::size_t>(mine) * x.e.extent;
  return {
      {x.label("Allgatherv"),
       own,
       g.span,
       MPI_TEST_FORMS(Allgatherv, Iallgatherv, s, mine, t, r, counts, places, t, comm),
       {}},
      {x.label("Allgatherv in place"),
       0,
       g.span,
       MPI_TEST_FORMS(Allgatherv, Iallgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r, counts,
                      places, t, comm),
       {}},
      {x.label("Alltoallv"),
       a.span,
       a.span,
       MPI_TEST_FORMS(Alltoallv, Ialltoallv, s, each, at, t, r, each, at, t, comm),
       {}},
      blocking_only_on_open_mpi({x.label("Alltoallv in place"),
                                 0,
                                 a.span,
                                 MPI_TEST_FORMS(Alltoallv, Ialltoallv, MPI_IN_PLACE, nullptr,
                                                nullptr, MPI_DATATYPE_NULL, r, each, at, t, comm),
                                 {}}),
      {x.label("Alltoallw"),
       a.span,
       a.span,
       MPI_TEST_FORMS(Alltoallw, Ialltoallw, s, each, bytes, types, r, each, bytes, types, comm),
       {}},
  };
}

void check_all(suite& s, const std::vector<collective>& list) {
  collective_test test(s);
  for (const collective& c : list) test.check(c);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 1);
  {
    const strided_type strided;
    const element elements[] = {{"doubles", MPI_DOUBLE, 8}, strided.get()};
    for (const element& e : elements)
      for (const int count : {0, 1, 5, 3000}) {
        const std::string suffix = std::to_string(count) + " " + e.name;
        shape x{e, count, s.ranks, s.rank, s.ranks - 1, MPI_COMM_WORLD};
        const ragged_lists lists(x), pairs = pairwise(x);
        s.run("rooted/" + suffix, [&] { check_all(s, rooted(x)); });
        s.run("unrooted/" + suffix, [&] { check_all(s, unrooted(x)); });
        s.run("ragged/" + suffix, [&] {
          check_all(s, ragged_rooted(x, lists));
          check_all(s, ragged_unrooted(x, lists, pairs));
        });
      }
    s.run("open together", [&] {
      const shape x{elements[0], 2000, s.ranks, s.rank, 0, MPI_COMM_WORLD};
      auto list = rooted(x);
      for (collective& c : unrooted(x)) list.push_back(std::move(c));
      collective_test(s).check_open_together(list);
    });
    s.run("large", [&] {
      const shape x{elements[0], 300000, s.ranks, s.rank, 0, MPI_COMM_WORLD};
      collective_test(s).check(rooted(x)[0]);
      collective_test(s).check(unrooted(x)[0]);
    });
  }
  return s.finish();
}
