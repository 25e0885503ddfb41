// SPDX-License-Identifier: BSD-3-Clause
// Steps that make a window, run some epochs on it, and free it. Each origin has a part of its own
// at every target; operations of one epoch use other places of it, until a flush has completed
// those before, but for accumulates, which are ordered. To a common part all add by one operation,
// so that no result depends on the order. Between epochs the ranks store in their own memory, or in
// that of a peer where it is shared. Messages and barriers go beside.
#include "windows.hpp"

#include <algorithm>
#include <cstdlib>

namespace surface {

namespace {

using namespace one_sided;

constexpr MPI_Aint common_units = 30;

/// What the draw of an epoch's operations needs.
struct drawing {
  step& made;
  draw& d;
  const placing& where;
  const window_plan& p;
  MPI_Aint own_units;
};

/// An area of the layout's elements for this operation; its number.
int add(drawing& g, const operation& o, const elements& e, int which) {
  constexpr const char* names[] = {"Put",
                                   "Get",
                                   "Accumulate",
                                   "Get_accumulate",
                                   "Fetch_and_op",
                                   "Compare_and_swap",
                                   "Accumulate by all"};
  span bytes;
  bytes.add(e);
  const std::size_t made =
      g.made.add_area(bytes, g.where.of(g.made.real.s.rank, which), g.d.mine.next());
  g.made.areas[made].of = std::string(" of ") + (o.request != ending::none ? "R" : "") +
                          names[static_cast<int>(o.what)] + " of " + std::to_string(e.count) +
                          " x " + std::to_string(size_of(e.type)) + " bytes at rank " +
                          std::to_string(o.target);
  return as_int(made);
}

// Open MPI 5.0.11 gets some operations wrong in its own windows of a node, and refuses to free a
// request.
MPI_Op draw_operator(random_numbers& random, bool fetches, bool mpich) {
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX,  MPI_BXOR, MPI_REPLACE, MPI_MIN,
                        MPI_BOR, MPI_BAND, MPI_PROD, MPI_LXOR};
  if (fetches && random.chance(12)) return MPI_NO_OP;
  return ops[random.below(mpich ? std::size(ops) : 4)];
}

MPI_Datatype draw_value(random_numbers& random, bool mpich) {
  const MPI_Datatype all[] = {MPI_INT64_T, MPI_INT32_T, MPI_UINT64_T, MPI_INT16_T, MPI_UINT8_T};
  return all[random.chance(40) ? 0 : random.below(mpich ? std::size(all) : 3)];
}

ending draw_ending(random_numbers& random, bool mpich) {
  if (random.chance(65)) return ending::none;
  const std::size_t sort = random.below(10);
  return sort < 4 ? ending::waited : sort < 8 || !mpich ? ending::kept : ending::freed;
}

/// One operation on the free units from `next` on, of which there are `room`.
bool draw_operation(operation& o, drawing& g, MPI_Aint& next, MPI_Aint room) {
  random_numbers& random = g.d.mine;
  type_list& types = g.made.types;
  const bool mpich = g.made.real.s.mpich;
  const bool atomic = o.what >= access::accumulate;
  const bool single = o.what == access::fetch_and_op || o.what == access::compare_and_swap;
  o.value = draw_value(random, mpich);
  const MPI_Datatype basic = atomic ? o.value : basic_type(random);
  const bool large = room - next > 4000 && random.chance(40);
  const int n = single  ? 1
                : large ? as_int(static_cast<std::size_t>(room - next) / 2 * unit / size_of(basic))
                        : 1 + as_int(random.below(random.chance(80) ? 40 : 400));
  const auto layout = [&] {
    return single || large ? elements{basic, n} : types.draw(random, basic, n);
  };
  o.there = layout();
  span there;
  there.add(o.there);
  o.at = next + (-there.low + unit - 1) / unit;
  next = o.at + (there.high + unit - 1) / unit;
  if (next > room) return false;
  // Open MPI 5.0.11's MPI_Get_accumulate misplaces results of derived types.
  const bool plain = o.what == access::get_accumulate && !mpich;
  o.in = plain ? elements{basic, n} : layout();
  o.out = single ? elements{basic, 2} : layout();
  o.request = single ? ending::none : draw_ending(random, mpich);
  if (o.what != access::get) o.from = add(g, o, o.out, 0);
  if (o.what != access::put && o.what != access::accumulate) o.to = add(g, o, o.in, 1);
  o.op = draw_operator(random, o.what != access::accumulate, mpich);
  o.flushed = random.chance(30);
  o.local = random.chance(40);
  o.of_all = random.chance(40);
  return true;
}

/// A rank's part of the accumulates of all ranks to one place.
operation draw_common(int target, MPI_Op op, drawing& g) {
  operation o{access::common, target};
  const auto first = static_cast<MPI_Aint>(g.d.mine.below(common_units));
  o.at = g.p.ranks * g.own_units + first;
  o.op = op;
  o.out = {MPI_INT64_T, as_int(static_cast<std::size_t>(common_units - first))};
  o.there = o.out;
  o.request = draw_ending(g.d.mine, g.made.real.s.mpich);
  o.from = add(g, o, o.out, 0);
  return o;
}

/// Which ranks access which others: some pairs of all.
void draw_groups(epochs& e, drawing& g) {
  const auto all = g.d.shared.chance(40);
  for (int origin = 0; origin < g.p.ranks; ++origin)
    for (int target = 0; target < g.p.ranks; ++target) {
      if (!g.d.shared.chance(60) && !all) continue;
      if (origin == g.p.rank) e.targets.push_back(target);
      if (target == g.p.rank) e.origins.push_back(origin);
    }
}

void draw_message(epochs& e, drawing& g, int tag) {
  if (!g.d.shared.chance(35)) return;
  const std::size_t sizes[] = {0, 8, 700, 9000, 100'000};
  const std::size_t bytes = sizes[g.d.shared.below(std::size(sizes))];
  const int rank = g.made.real.s.rank;
  e.message.tag = tag;
  e.message.bytes = as_int(bytes);
  const span all{0, static_cast<MPI_Aint>(bytes)};
  e.message.sent = as_int(g.made.add_area(all, g.where.of(rank, 0), g.d.mine.next()));
  e.message.received = as_int(g.made.add_area(all, g.where.of(rank, 1), g.d.mine.next()));
  e.message.waited_behind = g.d.mine.below(8);
}

void draw_epoch(epochs& e, drawing& g, int tag) {
  const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_MAX};
  const MPI_Op op = ops[g.d.shared.below(3)];
  e.how = static_cast<epoch>(g.d.shared.below(4));
  e.meets = g.d.shared.chance(20);
  e.exclusive = g.d.mine.chance(40);
  e.tested = g.d.mine.chance(40);
  e.reads = g.d.shared.chance(20);
  e.asserts = g.d.mine.chance(50);
  e.stores = g.d.shared.chance(30);
  const auto units = static_cast<std::size_t>(g.p.bytes / unit);
  e.stored_at = static_cast<MPI_Aint>(g.d.mine.below(units));
  e.stored_units = static_cast<MPI_Aint>(
      g.d.mine.below(std::min<std::size_t>(units - static_cast<std::size_t>(e.stored_at), 500)));
  e.stored = g.d.mine.next();
  if (e.how == epoch::post_start) draw_groups(e, g);
  draw_message(e, g, tag);
  const bool passive = e.how == epoch::lock || e.how == epoch::lock_all;
  const MPI_Aint first = g.p.rank * g.own_units, room = first + g.own_units;
  for (int target = 0; target < g.p.ranks; ++target) {
    if (e.how == epoch::post_start &&
        std::find(e.targets.begin(), e.targets.end(), target) == e.targets.end())
      continue;
    MPI_Aint next = first;
    for (std::size_t i = g.d.mine.below(g.d.mine.chance(10) ? 20 : 5); i > 0; --i) {
      operation o{e.reads ? access::get : static_cast<access>(g.d.mine.below(6)), target};
      if (!draw_operation(o, g, next, room)) break;
      if (passive && o.flushed && !o.local) next = first;  // they are complete at the target
      e.list.push_back(o);
    }
    if (g.d.mine.chance(50) && !e.reads) e.list.push_back(draw_common(target, op, g));
  }
}

/// All ranks' parts of a shared window are device memory, or none, and of one node.
void draw_shared(window_plan& p, draw& d, bool outside_job) {
  const bool device = d.shared.chance(70);
  p.apart = d.shared.chance(50);
  if (p.how != making::shared) return;
  p.where = device && !outside_job ? mpi_test::kinds().back() : kind::host;
  if (std::getenv("TELPHER_TEST_PRETENDED_NODES")) p.how = making::allocate;
}

}  // namespace

std::unique_ptr<step> make_window(world& w, draw& d, form) {
  window_plan p;
  const std::size_t which = d.shared.below(3);
  p.comm = w.comms[which];
  p.how = static_cast<making>(d.shared.below(4));
  const placing buffers(d.shared), windows(d.shared);
  const std::size_t rounds = 1 + d.shared.below(4);
  const auto own = static_cast<MPI_Aint>(d.shared.chance(10) ? 5000 + d.shared.below(100'000)
                                                             : 64 + d.shared.below(1000));
  const int tag = w.next_tag;
  w.next_tag += as_int(rounds);
  if (p.comm == MPI_COMM_NULL) return nullptr;
  MPI_Comm_rank(p.comm, &p.rank);
  MPI_Comm_size(p.comm, &p.ranks);
  p.bytes = (own * p.ranks + common_units) * unit;
  p.where = windows.of(w.s.rank, 0);
  // Dynamic and shared windows outside the job take no device memory.
  const bool outside_job = w.has_session && which == 2;
  if (outside_job && p.how == making::dynamic) p.where = kind::host;
  draw_shared(p, d, outside_job);
  p.kind_name = p.where == kind::device ? mpi_test::device_kind() : "system,mpi";
  auto made = std::make_unique<step>(w.s);
  made->add_area({0, p.bytes}, p.where, d.mine.next());
  const char* names[] = {"create", "allocate", "dynamic", "shared"};
  made->what = std::string("a window, ") + names[static_cast<int>(p.how)] + ", " +
               std::to_string(p.bytes) + " bytes, " + name(p.where) + ", epochs";
  drawing g{*made, d, buffers, p, own};
  made->operations = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    epochs e;
    draw_epoch(e, g, tag + as_int(i));
    const char* hows[] = {" fence", " lock", " lock_all", " post_start"};
    made->what += hows[static_cast<int>(e.how)];
    made->operations += static_cast<long>(e.list.size()) + (e.message.sent < 0 ? 0 : 2);
    p.parts.push_back(std::move(e));
  }
  made->model = made->call = [p](running& r) { one_sided::run(p, r); };
  return made;
}

}  // namespace surface
