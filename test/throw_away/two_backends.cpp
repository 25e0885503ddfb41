// SPDX-License-Identifier: BSD-3-Clause
// Two back ends in one job: `ranks`, where each rank has one of them (even ranks emulated, odd ones
// the throw-away one), or `process`, where each rank has both. Device memory of the one goes to
// device memory of the other, of every size class, blocking and many at once, and collectively.
#include <cstdlib>

#include "mpi/suite.hpp"

namespace {

using namespace mpi_test;

constexpr std::size_t sizes[] = {1, 100, 480, 4096, 65536, 65537, 1 << 20, (4 << 20) + 3};

bool has_word(int argc, char** argv, std::string_view word) {
  for (int i = 1; i < argc; ++i)
    if (argv[i] == word) return true;
  return false;
}

// Before MPI_Init the launcher's variables tell the rank.
void choose_for_rank() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* rank = std::getenv(name))
      setenv("TELPHER_BACKEND", std::atoi(rank) % 2 == 0 ? "emu" : "toy", 1);
}

// Allocations that follow are made by this back end.
void use(suite& s, const char* backend) {
  static auto* const choose = memory_functions::find<int(const char*)>("telpher_choose_backend");
  s.expect(choose != nullptr && choose(backend) == 0, "choosing a back end");
  s.expect(std::string(backend_name()) == backend, "the back end in use");
}

std::uint64_t id(int rank, std::size_t bytes) {
  return static_cast<std::uint64_t>(rank) * 100000000 + bytes;
}

void exchange(suite& s, int peer, buffer& out, buffer& in, std::size_t bytes) {
  out.fill(id(s.rank, bytes));
  in.clear();
  MPI_Status status;
  MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, peer, 3, in.data(), as_int(bytes), MPI_BYTE,
               peer, 3, MPI_COMM_WORLD, &status);
  s.expect_status(status, peer, 3, bytes);
  s.expect_none(in.compare(id(peer, bytes), bytes));
}

void many_at_once(suite& s, int peer, buffer& out, buffer& in) {
  constexpr int count = 16;
  constexpr std::size_t each = 70000;
  out.fill(id(s.rank, 1));
  in.clear();
  std::vector<MPI_Request> all(2 * count);
  for (int i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * each;
    MPI_Irecv(in.data() + at, as_int(each), MPI_BYTE, peer, i, MPI_COMM_WORLD,
              &all[static_cast<std::size_t>(i)]);
    MPI_Isend(out.data() + at, as_int(each), MPI_BYTE, peer, i, MPI_COMM_WORLD,
              &all[static_cast<std::size_t>(count + i)]);
  }
  MPI_Waitall(2 * count, all.data(), MPI_STATUSES_IGNORE);
  s.expect_none(in.compare(id(peer, 1), in.bytes()));
}

void sum(suite& s) {
  constexpr int count = 5000;
  buffer from(kind::device, count * sizeof(int)), to(kind::device, count * sizeof(int));
  std::vector<int> values(count), wanted(count);
  for (int i = 0; i < count; ++i) {
    values[static_cast<std::size_t>(i)] = i + s.rank;
    wanted[static_cast<std::size_t>(i)] = s.ranks * i + s.ranks * (s.ranks - 1) / 2;
  }
  from.write(reinterpret_cast<unsigned char*>(values.data()), from.bytes());
  to.clear();
  MPI_Allreduce(from.data(), to.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  s.expect_none(to.compare(reinterpret_cast<unsigned char*>(wanted.data())));
}

void all_sizes(suite& s, int peer, buffer& out, buffer& in) {
  for (const std::size_t bytes : sizes) {
    s.note("%zu bytes", bytes);
    out.place(0, bytes);
    in.place(0, bytes);
    exchange(s, peer, out, in, bytes);
  }
}

void across_ranks(suite& s) {
  const int peer = s.rank ^ 1;
  s.expect(std::string(backend_name()) == (s.rank % 2 == 0 ? "emu" : "toy"), "own back end");
  s.run("every size", [&] {
    buffer out(kind::device, sizes[7]), in(kind::device, sizes[7]);
    all_sizes(s, peer, out, in);
  });
  s.run("many at once", [&] {
    buffer out(kind::device, 16 * 70000), in(kind::device, 16 * 70000);
    many_at_once(s, peer, out, in);
  });
  s.run("allreduce", [&] { sum(s); });
}

void within_a_process(suite& s) {
  const int peer = s.rank ^ 1;
  for (const auto& [from, to] : {std::pair{"emu", "toy"}, {"toy", "emu"}})
    s.run(std::string("from ") + from + " to " + to, [&s, peer, from = from, to = to] {
      use(s, from);
      buffer out(kind::device, sizes[7]);
      use(s, to);
      buffer in(kind::device, sizes[7]);
      all_sizes(s, peer, out, in);
      all_sizes(s, s.rank, out, in);  // to oneself
    });
  s.run("an unknown back end", [&] {
    auto* choose = memory_functions::find<int(const char*)>("telpher_choose_backend");
    s.expect(choose && choose("nonsense") != 0, "refused");
  });
}

}  // namespace

int main(int argc, char** argv) {
  const bool ranks = has_word(argc, argv, "ranks");
  if (ranks) choose_for_rank();
  suite s(&argc, &argv, 2);
  s.opt.words.clear();  // the words are ours
  if (ranks)
    across_ranks(s);
  else
    within_a_process(s);
  return s.finish();
}
