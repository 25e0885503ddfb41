// SPDX-License-Identifier: BSD-3-Clause
// What a window says of itself, in its attributes, and of errors: of wrong calls on a window of
// device memory, and where a window cannot be made.
#include "window.hpp"

namespace {

using namespace mpi_test;

void attributes(suite& s, const setting& t) {
  window w(s, t.how, t.where, 40);
  const auto get = [&](int key) {
    void* value = nullptr;
    int flag = 0;
    MPI_Win_get_attr(w.handle, key, &value, &flag);
    s.expect(flag, "an attribute");
    return value;
  };
  const bool dynamic = t.how == making::dynamic;
  s.expect(get(MPI_WIN_BASE) == (dynamic ? MPI_BOTTOM : w.memory()), "MPI_WIN_BASE");
  s.expect_equal(*static_cast<MPI_Aint*>(get(MPI_WIN_SIZE)), dynamic ? 0 : 160, "MPI_WIN_SIZE");
  if (!dynamic) s.expect_equal(*static_cast<int*>(get(MPI_WIN_DISP_UNIT)), 4, "MPI_WIN_DISP_UNIT");
  const int flavours[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC};
  s.expect_equal(*static_cast<int*>(get(MPI_WIN_CREATE_FLAVOR)), flavours[static_cast<int>(t.how)],
                 "MPI_WIN_CREATE_FLAVOR");
  const int model = *static_cast<int*>(get(MPI_WIN_MODEL));
  if (t.where != placing::none && !dynamic)
    s.expect_equal(model, between_nodes() ? MPI_WIN_SEPARATE : MPI_WIN_UNIFIED, "MPI_WIN_MODEL");
  MPI_Group group, all;
  MPI_Win_get_group(w.handle, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int same = 0;
  MPI_Group_compare(group, all, &same);
  s.expect_equal(same, MPI_IDENT, "the group");
  MPI_Group_free(&group);
  MPI_Group_free(&all);
}

void expect_error(suite& s, int code, int wanted, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  s.note("%s", call);
  s.expect_class(code, wanted, call);
  MPI_Error_string(code, text, &length);
  s.expect(std::strstr(text, call) != nullptr, "a text that names the call");
}

void errors(suite& s) {
  window w(s, making::create, placing::all, 16);
  const array out(kind::device, row(0, 16));
  count_errors(w);
  const auto put = [&](int n, int first, MPI_Datatype type) {
    return MPI_Put(out.data(), n, MPI_INT, s.rank, first, n, type, w.handle);
  };
  expect_error(s, put(4, 0, MPI_INT), MPI_ERR_RMA_SYNC, "MPI_Put");
  expect_error(s, MPI_Win_unlock(s.rank, w.handle), MPI_ERR_RMA_SYNC, "MPI_Win_unlock");
  expect_error(s, MPI_Win_flush(s.rank, w.handle), MPI_ERR_RMA_SYNC, "MPI_Win_flush");
  expect_error(s, MPI_Win_flush_all(w.handle), MPI_ERR_RMA_SYNC, "MPI_Win_flush_all");
  expect_error(s, MPI_Win_complete(w.handle), MPI_ERR_RMA_SYNC, "MPI_Win_complete");
  expect_error(s, MPI_Win_wait(w.handle), MPI_ERR_RMA_SYNC, "MPI_Win_wait");
  MPI_Win_lock(MPI_LOCK_SHARED, s.rank, 0, w.handle);
  expect_error(s, MPI_Win_lock(MPI_LOCK_SHARED, s.rank, 0, w.handle), MPI_ERR_RMA_SYNC,
               "MPI_Win_lock");
  expect_error(s, put(4, 13, MPI_INT), MPI_ERR_RMA_RANGE, "MPI_Put");
  expect_error(s, put(4, -1, MPI_INT), MPI_ERR_RMA_RANGE, "MPI_Put");
  expect_error(s, put(4, 0, MPI_DOUBLE), MPI_ERR_TRUNCATE, "MPI_Put");
  MPI_Win_unlock(s.rank, w.handle);
  s.expect_equal(handler_calls, 10, "calls of the window's handler");
  w.publish();
}

/// Where the device memory is hidden from the host MPI, its window has no bytes there.
void same_size(suite& s) {
  constexpr int n = 8;
  const kind k = place_of(placing::even, s.rank);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "same_size", "true");
  void* const memory = try_allocate(k, n * sizeof(int));
  MPI_Win w;
  MPI_Win_create(memory, n * sizeof(int), sizeof(int), info, MPI_COMM_WORLD, &w);
  MPI_Info_free(&info);
  MPI_Win_get_info(w, &info);
  char value[8] = "";
  int found = 0;
  MPI_Info_get(info, "same_size", sizeof value - 1, value, &found);
  s.expect(!found || std::strcmp(value, "true") != 0, "no size that is the same everywhere");
  MPI_Info_free(&info);
  const array out(kind::host, row(10 * s.rank, n));
  MPI_Win_fence(0, w);
  s.expect_class(MPI_Put(out.data(), n, MPI_INT, right(s), 0, n, MPI_INT, w), MPI_SUCCESS, "a put");
  MPI_Win_fence(0, w);
  ints held(n);
  copy(k, held.data(), memory, n * sizeof(int));
  expect_ints(s, held, row(10 * left(s), n), "put");
  MPI_Win_free(&w);
  release(k, memory);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  run_in_settings(s, "attributes", attributes);
  if (!between_nodes()) s.run("errors", [&] { errors(s); });
  if (!between_nodes()) s.run("same size", [&] { same_size(s); });
  return s.finish();
}
