// SPDX-License-Identifier: BSD-3-Clause
// Steps that are collectives: those that move data, and reductions.
#include "program.hpp"

#include <algorithm>

namespace surface {

void make_collective(collective_call which, const call_arguments& x, running& r) {
  if (r.model) {
#define MPI_TEST_COLLECTIVE(kind, Name, Iname, ...) \
  case collective_call::kind:                       \
    return plain::Name(__VA_ARGS__);
    switch (which) {
#include "../collective_calls.def"
    }
#undef MPI_TEST_COLLECTIVE
  }
  make_call(which, r.how, x, r.how == form::blocking ? nullptr : r.add());
  if (r.how == form::persistent) r.start();
}

namespace {

using movement = collective_call;

/// Blocks of one type, one for each rank.
struct blocks {
  std::vector<int> counts, places;  // in elements, in extents
  std::vector<int> byte_places;
  std::vector<MPI_Datatype> types;
  elements one;
};

struct arguments {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 0, root = 0;
  bool in_place = false;
  blocks out, in;
  int from = -1, to = -1;  // areas
  const void* send(const running& r) const {
    return from < 0 ? MPI_IN_PLACE : r.at[static_cast<std::size_t>(from)];
  }
  void* receive(const running& r) const {
    return to < 0 ? MPI_IN_PLACE : static_cast<void*>(r.at[static_cast<std::size_t>(to)]);
  }
};

/// How many times the unit goes from one rank to another in the calls with counts.
int times(std::uint64_t seed, int from, int to) {
  return static_cast<int>(mix(seed + static_cast<std::uint64_t>(from * 64 + to)) % 4);
}

/// Blocks of `unit`, each as often as its count says, with gaps if `spread`.
blocks lay_out(draw& d, const elements& unit, const std::vector<int>& how_often, bool spread) {
  blocks b;
  b.one = unit;
  int end = 0;
  for (const int n : how_often) {
    b.counts.push_back(n * unit.count);
    b.places.push_back(end);
    b.byte_places.push_back(
        as_int(static_cast<std::size_t>(end) * static_cast<std::size_t>(extent_of(unit.type))));
    b.types.push_back(unit.type);
    end += n * unit.count + (spread ? as_int(d.mine.below(4)) : 0);
  }
  return b;
}

span cover(const blocks& b) {
  span s;
  for (std::size_t i = 0; i < b.counts.size(); ++i)
    s.add({b.one.type, b.counts[i]}, b.places[i] * extent_of(b.one.type));
  return s;
}

void call(movement m, const arguments& a, bool bottom, running& r) {
  const named from(a.send(r), a.out.one.type, bottom), to(a.receive(r), a.in.one.type, bottom);
  const auto block = [](const blocks& b) { return b.counts.empty() ? b.one.count : b.counts[0]; };
  call_arguments x;
  x.comm = a.comm;
  x.root = a.root;
  x.out = from.at;
  x.in = const_cast<void*>(to.at);
  x.sent = block(a.out);
  x.received = block(a.in);
  x.out_type = from.type;
  x.in_type = to.type;
  x.out_counts = a.out.counts.data();
  x.in_counts = a.in.counts.data();
  x.out_places = (m == movement::alltoallw ? a.out.byte_places : a.out.places).data();
  x.in_places = (m == movement::alltoallw ? a.in.byte_places : a.in.places).data();
  x.out_types = a.out.types.data();
  x.in_types = a.in.types.data();
  make_collective(m, x, r);
}

/// How often the unit lies in each block that this rank sends and receives.
void draw_blocks(movement m, arguments& a, draw& d, std::uint64_t seed, const elements& out,
                 const elements& in) {
  std::vector<int> sent, received;
  const bool counts = has_counts(m);
  const auto often = [&](int from, int to) { return counts ? times(seed, from, to) : 1; };
  const bool root = a.rank == a.root;
  for (int r = 0; r < a.size; ++r) {
    switch (m) {
      case movement::bcast:
        break;
      case movement::gather:
      case movement::gatherv:
        if (root) received.push_back(often(r, a.root));
        break;
      case movement::scatter:
      case movement::scatterv:
        if (root) sent.push_back(often(a.root, r));
        break;
      case movement::allgather:
      case movement::allgatherv:
        received.push_back(often(r, 0));
        break;
      default:
        // In place, what comes from a rank is as much as what goes there.
        sent.push_back(a.in_place ? often(std::min(a.rank, r), std::max(a.rank, r))
                                  : often(a.rank, r));
        received.push_back(a.in_place ? sent.back() : often(r, a.rank));
    }
  }
  if (m == movement::bcast) received = {1};
  if (m == movement::gather || m == movement::gatherv) sent = {often(a.rank, a.root)};
  if (m == movement::scatter || m == movement::scatterv) received = {often(a.root, a.rank)};
  if (m == movement::allgather || m == movement::allgatherv) sent = {often(a.rank, 0)};
  a.out = lay_out(d, out, sent, counts);
  a.in = lay_out(d, in, received, counts);
}

}  // namespace

std::unique_ptr<step> make_movement(world& w, draw& d, form how) {
  const auto m = static_cast<movement>(d.shared.below(10));  // those before the reductions
  arguments a;
  a.comm = w.comms[d.shared.below(w.comms.size())];
  const MPI_Datatype basic = basic_type(d.shared);
  const int n = std::min(element_count(d.shared, basic), 40'000);
  const placing where(d.shared);
  a.in_place = d.shared.chance(25);
  const std::uint64_t seed = d.shared.next();
  if (a.comm == MPI_COMM_NULL) return nullptr;
  MPI_Comm_rank(a.comm, &a.rank);
  MPI_Comm_size(a.comm, &a.size);
  a.root = static_cast<int>(seed % static_cast<std::uint64_t>(a.size));
  auto made = std::make_unique<step>(w.s);
  made->collective = true;
  made->how = how == form::persistent && !MPI_TEST_HAS_MPI_4 ? form::nonblocking : how;
  // The host MPIs choose how to cut, and by which algorithm to move, by the extent or size of the
  // rank's own type.
  const bool alike = m == movement::allgatherv || m == movement::bcast;
  random_numbers& theirs = alike ? d.shared : d.mine;
  const elements in = made->types.draw(theirs, basic, n), out = made->types.draw(theirs, basic, n);
  draw_blocks(m, a, d, seed, out, in);
  const bool root = a.rank == a.root;
  const bool gathers = m == movement::gather || m == movement::gatherv,
             scatters = m == movement::scatter || m == movement::scatterv;
  const bool sends_here = m == movement::bcast || (a.in_place && !scatters && (!gathers || root));
  const bool receives_here = a.in_place && scatters && root;
  if (!sends_here)
    a.from = as_int(made->add_area(cover(a.out), where.of(w.s.rank, 0), d.mine.next()));
  if (!receives_here)
    a.to = as_int(made->add_area(cover(a.in), where.of(w.s.rank, 1), d.mine.next()));
  made->what = std::string(name_of(m)) + (a.in_place ? " in place, " : ", ") + std::to_string(n) +
               " elements, " + std::to_string(a.size) + " ranks";
  for (const area& one : made->areas) made->what += std::string(", ") + name(one.where);
  // Open MPI's own persistent calls, and those with arrays of types, use types that were freed.
  if (!w.s.mpich && (m == movement::alltoallw || made->how == form::persistent))
    made->may_free_types = false;
  // From four ranks on, Open MPI 5.0.11's own MPI_Ialltoallv in place mixes up blocks of unlike
  // counts.
  if (!w.s.mpich && a.in_place && (m == movement::alltoallv || m == movement::alltoallw))
    made->how = form::blocking;
  const bool bottom =
      d.mine.chance(10) && m != movement::alltoallw && made->how != form::persistent;
  made->model = [m, a](running& r) { call(m, a, false, r); };
  made->call = [m, a, bottom](running& r) { call(m, a, bottom, r); };
  return made;
}

// --- reductions ---

namespace {

using reduction = collective_call;

/// Composition of the functions x -> a x + b: associative, and its order matters.
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  auto* a = static_cast<unsigned*>(in);
  auto* b = static_cast<unsigned*>(inout);
  for (int i = 0; i < *count; ++i, a += 2, b += 2) {
    const unsigned product = a[0] * b[0];
    b[1] = a[0] * b[1] + a[1];
    b[0] = product;
  }
}

MPI_Op own_operation() {
  static const MPI_Op made = [] {
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    return op;
  }();
  return made;
}

MPI_Datatype pair_of_ints() {
  static const MPI_Datatype made = [] {
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    return type;
  }();
  return made;
}

struct summand {
  MPI_Datatype type;
  MPI_Op op;
  bool real = false;  // small whole numbers, whose sums are exact in any order
};

/// Sums in Open MPI 5.0.11's host memory stop at the largest number of 8 and 16 bits.
bool host_is_wrong(const summand& x) {
#if defined(OPEN_MPI)
  return x.op == MPI_SUM && size_of(x.type) < 4;
#else
  return (void)x, false;
#endif
}

summand draw_summand(random_numbers& random) {
  const std::size_t sort = random.below(10);
  if (sort == 0) return {pair_of_ints(), own_operation()};
  if (sort == 1) return {MPI_2INT, random.chance(50) ? MPI_MINLOC : MPI_MAXLOC};
  if (sort < 5) {
    const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
    const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE};
    return {types[random.below(2)], ops[random.below(3)], true};
  }
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,
                        MPI_BOR, MPI_BXOR, MPI_LOR, MPI_LAND, MPI_LXOR};
  const MPI_Datatype types[] = {MPI_INT,    MPI_UNSIGNED,      MPI_SHORT,    MPI_LONG,
                                MPI_INT8_T, MPI_UNSIGNED_LONG, MPI_UINT16_T, MPI_LONG_LONG};
  const summand x{types[random.below(8)], ops[random.below(10)]};
  return host_is_wrong(x) ? summand{MPI_INT, x.op} : x;
}

std::vector<unsigned char> numbers(random_numbers& random, const summand& x, std::size_t count) {
  std::vector<unsigned char> bytes(count * size_of(x.type));
  write_pattern(random.next(), bytes.data(), bytes.size());
  for (std::size_t i = 0; x.real && i < count; ++i) {
    const double value = static_cast<double>(bytes[i]) - 100;
    const auto single = static_cast<float>(value);
    if (x.type == MPI_DOUBLE)
      std::memcpy(&bytes[8 * i], &value, 8);
    else
      std::memcpy(&bytes[4 * i], &single, 4);
  }
  return bytes;
}

struct sum {
  reduction which;
  summand x;
  MPI_Comm comm;
  int n, root;
  bool in_place;  // at this rank
  std::vector<int> counts;
};

void add(const sum& a, running& r) {
  call_arguments x;
  x.comm = a.comm;
  x.root = a.root;
  x.op = a.x.op;
  x.out = a.in_place ? MPI_IN_PLACE : r.at[0];
  x.in = r.at[a.in_place ? 0 : 1];
  x.received = a.n;
  x.in_type = a.x.type;
  x.in_counts = a.counts.data();
  make_collective(a.which, x, r);
}

}  // namespace

std::unique_ptr<step> make_reduction(world& w, draw& d, form how) {
  constexpr reduction all_reductions[] = {
      reduction::allreduce, reduction::reduce,         reduction::scan,
      reduction::exscan,    reduction::reduce_scatter, reduction::reduce_scatter_block};
  const reduction which = all_reductions[d.shared.below(6)];
  const MPI_Comm comm = w.comms[d.shared.below(w.comms.size())];
  const summand x = draw_summand(d.shared);
  const int n = element_count(d.shared, x.type);
  const placing where(d.shared);
  const bool may_be_in_place = d.shared.chance(25);
  const std::uint64_t seed = d.shared.next();
  if (comm == MPI_COMM_NULL) return nullptr;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int root = static_cast<int>(seed % static_cast<std::uint64_t>(size));
  auto made = std::make_unique<step>(w.s);
  made->collective = true;
  made->how = how == form::persistent && !MPI_TEST_HAS_MPI_4 ? form::nonblocking : how;
  std::vector<int> counts;
  int total = 0;
  for (int r = 0; r < size; ++r) {
    counts.push_back(which == reduction::reduce_scatter_block ? n : times(seed, r, 0) * n / 3);
    total += counts.back();
  }
  const bool scatters =
      which == reduction::reduce_scatter || which == reduction::reduce_scatter_block;
  const int all = scatters ? total : n;
  // MPICH 5.0.2 ends where a large result of blocks of unlike sizes overlaps its place.
  constexpr std::size_t safe_bytes = 256 << 10;
  const bool in_place =
      may_be_in_place && (which != reduction::reduce_scatter ||
                          static_cast<std::size_t>(all) * size_of(x.type) <= safe_bytes);
  const bool here = in_place && (which != reduction::reduce || rank == root);
  const int received = scatters && !here ? counts[static_cast<std::size_t>(rank)] : all;
  if (!here)
    made->add_area(numbers(d.mine, x, static_cast<std::size_t>(all)), where.of(w.s.rank, 0));
  made->add_area(numbers(d.mine, x, static_cast<std::size_t>(received)), where.of(w.s.rank, 1));
  if (scatters && here)
    made->areas.back().undefined_from =
        static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]) * size_of(x.type);
  made->what = std::string(name_of(which)) + (in_place ? " in place, " : ", ") + std::to_string(n) +
               " elements of " + std::to_string(size_of(x.type)) + " bytes, " +
               std::to_string(size) + " ranks";
  for (const area& one : made->areas) made->what += std::string(", ") + name(one.where);
  const sum a{which, x, comm, n, root, here, std::move(counts)};
  made->model = made->call = [a](running& r) { add(a, r); };
  return made;
}

}  // namespace surface
