// SPDX-License-Identifier: BSD-3-Clause
// How one-sided operations reach a target: origins, results and operands in host and device memory,
// aligned or not, small and large, with and without gaps, at another rank and at the own one. Each
// origin has a region of its own at every target, and a model of it in host memory. Also how many
// device operations a call takes.
#include <cstdint>

#include "emulated.hpp"
#include "window.hpp"

namespace {

using namespace mpi_test;

constexpr kind kinds[] = {kind::host, kind::device};

/// Values at some byte of a buffer of their own.
template <class T>
class values {
 public:
  values(kind k, const std::vector<T>& from, std::size_t first_byte = 0)
      : kind_(k), count_(from.size()), first_(first_byte) {
    memory_ = static_cast<std::byte*>(try_allocate(k, first_ + sizeof(T) * count_));
    mpi_test::copy(k, data(), from.data(), sizeof(T) * count_);
  }
  ~values() { release(kind_, memory_); }
  values(const values&) = delete;
  values& operator=(const values&) = delete;
  void* data() const { return memory_ + first_; }
  void write(const std::vector<T>& from) const {
    mpi_test::copy(kind_, data(), from.data(), sizeof(T) * count_);
  }
  std::vector<T> read() const {
    std::vector<T> all(count_);
    mpi_test::copy(kind_, all.data(), data(), sizeof(T) * count_);
    return all;
  }

 private:
  kind kind_;
  std::size_t count_, first_;
  std::byte* memory_ = nullptr;
};

template <class T>
std::vector<T> small_values(int count, int seed) {
  std::vector<T> all;
  for (int i = 0; i < count; ++i) all.push_back(static_cast<T>(1 + (seed + i) % 5));
  return all;
}

/// What the target holds afterwards.
template <class T>
void model(std::vector<T>& held, const std::vector<T>& origin, MPI_Datatype type, MPI_Op op) {
  if (op == MPI_REPLACE) held = origin;
  if (op != MPI_REPLACE && op != MPI_NO_OP)
    MPI_Reduce_local(origin.data(), held.data(), static_cast<int>(held.size()), type, op);
}

enum class call { accumulate, get_accumulate, fetch };

/// A call in each way that its buffers may lie, with the values of a type.
template <class T>
struct updates {
  suite& s;
  const setting& t;
  MPI_Datatype type;
  window& w;
  int count;  // of values in a region

  MPI_Aint region(int target) const {
    return w.at(target, s.rank * count * static_cast<int>(sizeof(T)) / 4);
  }

  void once(call what, MPI_Op op, int target, kind from, std::size_t first_byte, kind to) const {
    const int n = what == call::fetch ? 1 : count;
    const MPI_Aint at = region(target);
    std::vector<T> held = small_values<T>(n, target);
    const std::vector<T> before = held, given = small_values<T>(n, s.rank + 2),
                         none(static_cast<std::size_t>(n), T{});
    const values<T> start(from, held, first_byte), origin(from, given, first_byte), old(to, none),
        after(to, none, first_byte);
    MPI_Put(start.data(), n, type, target, at, n, type, w.handle);
    MPI_Win_flush(target, w.handle);
    if (what == call::accumulate)
      MPI_Accumulate(origin.data(), n, type, target, at, n, type, op, w.handle);
    else if (what == call::fetch)
      MPI_Fetch_and_op(origin.data(), old.data(), type, target, at, op, w.handle);
    else
      MPI_Get_accumulate(origin.data(), n, type, old.data(), n, type, target, at, n, type, op,
                         w.handle);
    MPI_Win_flush(target, w.handle);
    MPI_Get(after.data(), n, type, target, at, n, type, w.handle);
    MPI_Win_flush(target, w.handle);
    model(held, given, type, op);
    if (what != call::accumulate) s.expect(old.read() == before, "the old values");
    s.expect(after.read() == held, "the new values");
  }

  /// Of the ways that the buffers may lie one in three, others with the next operation.
  void all(const std::vector<MPI_Op>& ops) const {
    int ways = 0;
    MPI_Win_lock_all(0, w.handle);
    for (const call what : {call::accumulate, call::get_accumulate, call::fetch})
      for (const MPI_Op& op : ops)
        for (const int target : {s.rank, right(s)})
          for (const kind from : kinds)
            for (const kind to : kinds)
              for (const std::size_t first_byte : {0, 1}) {
                if (ways++ % 3 != 0 && !s.opt.full) continue;
                s.note("call %d, operation %td, target %d, %s origin at byte %zu, %s result",
                       static_cast<int>(what), &op - ops.data(), target, name(from), first_byte,
                       name(to));
                once(what, op, target, from, first_byte, to);
              }
    MPI_Win_unlock_all(w.handle);
    MPI_Barrier(MPI_COMM_WORLD);  // with values of another size the regions lie elsewhere
  }
};

const std::vector<MPI_Op> of_all = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_REPLACE, MPI_NO_OP};

void operations(suite& s, const setting& t) {
  if (t.buffers != kind::device) return;  // each kind of buffer is tried here
  constexpr int n = 12;
  window w(s, t.how, t.where, 2 * n * s.ranks);
  updates<double>{s, t, MPI_DOUBLE, w, n}.all(of_all);
  updates<float>{s, t, MPI_FLOAT, w, n}.all(of_all);
  std::vector<MPI_Op> of_integers = of_all;
  // Not on memory that the host MPI serves: Open MPI's own windows get some of them wrong.
  if (t.where == placing::all && !between_nodes())
    of_integers.insert(of_integers.end(),
                       {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR});
  updates<int>{s, t, MPI_INT, w, n}.all(of_integers);
  if (t.how != making::create) return;
  updates<std::int64_t>{s, t, MPI_INT64_T, w, n}.all(of_integers);
  updates<std::int8_t>{s, t, MPI_INT8_T, w, n}.all(of_integers);
}

// More than is kept in pinned memory, and than the kernel that stays copies.
void large(suite& s, const setting& t) {
  if (t.buffers != kind::device) return;
  constexpr int n = 30000;
  window w(s, t.how, t.where, n * s.ranks);
  updates<int>{s, t, MPI_INT, w, n}.all({MPI_SUM, MPI_REPLACE, MPI_NO_OP});
}

void gaps(suite& s, const setting& t) {
  constexpr int rows = 9, n = 3 * rows;
  window w(s, t.how, t.where, n * s.ranks);
  MPI_Datatype every_third;
  MPI_Type_vector(rows, 1, 3, MPI_INT, &every_third);
  MPI_Type_commit(&every_third);
  const int r = right(s);
  const MPI_Aint at = w.at(r, n * s.rank);
  // Bit 0: gaps at the origin, 1: in the result, 2: at the target.
  for (int which = 0; which < 8; ++which) {
    s.note("gaps %d", which);
    const auto of = [&](int bit) { return which >> bit & 1 ? every_third : MPI_INT; };
    const auto number = [&](int bit) { return which >> bit & 1 ? 1 : rows; };
    const auto step = [&](int bit) { return std::size_t{which >> bit & 1 ? 3u : 1u}; };
    const ints given = row(100, n), before = row(7, n);
    const array start(t.buffers, before), origin(t.buffers, given), old(t.buffers, ints(n, -1)),
        after(t.buffers, ints(n, -1));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, w.handle);
    MPI_Put(start.data(), n, MPI_INT, r, at, n, MPI_INT, w.handle);
    MPI_Win_flush(r, w.handle);
    MPI_Get_accumulate(origin.data(), number(0), of(0), old.data(), number(1), of(1), r, at,
                       number(2), of(2), MPI_SUM, w.handle);
    MPI_Win_flush(r, w.handle);
    MPI_Get(after.data(), n, MPI_INT, r, at, n, MPI_INT, w.handle);
    MPI_Win_unlock(r, w.handle);
    ints new_wanted = before, old_wanted(n, -1);
    for (std::size_t i = 0; i < rows; ++i) {
      new_wanted[step(2) * i] += given[step(0) * i];
      old_wanted[step(1) * i] = before[step(2) * i];
    }
    expect_ints(s, old.read(), old_wanted, "old values");
    expect_ints(s, after.read(), new_wanted, "new values");
  }
  MPI_Type_free(&every_third);
}

template <class T>
void swap_type(suite& s, window& w, MPI_Datatype type, int first_int = 0) {
  MPI_Win_lock_all(0, w.handle);
  for (const int target : {s.rank, right(s)})
    for (int which = 0; which < 16; ++which) {  // origin, compare, result on the device; equal
      s.note("%zu bytes, target %d, variant %d", sizeof(T), target, which);
      const auto in = [&](int bit) { return which >> bit & 1 ? kind::device : kind::host; };
      const bool equal = which >> 3 & 1;
      const values<T> start(in(0), {T{5}}), origin(in(0), {T{9}}),
          compare(in(1), {static_cast<T>(equal ? 5 : 6)}), old(in(2), {T{1}}), after(in(2), {T{1}});
      const MPI_Aint at = w.at(target, first_int + 2 * s.rank);
      MPI_Put(start.data(), 1, type, target, at, 1, type, w.handle);
      MPI_Win_flush(target, w.handle);
      MPI_Compare_and_swap(origin.data(), compare.data(), old.data(), type, target, at, w.handle);
      MPI_Win_flush(target, w.handle);
      MPI_Get(after.data(), 1, type, target, at, 1, type, w.handle);
      MPI_Win_flush(target, w.handle);
      s.expect(old.read()[0] == T{5}, "the old value");
      s.expect(after.read()[0] == static_cast<T>(equal ? 9 : 5), "the new value");
    }
  MPI_Win_unlock_all(w.handle);
  MPI_Barrier(MPI_COMM_WORLD);
}

void swaps(suite& s, const setting& t) {
  if (t.buffers != kind::device) return;
  window w(s, t.how, t.where, 2 * s.ranks + 1);
  swap_type<std::int8_t>(s, w, MPI_INT8_T);
  swap_type<std::uint16_t>(s, w, MPI_UINT16_T);
  swap_type<int>(s, w, MPI_INT);
  swap_type<std::uint64_t>(s, w, MPI_UINT64_T);
  swap_type<std::uint8_t>(s, w, MPI_BYTE);
  // No multiple of its size, so not by the kernel.
  if (t.where == placing::all && !between_nodes()) swap_type<std::uint64_t>(s, w, MPI_UINT64_T, 1);
}

/// All ranks count by one value, each by swapping what it saw last for one more.
template <class T>
void count_by_swaps(suite& s, window& w, kind buffers, MPI_Datatype type) {
  constexpr int rounds = 12;
  w.write(ints(static_cast<std::size_t>(w.count()), 0));
  const values<T> given(buffers, {T{0}}), compare(buffers, {T{0}}), old(buffers, {T{0}});
  MPI_Win_lock_all(0, w.handle);
  T seen{0};
  for (int done = 0, tries = 0; done < rounds; ++tries) {
    if (tries > 100000) return s.fail("%zu bytes: no swap succeeds", sizeof(T));
    given.write({static_cast<T>(seen + 1)});
    compare.write({seen});
    MPI_Compare_and_swap(given.data(), compare.data(), old.data(), type, 0, w.at(0, 2), w.handle);
    MPI_Win_flush(0, w.handle);
    const T was = old.read()[0];
    if (was == seen) ++done;
    seen = was == seen ? static_cast<T>(seen + 1) : was;
  }
  MPI_Win_unlock_all(w.handle);
  const ints all = w.read();
  T total{};
  std::memcpy(&total, &all[2], sizeof total);
  if (s.rank != 0) return;
  s.expect(total == static_cast<T>(rounds * s.ranks), "the count");
  int beside = 0;  // the bytes around a short value
  for (std::size_t i = 0; i < all.size() * sizeof(int); ++i)
    if (i < 8 || i >= 8 + sizeof(T)) beside |= reinterpret_cast<const char*>(all.data())[i];
  s.expect(beside == 0, "what lies beside the value");
}

void contended(suite& s, const setting& t) {
  window w(s, t.how, t.where, 4);
  count_by_swaps<std::uint8_t>(s, w, t.buffers, MPI_UINT8_T);
  count_by_swaps<std::int16_t>(s, w, t.buffers, MPI_INT16_T);
  count_by_swaps<std::int32_t>(s, w, t.buffers, MPI_INT32_T);
  count_by_swaps<std::int64_t>(s, w, t.buffers, MPI_INT64_T);
}

// --- what a call takes ---

long long device_operations() {
  return counted("launches") + counted("copies") + counted("fills") + counted("synchronisations");
}

template <class Call>
void expect_operations(suite& s, int most, const char* what, Call&& call) {
  constexpr int rounds = 20;
  call();  // what is made at first use
  const long long before = device_operations();
  for (int i = 0; i < rounds; ++i) call();
  const long long taken = device_operations() - before;
  s.note("%s: %lld device operations in %d calls", what, taken, rounds);
  s.expect(taken <= rounds * most, what);
}

void costs(suite& s, const setting& t) {
  if (counted("launches") < 0 || between_nodes() || t.where != placing::all) return;
  if (std::getenv("TELPHER_COLL")) return;  // without kernels for updates
  window w(s, t.how, t.where, 4 * s.ranks);
  const int r = right(s);
  const MPI_Aint at = w.at(r, 4 * s.rank);
  const array one(t.buffers, {1}), zero(t.buffers, {0}), old(t.buffers, {-1});
  MPI_Win_lock_all(0, w.handle);
  expect_operations(s, 1, "MPI_Accumulate", [&] {
    MPI_Accumulate(one.data(), 1, MPI_INT, r, at, 1, MPI_INT, MPI_SUM, w.handle);
  });
  for (const MPI_Op op : {MPI_SUM, MPI_REPLACE})
    expect_operations(s, 1, "MPI_Fetch_and_op", [&] {
      MPI_Fetch_and_op(one.data(), old.data(), MPI_INT, r, at, op, w.handle);
    });
  expect_operations(s, 1, "MPI_Compare_and_swap", [&] {
    MPI_Compare_and_swap(zero.data(), one.data(), old.data(), MPI_INT, r, at, w.handle);
  });
  const char* const staying = std::getenv("TELPHER_LINGER");
  if (staying && std::strcmp(staying, "on") == 0) {
    // At most one launch a copy, where the kernel that stays has left.
    expect_operations(s, 1, "MPI_Put", [&] {
      MPI_Put(one.data(), 1, MPI_INT, r, at, 1, MPI_INT, w.handle);
      MPI_Win_flush(r, w.handle);
    });
    expect_operations(s, 1, "MPI_Get", [&] {
      MPI_Get(old.data(), 1, MPI_INT, r, at, 1, MPI_INT, w.handle);
      MPI_Win_flush(r, w.handle);
    });
  }
  MPI_Win_unlock_all(w.handle);
}

// Members without elements may be of another type. In host memory it is the host MPI's task.
void empty_members(suite& s, const setting& t) {
  if (t.where != placing::all || between_nodes()) return;
  constexpr int n = 20;
  window w(s, t.how, t.where, n + 1);
  int lengths[] = {0, n};
  const MPI_Aint places[] = {0, sizeof(int)};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, places, parts, &type);
  MPI_Type_commit(&type);
  const array out(t.buffers, row(-10, n));
  MPI_Win_fence(0, w.handle);
  for (int r = 0; r < s.ranks; ++r)
    MPI_Accumulate(out.data(), n, MPI_INT, r, w.at(r, 0), 1, type, MPI_SUM, w.handle);
  MPI_Win_fence(0, w.handle);
  ints wanted = row(-10 * s.ranks, n, s.ranks);
  wanted.insert(wanted.begin(), 0);
  expect_ints(s, w.read(), wanted, "sums");
  MPI_Type_free(&type);
}

constexpr std::pair<const char*, windows_case> bodies[] = {
    {"operations", operations},
    {"large", large},
    {"gaps", gaps},
    {"swaps", swaps},
    {"contended", contended},
    {"costs", costs},
    {"empty members", empty_members},
};

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  for (const auto& [name, body] : bodies) run_in_settings(s, name, body);
  return s.finish();
}
