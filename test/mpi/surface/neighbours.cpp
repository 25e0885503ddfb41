// SPDX-License-Identifier: BSD-3-Clause
// Steps that are neighbourhood collectives, on a ring, a grid with ends, and a graph.
#include "program.hpp"

namespace surface {

namespace {

constexpr collective_call calls[] = {
    collective_call::neighbor_allgather, collective_call::neighbor_allgatherv,
    collective_call::neighbor_alltoall, collective_call::neighbor_alltoallv,
    collective_call::neighbor_alltoallw};

struct neighbour_lists {
  std::vector<int> from, to;
};

neighbour_lists lists_of(MPI_Comm comm) {
  neighbour_lists l;
  int kind_of_topology = 0, rank = 0;
  MPI_Topo_test(comm, &kind_of_topology);
  MPI_Comm_rank(comm, &rank);
  if (kind_of_topology == MPI_CART) {
    int dims = 0;
    MPI_Cartdim_get(comm, &dims);
    for (int d = 0; d < dims; ++d) {
      int before = 0, behind = 0;
      MPI_Cart_shift(comm, d, 1, &before, &behind);
      l.from.insert(l.from.end(), {before, behind});
    }
    l.to = l.from;
    return l;
  }
  int in = 0, out = 0, weighted = 0;
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  l.from.resize(static_cast<std::size_t>(in));
  l.to.resize(static_cast<std::size_t>(out));
  MPI_Dist_graph_neighbors(comm, in, l.from.data(), MPI_UNWEIGHTED, out, l.to.data(),
                           MPI_UNWEIGHTED);
  return l;
}

/// One side's blocks. Vectors live until the step ends.
struct side {
  std::vector<int> counts, places;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
  elements unit;
  span all;
  side(draw& d, const elements& one, const std::vector<int>& often, bool spread) : unit(one) {
    int end = 0;
    for (const int n : often) {
      counts.push_back(n * one.count);
      places.push_back(end);
      bytes.push_back(end * extent_of(one.type));
      types.push_back(one.type);
      all.add({one.type, counts.back()}, bytes.back());
      end += n * one.count + (spread ? as_int(d.mine.below(3)) : 0);
    }
    places.push_back(end);  // Open MPI takes no null array of places, not even an empty one
  }
};

void run(collective_call which, MPI_Comm c, const side& out, const side& in, running& r) {
  const auto block = [](const side& of) {
    return of.counts.empty() ? of.unit.count : of.counts[0];
  };
  call_arguments x;
  x.comm = c;
  x.out = r.at[0];
  x.in = r.at[1];
  x.sent = block(out);
  x.received = in.unit.count;
  x.out_type = out.unit.type;
  x.in_type = in.unit.type;
  x.out_counts = out.counts.data();
  x.in_counts = in.counts.data();
  x.out_places = out.places.data();
  x.in_places = in.places.data();
  x.out_bytes = out.bytes.data();
  x.in_bytes = in.bytes.data();
  x.out_types = out.types.data();
  x.in_types = in.types.data();
  make_collective(which, x, r);
}

}  // namespace

std::unique_ptr<step> make_neighbours(world& w, draw& d, form how) {
  const auto which = calls[d.shared.below(5)];
  const MPI_Comm comm = w.topologies[d.shared.below(w.topologies.size())];
  const MPI_Datatype basic = basic_type(d.shared);
  const int n = element_count(d.shared, basic);
  const placing where(d.shared);
  const std::uint64_t seed = d.shared.next();
  auto made = std::make_unique<step>(w.s);
  made->collective = true;
  made->how = how == form::persistent && !MPI_TEST_HAS_MPI_4 ? form::nonblocking : how;
  // Open MPI's own forms with requests mix blocks up. Calls without device memory are its own, and
  // non-blocking ones may be, as blocking calls before them, the models', had host memory.
  if (!w.s.mpich && (made->how == form::nonblocking || where.without_device(w.s.ranks)))
    made->how = form::blocking;
  const neighbour_lists l = lists_of(comm);
  const bool counts = has_counts(which);
  const bool gathers = which == calls[0] || which == calls[1];
  const auto often = [&](int from, int to) {
    const int key = gathers ? from : from * 64 + to;
    return counts ? static_cast<int>(mix(seed + static_cast<std::uint64_t>(key)) % 4) : 1;
  };
  std::vector<int> sent, received;
  const int rank = w.s.rank;
  for (const int peer : l.from) received.push_back(peer < 0 ? 1 : often(peer, rank));
  for (const int peer : l.to) sent.push_back(peer < 0 ? 1 : often(rank, peer));
  if (gathers) sent = {often(rank, 0)};
  const side out(d, made->types.draw(d.mine, basic, n), sent, counts),
      in(d, made->types.draw(d.mine, basic, n), received, counts);
  made->add_area(out.all, where.of(rank, 0), d.mine.next());
  made->add_area(in.all, where.of(rank, 1), d.mine.next());
  made->what = std::string(name_of(which)) + ", " + std::to_string(n) + " elements, " +
               name(made->areas[0].where) + " to " + name(made->areas[1].where);
  made->may_free_types = w.s.mpich;  // Open MPI's own calls use types that were freed
  made->model = made->call = [=](running& r) { run(which, comm, out, in, r); };
  return made;
}

}  // namespace surface
