// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets that were under way and have failed: the call that completes them says so, once,
// and the window is as good as before.
#include <map>

#include "under_way.hpp"

namespace {

using namespace mpi_test;

// Of the puts of an epoch some fail at rank 0: the call that completes them says so, or the bytes
// are there. The next epoch is as good as ever.
int fail_in(suite& s, const setting& t, const char* call, ending how, int puts, int ints_each) {
  const int n = puts * ints_each;
  window w(s, t.how, t.where, n);
  count_errors(w);
  const array out(t.buffers, row(s.rank + 1, n));
  int errors = 0;
  for (int nth = 1; nth <= 4; ++nth)
    for (const char* behind : {"", "+"}) {
      s.note("%d puts of %d ints, %s, %s:%d%s", puts, ints_each, endings[static_cast<int>(how)],
             call, nth, behind);
      w.write(ints(static_cast<std::size_t>(n), 0));
      handler_calls = 0;
      int bad = 0;
      const auto put_all = [&](const epoch& e) {
        for (int i = 0; i < n; i += ints_each)
          bad += MPI_Put(out.data() + i, ints_each, MPI_INT, right(s), w.at(right(s), i), ints_each,
                         MPI_INT, w.handle) != MPI_SUCCESS;
        bad += e.complete() != MPI_SUCCESS;
      };
      const epoch failing(s, w, how);
      if (s.rank == 0) set_faults((std::string(call) + ":" + std::to_string(nth) + behind).c_str());
      put_all(failing);
      set_faults("");
      failing.end();
      s.expect_equal(handler_calls, bad, "calls of the window's handler");
      errors += bad;
      MPI_Bcast(&bad, 1, MPI_INT, 0, s.control);
      const ints held = w.read();
      if (left(s) != 0 || bad == 0) expect_ints(s, held, row(left(s) + 1, n), "put");
      bad = 0;
      const epoch next(s, w, how);
      put_all(next);
      next.end();
      s.expect_equal(bad, 0, "errors of the next epoch");
      expect_ints(s, w.read(), row(left(s) + 1, n), "put in the next epoch");
    }
  return errors;
}

/// How many calls were made to fail at this rank.
std::map<std::string, long long> strikes_of;

/// Faults that must have struck, or nothing was tested.
void struck(suite& s) {
  for (const auto& [call, count] : strikes_of)
    if (s.rank == 0) std::printf("# %s: %lld strikes\n", call.c_str(), count);
  const char* const path = std::getenv("TELPHER_PATH");
  if (s.rank != 0) return;
  if (!path || std::strcmp(path, "batch") != 0)
    s.expect(strikes_of["memcpy"] > 0, "a copy was made to fail");
  if (gathered()) s.expect(strikes_of["die"] > 0 && strikes_of["launch"] > 0, "so was a kernel");
}

void failures(suite& s, const setting& t) {
  if (!under_way(t) || t.how != making::create) return;
  constexpr ending others[] = {ending::fence, ending::complete, ending::unlock};
  static bool first = gathered();
  int turn = 0;
  for (const char* call : {"die", "memcpy", "event", "launch", "pinned"})
    for (const ending how : {ending::flush, others[turn++ % 3]}) {
      s.still_alive();
      const fault_count seen;
      const int errors = fail_in(s, t, call, how, 100, 5);
      // Each death costs the copier or the batches something, until none of them is used any more.
      if (std::exchange(first, false) && s.rank == 0)
        s.expect(errors > 0, "a kernel's death is told");
      fail_in(s, t, call, how, 1, 10);
      fail_in(s, t, call, how, 3, 20000);
      strikes_of[call] += seen.so_far();
    }
}

// The request tells of its own operation, the window of the others.
void request_fails(suite& s, const setting& t) {
  if (!under_way(t) || t.buffers != kind::device) return;
  if (const char* const path = std::getenv("TELPHER_PATH"); path && !std::strcmp(path, "batch"))
    return;                   // by a kernel, of whatever size
  constexpr int n = 3000000;  // too large for a kernel: by the copy engine
  window w(s, t.how, t.where, n);
  const array out(t.buffers, row(s.rank, n));
  const int r = right(s);
  MPI_Win_lock_all(0, w.handle);
  MPI_Request q;
  set_faults("memcpy:1");
  int code = MPI_Rput(out.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, w.handle, &q);
  set_faults("");
  s.expect_class(code, MPI_SUCCESS, "the start");
  s.expect(MPI_Wait(&q, MPI_STATUS_IGNORE) != MPI_SUCCESS, "an error of the request");
  s.expect_class(MPI_Win_flush(r, w.handle), MPI_SUCCESS, "a flush behind it");
  MPI_Rput(out.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, w.handle, &q);
  s.expect_class(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS, "the next");
  MPI_Win_unlock_all(w.handle);
  expect_ints(s, w.read(), row(left(s), n), "put");
}

// Of a request that was freed, before or after its copy has failed, the window tells; and each
// target's synchronisation tells of its own.
void freed_request_fails(suite& s, const setting& t) {
  if (!under_way(t) || t.buffers != kind::device) return;
  if (const char* const path = std::getenv("TELPHER_PATH"); path && !std::strcmp(path, "batch"))
    return;
  constexpr int n = 3000000;
  window w(s, t.how, t.where, n);
  count_errors(w);
  const array out(t.buffers, row(s.rank, n));
  const int r = right(s);
  MPI_Win_lock_all(0, w.handle);
  for (const bool seen : {false, true})
    for (const bool gets : {false, true})
      for (const bool locally : {false, true}) {
        s.note("%s, %s, %s", seen ? "seen" : "unseen", gets ? "get" : "put",
               locally ? "flush_local" : "flush");
        handler_calls = 0;
        MPI_Request q;
        set_faults("memcpy:1");
        gets ? MPI_Rget(out.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, w.handle, &q)
             : MPI_Rput(out.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, w.handle, &q);
        set_faults("");
        for (int ended = 0; seen && !ended;) MPI_Request_get_status(q, &ended, MPI_STATUS_IGNORE);
        MPI_Request_free(&q);
        s.expect_equal(handler_calls, 0, "calls of the handler before");
        s.expect_class(MPI_Win_flush(s.rank, w.handle), MPI_SUCCESS, "a flush of another target");
        s.expect((locally ? MPI_Win_flush_local(r, w.handle) : MPI_Win_flush(r, w.handle)) !=
                     MPI_SUCCESS,
                 "an error of the flush");
        s.expect_equal(handler_calls, 1, "calls of the window's handler");
        s.expect_class(MPI_Win_flush_all(w.handle), MPI_SUCCESS, "a flush behind it");
      }
  MPI_Win_unlock_all(w.handle);
}

// Of an operation of the host MPI, on an image of the buffer: its results do not reach the device.
void image_fails(suite& s, const setting& t) {
  if (under_way(t) || t.how != making::create || t.buffers != kind::device) return;
  constexpr int n = 3000000;
  window w(s, t.how, t.where, n);
  count_errors(w);
  const array in(t.buffers, ints(n, -1));
  MPI_Win_lock_all(0, w.handle);
  for (int r = 0; r < s.ranks; ++r) {
    MPI_Request q = MPI_REQUEST_NULL;
    handler_calls = 0;
    set_faults("memcpy:1+");
    int code = MPI_Rget(in.data(), n, MPI_INT, r, w.at(r, 0), n, MPI_INT, w.handle, &q);
    if (code == MPI_SUCCESS) code = MPI_Wait(&q, MPI_STATUS_IGNORE);
    set_faults("");
    s.expect(code != MPI_SUCCESS, "an error");
    s.expect_equal(handler_calls, 1, "calls of the window's handler");
  }
  MPI_Win_unlock_all(w.handle);
}

constexpr std::pair<const char*, windows_case> bodies[] = {
    {"failures", failures},
    {"request fails", request_fails},
    {"freed request fails", freed_request_fails},
    {"image fails", image_fails},
};

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  for (const auto& [name, body] : bodies) run_in_settings(s, name, body);
  if (!strikes_of.empty()) s.run("struck", [&] { struck(s); });
  return s.finish();
}
