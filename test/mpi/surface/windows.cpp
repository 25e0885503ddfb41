// SPDX-License-Identifier: BSD-3-Clause
// Steps that make a window, run some epochs on it, and free it. Each origin has a part of its own
// at every target; operations of one epoch use other places of it, but for accumulates, which are
// ordered. To a common part all add by one operation, so that no result depends on the order.
#include "program.hpp"

#include <algorithm>

namespace surface {

namespace {

enum class access { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap, common };
enum class epoch { fence, lock, lock_all, post_start };
enum class making { create, allocate, dynamic };

constexpr int unit = 8;  // bytes of a displacement
using integer = std::int64_t;

struct operation {
  access what;
  int target = 0;
  elements out, in, there;  // origin, result, target
  int from = -1, to = -1;   // areas
  MPI_Aint at = 0;          // in units
  MPI_Op op = MPI_SUM;
  bool by_request = false, flushed = false, local = false;
};

struct epochs {
  epoch how;
  bool exclusive = false;
  std::vector<operation> list;  // in the order of targets where each has a lock of its own
};

struct window_plan {
  making how = making::create;
  std::string kind_name;
  MPI_Comm comm = MPI_COMM_NULL;
  int ranks = 0, rank = 0;
  MPI_Aint bytes = 0;
  kind where = kind::host;
  std::vector<epochs> parts;
};

std::string alloc_kind(kind k) {
  if (k != kind::device) return "system,mpi";
  const std::string backend = backend_name();
  if (backend == "emu") return "telpher_emu:device";
  if (backend == "hip") return "rocm:device";
  return (backend == "sycl" ? "level_zero" : backend) + ":device";
}

/// A window over area 0, or of memory of its own that has area 0's content.
class window {
 public:
  window(const window_plan& p, running& r) : p_(p), how_(r.model ? making::create : p.how) {
    MPI_Info info = MPI_INFO_NULL;
    memory_ = r.at[0];
    if (how_ == making::allocate) {
      MPI_Info_create(&info);
      MPI_Info_set(info, "mpi_memory_alloc_kinds", p.kind_name.c_str());
      MPI_Win_allocate(p.bytes, unit, info, p.comm, &memory_, &handle);
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
    if (how_ == making::allocate) move(r.at[0], memory_);
    MPI_Win_free(&handle);
  }
  MPI_Aint at(int rank, MPI_Aint units) const {
    return how_ == making::dynamic ? bases_[static_cast<std::size_t>(rank)] + units * unit : units;
  }
  MPI_Win handle = MPI_WIN_NULL;

 private:
  void move(void* to, const void* from) {
    mpi_test::copy(p_.where, to, from, static_cast<std::size_t>(p_.bytes));
  }
  /// What this rank stored is seen by the others, and what they did here.
  void publish() {
    MPI_Win_lock(MPI_LOCK_SHARED, p_.rank, 0, handle);
    MPI_Win_sync(handle);
    MPI_Win_unlock(p_.rank, handle);
    MPI_Barrier(p_.comm);
  }

  const window_plan& p_;
  making how_;
  void* memory_ = nullptr;
  std::vector<MPI_Aint> bases_;
};

void perform(const operation& o, const window& w, running& r, bool passive) {
  const void* from = o.from < 0 ? nullptr : r.at[static_cast<std::size_t>(o.from)];
  void* to = o.to < 0 ? nullptr : r.at[static_cast<std::size_t>(o.to)];
  const MPI_Aint at = w.at(o.target, o.at);
  const bool later = passive && o.by_request && !r.model;
  MPI_Request request = MPI_REQUEST_NULL;
  const auto& [out, in, there] = std::tie(o.out, o.in, o.there);
#define TARGET o.target, at, there.count, there.type
  switch (o.what) {
    case access::put:
      later ? MPI_Rput(from, out.count, out.type, TARGET, w.handle, &request)
            : MPI_Put(from, out.count, out.type, TARGET, w.handle);
      break;
    case access::get:
      later ? MPI_Rget(to, in.count, in.type, TARGET, w.handle, &request)
            : MPI_Get(to, in.count, in.type, TARGET, w.handle);
      break;
    case access::accumulate:
    case access::common:
      later ? MPI_Raccumulate(from, out.count, out.type, TARGET, o.op, w.handle, &request)
            : MPI_Accumulate(from, out.count, out.type, TARGET, o.op, w.handle);
      break;
    case access::get_accumulate:
      later ? MPI_Rget_accumulate(from, out.count, out.type, to, in.count, in.type, TARGET, o.op,
                                  w.handle, &request)
            : MPI_Get_accumulate(from, out.count, out.type, to, in.count, in.type, TARGET, o.op,
                                 w.handle);
      break;
    case access::fetch_and_op:
      MPI_Fetch_and_op(from, to, MPI_INT64_T, o.target, at, o.op, w.handle);
      break;
    case access::compare_and_swap:
      MPI_Compare_and_swap(from, static_cast<const unsigned char*>(from) + 8, to, MPI_INT64_T,
                           o.target, at, w.handle);
      break;
  }
#undef TARGET
  if (later) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (passive && o.flushed)
    o.local ? MPI_Win_flush_local(o.target, w.handle) : MPI_Win_flush(o.target, w.handle);
}

void run_epoch(const epochs& e, const window_plan& p, const window& w, running& r) {
  MPI_Group all = MPI_GROUP_NULL;
  int held = -1;
  if (e.how == epoch::fence) MPI_Win_fence(0, w.handle);
  if (e.how == epoch::lock_all) MPI_Win_lock_all(0, w.handle);
  if (e.how == epoch::post_start) {
    MPI_Comm_group(p.comm, &all);
    MPI_Win_post(all, 0, w.handle);
    MPI_Win_start(all, 0, w.handle);
  }
  for (const operation& o : e.list) {
    if (e.how == epoch::lock && held != o.target) {
      if (held >= 0) MPI_Win_unlock(held, w.handle);
      held = o.target;
      MPI_Win_lock(e.exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, held, 0, w.handle);
    }
    perform(o, w, r, e.how == epoch::lock || e.how == epoch::lock_all);
  }
  if (held >= 0) MPI_Win_unlock(held, w.handle);
  if (e.how == epoch::fence) MPI_Win_fence(0, w.handle);
  if (e.how == epoch::lock_all) MPI_Win_unlock_all(w.handle);
  if (e.how == epoch::post_start) {
    MPI_Win_complete(w.handle);
    MPI_Win_wait(w.handle);
    MPI_Group_free(&all);
  }
  MPI_Barrier(p.comm);
}

/// An area of the layout's elements for this operation; its number.
int add(step& s, const operation& o, const elements& e, kind where, std::uint64_t id) {
  constexpr const char* names[] = {"Put",
                                   "Get",
                                   "Accumulate",
                                   "Get_accumulate",
                                   "Fetch_and_op",
                                   "Compare_and_swap",
                                   "Accumulate by all"};
  span bytes;
  bytes.add(e);
  const std::size_t made = s.add_area(bytes, where, id);
  s.areas[made].of = std::string(" of ") + (o.by_request ? "R" : "") +
                     names[static_cast<int>(o.what)] + " of " + std::to_string(e.count) + " x " +
                     std::to_string(size_of(e.type)) + " bytes at rank " + std::to_string(o.target);
  return as_int(made);
}

/// One operation on the free units from `next` on, of which there are `room`.
bool draw_operation(operation& o, step& s, draw& d, const placing& where, int rank, MPI_Aint& next,
                    MPI_Aint room) {
  random_numbers& random = d.mine;
  const bool atomic = o.what >= access::accumulate;
  const MPI_Datatype basic = atomic ? MPI_INT64_T : basic_type(random);
  const bool single = o.what == access::fetch_and_op || o.what == access::compare_and_swap;
  const int n = single ? 1 : 1 + as_int(random.below(random.chance(80) ? 40 : 400));
  o.there = single ? elements{basic, 1} : s.types.draw(random, basic, n);
  span there;
  there.add(o.there);
  const MPI_Aint before = (-there.low + unit - 1) / unit;
  o.at = next + before;
  next = o.at + (there.high + unit - 1) / unit;
  if (next > room) return false;
  // Open MPI 5.0.11's MPI_Get_accumulate misplaces results of derived types.
  const bool plain = o.what == access::get_accumulate && !s.real.s.mpich;
  o.in = plain ? elements{basic, n} : single ? o.there : s.types.draw(random, basic, n);
  o.out = single ? elements{basic, 2} : s.types.draw(random, basic, n);
  o.by_request = random.chance(25);
  if (o.what != access::get) o.from = add(s, o, o.out, where.of(rank, 0), random.next());
  if (o.what != access::put && o.what != access::accumulate)
    o.to = add(s, o, o.in, where.of(rank, 1), random.next());
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_BXOR, MPI_REPLACE, MPI_NO_OP};
  o.op = ops[random.below(o.what == access::accumulate ? 4 : 5)];
  o.flushed = random.chance(25);
  o.local = random.chance(50);
  return true;
}

void draw_epoch(epochs& e, step& s, draw& d, const placing& where, const window_plan& p,
                MPI_Aint own_units, MPI_Aint common_units) {
  const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_MAX};
  const MPI_Op op = ops[d.shared.below(3)];
  e.how = static_cast<epoch>(d.shared.below(4));
  e.exclusive = d.mine.chance(40);
  for (int target = 0; target < p.ranks; ++target) {
    MPI_Aint next = p.rank * own_units;
    for (std::size_t i = d.mine.below(4); i > 0; --i) {
      operation o{static_cast<access>(d.mine.below(6)), target};
      if (!draw_operation(o, s, d, where, p.rank, next, (p.rank + 1) * own_units)) break;
      e.list.push_back(o);
    }
    if (!d.mine.chance(50)) continue;
    operation o{access::common, target};
    const auto first = static_cast<MPI_Aint>(d.mine.below(static_cast<std::size_t>(common_units)));
    o.at = p.ranks * own_units + first;
    o.op = op;
    o.out = {MPI_INT64_T, as_int(static_cast<std::size_t>(common_units - first))};
    o.there = o.out;
    o.by_request = d.mine.chance(25);
    o.from = add(s, o, o.out, where.of(p.rank, 0), d.mine.next());
    e.list.push_back(o);
  }
}

}  // namespace

std::unique_ptr<step> make_window(world& w, draw& d, form) {
  window_plan p;
  p.comm = w.comms[d.shared.below(3)];
  p.how = static_cast<making>(d.shared.below(3));
  const placing buffers(d.shared), windows(d.shared);
  const std::size_t rounds = 1 + d.shared.below(4);
  const auto own = static_cast<MPI_Aint>(64 + d.shared.below(1000));
  constexpr MPI_Aint common = 30;
  if (p.comm == MPI_COMM_NULL) return nullptr;
  MPI_Comm_rank(p.comm, &p.rank);
  MPI_Comm_size(p.comm, &p.ranks);
  p.bytes = (own * p.ranks + common) * unit;
  p.where = windows.of(w.s.rank, 0);
  // Dynamic windows have device memory on one node only.
  if (p.how == making::dynamic && std::getenv("TELPHER_PRETENDED_NODES") != nullptr)
    p.how = making::create;
  p.kind_name = alloc_kind(p.where);
  auto made = std::make_unique<step>(w.s);
  made->add_area({0, p.bytes}, p.where, d.mine.next());
  const char* names[] = {"create", "allocate", "dynamic"};
  made->what = std::string("a window, ") + names[static_cast<int>(p.how)] + ", " +
               std::to_string(p.bytes) + " bytes, " + name(p.where) + ", epochs";
  for (std::size_t i = 0; i < rounds; ++i) {
    p.parts.emplace_back();
    draw_epoch(p.parts.back(), *made, d, buffers, p, own, common);
    const char* hows[] = {" fence", " lock", " lock_all", " post_start"};
    made->what += hows[static_cast<int>(p.parts.back().how)];
  }
  made->operations = 0;
  for (const epochs& e : p.parts) made->operations += static_cast<long>(e.list.size());
  made->model = made->call = [p](running& r) {
    window win(p, r);
    for (const epochs& e : p.parts) run_epoch(e, p, win, r);
    win.end(r);
  };
  return made;
}

}  // namespace surface
