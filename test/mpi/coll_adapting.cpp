// SPDX-License-Identifier: BSD-3-Clause
// Small collectives between nodes in which single ranks have another kind of memory, gaps, odd
// addresses or MPI_BOTTOM: each rank adapts its own buffers, so every call runs by the schedule.
#include <algorithm>

#include "paths.hpp"

namespace {

using namespace mpi_test;

int value(int rank, int i, int call) {
  return (rank + 1) * 1009 + i * 7 + call * 131;
}

template <class F>
std::vector<int> made(int count, F f) {
  std::vector<int> v;
  for (int i = 0; i < count; ++i) v.push_back(f(i));
  return v;
}

void check_path(suite& s, const char* name, int call) {
  if (const std::string path = last_path(); path != "coll_levels")
    s.fail("%s, call %d, ran by %s", name, call, path.c_str());
}

/// Elements in a buffer, each an int, with a gap behind it where `spread`.
struct blocks_of_ints {
  MPI_Datatype type;
  int step;
  buffer data;

  blocks_of_ints(kind k, bool spread, int elements, MPI_Datatype wide)
      : type(spread ? wide : MPI_INT),
        step(spread ? 2 : 1),
        data(k, static_cast<std::size_t>(2 * elements) * sizeof(int)) {}
  void put(const std::vector<int>& v) {
    std::vector<int> all(v.size() * 2, -1);
    for (std::size_t i = 0; i < v.size(); ++i) all[i * static_cast<std::size_t>(step)] = v[i];
    copy(data.memory(), data.data(), all.data(), all.size() * sizeof(int));
  }
  bool has(const std::vector<int>& v) const {
    std::vector<int> all(v.size() * 2), wanted(all.size(), -1);
    for (std::size_t i = 0; i < v.size(); ++i) wanted[i * static_cast<std::size_t>(step)] = v[i];
    copy(data.memory(), all.data(), data.data(), all.size() * sizeof(int));
    const std::size_t n = step == 1 ? v.size() : wanted.size();
    return std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), wanted.begin());
  }
};

/// Small calls in which single ranks have gaps, in any memory: all of them go between nodes.
void check_adapting(suite& s) {
  constexpr int n = 20;
  MPI_Datatype wide;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &wide);
  MPI_Type_commit(&wide);
  random_numbers own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  for (int call = 0; call < 12; ++call) {
    s.note("adapting, call %d", call);
    const auto side = [&](int elements) {
      const bool first = call == 0;  // a rank must have shown device memory
      const kind k = first ? kind::device : kinds()[own.below(kinds().size())];
      return blocks_of_ints(k, !first && own.below(2) == 0, elements, wide);
    };
    const bool in_place = call % 3 == 2;
    const std::vector<int> mine = made(n * s.ranks, [&](int i) { return value(s.rank, i, call); });

    blocks_of_ints whole = side(n);
    const int root = call % s.ranks;
    const auto sent = made(n, [&](int i) { return value(root, i, call); });
    whole.put(s.rank == root ? sent : std::vector<int>(n, -1));
    MPI_Bcast(whole.data.data(), n, whole.type, root, MPI_COMM_WORLD);
    s.expect(whole.has(sent), "the broadcast's elements are there, and its gaps as they were");
    check_path(s, "MPI_Bcast", call);

    blocks_of_ints from = side(n * s.ranks), to = side(n * s.ranks);
    const auto gathered = made(n * s.ranks, [&](int i) { return value(i / n, i % n, call); });
    from.put(mine);
    std::vector<int> before(gathered.size(), -1);
    std::copy_n(mine.begin(), n, before.begin() + s.rank * n);
    to.put(in_place ? before : std::vector<int>(gathered.size(), -1));
    MPI_Allgather(in_place ? MPI_IN_PLACE : from.data.data(), n, from.type, to.data.data(), n,
                  to.type, MPI_COMM_WORLD);
    s.expect(to.has(gathered), "every block is in its place");
    check_path(s, "MPI_Allgather", call);

    const auto turned =
        made(n * s.ranks, [&](int i) { return value(i / n, s.rank * n + i % n, call); });
    to.put(in_place ? mine : std::vector<int>(turned.size(), -1));
    MPI_Alltoall(in_place ? MPI_IN_PLACE : from.data.data(), n, from.type, to.data.data(), n,
                 to.type, MPI_COMM_WORLD);
    s.expect(to.has(turned), "every rank's block is in its place");
    check_path(s, "MPI_Alltoall", call);
  }
  MPI_Type_free(&wide);
}

/// Small sums of values at odd addresses, at some ranks.
void check_odd_addresses(suite& s) {
  constexpr int n = 60;
  buffer device(kind::device, n * sizeof(int));
  std::vector<unsigned char> raw(n * sizeof(int) + 1);
  for (int call = 0; call < 6; ++call) {
    s.note("odd addresses, call %d", call);
    const bool odd = call > 0 && s.rank % 2 == call % 2;
    void* const at = odd ? raw.data() + 1 : device.data();
    const kind k = odd ? kind::host : kind::device;
    std::vector<int> v, wanted;
    for (int i = 0; i < n; ++i) {
      v.push_back(value(s.rank, i, call));
      wanted.push_back(0);
      for (int r = 0; r < s.ranks; ++r) wanted.back() += value(r, i, call);
    }
    copy(k, at, v.data(), n * sizeof(int));
    MPI_Allreduce(MPI_IN_PLACE, at, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check_path(s, "MPI_Allreduce", call);
    copy(k, v.data(), at, n * sizeof(int));
    s.expect(v == wanted, "the sums are right");
  }
}

/// Small broadcasts in which some ranks have addresses in the type, of host and of device memory.
void check_by_address(suite& s) {
  constexpr int n = 30;
  constexpr std::size_t half = n * sizeof(int);
  buffer plain(kind::device, 2 * half), far(kind::device, half);
  std::vector<int> near(n);
  MPI_Aint places[2];
  MPI_Get_address(near.data(), &places[0]);
  MPI_Get_address(far.data(), &places[1]);
  MPI_Datatype both;
  MPI_Type_create_hindexed_block(2, n, places, MPI_INT, &both);
  MPI_Type_commit(&both);
  for (int call = 0; call < 6; ++call) {
    s.note("by address, call %d", call);
    const int root = call % s.ranks;
    const std::vector<int> sent = made(2 * n, [&](int i) { return value(root, i, call); });
    std::vector<int> v = s.rank == root ? sent : std::vector<int>(2 * n, -1);
    const bool mixed = call > 0 && s.rank % 2 == call % 2;
    copy(kind::device, plain.data(), v.data(), 2 * half);
    copy(kind::host, near.data(), v.data(), half);
    copy(kind::device, far.data(), v.data() + n, half);
    if (mixed)
      MPI_Bcast(MPI_BOTTOM, 1, both, root, MPI_COMM_WORLD);
    else
      MPI_Bcast(plain.data(), 2 * n, MPI_INT, root, MPI_COMM_WORLD);
    check_path(s, "MPI_Bcast", call);
    if (mixed) {
      copy(kind::host, v.data(), near.data(), half);
      copy(kind::device, v.data() + n, far.data(), half);
    } else {
      copy(kind::device, v.data(), plain.data(), 2 * half);
    }
    s.expect(v == sent, "what was broadcast is there");
  }
  MPI_Type_free(&both);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("adapting", [&] { check_adapting(s); });
  s.run("odd addresses", [&] { check_odd_addresses(s); });
  s.run("by address", [&] { check_by_address(s); });
  return s.finish();
}
