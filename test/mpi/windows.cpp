// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication with windows and buffers in host and device memory: every call against
// formulas, and random epochs against the same operations on a window of host memory.
#include <algorithm>
#include <chrono>
#include <list>
#include <thread>

#include "window.hpp"

namespace {

using namespace mpi_test;

// --- one call each ---

void put_and_get(suite& s, const setting& t) {
  constexpr int n = 1000;
  window w(s, t.how, t.where, n + 10);
  const array out(t.buffers, row(1000 * s.rank, n)), in(t.buffers, ints(n, -1));
  MPI_Win_fence(MPI_MODE_NOPRECEDE, w.handle);
  MPI_Put(out.data(), n, MPI_INT, right(s), w.at(right(s), 5), n, MPI_INT, w.handle);
  MPI_Put(out.data(), n, MPI_INT, MPI_PROC_NULL, 0, n, MPI_INT, w.handle);
  MPI_Win_fence(0, w.handle);
  MPI_Get(in.data(), n, MPI_INT, right(s), w.at(right(s), 5), n, MPI_INT, w.handle);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w.handle);
  expect_ints(s, in.read(), row(1000 * s.rank, n), "got");
  ints wanted(5, 0);
  const ints middle = row(1000 * left(s), n);
  wanted.insert(wanted.end(), middle.begin(), middle.end());
  wanted.resize(n + 10, 0);
  expect_ints(s, w.read(), wanted, "window");
}

void own_stores(suite& s, const setting& t) {
  constexpr int n = 300;
  window w(s, t.how, t.where, n);
  const array in(t.buffers, ints(n, -1));
  w.write(row(s.rank * 7, n));
  MPI_Win_lock(MPI_LOCK_SHARED, right(s), 0, w.handle);
  MPI_Get(in.data(), n, MPI_INT, right(s), w.at(right(s), 0), n, MPI_INT, w.handle);
  MPI_Win_flush_local(right(s), w.handle);
  expect_ints(s, in.read(), row(right(s) * 7, n), "stored by the target");
  MPI_Win_unlock(right(s), w.handle);
  MPI_Win_lock(MPI_LOCK_SHARED, s.rank, 0, w.handle);
  s.expect_class(MPI_Win_sync(w.handle), MPI_SUCCESS, "MPI_Win_sync");
  MPI_Win_unlock(s.rank, w.handle);
  w.publish();
}

void accumulate(suite& s, const setting& t) {
  constexpr int n = 500;
  window w(s, t.how, t.where, n);
  const array out(t.buffers, row(s.rank + 1, n)), in(t.buffers, ints(n, -1));
  const int sum = s.ranks * (s.ranks + 1) / 2;
  MPI_Win_fence(0, w.handle);
  for (int r = 0; r < s.ranks; ++r)
    MPI_Accumulate(out.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, MPI_SUM, w.handle);
  MPI_Win_fence(0, w.handle);
  expect_ints(s, w.read(), row(sum, n, s.ranks), "sums");
  MPI_Win_lock_all(0, w.handle);
  MPI_Get_accumulate(nullptr, 0, MPI_INT, in.data(), n, MPI_INT, right(s), w.at(right(s), 0), n,
                     MPI_INT, MPI_NO_OP, w.handle);
  MPI_Win_flush(right(s), w.handle);
  expect_ints(s, in.read(), row(sum, n, s.ranks), "no-op");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Get_accumulate(out.data(), n, MPI_INT, in.data(), n, MPI_INT, right(s), w.at(right(s), 0), n,
                     MPI_INT, MPI_REPLACE, w.handle);
  MPI_Win_unlock_all(w.handle);
  expect_ints(s, in.read(), row(sum, n, s.ranks), "replaced");
  expect_ints(s, w.read(), row(left(s) + 1, n), "replacing");
}

template <class T>
void reduce_one(suite& s, window& w, kind buffers, MPI_Datatype type, MPI_Op op, T mine, T first,
                T wanted, const char* what) {
  ints bits((sizeof(T) + 3) / 4, 0), all(16, 0);
  std::memcpy(all.data(), &first, sizeof first);
  w.write(all);
  std::memcpy(bits.data(), &mine, sizeof mine);
  const array out(buffers, bits);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.handle);
  MPI_Accumulate(out.data(), 1, type, 0, w.at(0, 0), 1, type, op, w.handle);
  MPI_Win_unlock(0, w.handle);
  all = w.read();
  T got{};
  std::memcpy(&got, all.data(), sizeof got);
  if (s.rank == 0) s.expect(got == wanted, what);
}

void operations(suite& s, const setting& t) {
  const int n = s.ranks;
  struct located {
    double value;
    int index;
    bool operator==(const located& o) const { return value == o.value && index == o.index; }
  };
  window w(s, t.how, t.where, 16);
  const kind k = t.buffers;
  reduce_one<double>(s, w, k, MPI_DOUBLE, MPI_SUM, s.rank + 0.5, 1, 1 + n * n / 2., "sum");
  reduce_one<float>(s, w, k, MPI_FLOAT, MPI_PROD, 2, 3, 3 * static_cast<float>(1 << n), "product");
  reduce_one<std::int64_t>(s, w, k, MPI_INT64_T, MPI_MAX, s.rank, -5, n - 1, "maximum");
  reduce_one<std::int16_t>(s, w, k, MPI_INT16_T, MPI_MIN, static_cast<std::int16_t>(-s.rank), 5,
                           static_cast<std::int16_t>(1 - n), "minimum");
  reduce_one<std::uint32_t>(s, w, k, MPI_UINT32_T, MPI_BOR, 1u << s.rank, 0x100,
                            0x100u | ((1u << n) - 1), "or");
  reduce_one<std::uint8_t>(s, w, k, MPI_UINT8_T, MPI_BXOR, 1, 0, static_cast<std::uint8_t>(n % 2),
                           "exclusive or");
  reduce_one<int>(s, w, k, MPI_INT, MPI_LAND, s.rank != 0, 1, 0, "logical and");
  reduce_one<located>(s, w, k, MPI_DOUBLE_INT, MPI_MAXLOC, {static_cast<double>(s.rank), s.rank},
                      {-1, 99}, {static_cast<double>(n - 1), n - 1}, "maximum and place");
}

void counters(suite& s, const setting& t) {
  constexpr int rounds = 40;
  window w(s, t.how, t.where, 4);
  const array one(t.buffers, {1}), old(t.buffers, {-1}), zero(t.buffers, {0}),
      mine(t.buffers, {s.rank + 1});
  MPI_Win_lock_all(0, w.handle);
  int last = -1;
  for (int i = 0; i < rounds; ++i) {
    MPI_Fetch_and_op(one.data(), old.data(), MPI_INT, 0, w.at(0, 0), MPI_SUM, w.handle);
    MPI_Win_flush(0, w.handle);
    const int seen = old.read()[0];
    s.expect(seen > last && seen < rounds * s.ranks, "a counter that others increase as well");
    last = seen;
  }
  MPI_Compare_and_swap(mine.data(), zero.data(), old.data(), MPI_INT, 0, w.at(0, 1), w.handle);
  MPI_Win_flush_all(w.handle);
  const int won = old.read()[0] == 0;
  MPI_Fetch_and_op(nullptr, old.data(), MPI_INT, 0, w.at(0, 1), MPI_NO_OP, w.handle);
  MPI_Win_flush_local_all(w.handle);
  const int owner = old.read()[0];
  MPI_Win_unlock_all(w.handle);
  int winners = 0;
  MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, s.control);
  s.expect_equal(winners, 1, "ranks that swapped");
  s.expect(!won || owner == s.rank + 1, "the winner's value");
  const ints all = w.read();
  if (s.rank == 0) s.expect_equal(all[0], rounds * s.ranks, "the counter");
}

void locked_updates(suite& s, const setting& t) {
  constexpr int rounds = 15;
  window w(s, t.how, t.where, 3);
  const array value(t.buffers, {0, 0, 0});
  for (int i = 0; i < rounds; ++i)
    for (int r = 0; r < s.ranks; ++r) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, w.handle);
      MPI_Get(value.data(), 3, MPI_INT, r, w.at(r, 0), 3, MPI_INT, w.handle);
      MPI_Win_flush(r, w.handle);
      ints seen = value.read();
      s.expect(seen[0] == seen[1] && seen[1] == seen[2], "one update at a time");
      for (int& v : seen) ++v;
      const array next(t.buffers, seen);
      MPI_Put(next.data(), 3, MPI_INT, r, w.at(r, 0), 3, MPI_INT, w.handle);
      MPI_Win_unlock(r, w.handle);
    }
  expect_ints(s, w.read(), ints(3, rounds * s.ranks), "updates");
}

void post_and_start(suite& s, const setting& t) {
  constexpr int n = 64;
  window w(s, t.how, t.where, n * s.ranks);
  MPI_Group all, others;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_excl(all, 1, &s.rank, &others);
  for (int round = 0; round < 6; ++round) {
    const array out(t.buffers, row(round + 100 * s.rank, n));
    MPI_Win_post(others, 0, w.handle);
    MPI_Win_start(others, 0, w.handle);
    for (int r = 0; r < s.ranks; ++r)
      if (r != s.rank)
        MPI_Put(out.data(), n, MPI_INT, r, w.at(r, n * s.rank), n, MPI_INT, w.handle);
    MPI_Win_complete(w.handle);
    if (round % 3 == 0) {
      for (int done = 0; !done;) MPI_Win_test(w.handle, &done);
    } else {
      MPI_Win_wait(w.handle);
    }
    ints wanted;
    for (int r = 0; r < s.ranks; ++r) {
      const ints part = r == s.rank ? ints(n, 0) : row(round + 100 * r, n);
      wanted.insert(wanted.end(), part.begin(), part.end());
    }
    expect_ints(s, w.read(), wanted, "posted memory");
  }
  MPI_Group_free(&others);
  MPI_Group_free(&all);
}

// The origin ends its epoch when it has a message that rank 0 moves in its calls of MPI_Win_test.
void tests_move_messages(suite& s, const setting& t) {
  constexpr int n = 1 << 18, tag = 3;
  window w(s, t.how, t.where, 1);
  const array out(t.buffers, row(0, n)), in(t.buffers, ints(n, -1)), one(t.buffers, {7});
  const int other = 1 - s.rank;
  MPI_Group all, others;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, s.rank < 2 ? 1 : 0, &other, &others);
  if (s.rank == 0) {
    MPI_Win_post(others, 0, w.handle);
    MPI_Request q;
    MPI_Isend(out.data(), n, MPI_INT, 1, tag, MPI_COMM_WORLD, &q);
    int ended = 0;
    for (const double end = MPI_Wtime() + 5; !ended && MPI_Wtime() < end;)
      MPI_Win_test(w.handle, &ended);
    s.expect(ended, "the end of an epoch whose origin waits for a message");
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (!ended) MPI_Win_wait(w.handle);
  }
  if (s.rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    MPI_Recv(in.data(), n, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_start(others, 0, w.handle);
    MPI_Put(one.data(), 1, MPI_INT, 0, w.at(0, 0), 1, MPI_INT, w.handle);
    MPI_Win_complete(w.handle);
    expect_ints(s, in.read(), row(0, n), "message");
  }
  MPI_Group_free(&others);
  MPI_Group_free(&all);
  expect_ints(s, w.read(), {s.rank == 0 ? 7 : 0}, "put");
}

void requests(suite& s, const setting& t) {
  constexpr int n = 256;
  window w(s, t.how, t.where, n);
  const array out(t.buffers, row(10 * s.rank, n)), in(t.buffers, ints(n, -1)),
      old(t.buffers, ints(n, -1));
  const int r = right(s);
  MPI_Request q[2];
  MPI_Win_lock_all(0, w.handle);
  MPI_Rput(out.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, w.handle, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  MPI_Win_flush(r, w.handle);
  MPI_Rget(in.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, w.handle, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  expect_ints(s, in.read(), row(10 * s.rank, n), "MPI_Rget");
  MPI_Raccumulate(out.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, MPI_SUM, w.handle, &q[0]);
  MPI_Wait(&q[0], MPI_STATUS_IGNORE);
  MPI_Win_flush(r, w.handle);
  MPI_Rget_accumulate(out.data(), n, MPI_INT, old.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT,
                      MPI_SUM, w.handle, &q[0]);
  MPI_Rget_accumulate(nullptr, 0, MPI_INT, in.data(), 0, MPI_INT, r, w.at(r, 0), 0, MPI_INT,
                      MPI_NO_OP, w.handle, &q[1]);
  MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
  expect_ints(s, old.read(), row(20 * s.rank, n, 2), "MPI_Rget_accumulate");
  MPI_Win_unlock_all(w.handle);
  expect_ints(s, w.read(), row(30 * left(s), n, 3), "three times");
}

void derived_types(suite& s, const setting& t) {
  constexpr int rows = 20, n = rows * 3;
  window w(s, t.how, t.where, n);
  MPI_Datatype every_third, every_second;
  MPI_Type_vector(rows, 1, 3, MPI_INT, &every_third);
  MPI_Type_vector(rows, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_third);
  MPI_Type_commit(&every_second);
  const array out(t.buffers, row(0, n)), in(t.buffers, ints(n, -1));
  const int r = right(s);
  MPI_Win_fence(0, w.handle);
  MPI_Put(out.data(), 1, every_second, r, w.at(r, 1), 1, every_third, w.handle);
  MPI_Win_fence(0, w.handle);
  MPI_Accumulate(out.data(), rows, MPI_INT, r, w.at(r, 1), 1, every_third, MPI_SUM, w.handle);
  MPI_Win_fence(0, w.handle);
  MPI_Get(in.data(), 1, every_second, r, w.at(r, 1), 1, every_third, w.handle);
  MPI_Win_fence(0, w.handle);
  ints wanted(n, 0), got(n, -1);
  for (std::size_t i = 0; i < rows; ++i) {
    wanted[3 * i + 1] = got[2 * i] = static_cast<int>(3 * i);
  }
  expect_ints(s, w.read(), wanted, "window");
  expect_ints(s, in.read(), got, "got");
  MPI_Type_free(&every_third);
  MPI_Type_free(&every_second);
}

// One rank alone is locked, so the host MPI may know of no epoch.
void flush_of_one(suite& s, const setting& t) {
  window w(s, t.how, t.where, 2);
  const array out(t.buffers, {5, 6});
  const int r = right(s);
  MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.handle);
  for (int i : {0, 1}) {
    MPI_Put(out.data() + i, 1, MPI_INT, r, w.at(r, i), 1, MPI_INT, w.handle);
    const int code = i == 0 ? MPI_Win_flush_all(w.handle) : MPI_Win_flush_local_all(w.handle);
    s.expect_class(code, MPI_SUCCESS, "a flush of all");
  }
  MPI_Win_unlock(r, w.handle);
  expect_ints(s, w.read(), {5, 6}, "put");
}

// --- random epochs ---

/// Each rank writes places of its own, and adds to common ones with one operation an epoch, so that
/// the result does not depend on the order.
struct program {
  static constexpr int block = 24, common = 50;
  suite& s;
  kind buffers;
  std::uint64_t seed;
  int epochs;

  int size() const { return block * s.ranks + common; }

  void step(window& w, kind k, random_numbers& shared, random_numbers& mine,
            std::vector<ints>& results) const {
    const auto how = shared.below(3);
    const MPI_Op op = std::vector<MPI_Op>{MPI_SUM, MPI_BXOR, MPI_MAX}[shared.below(3)];
    const bool reads = shared.chance(30);
    if (how == 0) MPI_Win_fence(0, w.handle);
    if (how == 1) MPI_Win_lock_all(0, w.handle);
    std::list<array> kept;
    for (int r = 0; r < s.ranks; ++r) {
      if (how == 2)
        MPI_Win_lock(mine.chance(50) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, r, 0, w.handle);
      const int n = 1 + static_cast<int>(mine.below(block)),
                first = static_cast<int>(mine.below(common));
      const int m = 1 + static_cast<int>(mine.below(static_cast<std::size_t>(common - first)));
      const ints data = row(static_cast<int>(mine.below(1000)), std::max(n, m));
      kept.emplace_back(k, reads ? ints(static_cast<std::size_t>(size()), -1) : data);
      int* const a = kept.back().data();
      if (reads) {
        MPI_Get(a, size(), MPI_INT, r, w.at(r, 0), size(), MPI_INT, w.handle);
      } else {
        if (mine.chance(70))
          MPI_Put(a, n, MPI_INT, r, w.at(r, block * s.rank), n, MPI_INT, w.handle);
        if (mine.chance(70))
          MPI_Accumulate(a, m, MPI_INT, r, w.at(r, block * s.ranks + first), m, MPI_INT, op,
                         w.handle);
      }
      if (how == 1 && mine.chance(30)) MPI_Win_flush(r, w.handle);
      if (how == 2) MPI_Win_unlock(r, w.handle);
    }
    if (how == 0) MPI_Win_fence(0, w.handle);
    if (how == 1) MPI_Win_unlock_all(w.handle);
    if (reads)
      for (const array& a : kept) results.push_back(a.read());
    results.push_back(w.read());
  }
};

void random_epochs(suite& s, const setting& t) {
  const program p{s, t.buffers, s.opt.seed, 25};
  window reference(s, making::create, placing::none, p.size());
  window tried(s, t.how, t.where, p.size());
  for (int e = 0; e < p.epochs; ++e) {
    s.note("epoch %d", e);
    std::vector<ints> results[2];
    for (int i = 0; i < 2; ++i) {
      random_numbers shared(p.seed + static_cast<std::uint64_t>(e));
      random_numbers mine(p.seed * 1000 + static_cast<std::uint64_t>(e * 64 + s.rank));
      p.step(i == 0 ? reference : tried, i == 0 ? kind::host : t.buffers, shared, mine, results[i]);
    }
    for (std::size_t i = 0; i < results[0].size(); ++i)
      expect_ints(s, results[1][i], results[0][i], "random epoch");
  }
}

// --- all ---

constexpr std::pair<const char*, windows_case> bodies[] = {
    {"put and get", put_and_get},
    {"own stores", own_stores},
    {"accumulate", accumulate},
    {"operations", operations},
    {"counters", counters},
    {"locked updates", locked_updates},
    {"post and start", post_and_start},
    {"tests move messages", tests_move_messages},
    {"requests", requests},
    {"derived types", derived_types},
    {"flush of one", flush_of_one},
    {"random epochs", random_epochs},
};

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  for (const auto& [name, body] : bodies) run_in_settings(s, name, body);
  return s.finish();
}
