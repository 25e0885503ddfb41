// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_allocate_shared on device memory: parts behind one another or each on its own device,
// addresses of all parts at all ranks, one-sided calls on them, and where such a window is refused.
#include "shared_window.hpp"

namespace {

using namespace mpi_test;

/// Rank r has 3 r + 2 ints; rank 1 has none.
int count_at(int rank) {
  return rank == 1 ? 0 : 3 * rank + 2;
}

std::size_t bytes_at(int rank) {
  return sizeof(int) * static_cast<std::size_t>(count_at(rank));
}

class parts : public shared_window<int> {
 public:
  parts(const suite& s, bool apart)
      : shared_window(apart, static_cast<std::size_t>(count_at(s.rank))) {}
  int* part(suite& s, int rank) const {
    const int of_rank = rank == MPI_PROC_NULL ? 0 : rank;  // the first one with any
    return shared_window::part(s, rank, static_cast<std::size_t>(count_at(of_rank)));
  }
  ints read(suite& s, int rank) const {
    ints values(static_cast<std::size_t>(count_at(rank)));
    copy(kind::device, values.data(), part(s, rank), bytes_at(rank));
    return values;
  }
};

void attributes(suite& s, bool apart) {
  const parts w(s, apart);
  void* value = nullptr;
  int flag = 0;
  MPI_Win_get_attr(w.handle, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  s.expect(flag && *static_cast<int*>(value) == MPI_WIN_FLAVOR_SHARED, "the flavour");
  MPI_Win_get_attr(w.handle, MPI_WIN_MODEL, &value, &flag);
  s.expect(flag && *static_cast<int*>(value) == MPI_WIN_UNIFIED, "the model");
  MPI_Win_get_attr(w.handle, MPI_WIN_BASE, &value, &flag);
  s.expect(flag && value == w.own, "the base");
  s.expect(w.part(s, s.rank) == w.own, "the own part's address");
  w.part(s, MPI_PROC_NULL);
  for (int r = 2; !apart && r < s.ranks; ++r) {
    const int before = r == 2 ? 0 : r - 1;  // which has any
    s.expect(w.part(s, r) == w.part(s, before) + count_at(before), "a part behind the one before");
  }
  MPI_Aint bytes = 0;
  int unit = 0;
  void* base = nullptr;
  s.expect_class(MPI_Win_shared_query(w.handle, s.ranks, &bytes, &unit, &base), MPI_ERR_RANK,
                 "MPI_Win_shared_query of no rank");
}

/// Each rank writes its part by its own address; the others read it by theirs, and write it.
void loads_and_stores(suite& s, bool apart) {
  const parts w(s, apart);
  const auto meet = [&] {
    MPI_Win_sync(w.handle);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w.handle);
  };
  MPI_Win_lock_all(0, w.handle);
  const ints mine = row(100 * s.rank, count_at(s.rank));
  copy(kind::device, w.own, mine.data(), bytes_at(s.rank));
  meet();
  for (int r = 0; r < s.ranks; ++r)
    expect_ints(s, w.read(s, r), row(100 * r, count_at(r)), "a part that its rank has written");
  meet();
  const int to = right(s);
  const ints his = row(7000 + to, count_at(to), 3);
  copy(kind::device, w.part(s, to), his.data(), bytes_at(to));
  meet();
  for (int r = 0; r < s.ranks; ++r)
    expect_ints(s, w.read(s, r), row(7000 + r, count_at(r), 3), "a part that another has written");
  MPI_Win_unlock_all(w.handle);
}

void one_sided(suite& s, bool apart) {
  const parts w(s, apart);
  const int to = right(s), n = count_at(to);
  const array ones(kind::device, ints(static_cast<std::size_t>(std::max(n, 1)), 1));
  const array got(kind::host, ints(static_cast<std::size_t>(std::max(n, 1)), -1));
  copy(kind::device, w.own, row(0, count_at(s.rank)).data(), bytes_at(s.rank));
  MPI_Win_fence(0, w.handle);
  MPI_Accumulate(ones.data(), n, MPI_INT, to, 0, n, MPI_INT, MPI_SUM, w.handle);
  MPI_Win_fence(0, w.handle);
  MPI_Get(got.data(), n, MPI_INT, to, 0, n, MPI_INT, w.handle);
  MPI_Win_fence(0, w.handle);
  expect_ints(s, got.read(), row(1, n), "after an accumulate");
  MPI_Put(ones.data(), n, MPI_INT, to, 0, n, MPI_INT, w.handle);
  MPI_Win_fence(0, w.handle);
  expect_ints(s, w.read(s, s.rank), ints(static_cast<std::size_t>(count_at(s.rank)), 1),
              "after a put");
}

/// Addresses of parts, one's own or not, are device buffers like any other.
void messages(suite& s, bool apart) {
  const parts w(s, apart);
  const int from = s.ranks - 1, n = count_at(from);
  const array in(kind::device, ints(static_cast<std::size_t>(n), 0));
  if (s.rank == from) {
    copy(kind::device, w.own, row(5, n).data(), bytes_at(from));
    MPI_Send(w.own, n, MPI_INT, 0, 1, MPI_COMM_WORLD);
  } else if (s.rank == 0) {
    MPI_Recv(in.data(), n, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_ints(s, in.read(), row(5, n), "a part that was sent");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (s.rank == 0) {
    MPI_Send(w.part(s, from), n, MPI_INT, from, 2, MPI_COMM_WORLD);
  } else if (s.rank == from) {
    MPI_Recv(in.data(), n, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_ints(s, in.read(), row(5, n), "a peer's part that was sent");
  }
}

/// In host memory they are the host MPI's.
void in_host_memory(suite& s) {
  int* own = nullptr;
  MPI_Win handle;
  MPI_Win_allocate_shared(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &handle);
  MPI_Win_lock_all(0, handle);
  own[3] = 50 + s.rank;
  MPI_Win_sync(handle);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Aint bytes = 0;
  int unit = 0;
  int* his = nullptr;
  MPI_Win_shared_query(handle, right(s), &bytes, &unit, &his);
  s.expect_equal(his[3], 50 + right(s), "the host's part");
  MPI_Win_unlock_all(handle);
  MPI_Win_free(&handle);
}

/// A window that cannot be is an error at all ranks, which names the call.
void refused(suite& s, bool only_even) {
  const shared_info kinds(false);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  const MPI_Info info = only_even && s.rank % 2 == 1 ? MPI_INFO_NULL : kinds.handle;
  const int code = MPI_Win_allocate_shared(64, 1, info, comm, &base, &win);
  s.expect_class(code, only_even ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_ERR_RMA_SHARED,
                 "MPI_Win_allocate_shared");
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  s.expect(std::strstr(text, "MPI_Win_allocate_shared") != nullptr, "a text that names the call");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  s.run("some ranks ask", [&] { refused(s, true); });
  if (between_nodes() || std::getenv("TEST_REFUSED")) {
    s.run("refused", [&] { refused(s, false); });
    return s.finish();
  }
  for (const bool apart : {false, true}) {
    const std::string how = apart ? ", each on its device" : ", behind one another";
    s.run("attributes" + how, [&] { attributes(s, apart); });
    s.run("loads and stores" + how, [&] { loads_and_stores(s, apart); });
    s.run("one-sided" + how, [&] { one_sided(s, apart); });
    s.run("messages" + how, [&] { messages(s, apart); });
  }
  s.run("host memory", [&] { in_host_memory(s); });
  return s.finish();
}
