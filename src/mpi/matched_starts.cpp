// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "device/adopted_stream.hpp"
#include "mpi/deferred.hpp"
#include "mpi/entry.hpp"
#include "mpi/far_partitions.hpp"
#include "mpi/matching.hpp"
#include "mpi/partitioned_request.hpp"
#include "mpi/stream_room.hpp"

namespace telpher::partitioned {
namespace {

using collective = mpi::persistent_collective;
using starter = coll::exchange::kernel_replay::starter;
using mpi::find_stream_request;
using mpi::refuse_request;

/// A stream may have to wait for it.
bool is_started(const end& e) noexcept {
  return e.in_stream || e.in_graph;
}

/// The requests of a list: matched ends and collectives, of a wait those ends that are started, and
/// the places of the others.
struct sorted {
  mpi::stream_request* first = nullptr;  // of those that are matched
  std::vector<end*> ends;
  std::vector<collective*> collectives;
  std::vector<int> others;
};

/// False after an error, which is in `rc`.
bool sort_out(const char* call, int count, const MPI_Request requests[], bool waits, sorted& all,
              int& rc) noexcept {
  for (int i = 0; i < count; ++i) {
    mpi::stream_request* const r = find_stream_request(requests[i]);
    const memory::place* const at = r ? r->matched_at() : nullptr;
    if (!at) {
      all.others.push_back(i);
      continue;
    }
    end* const e = as_end(r);
    if (waits && e && !is_started(*e)) continue;
    if (!all.first) all.first = r;
    if (!(*at == *all.first->matched_at()))
      rc = refuse_request(call, MPI_ERR_REQUEST, i,
                          "its memory is on another device than the first one's");
    else if (!waits && r->in_stream)
      rc = refuse_request(call, MPI_ERR_REQUEST, i, "it is active: wait for it in a stream first");
    if (e)
      all.ends.push_back(e);
    else
      all.collectives.push_back(static_cast<collective*>(r));
  }
  return rc == MPI_SUCCESS;
}

bool belongs_to(const device::adopted_stream& s, const memory::place& where) noexcept {
  return s.get() && s.owner() == where.owner && s.device() == where.device;
}

int not_of_device(const mpi::stream_request& r, const char* call, void* native,
                  const memory::place& where) noexcept {
  char why[160];
  std::snprintf(why, sizeof why,
                "stream %p: it is no stream of device %d, where the memory of the request is",
                native, where.device);
  return r.misused(call, MPI_ERR_ARG, why);
}

/// Kernels do not wait any more, because nothing comes. A wait in a stream is launched none the
/// less: it ends the hold on the stream.
int check_far(const sorted& all, const char* call) noexcept {
  if (!far_is_broken()) return MPI_SUCCESS;
  for (const end* e : all.ends)
    if (!e->args().whole && e->matched_parts()->is_far())
      return e->misused(
          call, MPI_ERR_OTHER,
          "partitions in kernels reach no other node any more: a message has failed, here "
          "or at another rank, whose log says which; free such requests and make them anew, "
          "which go by messages then");
  return MPI_SUCCESS;
}

/// Sends are complete once put. Receives start only if they open their buffer. Partitioned requests
/// first: they wait for nobody. Collectives last: a peer may need the sends before.
int launch(ticket::visit& v, const char* call, bool waits, const sorted& all,
           void* native) noexcept {
  device::adopted_stream s(native);
  const memory::place& where = *all.first->matched_at();
  if (!belongs_to(s, where)) return not_of_device(*all.first, call, native, where);
  if (!s.is_captured()) mpi::await_room(v.held, call);
  if (const int rc = waits ? MPI_SUCCESS : check_far(all, call)) return rc;
  std::vector<path::matched_message*> messages, opens;
  std::vector<path::matched_partitions*> partitioned;
  for (const end* e : all.ends) {
    if (!e->args().whole) {
      partitioned.push_back(e->matched_parts());
      continue;
    }
    auto* const message = static_cast<path::matched_message*>(e->matched.get());
    if (e->sends() != waits)
      messages.push_back(message);
    else if (!waits && message->opens())
      opens.push_back(message);
  }
  const bool captured = s.is_captured();
  status done = waits ? path::await_receives(messages, *s.get(), captured)
                      : path::start_partitions(partitioned, *s.get(), captured);
  if (done == status::ok)
    done = waits ? path::await_partitions(partitioned, *s.get())
                 : path::start_messages(messages, opens, *s.get(), captured);
  for (collective* c : all.collectives)
    if (done == status::ok && !waits)
      done = c->replay->start(*s.get(), captured ? starter::graph : starter::stream);
  if (done != status::ok)
    return entry::fail(all.ends.empty() ? MPI_COMM_SELF : all.ends[0]->args().comm, call, done,
                       "a launch in the program's stream");
  for (end* e : all.ends) (captured ? e->in_graph : e->in_stream) = captured || !waits;
  for (collective* c : all.collectives)
    if (!captured) c->in_stream = !waits;
  return waits ? check_far(all, call) : MPI_SUCCESS;
}

}  // namespace

int start_matched(const char* call, int count, const MPI_Request requests[], void* native,
                  std::vector<MPI_Request>& others) noexcept {
  ticket::visit v;
  sorted all;
  int rc = MPI_SUCCESS;
  if (!sort_out(call, count, requests, false, all, rc)) return rc;
  for (const int i : all.others) others.push_back(requests[i]);
  return all.first ? launch(v, call, false, all, native) : MPI_SUCCESS;
}

int wait_matched(const char* call, int count, const MPI_Request requests[], MPI_Status* statuses,
                 void* native, std::vector<int>& others) noexcept {
  ticket::visit v;
  sorted all;
  int rc = MPI_SUCCESS;
  if (!sort_out(call, count, requests, true, all, rc)) return rc;
  others = all.others;
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; ++i) {
    mpi::stream_request* const r = find_stream_request(requests[i]);
    if (!r || !r->matched_at()) continue;
    if (const end* const e = as_end(r); e && !e->sends() && is_started(*e))
      e->fill_received(&statuses[i], e->matched->bytes());
    else
      mpi::fill_empty(&statuses[i]);
  }
  return all.first ? launch(v, call, true, all, native) : MPI_SUCCESS;
}

int ready_in_stream(const char* call, int partition, MPI_Request request, void* native,
                    bool& served) noexcept {
  ticket::visit v;
  end* const e = as_end(find_stream_request(request));
  served = e && e->matched;
  if (!served) return MPI_SUCCESS;
  if (!e->sends()) return e->misused(call, MPI_ERR_REQUEST, "the request is of a receive");
  if (!e->args().whole && !is_started(*e))
    return e->misused(call, MPI_ERR_REQUEST, "the request was not started in a stream");
  if (e->args().whole || !e->has(partition))
    return e->refuse_partition(call, partition, e->args().whole ? 0 : e->partitions());
  const device::adopted_stream s(native);
  const memory::place& where = e->matched->where();
  if (!belongs_to(s, where)) return not_of_device(*e, call, native, where);
  // A stream may be full of such launches, and stand until the proxy, which needs the lock, goes
  // on.
  if (v.held) v.held.unlock();
  const status done = e->matched_parts()->ready(static_cast<std::uint64_t>(partition), *s.get());
  return done == status::ok
             ? MPI_SUCCESS
             : entry::fail(e->args().comm, call, done, "a launch in the program's stream");
}

int handle_for_kernels(const char* call, MPI_Request request, const void** handle) noexcept {
  const ticket::visit v;
  *handle = nullptr;
  end* const e = as_end(find_stream_request(request));
  if (!e || e->args().whole)
    return refuse_request(
        call, MPI_ERR_REQUEST, 0,
        "it was not made by MPI_Psend_init or MPI_Precv_init on ranks that all carry "
        "Telpher");
  if (!e->matched)
    return e->misused(
        call, MPI_ERR_UNSUPPORTED_OPERATION,
        "the request goes by messages, or was not matched: pass it to telpher_match at both ends "
        "(TELPHER_LOG=info says which way it goes); both need as many bytes of device memory, the "
        "sender 1024 partitions at most or no more than the receiver, and on two nodes "
        "MPI_THREAD_MULTIPLE (ask for it in MPI_Init_thread, or set TELPHER_STREAMS=on)");
  *handle = e->matched_parts()->handle();
  return MPI_SUCCESS;
}

}  // namespace telpher::partitioned
