// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets that are under way together: thousands of small ones, those of all sizes beside
// each other, completed by each call that completes operations, and by their requests. Buffers and
// types end as early as MPI allows.
#include <chrono>
#include <list>
#include <thread>

#include "under_way.hpp"

namespace {

using namespace mpi_test;

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

// --- many small ones ---

long long device_operations() {
  return counted("launches") + counted("copies") + counted("fills") + counted("synchronisations");
}

// What the device is asked for is counted: one launch for 64 of 8 bytes, and nothing for the flush.
void one_launch(suite& s, const setting& t) {
  if (!under_way(t) || !gathered()) return;
  constexpr int window_size = 64, rounds = 20;
  window w(s, t.how, t.where, 2 * window_size);
  const array here(t.buffers, row(s.rank, 2 * window_size));
  const int r = right(s);
  const auto both = [&](bool puts) {
    for (int i = 0; i < 2 * window_size; i += 2)
      if (puts)
        MPI_Put(here.data() + i, 2, MPI_INT, r, w.at(r, i), 2, MPI_INT, w.handle);
      else
        MPI_Get(here.data() + i, 2, MPI_INT, r, w.at(r, i), 2, MPI_INT, w.handle);
    MPI_Win_flush(r, w.handle);
  };
  MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.handle);
  for (const bool puts : {true, false}) {
    both(puts);  // what is made at first use
    const long long before = device_operations();
    for (int i = 0; i < rounds; ++i) both(puts);
    const long long taken = device_operations() - before;
    s.note("%lld device operations for %d windows", taken, rounds);
    s.expect(taken <= rounds, puts ? "one launch for 64 puts" : "one launch for 64 gets");
  }
  MPI_Win_unlock(r, w.handle);
}

// A put that has probably no others behind it is on its way when its call returns.
void alone(suite& s, const setting& t) {
  if (!under_way(t)) return;
  window w(s, t.how, t.where, 8);
  const array out(t.buffers, row(s.rank, 8));
  const int r = right(s);
  MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.handle);
  for (int i = 0; i < 8; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // no kernel stays so long
    const long long before = device_operations();
    MPI_Put(out.data() + i, 1, MPI_INT, r, w.at(r, i), 1, MPI_INT, w.handle);
    s.expect(device_operations() > before, "a put starts at once");
    MPI_Win_flush(r, w.handle);
  }
  MPI_Win_unlock(r, w.handle);
  expect_ints(s, w.read(), row(left(s), 8), "put");
}

// Those that are gathered less long for their size: a kernel takes four of 1 MB.
void large_together(suite& s, const setting& t) {
  if (!under_way(t) || !gathered()) return;
  constexpr int each = 1 << 18, puts = 30;
  window w(s, t.how, t.where, each * puts);
  const array out(kind::device, row(s.rank, each * puts));
  const int r = right(s);
  MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.handle);
  const long long before = device_operations();
  for (int i = 0; i < puts; ++i)
    MPI_Put(out.data() + i * each, each, MPI_INT, r, w.at(r, i * each), each, MPI_INT, w.handle);
  MPI_Win_unlock(r, w.handle);
  const long long taken = device_operations() - before;
  s.note("%lld device operations", taken);
  s.expect(taken <= puts / 2, "several large puts in one launch");
  expect_ints(s, w.read(), row(left(s), each * puts), "put");
}

// --- targets that keep nobody else waiting ---

// A put of host memory to the last rank takes long (share/topologies/slow-host.topo).
void slow_target(suite& s, const setting& t) {
  if (!std::getenv("TEST_SLOW_HOST") || !under_way(t) || t.how != making::create) return;
  if (t.buffers != kind::host) return;
  constexpr int n = 16000, small = 20;
  window w(s, t.how, t.where, n);
  const int slow = s.ranks - 1;
  const array out(t.buffers, row(7, n));
  if (s.rank == 0) {
    MPI_Win_lock_all(0, w.handle);
    MPI_Request q;
    int ended = 0;
    MPI_Rput(out.data(), n, MPI_INT, slow, w.at(slow, 0), n, MPI_INT, w.handle, &q);
    // On a busy machine the flushes may take as long.
    const auto late = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    const auto still = [&](const char* behind) {
      MPI_Request_get_status(q, &ended, MPI_STATUS_IGNORE);
      s.expect(!ended || std::chrono::steady_clock::now() > late, behind);
    };
    still("the start");
    for (int i = 0; i < small; ++i) {
      MPI_Put(out.data() + i, 1, MPI_INT, 1, w.at(1, i), 1, MPI_INT, w.handle);
      i % 2 ? MPI_Win_flush(1, w.handle) : MPI_Win_flush_local(1, w.handle);
      still("a flush of another target");
    }
    MPI_Win_flush(slow, w.handle);
    MPI_Request_get_status(q, &ended, MPI_STATUS_IGNORE);
    s.expect(ended, "a flush of the slow target");
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(w.handle);
  }
  expect_ints(s, w.read(), row(7, s.rank == slow ? n : s.rank == 1 ? small : 0), "put");
}

void many_small(suite& s, const setting& t) {
  const int n = s.opt.full ? 3000 : under_way(t) ? 1000 : 300;
  window w(s, t.how, t.where, n);
  each_ending(s, [&](ending how) {
    const int salt = 10000 * (1 + static_cast<int>(how));
    const array out(t.buffers, row(salt * (s.rank + 1), n)),
        in(t.buffers, ints(static_cast<std::size_t>(n), -1));
    const epoch puts(s, w, how);
    const long long before = device_operations();
    for (int i = 0; i < n; ++i)
      MPI_Put(out.data() + i, 1, MPI_INT, right(s), w.at(right(s), i), 1, MPI_INT, w.handle);
    s.expect_class(puts.complete(), MPI_SUCCESS, "puts");
    const long long taken = device_operations() - before;
    puts.end();
    expect_ints(s, w.read(), row(salt * (left(s) + 1), n), "put");
    if (under_way(t) && gathered()) s.expect(taken <= n / 32, "one launch for many puts");
    const epoch gets(s, w, how);
    for (int i = 0; i < n; ++i)
      MPI_Get(in.data() + i, 1, MPI_INT, right(s), w.at(right(s), i), 1, MPI_INT, w.handle);
    s.expect_class(gets.complete(), MPI_SUCCESS, "gets");
    expect_ints(s, in.read(), row(salt * (s.rank + 1), n), "got");
    gets.end();
    MPI_Barrier(s.control);
  });
}

// --- puts and gets of all sizes beside each other ---

// The window's first half is read, its second is written; each operation has a part of its own.
// Types end before the operations do.
void beside_each_other(suite& s, const setting& t) {
  constexpr int half = 100000;
  window w(s, t.how, t.where, 2 * half);
  const int r = right(s);
  each_ending(s, [&](ending how) {
    ints content = row(s.rank * 7 + 1, half);
    content.resize(2 * half, 0);
    w.write(content);
    random_numbers mine(s.opt.seed * 100 + static_cast<std::uint64_t>(s.rank));
    std::list<array> kept, read;
    const epoch e(s, w, how);
    for (int at = 0; at < half;) {
      const std::size_t most = mine.chance(10) ? 60000 : mine.chance(30) ? 3000 : 20;
      const int n = std::min(half - at, 1 + static_cast<int>(mine.below(most)));
      MPI_Datatype type;
      MPI_Type_contiguous(n, MPI_INT, &type);
      MPI_Type_commit(&type);
      const kind k = mine.chance(25) ? kind::host : t.buffers;
      kept.emplace_back(k, row(at, n));
      MPI_Put(kept.back().data(), 1, type, r, w.at(r, half + at), 1, type, w.handle);
      read.emplace_back(k, ints(static_cast<std::size_t>(n), -1));
      MPI_Get(read.back().data(), 1, type, r, w.at(r, at), 1, type, w.handle);
      MPI_Type_free(&type);
      at += n;
    }
    s.expect_class(e.complete(), MPI_SUCCESS, "puts and gets");
    kept.clear();  // the origin is free, whatever the target has
    ints got;
    for (const array& part : read) {
      const ints values = part.read();
      got.insert(got.end(), values.begin(), values.end());
    }
    expect_ints(s, got, row(r * 7 + 1, half), "got");
    e.end();
    ints wanted = row(s.rank * 7 + 1, half);
    const ints put = row(0, half);
    wanted.insert(wanted.end(), put.begin(), put.end());
    expect_ints(s, w.read(), wanted, "put");
  });
}

// Messages that come while puts wait for their flush are received, also where more are awaited.
void beside_messages(suite& s, const setting& t) {
  constexpr int n = 640, message = 5000;
  window w(s, t.how, t.where, n);
  const int to = right(s), from = left(s);
  const array out(t.buffers, row(s.rank * 3, n)), sent(t.buffers, row(s.rank * 11, message));
  const array first(t.buffers, ints(message, -1)), second(t.buffers, ints(message, -1));
  MPI_Win_lock_all(0, w.handle);
  for (int i = 0; i < n; ++i)
    MPI_Put(out.data() + i, 1, MPI_INT, to, w.at(to, i), 1, MPI_INT, w.handle);
  MPI_Request in[2], sends[2];
  MPI_Irecv(first.data(), message, MPI_INT, from, 1, MPI_COMM_WORLD, &in[0]);
  MPI_Irecv(second.data(), message, MPI_INT, from, 2, MPI_COMM_WORLD, &in[1]);
  MPI_Isend(sent.data(), message, MPI_INT, to, 1, MPI_COMM_WORLD, &sends[0]);
  s.note("the first message");
  MPI_Wait(&in[0], MPI_STATUS_IGNORE);
  MPI_Isend(sent.data(), message, MPI_INT, to, 2, MPI_COMM_WORLD, &sends[1]);
  MPI_Wait(&in[1], MPI_STATUS_IGNORE);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(w.handle);
  for (const array* a : {&first, &second})
    expect_ints(s, a->read(), row(from * 11, message), "a message");
  expect_ints(s, w.read(), row(from * 3, n), "put");
}

// --- buffers that are the program's again ---

// Each way of knowing that an origin may be reused; then a get, and an accumulate between flushes.
void reused(suite& s, const setting& t) {
  constexpr int rounds = 120;
  window w(s, t.how, t.where, 3 * rounds);
  const int r = right(s);
  const array out(t.buffers, {0});
  MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.handle);
  for (int i = 0; i < rounds; ++i) {
    s.note("round %d", i);
    int here = 1000 + i, back = -1;
    out.write({2000 + i});
    MPI_Put(&here, 1, MPI_INT, r, w.at(r, 3 * i), 1, MPI_INT, w.handle);
    MPI_Request q;
    MPI_Rput(out.data(), 1, MPI_INT, r, w.at(r, 3 * i + 1), 1, MPI_INT, w.handle, &q);
    if (i % 2) MPI_Win_sync(w.handle);  // completes nothing
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    if (i % 3 == 0) MPI_Win_flush_local(r, w.handle);
    if (i % 3 == 1) MPI_Win_flush_local_all(w.handle);
    if (i % 3 == 2) MPI_Win_flush_all(w.handle);
    here = -7;
    out.write({-8});
    MPI_Win_flush(r, w.handle);
    MPI_Get(&back, 1, MPI_INT, r, w.at(r, 3 * i), 1, MPI_INT, w.handle);
    MPI_Win_flush(r, w.handle);
    s.expect_equal(back, 1000 + i, "what was put and is got");
    const int one = 1;
    MPI_Put(&one, 1, MPI_INT, r, w.at(r, 3 * i + 2), 1, MPI_INT, w.handle);
    MPI_Win_flush(r, w.handle);
    MPI_Fetch_and_op(&one, &back, MPI_INT, r, w.at(r, 3 * i + 2), MPI_SUM, w.handle);
    MPI_Win_flush(r, w.handle);
    s.expect_equal(back, 1, "what was put and is added to");
  }
  MPI_Win_unlock(r, w.handle);
  ints wanted;
  for (int i = 0; i < rounds; ++i) wanted.insert(wanted.end(), {1000 + i, 2000 + i, 2});
  expect_ints(s, w.read(), wanted, "put");
}

// The memory of targets and origins ends with each epoch, and is made anew elsewhere.
void memory_comes_and_goes(suite& s, const setting& t) {
  for (int round = 0; round < 6; ++round) {
    const int n = 500 + 40000 * (round % 2);
    window w(s, t.how, t.where, n + 1000 * round);
    const int r = right(s);
    MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.handle);
    {
      const array out(t.buffers, row(s.rank + round, n));
      for (int i = 0; i < 100; ++i)
        MPI_Put(out.data() + i, 1, MPI_INT, r, w.at(r, i), 1, MPI_INT, w.handle);
      MPI_Put(out.data() + 100, n - 100, MPI_INT, r, w.at(r, 100), n - 100, MPI_INT, w.handle);
      MPI_Win_unlock(r, w.handle);
    }
    expect_ints(s, w.read(), row(left(s) + round, n), "put");
  }
}

// --- request forms ---

void requests(suite& s, const setting& t) {
  constexpr int n = 400, large = 50000;
  window w(s, t.how, t.where, n + large);
  const int r = right(s);
  const array out(t.buffers, row(s.rank * 5, n + large)), in(t.buffers, ints(n + large, -1));
  std::vector<MPI_Request> q;
  const auto put = [&](int at, int count) {
    MPI_Rput(out.data() + at, count, MPI_INT, r, w.at(r, at), count, MPI_INT, w.handle,
             &q.emplace_back());
  };
  const auto get = [&](int at, int count) {
    MPI_Rget(in.data() + at, count, MPI_INT, r, w.at(r, at), count, MPI_INT, w.handle,
             &q.emplace_back());
  };
  const auto count = [&] { return static_cast<int>(q.size()); };
  MPI_Win_lock_all(0, w.handle);
  for (int i = 0; i < n; ++i) put(i, 1);
  put(n, large);
  s.expect_class(MPI_Waitall(count(), q.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS, "MPI_Waitall");
  MPI_Win_flush(r, w.handle);
  q.clear();
  for (int i = 0; i < n; ++i) get(i, 1);
  get(n, large);
  for (int done = 0; !done;) MPI_Testall(count(), q.data(), &done, MPI_STATUSES_IGNORE);
  expect_ints(s, in.read(), row(s.rank * 5, n + large), "MPI_Rget");
  // Requests that are waited for when a call has completed their operations.
  const array again(t.buffers, row(s.rank * 9, n + large));
  q.clear();
  for (int i = 0; i < n; i += 2)
    MPI_Rput(again.data() + i, 2, MPI_INT, r, w.at(r, i), 2, MPI_INT, w.handle, &q.emplace_back());
  MPI_Win_unlock_all(w.handle);
  s.expect_class(MPI_Waitall(count(), q.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS, "MPI_Waitall");
  ints wanted = row(left(s) * 9, n);
  wanted.resize(static_cast<std::size_t>(n + large));
  const ints rest = row(left(s) * 5 + n, large);
  std::copy(rest.begin(), rest.end(), wanted.begin() + n);
  expect_ints(s, w.read(), wanted, "MPI_Rput");
}

// Requests that end one by one, that are asked for without being ended, and that are given up.
void requests_one_by_one(suite& s, const setting& t) {
  constexpr int n = 60;
  window w(s, t.how, t.where, n);
  const int r = right(s);
  const array out(t.buffers, row(s.rank * 5, n));
  std::vector<MPI_Request> q(n);
  const auto put_all = [&] {
    for (int i = 0; i < n; ++i)
      MPI_Rput(out.data() + i, 1, MPI_INT, r, w.at(r, i), 1, MPI_INT, w.handle, &q[index(i)]);
  };
  MPI_Win_lock_all(0, w.handle);
  put_all();
  for (int i = 0, flag = 0; i < n; ++i, flag = 0) {
    while (!flag) MPI_Request_get_status(q[index(i)], &flag, MPI_STATUS_IGNORE);
    s.expect(q[index(i)] != MPI_REQUEST_NULL, "a request that was only asked for is there");
  }
  for (int which = 0, done = 0; which != MPI_UNDEFINED; ++done) {
    MPI_Waitany(n, q.data(), &which, MPI_STATUS_IGNORE);
    s.expect(done <= n, "one request at a time");
  }
  put_all();
  for (int done = 0, some = 0; done < n; done += some) {
    std::vector<int> which(n);
    MPI_Waitsome(n, q.data(), &some, which.data(), MPI_STATUSES_IGNORE);
    if (!s.expect(some > 0, "some end")) break;
  }
  if (under_way(t)) {  // Open MPI refuses to free its own
    put_all();
    for (MPI_Request& one : q) MPI_Request_free(&one);
  }
  MPI_Win_unlock_all(w.handle);
  expect_ints(s, w.read(), row(left(s) * 5, n), "MPI_Rput");
}

// Requests that outlive their window: of direct windows only, others' are the host MPI's.
void requests_outlive(suite& s, const setting& t) {
  if (!under_way(t)) return;
  constexpr int n = 200;
  const array out(t.buffers, row(s.rank, n));
  std::vector<MPI_Request> q(n);
  {
    window w(s, t.how, t.where, n);
    const int r = right(s);
    MPI_Win_lock_all(0, w.handle);
    for (int i = 0; i < n; ++i)
      MPI_Rput(out.data() + i, 1, MPI_INT, r, w.at(r, i), 1, MPI_INT, w.handle, &q[index(i)]);
    MPI_Win_unlock_all(w.handle);
    expect_ints(s, w.read(), row(left(s), n), "MPI_Rput");
  }
  s.expect_class(MPI_Waitall(n, q.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS, "MPI_Waitall");
}

constexpr std::pair<const char*, windows_case> bodies[] = {
    {"one launch", one_launch},
    {"alone", alone},
    {"large together", large_together},
    {"slow target", slow_target},
    {"many small", many_small},
    {"beside each other", beside_each_other},
    {"beside messages", beside_messages},
    {"reused", reused},
    {"memory comes and goes", memory_comes_and_goes},
    {"requests", requests},
    {"requests one by one", requests_one_by_one},
    {"requests outlive", requests_outlive},
};

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  for (const auto& [name, body] : bodies) run_in_settings(s, name, body);
  return s.finish();
}
