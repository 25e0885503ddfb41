// SPDX-License-Identifier: BSD-3-Clause
// Random types: layouts.hpp. Each maker takes a number of basic elements, splits it, and puts types
// of the parts at distances of at least their extents; an extent holds all of a type's data.
#include "layouts.hpp"

#include <algorithm>
#include <numeric>

#include "plain.hpp"

namespace surface {

namespace {

bool structs_allowed = true;

int divisor(random_numbers& random, int n) {
  std::vector<int> all;
  for (int d = 1; d <= n && d <= 64; ++d)
    if (n % d == 0) all.push_back(d);
  return all[random.below(all.size())];
}

/// `n` in at most four parts, none of them 0.
std::vector<int> parts(random_numbers& random, int n) {
  std::vector<int> list;
  while (n > 0 && list.size() < 3) {
    list.push_back(1 + as_int(random.below(static_cast<std::size_t>(n))));
    n -= list.back();
  }
  if (n > 0) list.push_back(n);
  return list;
}

template <class List>
void shuffle(random_numbers& random, List& list) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

MPI_Datatype make(random_numbers& random, MPI_Datatype basic, int n, int depth);

/// Blocks of an inner type at one distance: vector and hvector, forwards or backwards.
MPI_Datatype make_vector(random_numbers& random, MPI_Datatype basic, int n, int depth) {
  const int count = divisor(random, n), block = divisor(random, n / count);
  MPI_Datatype inner = make(random, basic, n / count / block, depth - 1), type;
  // Open MPI 5.0.11 takes blocks that lie backwards without gaps for one run forwards.
  const int sign = random.chance(15) ? -1 : 1, least = sign < 0 ? 1 : 0;
  if (random.chance(50)) {
    MPI_Type_vector(count, block, sign * (block + least + as_int(random.below(4))), inner, &type);
  } else {
    const MPI_Aint gap =
        least + static_cast<MPI_Aint>(random.chance(30) ? random.below(30) : 8 * random.below(5));
    MPI_Type_create_hvector(count, block, sign * (block * extent_of(inner) + gap), inner, &type);
  }
  MPI_Type_free(&inner);
  return type;
}

/// Blocks at places of their own, in any order: the four indexed types.
MPI_Datatype make_indexed(random_numbers& random, MPI_Datatype basic, int n, int depth) {
  const int inner_elements = divisor(random, n);
  MPI_Datatype inner = make(random, basic, inner_elements, depth - 1), type;
  const bool equal = random.chance(50), in_bytes = random.chance(50);
  std::vector<int> lengths = parts(random, n / inner_elements);
  if (equal) {
    const int blocks = divisor(random, n / inner_elements);
    lengths.assign(static_cast<std::size_t>(blocks), n / inner_elements / blocks);
  }
  std::vector<int> places;
  int end = random.chance(20) ? -5 : as_int(random.below(3));
  for (const int length : lengths) {
    places.push_back(end);
    end += length + as_int(random.below(4));
  }
  if (!equal && random.chance(30)) {
    places.push_back(places.front());
    lengths.push_back(0);
  }
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(random, order);
  std::vector<int> sorted_places, sorted_lengths;
  std::vector<MPI_Aint> bytes;
  for (const std::size_t i : order) {
    sorted_places.push_back(places[i]);
    sorted_lengths.push_back(lengths[i]);
    bytes.push_back(places[i] * extent_of(inner));
  }
  const int blocks = as_int(order.size());
  if (equal && in_bytes)
    MPI_Type_create_hindexed_block(blocks, lengths[0], bytes.data(), inner, &type);
  else if (equal)
    MPI_Type_create_indexed_block(blocks, lengths[0], sorted_places.data(), inner, &type);
  else if (in_bytes)
    MPI_Type_create_hindexed(blocks, sorted_lengths.data(), bytes.data(), inner, &type);
  else
    MPI_Type_indexed(blocks, sorted_lengths.data(), sorted_places.data(), inner, &type);
  MPI_Type_free(&inner);
  return type;
}

MPI_Datatype make_subarray(random_numbers& random, MPI_Datatype basic, int n, int depth) {
  const int dims = 1 + as_int(random.below(3));
  std::vector<int> part, whole, start;
  for (int d = 0, rest = n; d < dims; ++d) {
    part.push_back(divisor(random, rest));
    rest /= part.back();
    start.push_back(as_int(random.below(3)));
    whole.push_back(start.back() + part.back() + as_int(random.below(3)));
  }
  const int held = std::accumulate(part.begin(), part.end(), 1, std::multiplies<>());
  MPI_Datatype inner = make(random, basic, n / held, depth - 1), type;
  // A subarray begins at 0 and ends with its whole array, wherever its elements have their data.
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(inner, &low, &extent);
  if (low != 0) {
    MPI_Type_free(&inner);
    MPI_Type_contiguous(n / held, basic, &inner);
  }
  MPI_Type_create_subarray(dims, whole.data(), part.data(), start.data(),
                           random.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &type);
  MPI_Type_free(&inner);
  return type;
}

MPI_Datatype make_struct(random_numbers& random, MPI_Datatype basic, int n, int depth) {
  const std::vector<int> sizes = parts(random, n);
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  MPI_Aint end = static_cast<MPI_Aint>(8 * random.below(3));
  for (const int size : sizes) {
    types.push_back(make(random, basic, size, depth - 1));
    MPI_Aint low = 0, extent = 0;
    MPI_Type_get_extent(types.back(), &low, &extent);
    places.push_back(end - low);
    end += extent + static_cast<MPI_Aint>(8 * random.below(3));
  }
  const std::vector<int> ones(sizes.size(), 1);
  MPI_Datatype plain, type;
  MPI_Type_create_struct(as_int(sizes.size()), ones.data(), places.data(), types.data(), &plain);
  // By the standard bounds that were set in one part are those of the whole.
  MPI_Type_create_resized(plain, 0, end, &type);
  MPI_Type_free(&plain);
  for (MPI_Datatype& t : types) MPI_Type_free(&t);
  return type;
}

MPI_Datatype make_resized(random_numbers& random, MPI_Datatype basic, int n, int depth) {
  MPI_Datatype inner = make(random, basic, n, depth - 1), type;
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(inner, &low, &extent);
  const auto before = static_cast<MPI_Aint>(8 * random.below(3)),
             behind = static_cast<MPI_Aint>(8 * random.below(4));
  MPI_Type_create_resized(inner, low - before, extent + before + behind, &type);
  MPI_Type_free(&inner);
  return type;
}

// Open MPI 5.0.11 moves other bytes where it cuts a derived type: messages between ranks into
// pieces of its transports, a collective's own block into pieces of 64 KB, of which there may be
// three.
#if defined(OPEN_MPI)
constexpr std::size_t most_derived = 20'000;
#else
constexpr std::size_t most_derived = SIZE_MAX;
#endif

/// A type of `n` basic elements, not committed.
MPI_Datatype make(random_numbers& random, MPI_Datatype basic, int n, int depth) {
  MPI_Datatype type, inner;
  if (depth > 0) switch (random.below(structs_allowed ? 8 : 7)) {
      case 0:
      case 1:
        return make_vector(random, basic, n, depth);
      case 2:
      case 3:
        return make_indexed(random, basic, n, depth);
      case 4:
        return make_subarray(random, basic, n, depth);
      case 5:
        return make_resized(random, basic, n, depth);
      case 6:
        inner = make(random, basic, n, depth - 1);
        MPI_Type_dup(inner, &type);
        MPI_Type_free(&inner);
        return type;
      case 7:
        return make_struct(random, basic, n, depth);
    }
  MPI_Type_contiguous(n, basic, &type);
  return type;
}

/// Elements of a type that lie side by side must not share bytes: where they are received, MPI says
/// nothing of what would be there.
void check_no_overlap(MPI_Datatype type) {
  std::vector<plain::piece> pieces = plain::pieces_of(type);
  for (std::size_t i = pieces.size(); i > 0; --i)
    pieces.push_back({pieces[i - 1].at + extent_of(type), pieces[i - 1].bytes});
  std::ranges::sort(pieces, {}, &plain::piece::at);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i - 1].at + static_cast<MPI_Aint>(pieces[i - 1].bytes) > pieces[i].at) {
      std::fprintf(stderr, "FAILED: a type that was drawn has two values in one place\n");
      std::exit(3);
    }
}

/// Three basic types with gaps, for the whole program. In small numbers: without CMA (surface.cpp)
/// MPICH 5.0.2 refuses large messages of types that are made of it.
MPI_Datatype mixed_type() {
  static const MPI_Datatype made = [] {
    int lengths[3] = {1, 3, 2};
    MPI_Aint places[3] = {0, 8, 40};
    MPI_Datatype list[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, plain, type;
    MPI_Type_create_struct(3, lengths, places, list, &plain);
    MPI_Type_create_resized(plain, 0, 48, &type);
    MPI_Type_free(&plain);
    MPI_Type_commit(&type);
    return type;
  }();
  return made;
}

}  // namespace

void allow_structs(bool allowed) {
  structs_allowed = allowed;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(type, &low, &extent);
  return extent;
}

std::size_t size_of(MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(size);
}

void span::add(const elements& e, MPI_Aint at) {
  if (e.count == 0) return;
  MPI_Aint true_low = 0, true_extent = 0;
  MPI_Type_get_true_extent(e.type, &true_low, &true_extent);
  low = std::min(low, at + true_low);
  high = std::max(high, at + (e.count - 1) * extent_of(e.type) + true_low + true_extent);
}

MPI_Datatype type_list::keep(MPI_Datatype uncommitted) {
  MPI_Type_commit(&uncommitted);
  types_.push_back(uncommitted);
  return uncommitted;
}

elements type_list::draw(random_numbers& random, MPI_Datatype basic, int total) {
  if (total == 0) return {basic, 0};
  const std::size_t bytes = static_cast<std::size_t>(total) * size_of(basic);
  if (random.chance(35) || bytes > most_derived) return {basic, total};
  const int each = divisor(random, total);
  MPI_Datatype type = make(random, basic, each, 1 + as_int(random.below(3)));
  const std::size_t held = size_of(type), spread = static_cast<std::size_t>(extent_of(type));
  const auto count = static_cast<std::size_t>(total / each);
  // Gaps within gaps can take any room.
  if (spread * count > 4 * held * count + 50'000) {
    MPI_Type_free(&type);
    return {basic, total};
  }
  check_no_overlap(type);
  return {keep(type), total / each};
}

elements type_list::draw_forward(random_numbers& random, MPI_Datatype basic, int total) {
  if (random.chance(35)) return {basic, total};
  const int each = divisor(random, total), count = divisor(random, each);
  MPI_Datatype type;
  MPI_Type_vector(count, each / count, each / count + as_int(random.below(4)), basic, &type);
  return {keep(type), total / each};
}

elements type_list::draw_room(random_numbers& random, MPI_Datatype basic, int total) {
  return draw(random, basic, total + (random.chance(30) ? as_int(random.below(20)) : 0));
}

void type_list::free() {
  for (MPI_Datatype& t : types_) MPI_Type_free(&t);
  types_.clear();
}

MPI_Datatype basic_type(random_numbers& random) {
  const MPI_Datatype all[] = {MPI_BYTE,  MPI_CHAR,     MPI_SHORT, MPI_INT,
                              MPI_FLOAT, MPI_DOUBLE,   MPI_LONG,  MPI_UNSIGNED_LONG_LONG,
                              MPI_INT,   mixed_type(), MPI_DOUBLE};
  const std::size_t at = random.below(std::size(all));
  return all[at] == mixed_type() && !structs_allowed ? MPI_INT : all[at];
}

int element_count(random_numbers& random, MPI_Datatype basic) {
  const std::size_t sort = random.below(100);
  const bool few = basic == mixed_type();
  const std::size_t bytes = sort < 5    ? 0
                            : sort < 55 ? random.below(400)
                            : few       ? random.below(4000)
                            : sort < 85 ? random.below(8000)
                            : sort < 97 ? random.below(100'000)
                                        : random.below(700'000);
  int n = as_int(bytes / size_of(basic)) + (sort < 5 ? 0 : 1);
  if (n > 64) n -= n % 24;  // with divisors to choose among
  return n;
}

}  // namespace surface
