// SPDX-License-Identifier: BSD-3-Clause
// Buffers that reach over several chunks of memory that the program maps itself: peers open the
// chunks side by side. Sizes of all kinds, memory that grows, chunks that are mapped anew or cannot
// be exported, collectives and windows.
#include "chunk_memory.hpp"

using namespace mpi_test;

namespace {

/// What the peers of one case have opened, and what this process has exported.
class openings {
 public:
  long long opens() const { return counted("ipc_opens") - opens_; }
  long long exports() const { return counted("ipc_gets") - exports_; }

 private:
  long long opens_ = counted("ipc_opens"), exports_ = counted("ipc_gets");
};

void expect_at_most(suite& s, long long found, long long most, const char* what) {
  if (found > most) s.fail("%lld %s, more than %lld", found, what, most);
}

/// Each size for itself, several times. A sender whose receiver is late may stage a message, so one
/// of them need not be opened.
void over_borders(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  struct message {
    std::size_t at, bytes;
  };
  const chunks in(w.device, true, 6 * unit);
  for (const message m : {message{unit - 100, 300000},
                          {unit - 1, 2},
                          {unit / 2, 4 * unit},
                          {0, 6 * unit},
                          {3 * unit - 20000, 40000}}) {
    const chunks out(w.device, true, 6 * unit);
    const openings of;
    for (std::size_t step = 0; step < 8; ++step) exchange(s, w.peer, out, m.at, in, m.bytes, step);
    if (!w.counts()) continue;
    if (of.opens() == 0 && m.bytes >= 300000) s.fail("nothing was opened");
    expect_at_most(s, of.opens(), 1, "openings");
    expect_at_most(s, of.exports(), 6, "exported chunks");
  }
}

/// Blocks on both sides of a border, into such a buffer: the receiver may take them where they lie.
void gaps(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  const chunks out(w.device, true, 3 * unit), in(w.device, true, 3 * unit);
  constexpr std::size_t blocks = 3000, block = 1024, stride = 1536, reach = blocks * stride;
  MPI_Datatype type;
  MPI_Type_vector(blocks, block, stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  std::vector<unsigned char> found(reach), sent(reach);
  for (std::size_t step = 0; step < 6; ++step) {
    out.fill(identity(s, s.rank, step), 512, reach);
    in.fill(99, 1024, reach);
    MPI_Request request;
    MPI_Irecv(in.data() + 1024, 1, type, w.peer, 2, MPI_COMM_WORLD, &request);
    MPI_Send(out.data() + 512, 1, type, w.peer, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (s.rank == 0 && step == 5) std::printf("# by %s\n", last_path().c_str());
    copy(kind::device, found.data(), in.data() + 1024, reach);
    write_pattern(99, sent.data(), reach);
    std::vector<unsigned char> wanted = sent;
    write_pattern(identity(s, w.peer, step), sent.data(), reach);
    for (std::size_t n = 0; n < blocks; ++n)
      std::memcpy(wanted.data() + n * stride, sent.data() + n * stride, block);
    s.expect_none(difference(found.data(), wanted.data(), reach, "bytes"));
  }
  MPI_Type_free(&type);
}

/// A chunk is opened by itself at most once, and with others a few times.
void many_sizes(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  const chunks out(w.device, true, 8 * unit), in(w.device, true, 8 * unit);
  const openings of;
  std::uint64_t random = mix(s.opt.seed + 7);
  for (std::size_t step = 0; step < 48; ++step) {
    random = mix(random);
    const std::size_t at = random % (7 * unit);
    const std::size_t longest = step % 8 == 0 ? 8 * unit - at : 500000;
    exchange(s, w.peer, out, at, in, 1 + (random >> 32) % longest, step);
  }
  if (!w.counts()) return;
  expect_at_most(s, of.opens(), 8 + 3, "openings");
  expect_at_most(s, of.exports(), 8 + 3 * 8, "exported chunks");
}

/// The program maps more behind what it has.
void growing(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  segment out(w.device, 8);
  const chunks in(w.device, true, 8 * unit);
  const openings of;
  for (std::size_t mapped = 1; mapped <= 8; ++mapped) {
    out.map(mapped - 1, 1);
    exchange(s, w.peer, out, 0, in, mapped * unit, 2 * mapped);
    exchange(s, w.peer, out, 1000, in, mapped * unit - 2000, 2 * mapped + 1);
    if (mapped > 2) exchange(s, w.peer, out, unit - 5000, in, 100000, 50 + mapped);
  }
  if (w.counts()) expect_at_most(s, of.opens(), 8, "openings");
}

/// What a peer has opened must not be taken for what is mapped there now.
void one_anew(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  chunks out(w.device, true, 4 * unit), in(w.device, true, 4 * unit);
  for (std::size_t step = 0; step < 12; ++step) {
    const std::size_t anew = step % 4;
    exchange(s, w.peer, out, 1000, in, 4 * unit - 1000, 3 * step);
    out.unmap(anew, 1);
    // The rest is still of use, also where it was named together with what is gone.
    const std::size_t rest = anew < 2 ? 2 : 0;
    exchange(s, w.peer, out, rest * unit + 77, in, 2 * unit - 77, 3 * step + 1);
    out.map(anew, 1);
    if (step % 5 == 0) in.map_anew(3 - anew, 1);
    exchange(s, w.peer, out, anew * unit, in, 200000, 3 * step + 2);
  }
}

/// A message leaves, its neighbour is unmapped, and only then it is received.
void under_way(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  chunks out(w.device, true, 4 * unit);
  const chunks in(w.device, true, 4 * unit);
  for (std::size_t step = 0; step < 8; ++step) {
    exchange(s, w.peer, out, 0, in, 4 * unit, 100 + step);
    const std::size_t bytes = 2 * unit - 5;
    out.fill(identity(s, s.rank, step), 2 * unit, bytes);
    MPI_Request request;
    MPI_Isend(out.data() + 2 * unit, as_int(bytes), MPI_BYTE, w.peer, 1, MPI_COMM_WORLD, &request);
    out.map_anew(step % 2, 1);
    out.fill(99, 0, 2 * unit);
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, w.peer, 2, nullptr, 0, MPI_BYTE, w.peer, 2, s.control,
                 MPI_STATUS_IGNORE);
    MPI_Recv(in.data(), as_int(bytes), MPI_BYTE, w.peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    s.expect_none(in.compare(identity(s, w.peer, step), 0, bytes));
  }
}

/// A chunk among others that nobody may open.
void one_not_exportable(suite& s, const world& w) {
  if (w.peer == MPI_PROC_NULL) return;
  segment out(w.device, 4);
  const chunks in(w.device, true, 4 * unit);
  const openings all;
  out.map(0, 2);
  out.map(2, 1, false);
  out.map(3, 1);
  for (const std::size_t bytes : {std::size_t{300}, std::size_t{30000}, unit}) {
    exchange(s, w.peer, out, 2 * unit - bytes / 2, in, bytes, bytes);
    exchange(s, w.peer, out, 3 * unit - bytes / 2, in, bytes, bytes + 1);
    exchange(s, w.peer, out, unit - bytes / 2, in, bytes, bytes + 2);
  }
  exchange(s, w.peer, out, 5, in, 4 * unit - 5, 1);
  const openings of;
  for (std::size_t step = 2; step < 8; ++step)
    exchange(s, w.peer, out, unit / 2, in, unit, step);  // before it
  if (!w.counts()) return;
  expect_at_most(s, of.opens(), 1, "openings");
  if (all.opens() == 0) s.fail("nothing was opened");
}

/// Messages from all of it until both of the pair have one more of the peer's mappings.
void have_opened(suite& s, const world& w, const segment& out, const segment& in) {
  const long long before = counted("imports");
  int opened[2] = {0, 0};
  for (std::size_t step = 0; step < 50 && opened[0] + opened[1] < 2; ++step) {
    exchange(s, w.peer, out, 0, in, out.chunks() * unit, 2);
    opened[0] = counted("imports") > before;
    MPI_Sendrecv(&opened[0], 1, MPI_INT, w.peer, 3, &opened[1], 1, MPI_INT, w.peer, 3, s.control,
                 MPI_STATUS_IGNORE);
  }
  if (opened[0] == 0) s.fail("nothing was opened");
}

/// The peers close their mappings when a chunk of the run is gone. By default they do so after some
/// seconds without a use, too.
void given_back(suite& s, const world& w) {
  const char* const idle = std::getenv("TELPHER_IPC_CACHE_IDLE");
  if (w.peer == MPI_PROC_NULL || !w.counts() || idle == nullptr) return;
  const chunks out(w.device, true, unit), in(w.device, true, 4 * unit);
  have_opened(s, w, out, in);
  chunks gone(w.device, true, 4 * unit);
  const long long before = counted("imports");
  have_opened(s, w, gone, in);
  gone.unmap(2, 1);
  expect_closed(s, w.peer, out, in, [&] { return counted("imports") > before; });
}

void sum(suite& s, unsigned char* in, unsigned char* out, int n) {
  std::vector<int> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i % 1000 + s.rank;
  const std::size_t bytes = values.size() * sizeof(int);
  copy(kind::device, in, values.data(), bytes);
  MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  copy(kind::device, values.data(), out, bytes);
  const int ranks = s.ranks * (s.ranks - 1) / 2;
  for (int i = 0; i < n; ++i)
    if (values[static_cast<std::size_t>(i)] != i % 1000 * s.ranks + ranks)
      return s.fail("sum %d is %d", i, values[static_cast<std::size_t>(i)]);
}

/// Both buffers in one segment, in one run or in two that overlap; and chunks mapped anew.
void collectives(suite& s, const world& w) {
  chunks all(w.device, true, 40 * unit);
  unsigned char* const in = all.data() + unit - 4000;
  for (std::size_t step = 0; step < 12; ++step) {
    const int n = step % 2 == 0 ? 900000 : 2000000;
    s.note("sum %zu of %d", step, n);
    sum(s, in, all.data() + (step % 3 == 0 ? 6 : 24) * unit - 400 * step, n);
    if (step % 4 == 3) all.map_anew(step % 12, 1);
    const std::size_t sent_at = 12 * unit + 100, room_at = 28 * unit + 64, bytes = unit + 4;
    all.fill(identity(s, s.rank, step), sent_at, bytes);
    MPI_Allgather(all.data() + sent_at, as_int(bytes), MPI_BYTE, all.data() + room_at,
                  as_int(bytes), MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < s.ranks && r < 4; ++r)
      s.expect_none(
          all.compare(identity(s, r, step), room_at + static_cast<std::size_t>(r) * bytes, bytes));
  }
}

/// Puts to the next rank and gets from it, over the borders of a window's chunks.
void windows(suite& s, const world& w) {
  if (!s.makes_windows()) return;
  const int next = (s.rank + 1) % s.ranks, last = (s.rank + s.ranks - 1) % s.ranks;
  const chunks exposed(w.device, true, 5 * unit), own(w.device, true, 3 * unit);
  const openings of;
  MPI_Win win;
  MPI_Win_create(exposed.data(), static_cast<MPI_Aint>(5 * unit), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  std::size_t step = 0;
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{70000}, 2 * unit + 1}) {
    const std::size_t at = 2 * unit - bytes / 2;
    s.note("%zu bytes", bytes);
    own.fill(identity(s, s.rank, ++step), 0, bytes);
    MPI_Win_fence(0, win);
    MPI_Put(own.data(), as_int(bytes), MPI_BYTE, next, static_cast<MPI_Aint>(at), as_int(bytes),
            MPI_BYTE, win);
    MPI_Win_fence(0, win);
    s.expect_none(exposed.compare(identity(s, last, step), at, bytes));
    MPI_Get(own.data(), as_int(bytes), MPI_BYTE, next, static_cast<MPI_Aint>(at), as_int(bytes),
            MPI_BYTE, win);
    MPI_Win_fence(0, win);
    s.expect_none(own.compare(identity(s, s.rank, step), 0, bytes));
  }
  MPI_Win_free(&win);
  if (counted("ipc_opens") >= 0 && w.descriptors && of.opens() == 0)
    s.fail("no part of a window was opened");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  world w(s);
  if (look_for_device(w.device)) {
    s.run("given back", [&] { given_back(s, w); });  // the first: nothing else is open then
    s.run("over borders", [&] { over_borders(s, w); });
    s.run("gaps", [&] { gaps(s, w); });
    s.run("many sizes", [&] { many_sizes(s, w); });
    s.run("growing", [&] { growing(s, w); });
    s.run("one anew", [&] { one_anew(s, w); });
    s.run("under way", [&] { under_way(s, w); });
    s.run("one not exportable", [&] { one_not_exportable(s, w); });
    s.run("collectives", [&] { collectives(s, w); });
    s.run("windows", [&] { windows(s, w); });
  }
  return s.finish();
}
