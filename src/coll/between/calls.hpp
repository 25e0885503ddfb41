// SPDX-License-Identifier: BSD-3-Clause
// Collectives of communicators that span nodes, by verified schedules: what the wrappers call when
// the exchange of one node has declined. A blocking call answers true when it was done, with MPI's
// code; false, at all ranks alike, when the wrapper must stage it. A non-blocking call answers null
// when the wrapper must initiate it, a persistent one when the host MPI has all of its rounds. A
// call that answers an error of this rank alone was not begun here: the others wait for it, and the
// program may make it again.
#pragma once

#include <memory>

#include "coll/between/ways.hpp"
#include "coll/exchange/exchange.hpp"

namespace telpher::coll::between {

bool run_blocking(const char* name, MPI_Comm comm, exchange::arguments&& a, std::uint64_t bytes,
                  int* code) noexcept;

template <class Described>
bool call_blocking(const char* name, MPI_Comm comm, const Described& d, int* code) noexcept {
  if (!worthwhile(d.what, any_size) || !spans_nodes(comm)) return false;
  int ranks = 0, rank = 0;
  pmpi::Comm_size(comm, &ranks);
  pmpi::Comm_rank(comm, &rank);
  const std::uint64_t bytes = d.bytes(ranks);
  if (bytes == 0 ? d.what != operation::alltoallv : !worthwhile(d.what, bytes)) return false;
  return run_blocking(name, comm, d.read(ranks, rank, true), bytes, code);
}

started start(const char* name, site& s, exchange::arguments&& a,
              exchange::host_form&& host) noexcept;

/// Calls of the sizes that go between nodes when blocking. Only where the communicator has its own
/// from the start (prepare), or a blocking call has made it: what a rank decides here all decide
/// alike.
template <class Described, class Host>
started defer(const char* name, MPI_Comm comm, const Described& d, const Host& host) noexcept {
  if (!worthwhile(d.what, any_size)) return started(nullptr);
  site* s = begun_site(comm);
  if (!s) return started(nullptr);
  const std::uint64_t bytes = d.bytes(s->among.ranks);
  if (bytes == 0 ? d.what != operation::alltoallv : !worthwhile(d.what, bytes))
    return started(nullptr);
  int rank = 0;
  pmpi::Comm_rank(comm, &rank);
  exchange::arguments a = d.read(s->among.ranks, rank, true);
  exchange::host_form own;
  try {
    own = exchange::kept(host, a);
  } catch (const std::bad_alloc&) {  // the host MPI must have it before this returns
    own = [&host](MPI_Comm on, MPI_Request* made) { return host(on, made); };
    a.lasting = false;
  }
  return start(name, *s, std::move(a), std::move(own));
}

std::unique_ptr<persistent_rounds> make_rounds(const char* name, MPI_Comm comm,
                                               exchange::arguments&& a,
                                               std::uint64_t bytes) noexcept;

/// Collective for the sizes that go between nodes when blocking. Null, at all ranks alike: not
/// between nodes.
template <class Described>
std::unique_ptr<persistent_rounds> persistent(const char* name, MPI_Comm comm,
                                              const Described& d) noexcept {
  if (!worthwhile(d.what, any_size) || !spans_nodes(comm)) return nullptr;
  int ranks = 0, rank = 0;
  pmpi::Comm_size(comm, &ranks);
  pmpi::Comm_rank(comm, &rank);
  const std::uint64_t bytes = d.bytes(ranks);
  if (bytes == 0 ? d.what != operation::alltoallv : !worthwhile(d.what, bytes)) return nullptr;
  return make_rounds(name, comm, d.read(ranks, rank, true), bytes);
}

}  // namespace telpher::coll::between
