// SPDX-License-Identifier: BSD-3-Clause
// What a type consists of, by MPI_Type_get_envelope and MPI_Type_get_contents (MPI-4.1, 5.1.13).
#include <cstring>

#include "plain.hpp"

namespace surface::plain {

namespace {

/// The arguments of the call that made a type.
struct contents {
  explicit contents(MPI_Datatype type) {
    int integers = 0, addresses = 0, datatypes = 0;
    MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
    if (combiner == MPI_COMBINER_NAMED) return;
    i.resize(static_cast<std::size_t>(integers) + 1);
    a.resize(static_cast<std::size_t>(addresses) + 1);
    t.resize(static_cast<std::size_t>(datatypes));
    MPI_Type_get_contents(type, integers, addresses, datatypes, i.data(), a.data(), t.data());
  }
  ~contents() {
    for (MPI_Datatype& one : t) {
      int n = 0, how = 0;
      MPI_Type_get_envelope(one, &n, &n, &n, &how);
      if (how != MPI_COMBINER_NAMED) MPI_Type_free(&one);
    }
  }
  contents(const contents&) = delete;
  contents& operator=(const contents&) = delete;

  int combiner = 0;
  std::vector<int> i;
  std::vector<MPI_Aint> a;
  std::vector<MPI_Datatype> t;
};

void add(std::vector<piece>& to, MPI_Aint at, std::size_t bytes) {
  if (bytes == 0) return;
  if (!to.empty() && to.back().at + static_cast<MPI_Aint>(to.back().bytes) == at)
    to.back().bytes += bytes;
  else
    to.push_back({at, bytes});
}

/// A part of a type, to be put at places.
struct part {
  explicit part(MPI_Datatype type) : extent(extent_of(type)), pieces(pieces_of(type)) {}
  void put(std::vector<piece>& to, MPI_Aint at, int count) const {
    for (int k = 0; k < count; ++k)
      for (const piece& p : pieces) add(to, at + k * extent + p.at, p.bytes);
  }
  MPI_Aint extent;
  std::vector<piece> pieces;
};

// Integers: dimensions, sizes, sizes of the part, starts, order.
void put_subarray(std::vector<piece>& to, const contents& c) {
  const part inner(c.t[0]);
  const auto dims = static_cast<std::size_t>(c.i[0]);
  const int *sizes = &c.i[1], *held = sizes + dims, *starts = held + dims;
  const bool c_order = starts[dims] == MPI_ORDER_C;
  std::vector<std::size_t> order;  // the dimension whose elements lie side by side comes last
  for (std::size_t d = 0; d < dims; ++d) order.push_back(c_order ? d : dims - 1 - d);
  std::vector<int> at(dims, 0);
  for (;;) {
    MPI_Aint place = 0;
    for (const std::size_t d : order) place = place * sizes[d] + starts[d] + at[d];
    inner.put(to, place * inner.extent, held[order.back()]);
    std::size_t next = dims - 1;  // all but the last count on
    while (next > 0 && ++at[order[next - 1]] == held[order[next - 1]]) at[order[--next]] = 0;
    if (next == 0) return;
  }
}

}  // namespace

std::vector<piece> pieces_of(MPI_Datatype type) {
  const contents c(type);
  std::vector<piece> all;
  const auto blocks = [&](int length_at, auto&& place_of) {
    const part inner(c.t[0]);
    for (int k = 0; k < c.i[0]; ++k)
      inner.put(all, place_of(k, inner.extent),
                length_at < 0 ? c.i[1] : c.i[static_cast<std::size_t>(length_at + k)]);
  };
  const auto integer = [&](int k) { return c.i[static_cast<std::size_t>(k)]; };
  const auto address = [&](int k) { return c.a[static_cast<std::size_t>(k)]; };
  switch (c.combiner) {
    case MPI_COMBINER_NAMED:
      add(all, 0, size_of(type));
      break;
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return pieces_of(c.t[0]);
    case MPI_COMBINER_CONTIGUOUS:
      part(c.t[0]).put(all, 0, c.i[0]);
      break;
    case MPI_COMBINER_VECTOR:
      blocks(-1, [&](int k, MPI_Aint extent) { return k * integer(2) * extent; });
      break;
    case MPI_COMBINER_HVECTOR:
      blocks(-1, [&](int k, MPI_Aint) { return k * address(0); });
      break;
    case MPI_COMBINER_INDEXED:
      blocks(1, [&](int k, MPI_Aint extent) { return integer(1 + c.i[0] + k) * extent; });
      break;
    case MPI_COMBINER_HINDEXED:
      blocks(1, [&](int k, MPI_Aint) { return address(k); });
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      blocks(-1, [&](int k, MPI_Aint extent) { return integer(2 + k) * extent; });
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      blocks(-1, [&](int k, MPI_Aint) { return address(k); });
      break;
    case MPI_COMBINER_SUBARRAY:
      put_subarray(all, c);
      break;
    case MPI_COMBINER_STRUCT:
      for (int k = 0; k < c.i[0]; ++k)
        part(c.t[static_cast<std::size_t>(k)]).put(all, address(k), integer(1 + k));
      break;
    default:
      std::fprintf(stderr, "FAILED: no reading of types made by combiner %d\n", c.combiner);
      std::exit(3);
  }
  return all;
}

byte_list packed(const void* from, int count, MPI_Datatype type) {
  byte_list bytes;
  bytes.reserve(static_cast<std::size_t>(count) * size_of(type) + 1);  // never null
  if (count == 0) return bytes;
  const auto* const base = static_cast<const unsigned char*>(from);
  const std::vector<piece> pieces = pieces_of(type);
  const MPI_Aint extent = extent_of(type);
  for (int k = 0; k < count; ++k)
    for (const piece& p : pieces) {
      const unsigned char* const at = base + k * extent + p.at;
      bytes.insert(bytes.end(), at, at + p.bytes);
    }
  return bytes;
}

void unpack(const unsigned char* from, std::size_t bytes, void* to, int count, MPI_Datatype type) {
  if (bytes == 0) return;
  auto* const base = static_cast<unsigned char*>(to);
  const std::vector<piece> pieces = pieces_of(type);
  const MPI_Aint extent = extent_of(type);
  for (int k = 0; k < count; ++k)
    for (const piece& p : pieces) {
      const std::size_t n = std::min(bytes, p.bytes);
      std::memcpy(base + k * extent + p.at, from, n);
      from += n;
      bytes -= n;
      if (bytes == 0) return;
    }
}

}  // namespace surface::plain
