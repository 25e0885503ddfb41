// SPDX-License-Identifier: BSD-3-Clause
// Dynamic windows: several ranges of device and host memory at each rank, ranges that come and go
// at one address while an epoch is open, accesses beside a range and over several, and more ranges
// than there may be.
#include "window.hpp"

namespace {

using namespace mpi_test;

/// A dynamic window with an epoch of all ranks that is open from beginning to end.
class dynamic_window {
 public:
  explicit dynamic_window(suite& s) : s_(s) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &handle);
    MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, handle);
  }
  ~dynamic_window() {
    MPI_Win_unlock_all(handle);
    MPI_Win_free(&handle);
  }
  dynamic_window(const dynamic_window&) = delete;
  dynamic_window& operator=(const dynamic_window&) = delete;

  int attach(const void* at, int ints) {
    return MPI_Win_attach(handle, const_cast<void*>(at), MPI_Aint{4} * ints);
  }
  /// The right neighbour's address.
  MPI_Aint exchange(const void* at) const {
    MPI_Aint own = 0, other = 0;
    MPI_Get_address(at, &own);
    MPI_Sendrecv(&own, 1, MPI_AINT, left(s_), 3, &other, 1, MPI_AINT, right(s_), 3, s_.control,
                 MPI_STATUS_IGNORE);
    return other;
  }
  /// What others did so far is here, and others see what is here.
  void publish() {
    MPI_Win_flush_all(handle);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(handle);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void put(const array& from, int count, MPI_Aint at) {
    s_.expect_equal(MPI_Put(from.data(), count, MPI_INT, right(s_), at, count, MPI_INT, handle),
                    MPI_SUCCESS, "MPI_Put");
  }

  MPI_Win handle = MPI_WIN_NULL;

 private:
  suite& s_;
};

void several_ranges(suite& s) {
  dynamic_window w(s);
  constexpr int n = 50;
  const array device(kind::device, row(0, 2 * n)), second(kind::device, row(0, n)),
      host(kind::host, row(0, n));
  const array out(kind::device, row(1000 * (s.rank + 1), n));
  const int from = 1000 * (left(s) + 1);
  w.attach(device.data(), n);  // the half of an allocation
  w.attach(host.data(), n);
  const MPI_Aint in_device = w.exchange(device.data()), in_host = w.exchange(host.data());
  w.put(out, 10, in_device + 4 * 5);
  w.put(out, 10, in_host + 4 * 5);
  w.publish();
  w.attach(second.data(), n);
  const MPI_Aint in_second = w.exchange(second.data());
  w.put(out, n, in_second);
  w.publish();
  const ints got = device.read();
  expect_ints(s, {got.begin() + 5, got.begin() + 15}, row(from, 10), "the device's range");
  expect_ints(s, {got.begin() + 15, got.end()}, row(15, 2 * n - 15), "beside it");
  const ints of_host = host.read();
  expect_ints(s, {of_host.begin() + 5, of_host.begin() + 15}, row(from, 10), "the host's range");
  expect_ints(s, second.read(), row(from, n), "a range that was attached later");
  const array in(kind::device, row(0, n));
  MPI_Get(in.data(), n, MPI_INT, right(s), in_second, n, MPI_INT, w.handle);
  w.publish();
  expect_ints(s, in.read(), row(1000 * (s.rank + 1), n), "what was put and got back");
  for (const array* a : {&device, &host, &second})
    s.expect_equal(MPI_Win_detach(w.handle, a->data()), MPI_SUCCESS, "MPI_Win_detach");
}

/// An origin that knows an older range at the address must not use it.
void attached_again(suite& s) {
  dynamic_window w(s);
  constexpr int n = 3000;
  const array memory(kind::device, row(0, n));
  const MPI_Aint there = w.exchange(memory.data());
  for (int round = 0; round < 6; ++round) {
    s.note("round %d", round);
    const int size = n >> (round % 3);
    memory.write(row(round, n));
    s.expect_equal(w.attach(memory.data(), size), MPI_SUCCESS, "MPI_Win_attach");
    MPI_Barrier(MPI_COMM_WORLD);
    const array out(kind::device, row(100 * round + s.rank, size, 3));
    const array in(kind::device, row(0, 10));
    MPI_Get(in.data(), 10, MPI_INT, right(s), there, 10, MPI_INT, w.handle);
    MPI_Win_flush(right(s), w.handle);
    expect_ints(s, in.read(), row(round, 10), "what its owner wrote before it was attached");
    MPI_Barrier(MPI_COMM_WORLD);
    w.put(out, size, there);
    w.publish();
    s.expect_equal(MPI_Win_detach(w.handle, memory.data()), MPI_SUCCESS, "MPI_Win_detach");
    const ints got = memory.read();
    expect_ints(s, {got.begin(), got.begin() + size}, row(100 * round + left(s), size, 3), "a put");
    expect_ints(s, {got.begin() + size, got.end()}, row(round + size, n - size), "beside it");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void accumulated(suite& s) {
  dynamic_window w(s);
  const array sums(kind::device, ints(4, 0)), one(kind::device, ints(1, 1)),
      old(kind::device, ints(1, -1));
  w.attach(sums.data(), 4);
  MPI_Aint first = 0;
  MPI_Get_address(sums.data(), &first);
  MPI_Bcast(&first, 1, MPI_AINT, 0, s.control);
  constexpr int times = 20;
  for (int i = 0; i < times; ++i) {
    MPI_Accumulate(one.data(), 1, MPI_INT, 0, first, 1, MPI_INT, MPI_SUM, w.handle);
    MPI_Fetch_and_op(one.data(), old.data(), MPI_INT, 0, first + 4, MPI_SUM, w.handle);
    MPI_Win_flush(0, w.handle);
    s.expect(old.read()[0] >= i && old.read()[0] < times * s.ranks, "an old value");
  }
  const array zero(kind::device, ints(1, 0)), mine(kind::device, ints(1, s.rank + 7));
  MPI_Compare_and_swap(mine.data(), zero.data(), old.data(), MPI_INT, 0, first + 8, w.handle);
  w.publish();
  const ints all = sums.read();
  if (s.rank == 0) {
    s.expect_equal(all[0], times * s.ranks, "sums");
    s.expect_equal(all[1], times * s.ranks, "fetched sums");
    s.expect(all[2] >= 7 && all[2] < 7 + s.ranks, "one rank has swapped");
    s.expect_equal(all[3], 0, "beside them");
  }
  MPI_Win_detach(w.handle, sums.data());
}

void beside_a_range(suite& s) {
  dynamic_window w(s);
  constexpr int n = 16;
  const array memory(kind::device, row(0, 2 * n)), out(kind::device, row(0, 2 * n));
  w.attach(memory.data(), n);
  const MPI_Aint there = w.exchange(memory.data());
  MPI_Barrier(MPI_COMM_WORLD);
  s.expect_class(
      MPI_Put(out.data(), 4, MPI_INT, right(s), there + 4 * (n - 2), 4, MPI_INT, w.handle),
      MPI_ERR_RMA_RANGE, "a put beyond the range");
  w.publish();
  expect_ints(s, memory.read(), row(0, 2 * n), "the memory");
  MPI_Win_detach(w.handle, memory.data());
}

/// An access may use several ranges that lie side by side in one allocation, but no gap between
/// ranges. Between nodes each range has an image of its own, so an access has to stay in one.
void side_by_side(suite& s) {
  dynamic_window w(s);
  constexpr int n = 40;
  const array memory(kind::device, row(0, 3 * n)), out(kind::device, row(100 + s.rank, 3 * n));
  const MPI_Aint there = w.exchange(memory.data());
  const auto put_across = [&] {
    return MPI_Put(out.data(), 2 * n, MPI_INT, right(s), there + 4 * (n / 2), 2 * n, MPI_INT,
                   w.handle);
  };
  w.attach(memory.data(), n);
  w.attach(memory.data() + 2 * n, n);
  MPI_Barrier(MPI_COMM_WORLD);
  s.expect_class(put_across(), MPI_ERR_RMA_RANGE, "a put over a gap");
  MPI_Barrier(MPI_COMM_WORLD);
  w.attach(memory.data() + n, n);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!between_nodes()) {
    s.expect_equal(put_across(), MPI_SUCCESS, "a put over three ranges");
    w.publish();
    const ints got = memory.read();
    expect_ints(s, {got.begin(), got.begin() + n / 2}, row(0, n / 2), "before it");
    expect_ints(s, {got.begin() + n / 2, got.end() - n / 2}, row(100 + left(s), 2 * n), "the put");
    expect_ints(s, {got.end() - n / 2, got.end()}, row(3 * n - n / 2, n / 2), "behind it");
  } else {
    s.expect_class(put_across(), MPI_ERR_RMA_RANGE, "a put over three images");
    w.publish();
  }
  for (int i = 0; i < 3; ++i) MPI_Win_detach(w.handle, memory.data() + i * n);
}

// Open MPI 5.0.11 takes 64 regions, and keeps a lock of its own when it refuses another.
void too_many(suite& s) {
  if (between_nodes() && !s.mpich) return;
  dynamic_window w(s);
  constexpr int most = 256;
  const array memory(kind::device, row(0, 2 * most + 2));
  int attached = 0, code = MPI_SUCCESS;
  while (attached <= most && code == MPI_SUCCESS) {
    code = w.attach(memory.data() + 2 * attached, 1);
    if (code == MPI_SUCCESS) ++attached;
  }
  s.expect_equal(attached, most, "ranges");
  s.expect_class(code, MPI_ERR_RMA_ATTACH, "one more");
  MPI_Win_detach(w.handle, memory.data() + 2 * 17);
  s.expect_equal(w.attach(memory.data() + 2 * most, 1), MPI_SUCCESS, "in place of another");
  const MPI_Aint there = w.exchange(memory.data() + 2 * most);
  const array out(kind::device, ints(1, 5000 + s.rank));
  w.put(out, 1, there);
  w.publish();
  s.expect_equal(memory.read()[2 * most], 5000 + left(s), "the last range");
  for (int i = 0; i <= most; ++i)
    if (i != 17) MPI_Win_detach(w.handle, memory.data() + 2 * i);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  s.run("several ranges", [&] { several_ranges(s); });
  s.run("attached again", [&] { attached_again(s); });
  s.run("accumulated", [&] { accumulated(s); });
  s.run("beside a range", [&] { beside_a_range(s); });
  s.run("side by side", [&] { side_by_side(s); });
  s.run("too many", [&] { too_many(s); });
  return s.finish();
}
