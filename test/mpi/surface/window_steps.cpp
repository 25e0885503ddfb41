// SPDX-License-Identifier: BSD-3-Clause
#include "windows.hpp"

namespace surface::one_sided {

namespace {

/// A window over area 0, or of memory of its own that has area 0's content.
class window {
 public:
  window(const window_plan& p, running& r) : p_(p), how_(r.model ? making::create : p.how) {
    MPI_Info info = MPI_INFO_NULL;
    memory_ = r.at[0];
    if (has_own_memory()) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpi_memory_alloc_kinds", p.kind_name.c_str());
      if (p.apart) MPI_Info_set(info, "alloc_shared_noncontig", "true");
      how_ == making::shared
          ? MPI_Win_allocate_shared(p.bytes, unit, info, p.comm, &memory_, &handle)
          : MPI_Win_allocate(p.bytes, unit, info, p.comm, &memory_, &handle);
      MPI_Info_free(&info);
      move(memory_, r.at[0]);
    } else if (how_ == making::create) {
      MPI_Win_create(memory_, p.bytes, unit, info, p.comm, &handle);
    } else {
      MPI_Win_create_dynamic(info, p.comm, &handle);
      MPI_Win_attach(handle, memory_, p.bytes);
      MPI_Aint own = 0;
      MPI_Get_address(memory_, &own);
      bases_.resize(static_cast<std::size_t>(p.ranks));
      MPI_Allgather(&own, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, p.comm);
    }
    publish();
  }
  void end(running& r) {
    publish();
    if (how_ == making::dynamic) MPI_Win_detach(handle, memory_);
    if (has_own_memory()) move(r.at[0], memory_);
    MPI_Win_free(&handle);
  }
  MPI_Aint at(int rank, MPI_Aint units) const {
    return how_ == making::dynamic ? bases_[static_cast<std::size_t>(rank)] + units * unit : units;
  }
  /// What this rank stored is seen by the others, and what they did here.
  void publish() const {
    MPI_Win_lock(MPI_LOCK_SHARED, p_.rank, 0, handle);
    MPI_Win_sync(handle);
    MPI_Win_unlock(p_.rank, handle);
    MPI_Barrier(p_.comm);
  }
  /// The program's own stores; the model puts what goes to another rank.
  void store(const epochs& e, bool model) const {
    std::vector<unsigned char> content(static_cast<std::size_t>(e.stored_units * unit));
    mpi_test::write_pattern(e.stored, content.data(), content.size());
    const bool shared = p_.how == making::shared;
    const int rank = shared ? (p_.rank + 1) % p_.ranks : p_.rank, n = as_int(content.size());
    if (shared && model) {
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, handle);
      MPI_Put(content.data(), n, MPI_BYTE, rank, e.stored_at, n, MPI_BYTE, handle);
      MPI_Win_unlock(rank, handle);
    } else {
      mpi_test::copy(model ? kind::host : p_.where, part(rank) + e.stored_at * unit, content.data(),
                     content.size());
    }
    if (shared) publish();
  }
  MPI_Win handle = MPI_WIN_NULL;

 private:
  bool has_own_memory() const { return how_ == making::allocate || how_ == making::shared; }
  unsigned char* part(int rank) const {
    MPI_Aint bytes = 0;
    int displacement = 0;
    void* at = memory_;
    if (how_ == making::shared) MPI_Win_shared_query(handle, rank, &bytes, &displacement, &at);
    return static_cast<unsigned char*>(at);
  }
  void move(void* to, const void* from) {
    mpi_test::copy(p_.where, to, from, static_cast<std::size_t>(p_.bytes));
  }

  const window_plan& p_;
  making how_;
  void* memory_ = nullptr;
  std::vector<MPI_Aint> bases_;
};

unsigned char* area_at(running& r, int area) {
  return area < 0 ? nullptr : r.at[static_cast<std::size_t>(area)];
}

// --- an epoch ---

class running_epoch {
 public:
  running_epoch(const epochs& e, const window_plan& p, const window& w, running& r)
      : e_(e), p_(p), w_(w), r_(r), passive_(e.how == epoch::lock || e.how == epoch::lock_all) {}

  void run() {
    if (e_.stores) {
      w_.publish();
      w_.store(e_, r_.model);
      if (passive_) w_.publish();
    }
    send();
    open();
    for (std::size_t i = 0; i < e_.list.size(); ++i) {
      if (i == e_.message.waited_behind && e_.how != epoch::lock) receive();
      perform(e_.list[i]);
    }
    if (e_.how != epoch::lock) receive();  // not while others wait for our lock
    if (e_.meets && e_.how != epoch::lock) MPI_Barrier(p_.comm);
    close();
    receive();
    MPI_Waitall(as_int(kept_.size()), kept_.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(p_.comm);
  }

 private:
  MPI_Win win() const { return w_.handle; }

  void send() {
    const beside& m = e_.message;
    if (m.sent < 0) return;
    const int right = (p_.rank + 1) % p_.ranks, left = (p_.rank + p_.ranks - 1) % p_.ranks;
    MPI_Irecv(area_at(r_, m.received), m.bytes, MPI_BYTE, left, m.tag, p_.comm, &message_[0]);
    MPI_Isend(area_at(r_, m.sent), m.bytes, MPI_BYTE, right, m.tag, p_.comm, &message_[1]);
  }
  void receive() { MPI_Waitall(2, message_, MPI_STATUSES_IGNORE); }

  void open() {
    const int said = (e_.asserts && !e_.stores ? MPI_MODE_NOSTORE : 0) |
                     (e_.asserts && e_.reads ? MPI_MODE_NOPUT : 0);
    if (e_.how == epoch::fence) MPI_Win_fence(MPI_MODE_NOPRECEDE | said, win());
    if (e_.how == epoch::lock_all) MPI_Win_lock_all(0, win());
    if (e_.how != epoch::post_start) return;
    with_group(e_.origins, [&](MPI_Group g) { MPI_Win_post(g, said, win()); });
    with_group(e_.targets, [&](MPI_Group g) { MPI_Win_start(g, 0, win()); });
  }
  template <class Body>
  void with_group(const std::vector<int>& ranks, Body&& body) {
    MPI_Group all, some;
    MPI_Comm_group(p_.comm, &all);
    MPI_Group_incl(all, as_int(ranks.size()), ranks.data(), &some);
    body(some);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
  }

  void close() {
    if (held_ >= 0) MPI_Win_unlock(held_, win());
    const int said = e_.asserts ? MPI_MODE_NOSTORE : 0;
    if (e_.how == epoch::fence) MPI_Win_fence(MPI_MODE_NOSUCCEED | said, win());
    if (e_.how == epoch::lock_all) MPI_Win_unlock_all(win());
    if (e_.how != epoch::post_start) return;
    MPI_Win_complete(win());
    if (!e_.tested) MPI_Win_wait(win());
    for (int ended = e_.tested ? 0 : 1; !ended;) MPI_Win_test(win(), &ended);
  }

  void perform(const operation& o) {
    if (e_.how == epoch::lock && held_ != o.target) {
      if (held_ >= 0) MPI_Win_unlock(held_, win());
      held_ = o.target;
      MPI_Win_lock(e_.exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, held_, 0, win());
    }
    const bool later = passive_ && o.request != ending::none && !r_.model;
    MPI_Request request = MPI_REQUEST_NULL;
    later ? call_with_request(o, &request) : call(o);
    if (request != MPI_REQUEST_NULL) {
      if (o.request == ending::waited) MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (o.request == ending::kept) kept_.push_back(request);
      if (o.request == ending::freed) MPI_Request_free(&request);
    }
    if (!passive_ || !o.flushed) return;
    const bool of_all = o.of_all && e_.how == epoch::lock_all;
    if (of_all)
      o.local ? MPI_Win_flush_local_all(win()) : MPI_Win_flush_all(win());
    else
      o.local ? MPI_Win_flush_local(o.target, win()) : MPI_Win_flush(o.target, win());
  }

#define OUT from, o.out.count, o.out.type
#define IN to, o.in.count, o.in.type
#define TARGET o.target, at, o.there.count, o.there.type
  void call_with_request(const operation& o, MPI_Request* request) {
    const void* from = area_at(r_, o.from);
    void* to = area_at(r_, o.to);
    const MPI_Aint at = w_.at(o.target, o.at);
    switch (o.what) {
      case access::put:
        MPI_Rput(OUT, TARGET, win(), request);
        break;
      case access::get:
        MPI_Rget(IN, TARGET, win(), request);
        break;
      case access::accumulate:
      case access::common:
        MPI_Raccumulate(OUT, TARGET, o.op, win(), request);
        break;
      case access::get_accumulate:
        MPI_Rget_accumulate(OUT, IN, TARGET, o.op, win(), request);
        break;
      default:
        call(o);
    }
  }
  void call(const operation& o) {
    const unsigned char* from = area_at(r_, o.from);
    void* to = area_at(r_, o.to);
    const MPI_Aint at = w_.at(o.target, o.at);
    switch (o.what) {
      case access::put:
        MPI_Put(OUT, TARGET, win());
        break;
      case access::get:
        MPI_Get(IN, TARGET, win());
        break;
      case access::accumulate:
      case access::common:
        MPI_Accumulate(OUT, TARGET, o.op, win());
        break;
      case access::get_accumulate:
        MPI_Get_accumulate(OUT, IN, TARGET, o.op, win());
        break;
      case access::fetch_and_op:
        MPI_Fetch_and_op(from, to, o.value, o.target, at, o.op, win());
        break;
      case access::compare_and_swap:
        MPI_Compare_and_swap(from, from + size_of(o.value), to, o.value, o.target, at, win());
        break;
    }
  }
#undef OUT
#undef IN
#undef TARGET

  const epochs& e_;
  const window_plan& p_;
  const window& w_;
  running& r_;
  const bool passive_;
  int held_ = -1;
  std::vector<MPI_Request> kept_;
  MPI_Request message_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace

void run(const window_plan& p, running& r) {
  window w(p, r);
  for (const epochs& e : p.parts) running_epoch(e, p, w, r).run();
  w.end(r);
}

}  // namespace surface::one_sided
