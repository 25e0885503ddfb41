// SPDX-License-Identifier: BSD-3-Clause
// Calls of the host MPI that may end requests of the program. If one was a plain receive, the list
// of these (ticket/plain_receives.hpp) is told. The handle does not tell: that of a persistent
// request stays.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "mpi/entry.hpp"
#include "ticket/plain_receives.hpp"

namespace telpher::mpi {

/// Which of an array of requests a call has ended; `look(i)` is called for each of them.
struct all_of_them {
  int count;
  const int* flag;  // zero: none
  template <class Look>
  void operator()(const Look& look) const {
    for (int i = 0; *flag && i < count; ++i) look(i);
  }
};
struct the_one_at {
  const int* index;
  const int* flag;  // the same
  template <class Look>
  void operator()(const Look& look) const {
    if (*flag && *index != MPI_UNDEFINED) look(*index);
  }
};
struct those_listed {
  const int* count;
  const int* indices;
  template <class Look>
  void operator()(const Look& look) const {
    for (int i = 0; *count != MPI_UNDEFINED && i < *count; ++i) look(indices[i]);
  }
};
/// For calls that wait.
inline constexpr int always = 1;

template <class Call, class Ended>
[[gnu::noinline]] int end_plain(const char* name, int count, MPI_Request* requests,
                                const Call& call, const Ended& ended) noexcept {
  constexpr int few = 128;
  std::array<MPI_Request, few> room;
  std::unique_ptr<MPI_Request[]> more;
  MPI_Request* before = room.data();
  if (count > few) {
    more.reset(new (std::nothrow) MPI_Request[static_cast<std::size_t>(count)]);
    before = more.get();
    if (!before)
      return entry::fail(MPI_COMM_SELF, name, status::out_of_memory, "the list of its requests");
  }
  const auto all = static_cast<std::size_t>(std::max(count, 0));
  std::copy_n(requests, all, before);
  const int rc = call();
  if (rc != MPI_SUCCESS) [[unlikely]] {
    ticket::plain().ended_after_error({before, all}, {requests, all});
  } else {
    ended([&](int i) {
      if (before[i] != MPI_REQUEST_NULL) ticket::plain().ended(before[i]);
    });
  }
  return rc;
}

/// Makes `call()`, which, if it succeeds, has ended those of these requests that `ended` visits.
/// `name` is the program's call.
template <class Call, class Ended>
int by_host(const char* name, int count, MPI_Request* requests, const Call& call,
            const Ended& ended) noexcept {
  return ticket::plain().empty() ? call() : end_plain(name, count, requests, call, ended);
}

/// The same for a call that ends all of them or, if `*flag` is zero then, none: most programs wait
/// for their receives in the order in which they posted them, and sends behind them.
template <class Call>
int all_by_host(const char* name, int count, MPI_Request* requests, const int* flag,
                const Call& call) noexcept {
  ticket::plain_receives& plain = ticket::plain();
  if (plain.empty()) return call();
  const auto those = plain.find_in_turn(count, requests);
  if (!those.all) [[unlikely]]
    return end_plain(name, count, requests, call, all_of_them{count, flag});
  const int rc = call();
  if (rc != MPI_SUCCESS || *flag) plain.ended(those, rc != MPI_SUCCESS, count, requests);
  return rc;
}

/// The same for one request.
template <class Call>
int by_host(MPI_Request* request, const int* flag, const Call& call) noexcept {
  ticket::plain_receives& plain = ticket::plain();
  if (plain.empty()) return call();
  const MPI_Request before = *request;
  const int rc = call();
  if (rc != MPI_SUCCESS) [[unlikely]]
    plain.ended_after_error({&before, 1}, {request, 1});
  else if (*flag && before != MPI_REQUEST_NULL)
    plain.ended(before);
  return rc;
}

/// Waits for a request of the host MPI's that is no receive, and moves what is ours or other
/// threads' meanwhile.
inline int wait_for_send(ticket::held_lock& held, const char* call, MPI_Request* request,
                         MPI_Status* status) noexcept {
  int flag = 0, rc = MPI_SUCCESS;
  ticket::progress().wait_until(held, call, [&] {
    rc = pmpi::Test(request, &flag, status);
    return flag != 0 || rc != MPI_SUCCESS;
  });
  return rc;
}
/// The same for any request.
inline int wait_beside(ticket::held_lock& held, const char* call, MPI_Request* request,
                       MPI_Status* status) noexcept {
  return by_host(request, &always, [&] { return wait_for_send(held, call, request, status); });
}

}  // namespace telpher::mpi
