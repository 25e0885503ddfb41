// SPDX-License-Identifier: BSD-3-Clause
// Calls on arrays of requests, other than MPI_Waitall: all, any or some of them, and their statuses
// without completion. The array is split into ours and the host MPI's.
#include <array>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/trace.hpp"
#include "mpi/completion.hpp"
#include "mpi/requests.hpp"

namespace telpher::requests {

namespace {

/// An array of requests split into ours and the host MPI's. The host's are gathered so that one
/// PMPI call can look at them; null handles and inactive ones of ours are left out.
class split {
 public:
  split(int count, const MPI_Request* requests, bool room_for_statuses) {
    for (int i = 0; i < count; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      if (request_object* op = mpi::find_open(requests[i])) {
        if (op->active()) ours.push_back({i, op});
      } else {
        native_index_.push_back(i);
        natives.push_back(requests[i]);
      }
    }
    if (room_for_statuses) native_statuses.resize(natives.size());
  }

  struct member {
    int index;
    request_object* op;
  };
  std::vector<member> ours;
  std::vector<MPI_Request> natives;
  std::vector<MPI_Status> native_statuses;

  int native_count() const noexcept { return static_cast<int>(natives.size()); }
  int index_of_native(int n) const noexcept { return native_index_[static_cast<std::size_t>(n)]; }
  /// Stores the handles that a PMPI call has changed. If it did not fail it has ended those of the
  /// program's requests that `ended` visits, apart from ours.
  template <class Ended>
  void store(int rc, MPI_Request* requests, const Ended& ended) const noexcept {
    const auto each = [&](const auto& f) {
      for (std::size_t n = 0; n < natives.size(); ++n) f(requests[native_index_[n]], natives[n]);
    };
    if (!ticket::plain().empty() && rc == MPI_SUCCESS)
      ended([&](int i) {
        if (requests[i] != MPI_REQUEST_NULL) ticket::plain().ended(requests[i]);
      });
    else if (!ticket::plain().empty())
      each([](MPI_Request before, MPI_Request now) {
        ticket::plain().ended_after_error({&before, 1}, {&now, 1});
      });
    each([](MPI_Request& r, MPI_Request now) { r = now; });
  }
  bool none_active() const noexcept { return ours.empty() && natives.empty(); }

 private:
  std::vector<int> native_index_;
};

// Calls PMPI's Testany, or its form that leaves the requests: true if that ends the call.
template <class Call>
bool any_native(const Call& call, split& sp, int* index, MPI_Status* status, int* rc) noexcept {
  if (sp.natives.empty()) return false;
  int flag = 0, n = MPI_UNDEFINED;
  *rc = call(sp.native_count(), sp.natives.data(), &n, &flag, status);
  // Undefined: the natives are inactive persistent requests. That ends the call unless ours are
  // active.
  if (*rc == MPI_SUCCESS && (!flag || (n == MPI_UNDEFINED && !sp.ours.empty()))) return false;
  *index = n == MPI_UNDEFINED ? MPI_UNDEFINED : sp.index_of_native(n);
  return true;
}

// One request of `sp` that is complete is ended; its index is given. False if none is complete.
bool finish_any(split& sp, MPI_Request* requests, int* index, MPI_Status* status,
                int* rc) noexcept {
  for (const split::member& m : sp.ours) {
    if (!m.op->check()) continue;
    *index = m.index;
    *rc = finish(&requests[m.index], *m.op, status);
    return true;
  }
  if (!any_native(pmpi::Testany, sp, index, status, rc)) return false;
  sp.store(*rc, requests, mpi::the_one_at{index, &mpi::always});
  return true;
}

// Lists the natives that are complete behind `count` others: by PMPI's Testsome, or its form that
// leaves the requests. `count` becomes MPI_UNDEFINED if no request of `sp` is active.
template <class Call>
int some_natives(const Call& call, split& sp, int* count, int* indices,
                 MPI_Status* statuses) noexcept {
  if (sp.natives.empty()) return MPI_SUCCESS;
  const int before = *count;
  int found = 0;
  const int rc = call(sp.native_count(), sp.natives.data(), &found, indices + before,
                      statuses == MPI_STATUSES_IGNORE ? statuses : statuses + before);
  if (found == MPI_UNDEFINED) {
    if (sp.ours.empty()) *count = MPI_UNDEFINED;
    return rc;
  }
  *count += found;
  for (int i = before; i < *count; ++i) {
    indices[i] = sp.index_of_native(indices[i]);
    if (rc == MPI_SUCCESS) set_error(at(statuses, i), MPI_SUCCESS);
  }
  return rc;
}

// Asks the host MPI for the messages of all receives of `sp` with one call for up to `at_once` of
// them. It may end their requests, since the program's call ends all that are complete.
void ask_for_messages(const split& sp) noexcept {
  std::array<ticket::receive*, at_once> posted;
  std::size_t n = 0;
  const auto ask = [&] {
    if (n > 0) ticket::receives().conclude({posted.data(), std::exchange(n, 0)});
  };
  for (const split::member& m : sp.ours) {
    if (n == posted.size()) ask();
    if (ticket::receive* const r = m.op->receiving()) posted[n++] = r;
  }
  ask();
}

// Every complete request is ended and listed. PMPI's Testsome reports its errors in the statuses.
int finish_some(split& sp, MPI_Request* requests, int* outcount, int* indices,
                MPI_Status* statuses) noexcept {
  int n = 0, result = MPI_SUCCESS;
  ask_for_messages(sp);
  for (const split::member& m : sp.ours) {
    if (m.op->receiving() || !m.op->check()) continue;
    const int rc = finish(&requests[m.index], *m.op, at(statuses, n));
    set_error(at(statuses, n), rc);
    if (rc != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
    indices[n++] = m.index;
  }
  const int rc = some_natives(pmpi::Testsome, sp, &n, indices, statuses);
  *outcount = n;
  sp.store(rc, requests, mpi::those_listed{outcount, indices});
  return rc != MPI_SUCCESS ? rc : result;
}

// The list may be longer than the reserve for want of memory; nothing has been done then.
std::optional<split> split_of(const char* call, int count, const MPI_Request* requests, int* rc,
                              bool room_for_statuses = false) noexcept {
  try {
    return split(count, requests, room_for_statuses);
  } catch (const std::bad_alloc&) {
    *rc = entry::fail(MPI_COMM_SELF, call, status::out_of_memory, "the list of its requests");
    return std::nullopt;
  }
}

}  // namespace

// --- all ---

int testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) noexcept {
  if (all_native()) return testall_at_once(count, requests, flag, statuses);
  scope s;
  s.e.poll();
  if (!any_ours(count, requests)) return testall_at_once(count, requests, flag, statuses);
  int rc = MPI_SUCCESS;
  auto list = split_of("MPI_Testall", count, requests, &rc, true);
  if (!list) return rc;
  split& sp = *list;
  *flag = 0;
  for (const split::member& m : sp.ours)
    if (!m.op->check()) return MPI_SUCCESS;
  int result = MPI_SUCCESS;
  if (!sp.natives.empty()) {
    int natives_done = 0;
    result = pmpi::Testall(sp.native_count(), sp.natives.data(), &natives_done,
                           sp.native_statuses.data());
    sp.store(result, requests, mpi::all_of_them{count, &natives_done});
    if (!natives_done) return result;
  }
  *flag = 1;
  for (int i = 0; i < count; ++i) mpi::fill_empty(at(statuses, i));
  for (int n = 0; n < sp.native_count(); ++n) {
    MPI_Status* const to = at(statuses, sp.index_of_native(n));
    if (to == MPI_STATUS_IGNORE) continue;
    *to = sp.native_statuses[static_cast<std::size_t>(n)];
    if (result == MPI_SUCCESS) to->MPI_ERROR = MPI_SUCCESS;
  }
  for (const split::member& m : sp.ours) {
    rc = finish(&requests[m.index], *m.op, at(statuses, m.index));
    set_error(at(statuses, m.index), rc);
    if (rc != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
  }
  return result;
}

// --- any ---

int waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) noexcept {
  trace::span traced("MPI_Waitany", [&] { return trace::facts().add("requests", count); });
  if (all_native()) return waitany_at_once(count, requests, index, status);
  scope s;
  int rc = MPI_SUCCESS;
  if (!any_ours(count, requests)) {
    if (s.e.idle() && !s.held) return waitany_at_once(count, requests, index, status);
    s.e.wait_until(s.held, "MPI_Waitany", [&, flag = 0]() mutable {
      rc = testany_at_once(count, requests, index, &flag, status);
      return flag != 0 || rc != MPI_SUCCESS;
    });
    return rc;
  }
  auto list = split_of("MPI_Waitany", count, requests, &rc);
  if (!list) return rc;
  split& sp = *list;
  if (sp.none_active()) {
    *index = MPI_UNDEFINED;
    mpi::fill_empty(status);
    return MPI_SUCCESS;
  }
  *index = MPI_UNDEFINED;
  s.e.wait_until(s.held, "MPI_Waitany",
                 [&] { return finish_any(sp, requests, index, status, &rc); });
  return rc;
}

int testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) noexcept {
  if (all_native()) return testany_at_once(count, requests, index, flag, status);
  scope s;
  s.e.poll();
  if (!any_ours(count, requests)) return testany_at_once(count, requests, index, flag, status);
  int rc = MPI_SUCCESS;
  auto list = split_of("MPI_Testany", count, requests, &rc);
  if (!list) return rc;
  split& sp = *list;
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (sp.none_active()) {
    mpi::fill_empty(status);
    return MPI_SUCCESS;
  }
  *flag = finish_any(sp, requests, index, status, &rc);
  return rc;
}

// --- some ---

namespace {

int testsome_by_host(int incount, MPI_Request* requests, int* outcount, int* indices,
                     MPI_Status* statuses) noexcept {
  return by_host(
      "MPI_Testsome", incount, requests,
      [&] { return pmpi::Testsome(incount, requests, outcount, indices, statuses); },
      mpi::those_listed{outcount, indices});
}

}  // namespace

int waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
             MPI_Status statuses[]) noexcept {
  trace::span traced("MPI_Waitsome", [&] { return trace::facts().add("requests", incount); });
  const auto by_waitsome = [&] {
    return by_host(
        "MPI_Waitsome", incount, requests,
        [&] { return pmpi::Waitsome(incount, requests, outcount, indices, statuses); },
        mpi::those_listed{outcount, indices});
  };
  if (all_native()) return by_waitsome();
  scope s;
  int rc = MPI_SUCCESS;
  if (!any_ours(incount, requests)) {
    if (s.e.idle() && !s.held) return by_waitsome();
    s.e.wait_until(s.held, "MPI_Waitsome", [&] {
      rc = testsome_by_host(incount, requests, outcount, indices, statuses);
      return *outcount != 0 || rc != MPI_SUCCESS;
    });
    return rc;
  }
  auto list = split_of("MPI_Waitsome", incount, requests, &rc);
  if (!list) return rc;
  split& sp = *list;
  *outcount = MPI_UNDEFINED;
  if (sp.none_active()) return MPI_SUCCESS;
  s.e.wait_until(s.held, "MPI_Waitsome", [&] {
    rc = finish_some(sp, requests, outcount, indices, statuses);
    return *outcount != 0 || rc != MPI_SUCCESS;
  });
  return rc;
}

int testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
             MPI_Status statuses[]) noexcept {
  if (all_native()) return testsome_by_host(incount, requests, outcount, indices, statuses);
  scope s;
  s.e.poll();
  if (!any_ours(incount, requests))
    return testsome_by_host(incount, requests, outcount, indices, statuses);
  int rc = MPI_SUCCESS;
  auto list = split_of("MPI_Testsome", incount, requests, &rc);
  if (!list) return rc;
  split& sp = *list;
  *outcount = MPI_UNDEFINED;
  if (sp.none_active()) return MPI_SUCCESS;
  return finish_some(sp, requests, outcount, indices, statuses);
}

// --- statuses without completion (MPI 4.1) ---

int get_status_all(int count, const MPI_Request requests[], int* flag,
                   MPI_Status statuses[]) noexcept {
  scope s;
  s.e.poll();
  *flag = 0;
  for (int i = 0; i < count; ++i) {
    int done = 0;
    if (const int rc = get_status(requests[i], &done, at(statuses, i))) return rc;
    if (!done) return MPI_SUCCESS;
  }
  *flag = 1;
  return MPI_SUCCESS;
}

int get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                   MPI_Status* status) noexcept {
  scope s;
  s.e.poll();
  if (!any_ours(count, requests))
    return pmpi::Request_get_status_any(count, requests, index, flag, status);
  int rc = MPI_SUCCESS;
  auto list = split_of("MPI_Request_get_status_any", count, requests, &rc);
  if (!list) return rc;
  split& sp = *list;
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (sp.none_active()) {
    mpi::fill_empty(status);
    return MPI_SUCCESS;
  }
  for (const split::member& m : sp.ours) {
    if (!m.op->check()) continue;
    m.op->fill(status);
    *index = m.index;
    return MPI_SUCCESS;
  }
  *flag = any_native(pmpi::Request_get_status_any, sp, index, status, &rc);
  return rc;
}

int get_status_some(int incount, const MPI_Request requests[], int* outcount, int indices[],
                    MPI_Status statuses[]) noexcept {
  scope s;
  s.e.poll();
  if (!any_ours(incount, requests))
    return pmpi::Request_get_status_some(incount, requests, outcount, indices, statuses);
  int rc = MPI_SUCCESS;
  auto list = split_of("MPI_Request_get_status_some", incount, requests, &rc);
  if (!list) return rc;
  split& sp = *list;
  *outcount = MPI_UNDEFINED;
  if (sp.none_active()) return MPI_SUCCESS;
  int n = 0;
  for (const split::member& m : sp.ours) {
    if (!m.op->check()) continue;
    m.op->fill(at(statuses, n));
    indices[n++] = m.index;
  }
  rc = some_natives(pmpi::Request_get_status_some, sp, &n, indices, statuses);
  *outcount = n;
  return rc;
}

}  // namespace telpher::requests
