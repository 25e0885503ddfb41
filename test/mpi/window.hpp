// SPDX-License-Identifier: BSD-3-Clause
// For tests of one-sided communication: windows made in each way over host and device memory, and
// arrays of ints to be their buffers; each case runs with all of them.
#pragma once

#include <algorithm>

#include "suite.hpp"

namespace mpi_test {

using ints = std::vector<int>;

inline bool between_nodes() {
  return std::getenv("TELPHER_TEST_PRETENDED_NODES") != nullptr;
}

enum class making { create, allocate, dynamic };
inline constexpr const char* makings[] = {"create", "allocate", "dynamic"};

/// Which ranks expose device memory.
enum class placing { none, all, even };
inline constexpr const char* placings[] = {"host", "device", "mixed"};

inline kind place_of(placing p, int rank) {
  return p == placing::all || (p == placing::even && rank % 2 == 0) ? kind::device : kind::host;
}

/// Of a window on MPI_COMM_WORLD: what others did so far is here, and others see what is here.
inline void publish(int rank, MPI_Win w) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
  MPI_Win_sync(w);
  MPI_Win_unlock(rank, w);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A window of so many ints, the same at each rank.
class window {
 public:
  window(const suite& s, making how, placing where, int count)
      : how_(how), kind_(place_of(where, s.rank)), count_(count), ranks_(s.ranks), rank_(s.rank) {
    const auto bytes = static_cast<MPI_Aint>(sizeof(int)) * count;
    if (how == making::allocate) {
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpi_memory_alloc_kinds",
                   kind_ == kind::device ? ("strange," + device_kind()).c_str() : "system,mpi");
      MPI_Win_allocate(bytes, sizeof(int), info, MPI_COMM_WORLD, &memory_, &handle);
      MPI_Info_free(&info);
    } else {
      memory_ = static_cast<int*>(try_allocate(kind_, static_cast<std::size_t>(bytes)));
      if (how == making::create)
        MPI_Win_create(memory_, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &handle);
      else
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &handle);
    }
    MPI_Win_set_errhandler(handle, MPI_ERRORS_RETURN);
    if (how == making::dynamic) {
      MPI_Win_attach(handle, memory_, bytes);
      MPI_Aint own = 0;
      MPI_Get_address(memory_, &own);
      bases_.resize(static_cast<std::size_t>(ranks_));
      MPI_Allgather(&own, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, s.control);
    }
    write(ints(static_cast<std::size_t>(count), 0));
  }
  ~window() {
    if (how_ == making::dynamic) {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_detach(handle, memory_);
    }
    MPI_Win_free(&handle);
    if (how_ != making::allocate) release(kind_, memory_);
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;

  /// The displacement of an int at a rank.
  MPI_Aint at(int rank, int i) const {
    return how_ == making::dynamic ? bases_[static_cast<std::size_t>(rank)] + MPI_Aint{4} * i : i;
  }
  int count() const { return count_; }
  void* memory() const { return memory_; }

  /// The program's own stores, between epochs.
  void write(const ints& values) {
    copy(memory_, values.data());
    publish();
  }
  ints read() {
    publish();
    ints values(static_cast<std::size_t>(count_));
    copy(values.data(), memory_);
    return values;
  }
  void publish() { mpi_test::publish(rank_, handle); }

  MPI_Win handle = MPI_WIN_NULL;

 private:
  void copy(void* to, const void* from) const {
    mpi_test::copy(kind_, to, from, sizeof(int) * static_cast<std::size_t>(count_));
  }

  making how_;
  kind kind_;
  int count_, ranks_, rank_;
  int* memory_ = nullptr;
  std::vector<MPI_Aint> bases_;
};

/// Ints in some kind of memory.
class array {
 public:
  array(kind k, const ints& values) : kind_(k), count_(values.size()) {
    memory_ = static_cast<int*>(try_allocate(k, sizeof(int) * std::max<std::size_t>(count_, 1)));
    mpi_test::copy(k, memory_, values.data(), sizeof(int) * count_);
  }
  ~array() { release(kind_, memory_); }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  int* data() const { return memory_; }
  void write(const ints& values) const {
    mpi_test::copy(kind_, memory_, values.data(), sizeof(int) * count_);
  }
  ints read() const {
    ints values(count_);
    mpi_test::copy(kind_, values.data(), memory_, sizeof(int) * count_);
    return values;
  }

 private:
  kind kind_;
  std::size_t count_;
  int* memory_ = nullptr;
};

inline ints row(int first, int count, int step = 1) {
  ints values(static_cast<std::size_t>(count));
  for (int& v : values) v = first, first += step;
  return values;
}

inline void expect_ints(suite& s, const ints& got, const ints& wanted, const char* what) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (got[i] != wanted[i])
      return s.fail("%s: int %zu is %d instead of %d", what, i, got[i], wanted[i]);
}

struct setting {
  making how;
  placing where;
  kind buffers;
};

inline int right(const suite& s) {
  return (s.rank + 1) % s.ranks;
}
inline int left(const suite& s) {
  return (s.rank + s.ranks - 1) % s.ranks;
}

using windows_case = void (*)(suite&, const setting&);

/// Runs a case with each way of making a window, place of its memory and of the buffers.
inline void run_in_settings(suite& s, const char* what, windows_case body) {
  for (const making how : {making::create, making::allocate, making::dynamic})
    for (const placing where : {placing::none, placing::all, placing::even})
      for (const kind buffers : {kind::host, kind::device}) {
        const bool thinned = how != making::create || where == placing::none;
        if (thinned && buffers == kind::host && !s.opt.full) continue;
        const std::string label = std::string(what) + ": " + makings[static_cast<int>(how)] + ", " +
                                  placings[static_cast<int>(where)] + " window, " + name(buffers) +
                                  " buffers";
        s.run(label, [&] { body(s, {how, where, buffers}); });
      }
}

/// Errors that were raised on a window of count_errors().
inline int handler_calls = 0;
inline void on_error(MPI_Win*, int*, ...) {
  ++handler_calls;
}
inline void count_errors(const window& w) {
  MPI_Errhandler handler;
  MPI_Win_create_errhandler(on_error, &handler);
  MPI_Win_set_errhandler(w.handle, handler);
  MPI_Errhandler_free(&handler);
}

}  // namespace mpi_test
