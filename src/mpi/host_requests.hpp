// SPDX-License-Identifier: BSD-3-Clause
// Calls of the host MPI that may end requests of the program. The handle of an ended request
// becomes null. If it was a plain receive, the list of these (ticket/plain_receives.hpp) is told.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "mpi/entry.hpp"
#include "ticket/plain_receives.hpp"

namespace telpher::mpi {

/// Which of an array of requests a call may have ended; `look(i)` is to be called for each of them.
struct any_of_them {
  int count;
  template <class Look>
  void operator()(const Look& look) const {
    for (int i = 0; i < count; ++i) look(i);
  }
};
/// Of MPI_Waitany and MPI_Testany: the one that it tells of.
struct the_one_at {
  const int* index;
  template <class Look>
  void operator()(const Look& look) const {
    if (*index != MPI_UNDEFINED) look(*index);
  }
};

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
  std::copy_n(requests, std::max(count, 0), before);
  const int rc = call();
  const auto look = [&](int i) {
    if (before[i] != requests[i]) ticket::plain().ended(before[i]);
  };
  // After an error the call need not have told which.
  if (rc == MPI_SUCCESS) [[likely]]
    ended(look);
  else
    any_of_them{count}(look);
  return rc;
}

/// Makes `call()`, which may end those of these requests that `ended` visits. `name` is the
/// program's call.
template <class Call, class Ended>
int by_host(const char* name, int count, MPI_Request* requests, const Call& call,
            const Ended& ended) noexcept {
  return ticket::plain().empty() ? call() : end_plain(name, count, requests, call, ended);
}
template <class Call>
int by_host(const char* name, int count, MPI_Request* requests, const Call& call) noexcept {
  return by_host(name, count, requests, call, any_of_them{count});
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
    return end_plain(name, count, requests, call, any_of_them{count});
  const int rc = call();
  if (rc != MPI_SUCCESS || *flag) plain.ended(those, rc != MPI_SUCCESS, count, requests);
  return rc;
}

/// The same for one request.
template <class Call>
int by_host(MPI_Request* request, const Call& call) noexcept {
  ticket::plain_receives& plain = ticket::plain();
  if (plain.empty()) return call();
  const MPI_Request before = *request;
  const int rc = call();
  if (*request != before) plain.ended(before);
  return rc;
}

}  // namespace telpher::mpi
