// SPDX-License-Identifier: BSD-3-Clause
// What is made often takes nothing that adds up: 2000 communicators (or --messages) with a small
// collective of device memory on each, of which half are freed at once and half at the end;
// windows; and derived types that are made, used and freed in every step.
#include <array>
#include <fstream>
#include <string>

#include "emulated.hpp"
#include "forms.hpp"
#include "held_by_process.hpp"

using namespace mpi_test;

namespace {

struct resources {
  long long allocations = counted("allocations"), imports = counted("imports"),
            registered = counted("registered"), streams = counted("streams");
  long descriptors = count_descriptors();
};

void expect_no_more(suite& s, const resources& before, const char* when) {
  const resources now;
  const auto check = [&](const char* what, long long had, long long has) {
    if (has > had) s.fail("%s: %lld %s instead of %lld", when, has, what, had);
  };
  check("allocations", before.allocations, now.allocations);
  check("imports", before.imports, now.imports);
  check("registrations", before.registered, now.registered);
  check("streams", before.streams, now.streams);
  check("descriptors", before.descriptors, now.descriptors);
}

void add_up(suite& s, MPI_Comm comm, buffer& in, buffer& out, int n) {
  std::vector<int> values(in.bytes() / sizeof(int), n + s.rank);
  if (n % 100 == 0) {
    copy(in.memory(), in.data(), values.data(), in.bytes());
    out.clear();
  }
  MPI_Allreduce(in.data(), out.data(), as_int(values.size()), MPI_INT, MPI_SUM, comm);
  if (n % 100 != 0) return;
  std::vector<int> sums(values.size());
  copy(out.memory(), sums.data(), out.data(), out.bytes());
  const int expected = s.ranks * n + s.ranks * (s.ranks - 1) / 2;
  s.expect(sums.front() == expected && sums.back() == expected, "sum");
}

/// Half of them are alive at the end.
void make_and_use(suite& s, buffer& in, buffer& out, std::vector<MPI_Comm>& alive) {
  const long count = s.opt.messages ? s.opt.messages : 2000;
  for (int i = 0; i < count; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    add_up(s, comm, in, out, i);
    if (i % 2 == 0)
      MPI_Comm_free(&comm);
    else
      alive.push_back(comm);
    if (i % 100 == 0) s.still_alive();
  }
}

void many_communicators(suite& s) {
  buffer in(kind::device, 4000), out(kind::device, 4000);
  add_up(s, MPI_COMM_WORLD, in, out, 0);
  const resources before;
  std::array<long, 3> resident{};
  for (long& kib : resident) {
    std::vector<MPI_Comm> alive;
    make_and_use(s, in, out, alive);
    expect_no_more(s, before, "half of the communicators alive");
    for (MPI_Comm& comm : alive) MPI_Comm_free(&comm);
    expect_no_more(s, before, "all freed");
    kib = resident_kib();
  }
  if (s.rank == 0)
    std::printf("# KiB resident after each round: %ld, %ld, %ld\n", resident[0], resident[1],
                resident[2]);
  // A few bytes that stay of each, between pieces that are freed, would be 1.8 MiB over Open MPI.
  if (resident[2] > resident[1] + 1024)
    s.fail("communicators that were freed keep %ld KiB", resident[2] - resident[1]);
}

#if MPI_VERSION >= 4
/// Mappings of the process of which the name says so.
int mappings(const char* name) {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) found += line.find(name) != std::string::npos;
  return found;
}

/// Of each a persistent request, freed before it or after it.
void persistent_and_communicators(suite& s) {
  buffer in(kind::device, 4000), out(kind::device, 4000);
  in.clear();
  const auto use = [&](MPI_Comm comm, MPI_Request& request) {
    MPI_Allreduce_init(in.data(), out.data(), 1000, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                       &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  const auto round = [&](bool request_first) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, request);
    if (request_first) MPI_Request_free(&request);
    MPI_Comm_free(&comm);
    if (!request_first) MPI_Request_free(&request);
  };
  for (const bool request_first : {true, false}) round(request_first);
  const int before = mappings("telpher");
  for (int i = 0; i < 30; ++i) round(true);
  s.expect_equal(mappings("telpher"), before, "mappings after 30 communicators");
}
#endif

/// Some hundred alive at once.
void many_windows(suite& s) {
  const buffer memory(kind::device, 1000);
  MPI_Win one;
  const auto make = [&](MPI_Win& win) {
    MPI_Win_create(memory.data(), 1000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  };
  make(one);
  const long before = count_descriptors();
  std::array<MPI_Win, 100> more;
  for (MPI_Win& win : more) make(win);
  s.expect_equal(count_descriptors(), before, "descriptors of 100 windows");
  for (MPI_Win& win : more) MPI_Win_free(&win);
  MPI_Win_free(&one);
}

/// Blocks at no regular distances need a table on the device.
MPI_Datatype irregular(int step) {
  std::array<int, 40> lengths{}, places{};
  for (int i = 0, at = 0; i < 40; ++i) {
    lengths[static_cast<std::size_t>(i)] = 1 + (i + step) % 3;
    places[static_cast<std::size_t>(i)] = at;
    at += 4 + (i * i + step) % 5;
  }
  MPI_Datatype type;
  MPI_Type_indexed(40, lengths.data(), places.data(), MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Counts device allocations in all, not those alive.
void types_in_each_step(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  buffer out(kind::device, 40 * 400 * sizeof(int)), in(kind::device, out.bytes());
  out.fill(1);
  in.clear();
  long long before = 0;
  const long long launched = counted("launches");
  for (int step = 0; step < 60; ++step) {
    MPI_Datatype type = irregular(step);
    MPI_Sendrecv(out.data(), 20, type, peer, 1, in.data(), 20, type, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    if (step == 20) before = counted("mallocs");
  }
  if (counted("mallocs") != before)
    s.fail("%lld allocations of device memory in 40 steps", counted("mallocs") - before);
  if (counted("launches") - launched < 60) s.fail("the types were not packed on the device");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (counted("mallocs") >= 0) {
    s.run("many communicators", [&] { many_communicators(s); });
#if MPI_VERSION >= 4
    s.run("persistent on communicators", [&] { persistent_and_communicators(s); });
#endif
    s.run("many windows", [&] { many_windows(s); });
    s.run("types in each step", [&] { types_in_each_step(s); });
  }
  return s.finish();
}
