// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program maps itself, in chunks (CUDA's virtual memory management), and peers open
// through file descriptors: messages from one chunk and over several, collectives, windows, memory
// that is mapped anew at the same addresses, and memory that cannot be exported.
#include "chunk_memory.hpp"

using namespace mpi_test;

namespace {

/// It goes as plain device memory does, and a chunk is exported and opened once.
void one_chunk(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  const chunks out(w.device, true, unit), in(w.device, true, unit);
  const bool emulated = counted("ipc_opens") >= 0;
  const long long before = counted("ipc_opens");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{1000}, std::size_t{20000}}) {
    exchange(s, w.peer, out, 4096, in, bytes, bytes);
    if (s.rank == 0) std::printf("# %zu bytes: %s\n", bytes, last_path().c_str());
  }
  if (emulated && w.opens && (counted("ipc_opens") > before) != w.descriptors)
    s.fail("%lld chunks were opened", counted("ipc_opens") - before);
  if (!emulated && w.descriptors && last_path() == "staged") s.fail("the last one was staged");
  const long long exported = counted("ipc_gets"), opened = counted("ipc_opens");
  for (std::size_t step = 0; step < 20; ++step) exchange(s, w.peer, out, 8192, in, 30000, step);
  if (!w.descriptors || !emulated) return;
  s.expect_equal(counted("ipc_gets"), exported, "exports of a known chunk");
  s.expect_equal(counted("ipc_opens"), opened, "openings of a known chunk");
}

void several_chunks(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  const chunks out(w.device, true, 4 * unit), in(w.device, true, 4 * unit);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{3000}, std::size_t{200000}})
    exchange(s, w.peer, out, unit - bytes / 2, in, bytes, bytes);
  exchange(s, w.peer, out, 17, in, 4 * unit - 17, 1);
  MPI_Datatype type;  // with gaps, over the border
  MPI_Type_vector(1000, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(out.data() + unit - 4000, 1, type, w.peer, 2, in.data() + unit - 4000, 1, type,
               w.peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  exchange(s, w.peer, out, unit - 100, in, 300, 2);
}

/// What a peer has opened must not be taken for what is mapped there now.
void mapped_anew(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  chunks out(w.device, true, 2 * unit), in(w.device, true, 2 * unit);
  for (std::size_t step = 0; step < 30; ++step) {
    exchange(s, w.peer, out, 64, in, 1000 + step * 5000, step);
    out.map_anew(0, 2);
    if (step % 3 == 0) in.map_anew(0, 2);
  }
}

#if MPI_TEST_HAS_MPI_4
/// Between two starts other memory comes to the addresses of a persistent collective.
void started_anew(suite& s, const world& w) {
  constexpr int n = 200000, bytes = n * static_cast<int>(sizeof(int));
  chunks in(w.device, true, 2 * unit), out(w.device, true, 2 * unit);
  MPI_Request request;
  MPI_Allreduce_init(in.data(), out.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
  for (int round = 0; round < 6; ++round) {
    s.note("round %d", round);
    const std::vector<int> given(n, round + s.rank);
    const std::vector<int> wanted(n, round * s.ranks + s.ranks * (s.ranks - 1) / 2);
    std::vector<int> got(n);
    copy(kind::device, in.data(), given.data(), bytes);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    copy(kind::device, got.data(), out.data(), bytes);
    s.expect(got == wanted, "the sums");
    in.map_anew(0, 2);
    if (round % 2 == 1) out.map_anew(0, 2);
  }
  MPI_Request_free(&request);
}
#endif

/// The peers close their mappings of what the program has unmapped, in calls with other memory.
void given_back(suite& s, const world& w) {
  if (counted("imports") < 0 || w.peer == MPI_PROC_NULL || !w.descriptors || !w.opens) return;
  const chunks out(w.device, true, unit), in(w.device, true, unit);
  exchange(s, w.peer, out, 0, in, 100000, 1);
  const long long before = counted("imports");
  long long open = 0;
  {
    const chunks gone(w.device, true, unit);
    exchange(s, w.peer, gone, 0, in, 100000, 2);
    open = counted("imports");
  }
  s.expect_equal(open, before + 1, "mappings with one more");
  expect_closed(s, w.peer, out, in, [&] { return counted("imports") >= open; });
}

void not_exportable(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  const chunks out(w.device, false, 2 * unit), in(w.device, false, 2 * unit);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{20000}, std::size_t{200000}})
    exchange(s, w.peer, out, 100, in, bytes, bytes);
  exchange(s, w.peer, out, unit - 100, in, 300, 3);
}

/// Sums in one chunk, and over several.
void collectives(suite& s, const world& w) {
  const chunks in(w.device, true, 2 * unit), out(w.device, true, 2 * unit);
  for (const std::size_t at : {std::size_t{0}, unit - 4000}) {
    const int n = 100000;
    s.note("sum at %zu", at);
    std::vector<int> values(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i + s.rank;
    const std::size_t bytes = values.size() * sizeof(int);
    copy(kind::device, in.data() + at, values.data(), bytes);
    MPI_Allreduce(in.data() + at, out.data() + at, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    copy(kind::device, values.data(), out.data() + at, bytes);
    const int ranks = s.ranks * (s.ranks - 1) / 2;
    for (int i = 0; i < n; ++i)
      if (values[static_cast<std::size_t>(i)] != i * s.ranks + ranks) {
        s.fail("sum %d is %d", i, values[static_cast<std::size_t>(i)]);
        break;
      }
    in.fill(identity(s, 0, at), at, 50000);
    if (s.rank != 0) in.fill(99, at, 50000);
    MPI_Bcast(in.data() + at, 50000, MPI_BYTE, 0, MPI_COMM_WORLD);
    s.expect_none(in.compare(identity(s, 0, at), at, 50000));
  }
}

/// Puts to the next rank, into windows of one chunk and of several.
void windows(suite& s, const world& w) {
  if (!s.makes_windows()) return;
  const int next = (s.rank + 1) % s.ranks, last = (s.rank + s.ranks - 1) % s.ranks;
  for (const std::size_t size : {unit, 2 * unit}) {
    const chunks exposed(w.device, true, size), own(w.device, true, unit);
    s.note("window of %zu bytes", size);
    MPI_Win win;
    MPI_Win_create(exposed.data(), static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    own.fill(identity(s, s.rank, size), 0, 70000);
    MPI_Win_fence(0, win);
    const std::size_t at = size - 100000;
    MPI_Put(own.data(), 70000, MPI_BYTE, next, static_cast<MPI_Aint>(at), 70000, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    s.expect_none(exposed.compare(identity(s, last, size), at, 70000));
    MPI_Win_free(&win);
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  world w(s);
  if (look_for_device(w.device)) {
    s.run("given back", [&] { given_back(s, w); });  // the first: nothing else is open then
    s.run("one chunk", [&] { one_chunk(s, w); });
    s.run("several chunks", [&] { several_chunks(s, w); });
    s.run("mapped anew", [&] { mapped_anew(s, w); });
#if MPI_TEST_HAS_MPI_4
    s.run("started anew", [&] { started_anew(s, w); });
#endif
    s.run("not exportable", [&] { not_exportable(s, w); });
    s.run("collectives", [&] { collectives(s, w); });
    s.run("windows", [&] { windows(s, w); });
  }
  return s.finish();
}
