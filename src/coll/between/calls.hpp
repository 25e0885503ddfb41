// SPDX-License-Identifier: BSD-3-Clause
// Collectives of communicators that span nodes, by verified schedules. The wrappers of blocking
// calls ask here after the exchange of one node (exchange.hpp), those of others before it. What
// each kind of call returns to its wrapper:
// - blocking: true if the call was done, with MPI's code; false, at all ranks alike, if the wrapper
//   must stage it
// - non-blocking: null if it does not run here: the wrapper asks the exchange, then the host MPI
// - persistent: null, likewise for all of its rounds
// If a call returns an error that only this rank has, this rank has not begun the call. The others
// wait for it, and the program may make the call again.
#pragma once

#include <memory>
#include <optional>

#include "coll/between/ways.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/stopwatch.hpp"
#include "host_mpi/intracomm.hpp"

namespace telpher::coll::between {

/// The bytes of the longest vector, if such a call may go between nodes. Of an alltoallv no rank
/// knows them: 0.
template <class Described, class Goes>
std::optional<std::uint64_t> bytes_between(const Described& d, int ranks, Goes goes) noexcept {
  const std::uint64_t bytes = d.bytes(ranks);
  const bool may = bytes == 0 ? d.what == operation::alltoallv : goes(bytes);
  return may ? std::optional(bytes) : std::nullopt;
}

/// `staged`: set if the wrapper is to stage the call and somebody wants to know its time.
bool run_blocking(const char* name, MPI_Comm comm, exchange::arguments&& a, std::uint64_t bytes,
                  int* code, stopwatch* staged) noexcept;

template <class Described>
bool call_blocking(const char* name, MPI_Comm comm, const Described& d, int* code,
                   stopwatch* staged) noexcept {
  if (!worthwhile(d.what, any_size) || !spans_nodes(comm)) return false;
  const auto [ranks, rank] = host_mpi::place_in(comm);
  const auto bytes =
      bytes_between(d, ranks, [&](std::uint64_t b) { return worthwhile(d.what, b); });
  if (!bytes) return false;
  using exchange::takes;
  const takes may = adapts(d.what, *bytes) ? takes::host_memory : takes::both;
  return run_blocking(name, comm, d.read(ranks, rank, may), *bytes, code, staged);
}

/// The same of a call that is not tried.
template <class Described>
std::optional<std::uint64_t> bytes_untried(const Described& d, int ranks, const site* s) noexcept {
  return bytes_between(d, ranks, [&](std::uint64_t b) { return goes_untried(d.what, b, s); });
}

started start(const char* name, site& s, exchange::arguments&& a, host_form&& host) noexcept;

/// Defers a call that goes between nodes, if the communicator has a room: since it was made
/// (prepare), or since an earlier blocking call. All ranks know both, so all decide alike.
template <class Described, class Host>
started defer(const char* name, MPI_Comm comm, const Described& d, const Host& host) noexcept {
  if (!goes_untried(d.what, any_size, nullptr)) return started(nullptr);
  site* const s = begun_site(comm);
  if (!s || !bytes_untried(d, s->among.ranks, s)) return started(nullptr);
  exchange::arguments a =
      d.read(s->among.ranks, host_mpi::place_in(comm).rank, exchange::takes::both);
  host_form own;
  try {
    own = exchange::kept(host, a);
  } catch (const std::bad_alloc&) {  // the host MPI must have it before this returns
    own = [&host](MPI_Comm on, MPI_Request* made) { return host(on, made); };
    a.possible = false;
  }
  return start(name, *s, std::move(a), std::move(own));
}

std::unique_ptr<persistent_rounds> make_rounds(const char* name, MPI_Comm comm,
                                               exchange::arguments&& a,
                                               std::uint64_t bytes) noexcept;

/// Collective, if the call goes between nodes. Null, at all ranks alike: it does not.
template <class Described>
std::unique_ptr<persistent_rounds> persistent(const char* name, MPI_Comm comm,
                                              const Described& d) noexcept {
  if (!goes_untried(d.what, any_size, nullptr) || !spans_nodes(comm)) return nullptr;
  const auto [ranks, rank] = host_mpi::place_in(comm);
  const auto bytes = bytes_untried(d, ranks, begun_site(comm));
  return bytes ? make_rounds(name, comm, d.read(ranks, rank, exchange::takes::both), *bytes)
               : nullptr;
}

}  // namespace telpher::coll::between
