// SPDX-License-Identifier: BSD-3-Clause
// Which synchronisation call shows to others what the program stored in a window between nodes, and
// which takes to the device what they wrote; and which assertion leaves a part of it out. The copy
// that others see is looked at, and written to, by the host MPI alone, so that nothing of Telpher's
// is called in between. What an assertion saves is seen where the program breaks its
// word.
#include <functional>

#include "behind.hpp"
#include "window.hpp"

namespace {

using namespace mpi_test;

constexpr int far_place = 200'000;  // another part of the window

int host_fence(int assertion, MPI_Win win) {
  return host_function("MPI_Win_fence", MPI_Win_fence)(assertion, win);
}

/// A window of device memory between two ranks, both copies of which are looked at.
class both_copies {
 public:
  both_copies(suite& s, bool no_locks)
      : other(1 - s.rank), device_(kind::device, ints(far_place + 1, 0)) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", no_locks ? "true" : "false");
    MPI_Win_create(device_.data(), sizeof(int) * (far_place + 1), sizeof(int), info, MPI_COMM_WORLD,
                   &win);
    MPI_Info_free(&info);
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &peer);
    MPI_Group_free(&all);
  }
  ~both_copies() {
    MPI_Group_free(&peer);
    MPI_Win_free(&win);
  }
  both_copies(const both_copies&) = delete;
  both_copies& operator=(const both_copies&) = delete;

  void store(int value) { copy(kind::device, device_.data(), &value, sizeof value); }
  int stored(int place) const {
    int value = -1;
    copy(kind::device, &value, device_.data() + place, sizeof value);
    return value;
  }
  /// The first int at the other rank, as others see it. Collective.
  int shown() {
    int value = -1;
    host_fence(0, win);
    host_function("MPI_Get", MPI_Get)(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win);
    host_fence(MPI_MODE_NOSUCCEED, win);
    return value;
  }
  /// An operation of the other rank. Collective.
  void written(int value) {
    host_fence(0, win);
    host_function("MPI_Put", MPI_Put)(&value, 1, MPI_INT, other, far_place, 1, MPI_INT, win);
    host_fence(MPI_MODE_NOSUCCEED, win);
  }

  void fence(int assertion) { MPI_Win_fence(assertion, win); }
  /// An epoch in which both are origin and target.
  void epoch(int assertion, const std::function<void()>& exposed = {}, bool puts = false) {
    const int value = 6;
    MPI_Win_post(peer, assertion, win);
    if (exposed) exposed();
    MPI_Win_start(peer, 0, win);
    if (puts) MPI_Put(&value, 1, MPI_INT, other, far_place, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  void lock(int rank) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Win_unlock(rank, win);
  }

  const int other;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Group peer = MPI_GROUP_NULL;

 private:
  array device_;
};

using act = std::function<void(both_copies&)>;

/// After `before` the program stores; whether others see that after `call`.
void shows(suite& s, const char* what, bool no_locks, bool wanted, const act& before,
           const act& call) {
  both_copies w(s, no_locks);
  before(w);
  w.store(5);
  call(w);
  s.note("%s", what);
  s.expect_equal(w.shown(), wanted ? 5 : 0, "what others see");
}

/// After `before` another rank writes; whether the program finds it after `call`.
void takes(suite& s, const char* what, bool no_locks, bool wanted, const act& before,
           const act& call) {
  both_copies w(s, no_locks);
  before(w);
  w.written(6);
  s.note("%s", what);
  s.expect_equal(w.stored(far_place), 0, "what the program finds before the call");
  call(w);
  s.expect_equal(w.stored(far_place), wanted ? 6 : 0, "what the program finds");
}

act fence(int assertion) {
  return [=](both_copies& w) { w.fence(assertion); };
}
act epoch(int assertion) {
  return [=](both_copies& w) { w.epoch(assertion); };
}
const act nothing = [](both_copies&) {};
const act own_lock = [](both_copies& w) { w.lock(0), w.lock(1); };
const act all_locks = [](both_copies& w) {
  MPI_Win_lock_all(0, w.win);
  MPI_Win_unlock_all(w.win);
};
const act sync_call = [](both_copies& w) {
  MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win);
  MPI_Win_sync(w.win);
  MPI_Win_unlock_all(w.win);
};

void without_assertions(suite& s) {
  shows(s, "fence", false, true, nothing, fence(0));
  shows(s, "fence, no locks", true, true, nothing, fence(0));
  shows(s, "post", false, true, nothing, epoch(0));
  shows(s, "unlock", false, true, nothing, own_lock);
  shows(s, "unlock_all", false, true, nothing, all_locks);
  shows(s, "lock_all", false, true, nothing, [](both_copies& w) {
    MPI_Win_lock_all(0, w.win);
    host_function("MPI_Win_unlock_all", MPI_Win_unlock_all)(w.win);
  });
  shows(s, "sync", false, true, nothing, sync_call);
  takes(s, "fence", false, true, nothing, fence(0));
  takes(s, "fence, no locks", true, true, nothing, fence(0));
  takes(s, "wait", false, true, nothing, epoch(0));
  takes(s, "lock", false, true, nothing, own_lock);
  takes(s, "lock_all", false, true, nothing, all_locks);
  takes(s, "sync", false, true, nothing, sync_call);
}

// The last two columns: whether a fence with the assertion shows, and takes, all the same. A call
// that shows also takes, so the latter is asked of fences that do not show.
void at_a_fence(suite& s) {
  const struct {
    const char* name;
    int assertion;
    bool no_locks, shows, takes;
  } rows[] = {
      {"NOSTORE", MPI_MODE_NOSTORE, false, false, true},
      {"NOPUT", MPI_MODE_NOPUT, false, true, true},
      {"NOPRECEDE", MPI_MODE_NOPRECEDE, false, true, true},
      {"NOPRECEDE, no locks", MPI_MODE_NOPRECEDE, true, true, false},
      {"NOSUCCEED", MPI_MODE_NOSUCCEED, false, true, true},
      {"NOSUCCEED, no locks", MPI_MODE_NOSUCCEED, true, false, true},
  };
  for (const auto& row : rows) {
    shows(s, row.name, row.no_locks, row.shows, fence(0), fence(row.assertion));
    takes(s, row.name, row.no_locks, row.takes, fence(0), fence(row.assertion | MPI_MODE_NOSTORE));
  }
  takes(s, "NOPUT before", false, false, fence(MPI_MODE_NOPUT), fence(MPI_MODE_NOSTORE));
  takes(
      s, "NOPUT two fences before", false, true,
      [](both_copies& w) { w.fence(MPI_MODE_NOPUT), w.fence(0); }, fence(MPI_MODE_NOSTORE));
  takes(s, "NOPUT, then an epoch of another kind", false, true, fence(MPI_MODE_NOPUT),
        epoch(MPI_MODE_NOSTORE));
}

void at_a_post(suite& s) {
  shows(s, "NOSTORE", false, false, fence(0), epoch(MPI_MODE_NOSTORE));
  constexpr int no_puts = MPI_MODE_NOPUT | MPI_MODE_NOSTORE;
  takes(s, "NOPUT", false, true, fence(0), epoch(no_puts));
  takes(s, "NOPUT, no locks", true, false, fence(0), epoch(no_puts));
  takes(
      s, "NOPUT at the post before", true, true,
      [](both_copies& w) { w.fence(0), w.epoch(no_puts), w.fence(0); }, epoch(MPI_MODE_NOSTORE));
}

// NOSTORE is true, but the last synchronisation call has not shown what was stored before it.
void stored_before(suite& s) {
  const struct {
    const char* name;
    bool no_locks;
    act store;
  } rows[] = {
      {"in an epoch without puts", false, [](both_copies& w) { w.epoch(0, [&] { w.store(5); }); }},
      {"before another rank's lock", false, [](both_copies& w) { w.store(5), w.lock(w.other); }},
      {"before a flush", false,
       [](both_copies& w) {
         MPI_Win_lock_all(0, w.win);
         MPI_Win_sync(w.win);
         w.store(5);
         MPI_Win_flush(w.other, w.win);
         host_function("MPI_Win_unlock_all", MPI_Win_unlock_all)(w.win);
       }},
      {"before a fence with NOSUCCEED", true,
       [](both_copies& w) { w.store(5), w.fence(MPI_MODE_NOSUCCEED); }},
  };
  for (const auto& row : rows)
    for (const act& call : {fence(MPI_MODE_NOSTORE), epoch(MPI_MODE_NOSTORE)}) {
      both_copies w(s, row.no_locks);
      w.fence(0);
      row.store(w);
      call(w);
      s.note("%s", row.name);
      s.expect_equal(w.shown(), 5, "what others see");
    }
}

// Where others wrote the program has stored nothing, so its NOSTORE counts after MPI_Win_wait.
void written_meanwhile(suite& s) {
  both_copies w(s, false);
  w.fence(MPI_MODE_NOSUCCEED);
  w.epoch(0, {}, true);
  s.expect_equal(w.stored(far_place), 6, "what others wrote");
  w.store(5);
  w.epoch(MPI_MODE_NOSTORE);
  s.expect_equal(w.shown(), 0, "what others see");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows()) return s.finish();
  s.run("without assertions", [&] { without_assertions(s); });
  s.run("at a fence", [&] { at_a_fence(s); });
  s.run("at a post", [&] { at_a_post(s); });
  s.run("stored before", [&] { stored_before(s); });
  s.run("written meanwhile", [&] { written_meanwhile(s); });
  return s.finish();
}
