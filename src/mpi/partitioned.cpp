// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/partitioned.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <map>
#include <tuple>

#include "base/lasting.hpp"
#include "mpi/entry.hpp"
#include "mpi/lineage.hpp"
#include "mpi/matching.hpp"
#include "mpi/partitioned_outside.hpp"
#include "mpi/partitioned_request.hpp"
#include "mpi/send.hpp"

namespace telpher::partitioned {

namespace {

// --- tags ---

struct tags_to_peer {
  int next = 0;
  std::map<int, int> taken;  // first tag and how many, of channels that live
};

/// The end of what is taken there, or `first` if nothing of [first, first + count) is.
int free_from(const tags_to_peer& t, int first, int count) noexcept {
  auto after = t.taken.lower_bound(first + count);
  if (after == t.taken.begin()) return first;
  --after;
  return std::max(first, after->first + after->second);
}

// --- who waits for a hello ---

class meeting final : public ticket::worker {
 public:
  meeting() noexcept : worker(ticket::progress()) {}
  bool advance() noexcept override {
    listen();
    std::erase_if(waiting_, [this](receiver* r) {
      const auto found = heard_.find(r->name());
      if (found == heard_.end()) return false;
      const hello h = found->second;
      heard_.erase(found);
      r->matched(h);
      return true;
    });
    return !waiting_.empty();
  }
  // A sender never waits for the receiver to have heard it.
  bool detach() noexcept override { return true; }
  void report(log::level at) const noexcept override {
    log::write(at, TELPHER_SUBSYSTEM,
               "  %zu partitioned receives whose sender has not been started", waiting_.size());
  }

  void add(receiver& r) noexcept {
    waiting_.push_back(&r);
    if (advance()) progress_.enlist(*this);
  }
  void remove(receiver& r) noexcept {
    std::erase(waiting_, &r);
    if (waiting_.empty()) progress_.dismiss(*this);
  }
  void clear() noexcept { heard_.clear(); }

 private:
  void listen() noexcept {
    for (hello h; take_note(&h, sizeof h, hello_tag());) heard_[h.from] = h;
  }

  std::vector<receiver*> waiting_;
  std::map<channel, hello> heard_;  // whose receiver has not been started
};

// --- all of it ---

struct parts {
  MPI_Comm control = MPI_COMM_NULL;  // while the job runs
  std::map<int, tags_to_peer> tags;  // by peer
  meeting hellos;
  // Calls of each kind with the same communicator, peer and tag.
  std::map<std::tuple<bool, bool, std::uint64_t, int, int>, std::uint64_t> calls;
};

made_at_start<parts> the_parts;

// --- which of our ends a call is for ---

// The n-th of its kind at this rank. Those that telpher_match may match are a kind of their own.
std::uint64_t next_number(const init_args& a, bool sends, std::uint64_t comm, int peer) noexcept {
  return the_parts->calls[{a.whole, sends, comm, peer, a.tag}]++ | std::uint64_t{a.whole} << 63;
}

int refuse_matched(const end& e, const char* call, const char* other) noexcept {
  char why[120];
  std::snprintf(why, sizeof why, "the request was matched for streams: use %s", other);
  return e.misused(call, MPI_ERR_REQUEST, why);
}

int check(const init_args& a, bool sends) noexcept {
  if (a.partitions < 0)
    return host_mpi::fail_with(a.comm, a.call, MPI_ERR_ARG, "a negative number of partitions");
  if (!sends && a.peer == MPI_ANY_SOURCE)
    return host_mpi::fail_with(a.comm, a.call, MPI_ERR_RANK, "it takes no MPI_ANY_SOURCE");
  if (!sends && a.tag == MPI_ANY_TAG)
    return host_mpi::fail_with(a.comm, a.call, MPI_ERR_TAG, "it takes no MPI_ANY_TAG");
  return MPI_SUCCESS;
}

// The host MPI's persistent request, which is never started, checks the other arguments and holds
// the place.
int make_place(const init_args& a, bool sends, MPI_Request* place) noexcept {
  if (const int rc = check(a, sends)) return rc;
  const MPI_Count count = std::clamp<MPI_Count>(a.count, -1, INT_MAX);
  const int rc =
      sends ? mpi::host_send_init({a.call, a.buffer, count, a.type, a.peer, a.tag, a.comm}, place)
            : mpi::host_recv_init({a.call, a.buffer, count, a.type, a.peer, a.tag, a.comm}, place);
  return rc == MPI_SUCCESS ? host_mpi::started(rc, *place) : rc;
}

/// Whether the communicator is one on which we serve both ends.
bool is_ours(MPI_Comm comm) noexcept {
  return the_parts->control != MPI_COMM_NULL && comm != MPI_COMM_NULL &&
         host_mpi::is_ours(ticket::job(), comm) && mpi::lineage::name_of(comm) != 0;
}

int by_host(const init_args& a, bool sends, MPI_Request* request, const host_call& host) noexcept {
  return !a.whole && needs_image(a) ? make_outside(a, sends, request) : host();
}

template <class End>
int make(const init_args& a, bool sends, MPI_Request* request) noexcept {
  const ticket::visit v;
  MPI_Request place = MPI_REQUEST_NULL;
  if (const int rc = make_place(a, sends, &place)) return rc;
  const host_mpi::job& job = ticket::job();
  const int peer = a.peer == MPI_PROC_NULL ? -1 : host_mpi::world_rank(job, a.comm, a.peer);
  channel c;
  c.comm = mpi::lineage::name_of(a.comm);
  c.number = next_number(a, sends, c.comm, peer);
  c.sender = sends ? job.rank : peer;
  c.tag = a.tag;
  mpi::enter(std::make_unique<End>(a, peer, c, place));
  *request = place;
  return MPI_SUCCESS;
}

// Without the lock, as before a start.
[[gnu::cold]] void settle_ready(MPI_Request request) noexcept {
  stream::used u;
  {
    const ticket::visit v;
    if (const end* const e = as_end(mpi::find_stream_request(request)))
      u = e->used_as(stream::used::how::sends);
    else if (const outside_end* const o = find_outside(request))
      u = o->used();
  }
  stream::settle(u);
}

template <class List>
int ready(const char* call, MPI_Request request, const host_call& host, const List& list) noexcept {
  if (stream::must_settle()) [[unlikely]]
    settle_ready(request);
  const ticket::visit v;
  end* const e = as_end(mpi::find_stream_request(request));
  if (!e) {
    outside_end* const o = find_outside(request);
    const int rc = o ? list([&](int p) { return o->ready(call, p); }) : MPI_SUCCESS;
    return rc == MPI_SUCCESS ? host() : rc;
  }
  if (!e->sends()) return e->misused(call, MPI_ERR_REQUEST, "the request is of a receive");
  if (e->matched) return refuse_matched(*e, call, "telpher_pready_enqueue or telpher_pready");
  return list([&](int partition) {
    return e->has(partition) ? static_cast<sender*>(e)->ready(call, partition)
                             : e->refuse_partition(call, partition, e->partitions());
  });
}

}  // namespace

MPI_Comm own_comm() noexcept {
  return the_parts->control;
}

// The highest tags: messages have those below.
int hello_tag() noexcept {
  return ticket::job().tag_limit;
}
int card_tag() noexcept {
  return hello_tag() - 1;
}
int command_tag() noexcept {
  return hello_tag() - 2;
}
int answer_tag() noexcept {
  return hello_tag() - 3;
}

int take_tags(int peer, int messages) noexcept {
  tags_to_peer& t = the_parts->tags[peer];
  const int count = std::max(messages, 1);
  for (int turns = 0; turns < 2; ++turns, t.next = 0) {
    for (int first = t.next; first <= answer_tag() - count;) {
      const int good = free_from(t, first, count);
      if (good == first) {
        t.taken[first] = count;
        t.next = first + count;
        return first;
      }
      first = good;
    }
  }
  return -1;
}

void give_tags(int peer, int first) noexcept {
  the_parts->tags[peer].taken.erase(first);
}

void await_hello(receiver& r) noexcept {
  the_parts->hellos.add(r);
}

void await_no_more(receiver& r) noexcept {
  the_parts->hellos.remove(r);
}

int start() noexcept {
  the_parts.make();
  start_cards();
  const int rc = pmpi::Comm_dup(ticket::job().control, &the_parts->control);
  if (rc == MPI_SUCCESS) pmpi::Comm_set_errhandler(the_parts->control, MPI_ERRORS_RETURN);
  return rc;
}

void stop() noexcept {
  if (the_parts->control == MPI_COMM_NULL) return;
  the_parts->hellos.clear();
  forget_cards();
  pmpi::Comm_free(&the_parts->control);
}

int send_init(const init_args& a, MPI_Request* request, const host_call& host) noexcept {
  return is_ours(a.comm) ? make<sender>(a, true, request) : by_host(a, true, request, host);
}

int recv_init(const init_args& a, MPI_Request* request, const host_call& host) noexcept {
  return is_ours(a.comm) ? make<receiver>(a, false, request) : by_host(a, false, request, host);
}

int ready_range(const char* call, int low, int high, MPI_Request request,
                const host_call& host) noexcept {
  return ready(call, request, host, [&](const auto& mark) -> int {
    for (int p = low; p <= high; ++p)
      if (const int rc = mark(p)) return rc;
    return MPI_SUCCESS;
  });
}

int ready_list(const char* call, int length, const int partitions[], MPI_Request request,
               const host_call& host) noexcept {
  return ready(call, request, host, [&](const auto& mark) -> int {
    for (int i = 0; i < length; ++i)
      if (const int rc = mark(partitions[i])) return rc;
    return MPI_SUCCESS;
  });
}

int arrived(const char* call, MPI_Request request, int partition, int* flag,
            const host_call& host) noexcept {
  const ticket::visit v;
  ticket::progress().poll();
  end* const e = as_end(mpi::find_stream_request(request));
  if (!e) {
    const int rc = host();
    outside_end* const o = rc == MPI_SUCCESS && *flag ? find_outside(request) : nullptr;
    return o ? o->arrived(call, partition) : rc;
  }
  if (e->sends()) return e->misused(call, MPI_ERR_REQUEST, "the request is of a send");
  if (!e->has(partition)) return e->refuse_partition(call, partition, e->partitions());
  if (e->matched) return refuse_matched(*e, call, "telpher_parrived in a kernel");
  *flag = static_cast<receiver*>(e)->arrived(partition);
  return MPI_SUCCESS;
}

}  // namespace telpher::partitioned
