// SPDX-License-Identifier: BSD-3-Clause
// Windows and partitioned communication on a communicator of any ranks, some of which may be
// outside the job: with Telpher or without, each with the kind of memory that it has.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "memory.hpp"
#include "mpi_4.hpp"

namespace mpi_test::on_any_comm {

using values = std::vector<int>;

inline values row_of(int first, std::size_t count) {
  values v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = first + static_cast<int>(i);
  return v;
}

/// The first thing that was wrong. What comes later goes on: other ranks wait for this one.
struct finding {
  std::string problem;
  void compare(const values& got, const values& wanted, const char* what) {
    for (std::size_t i = 0; problem.empty() && i < wanted.size(); ++i)
      if (got[i] != wanted[i])
        problem = std::string(what) + ": int " + std::to_string(i) + " is " +
                  std::to_string(got[i]) + " instead of " + std::to_string(wanted[i]);
  }
};

/// Ints in one kind of memory.
class numbers {
 public:
  numbers(kind k, const values& v) : kind_(k), count_(v.size()) {
    memory_ = static_cast<int*>(try_allocate(k, count_ * sizeof(int)));
    write(v);
  }
  /// Of memory that a window has allocated.
  numbers(kind k, int* memory, std::size_t count) : kind_(k), count_(count), memory_(memory) {}
  ~numbers() {
    if (owned_) release(kind_, memory_);
  }
  numbers(const numbers&) = delete;
  numbers& operator=(const numbers&) = delete;
  int* data() const { return memory_; }
  void write(const values& v) const { copy(kind_, memory_, v.data(), v.size() * sizeof(int)); }
  values read(std::size_t first, std::size_t count) const {
    values v(count);
    copy(kind_, v.data(), memory_ + first, count * sizeof(int));
    return v;
  }
  void leave() { owned_ = false; }

 private:
  kind kind_;
  std::size_t count_;
  int* memory_ = nullptr;
  bool owned_ = true;
};

struct place_in {
  int rank = 0, size = 0;
  explicit place_in(MPI_Comm comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  int next() const { return (rank + 1) % size; }
  int before() const { return (rank + size - 1) % size; }
};

/// A window whose first `half` ints are this rank's own, and whose others are written by the rank
/// before; the last one is a sum of all.
class windows {
 public:
  windows(MPI_Comm comm, kind k, bool allocate, finding& f)
      : comm_(comm), p_(comm), kind_(k), allocated_(allocate), found_(f) {
    constexpr MPI_Aint bytes = sizeof(int) * (2 * half + 1);
    if (allocate) {
      MPI_Info info;
      int* memory = nullptr;
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpi_memory_alloc_kinds",
                   k == kind::device ? device_kind().c_str() : "system,mpi");
      MPI_Win_allocate(bytes, sizeof(int), info, comm, &memory, &win_);
      MPI_Info_free(&info);
      memory_ = std::make_unique<numbers>(k, memory, 2 * half + 1);
      memory_->leave();
    } else {
      memory_ = std::make_unique<numbers>(k, values(2 * half + 1, 0));
      MPI_Win_create(memory_->data(), bytes, sizeof(int), MPI_INFO_NULL, comm, &win_);
    }
  }

  void run() {
    memory_->write(values(2 * half + 1, 0));
    attributes();
    fences();
    locks();
    freed();
  }

 private:
  static constexpr std::size_t half = 3000;
  static constexpr int n = half;

  void attributes() {
    void* base = nullptr;
    int there = 0;
    MPI_Win_get_attr(win_, MPI_WIN_BASE, &base, &there);
    found_.compare({there, base == memory_->data()}, {1, 1}, "MPI_WIN_BASE");
  }
  /// What others have written last is in the program's memory when the window is gone.
  void freed() {
    const numbers out(kind_, row_of(30 * p_.rank, half));
    MPI_Barrier(comm_);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, p_.next(), 0, win_);
    MPI_Put(out.data(), n, MPI_INT, p_.next(), half, n, MPI_INT, win_);
    MPI_Win_unlock(p_.next(), win_);
    MPI_Barrier(comm_);
    MPI_Win_free(&win_);
    if (!allocated_)
      found_.compare(memory_->read(half, half), row_of(30 * p_.before(), half), "after the end");
  }

  void fences() {
    const numbers out(kind_, row_of(10 * p_.rank, half)), in(kind_, values(half, -1));
    const numbers one(kind_, {p_.rank + 1});
    memory_->write(row_of(1000 * p_.rank, half));
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win_);
    MPI_Put(out.data(), n, MPI_INT, p_.next(), half, n, MPI_INT, win_);
    MPI_Get(in.data(), n, MPI_INT, p_.next(), 0, n, MPI_INT, win_);
    for (int r = 0; r < p_.size; ++r)
      MPI_Accumulate(one.data(), 1, MPI_INT, r, 2 * half, 1, MPI_INT, MPI_SUM, win_);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win_);
    found_.compare(in.read(0, half), row_of(1000 * p_.next(), half), "got");
    found_.compare(memory_->read(half, half), row_of(10 * p_.before(), half), "put");
    found_.compare(memory_->read(2 * half, 1), {p_.size * (p_.size + 1) / 2}, "a sum");
  }

  /// Own stores are shown, and what others wrote is taken.
  void publish() {
    MPI_Win_lock(MPI_LOCK_SHARED, p_.rank, 0, win_);
    MPI_Win_sync(win_);
    MPI_Win_unlock(p_.rank, win_);
    MPI_Barrier(comm_);
  }
  void locks() {
    const numbers out(kind_, row_of(20 * p_.rank, half)), in(kind_, values(half, -1));
    memory_->write(row_of(2000 * p_.rank, half));
    publish();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, p_.next(), 0, win_);
    MPI_Put(out.data(), n, MPI_INT, p_.next(), half, n, MPI_INT, win_);
    MPI_Get(in.data(), n, MPI_INT, p_.next(), 0, n, MPI_INT, win_);
    MPI_Win_unlock(p_.next(), win_);
    MPI_Barrier(comm_);
    publish();
    found_.compare(in.read(0, half), row_of(2000 * p_.next(), half), "got, locked");
    found_.compare(memory_->read(half, half), row_of(20 * p_.before(), half), "put, locked");
  }

  MPI_Comm comm_;
  place_in p_;
  kind kind_;
  bool allocated_;
  finding& found_;
  MPI_Win win_ = MPI_WIN_NULL;
  std::unique_ptr<numbers> memory_;
};

#if MPI_TEST_HAS_MPI_4

/// A ring of partitioned messages. Pairs of ints, with a gap behind each if `gaps`.
inline void partitioned(MPI_Comm comm, kind k, std::size_t pairs, bool gaps, finding& found) {
#ifdef OPEN_MPI
  constexpr int received = 4;  // it says too early that one of several partitions has arrived
#else
  constexpr int received = 2;
#endif
  constexpr int sent = 4, tag = 9;
  const place_in p(comm);
  const std::size_t each = gaps ? 3 : 2;
  MPI_Datatype pair, type;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, static_cast<MPI_Aint>(each * sizeof(int)), &type);
  MPI_Type_commit(&type);
  const numbers out(k, values(pairs * each, 0)), in(k, values(pairs * each, 0));
  MPI_Request both[2];
  const auto n = static_cast<MPI_Count>(pairs);
  MPI_Psend_init(out.data(), sent, n / sent, type, p.next(), tag, comm, MPI_INFO_NULL, &both[0]);
  MPI_Precv_init(in.data(), received, n / received, type, p.before(), tag, comm, MPI_INFO_NULL,
                 &both[1]);
  for (int round = 0; round < 3; ++round) {
    out.write(row_of(1000 * p.rank + round, pairs * each));
    in.write(values(pairs * each, -1));
    MPI_Startall(2, both);
    MPI_Pready(2, both[0]);
    MPI_Pready_range(0, 1, both[0]);
    MPI_Pready(3, both[0]);
    values wanted = row_of(1000 * p.before() + round, pairs * each);
    for (std::size_t i = 2; gaps && i < wanted.size(); i += each) wanted[i] = -1;
    if (round == 1)
      for (int i = received - 1; i >= 0; --i) {
        for (int here = 0; !here;) MPI_Parrived(both[1], i, &here);
        const std::size_t count = pairs / received * each,
                          first = count * static_cast<std::size_t>(i);
        const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(first);
        found.compare(in.read(first, count),
                      values(begin, begin + static_cast<std::ptrdiff_t>(count)),
                      "an arrived partition");
      }
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    found.compare(in.read(0, pairs * each), wanted, "partitions");
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Type_free(&type);
  MPI_Type_free(&pair);
}

/// Open MPI 5 takes types with gaps in host memory for bytes without.
inline bool host_has_gaps([[maybe_unused]] MPI_Comm comm, [[maybe_unused]] kind k) {
#ifdef OPEN_MPI
  int device = k == kind::device, all = 0;
  MPI_Allreduce(&device, &all, 1, MPI_INT, MPI_MIN, comm);
  return all != 0;
#else
  return true;
#endif
}

/// Of a communicator with ranks outside the job where the host MPI has no partitions.
inline std::string refusal(MPI_Comm comm) {
  finding found;
  const numbers out(kind::device, values(4, 0));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(comm, &before);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int code = MPI_Psend_init(out.data(), 2, 2, MPI_INT, 0, 9, comm, MPI_INFO_NULL, &request);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &code);
  found.compare({code}, {MPI_ERR_UNSUPPORTED_OPERATION}, "what the host MPI cannot do");
  MPI_Comm_set_errhandler(comm, before);
  MPI_Errhandler_free(&before);
  return found.problem;
}

#endif

/// All of them; the first problem, or nothing. `partitions`: somebody has partitioned communication
/// there, Telpher or the host MPI.
inline std::string all(MPI_Comm comm, kind k, [[maybe_unused]] bool partitions) {
  finding found;
  for (const bool allocate : {false, true}) windows(comm, k, allocate, found).run();
#if MPI_TEST_HAS_MPI_4
  if (!partitions) return found.problem;
  const bool with_gaps = host_has_gaps(comm, k);
  for (const std::size_t pairs : {4ul, 20000ul}) {
    partitioned(comm, k, pairs, false, found);
    if (with_gaps) partitioned(comm, k, pairs, true, found);
  }
#endif
  return found.problem;
}

}  // namespace mpi_test::on_any_comm
