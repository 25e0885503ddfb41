// SPDX-License-Identifier: BSD-3-Clause
// See flatten.hpp. One function for each family of type constructors. Sizes and extents come from
// the host MPI at every level, so that its rules of alignment and resizing apply.
#include "datatype/flatten.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "datatype/block_list.hpp"
#include "datatype/type_contents.hpp"

namespace telpher::datatype {
namespace {

status blocks_of(MPI_Datatype type, block_list& out);

struct measures {
  MPI_Count size = 0, lower_bound = 0, extent = 0, true_lower_bound = 0, true_extent = 0;
};

status measure(MPI_Datatype type, measures& m) {
  const bool ok =
      pmpi::Type_size_x(type, &m.size) == MPI_SUCCESS &&
      pmpi::Type_get_extent_x(type, &m.lower_bound, &m.extent) == MPI_SUCCESS &&
      pmpi::Type_get_true_extent_x(type, &m.true_lower_bound, &m.true_extent) == MPI_SUCCESS;
  return ok ? status::ok : status::host_mpi_error;
}

status piece_of(MPI_Datatype type, piece& out) {
  measures m;
  TELPHER_TRY(measure(type, m));
  out.extent = m.extent;
  return blocks_of(type, out.blocks);
}

// --- types without an inner type ---

status leaf_blocks(MPI_Datatype type, block_list& out) {
  measures m;
  TELPHER_TRY(measure(type, m));
  if (m.size == 0) return status::ok;
  // MPI_SHORT_INT is the only predefined type with a gap inside. MPI_LONG_DOUBLE_INT has its gap
  // at the end, which some MPIs count into the true extent.
  struct short_int {
    short value;
    int index;
  };
  if (m.size == sizeof(short) + sizeof(int) && m.true_extent == sizeof(short_int)) {
    out = {{0, sizeof(short)}, {offsetof(short_int, index), sizeof(int)}};
    return status::ok;
  }
  const bool padded = m.size == sizeof(long double) + sizeof(int) && m.true_lower_bound == 0;
  if (m.size != m.true_extent && !padded) return status::invalid_argument;
  out = {{m.true_lower_bound, static_cast<std::uint64_t>(m.size)}};
  return status::ok;
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
// A pair for MPI_MAXLOC, laid out as a C struct: the index is aligned to its size.
status pair_blocks(const type_contents& c, block_list& out) {
  piece value, index;
  TELPHER_TRY(piece_of(c.types().at(0), value));
  TELPHER_TRY(piece_of(c.types().at(1), index));
  if (index.extent <= 0) return status::invalid_argument;
  const std::int64_t at = (value.extent + index.extent - 1) / index.extent * index.extent;
  append_repeated(out, value.blocks, 0, 1, value.extent);
  append_repeated(out, index.blocks, at, 1, index.extent);
  return status::ok;
}
#endif

// --- repetitions; numbers are as the standard lists them ---

// count, block length, stride in units of `unit` bytes
void vector_blocks(const std::vector<std::int64_t>& n, const piece& inner, std::int64_t unit,
                   block_list& out) {
  block_list row;
  append_repeated(row, inner.blocks, 0, n[1], inner.extent);
  append_repeated(out, row, 0, n[0], n[2] * unit);
}

// count, block lengths..., displacements... in units of `unit` bytes
void indexed_blocks(const std::vector<std::int64_t>& n, const piece& inner, std::int64_t unit,
                    block_list& out) {
  const auto count = static_cast<std::size_t>(n[0]);
  for (std::size_t i = 0; i < count; ++i)
    append_repeated(out, inner.blocks, n[1 + count + i] * unit, n[1 + i], inner.extent);
}

// count, block length, displacements... in units of `unit` bytes
void indexed_block_blocks(const std::vector<std::int64_t>& n, const piece& inner, std::int64_t unit,
                          block_list& out) {
  const auto count = static_cast<std::size_t>(n[0]);
  for (std::size_t i = 0; i < count; ++i)
    append_repeated(out, inner.blocks, n[2 + i] * unit, n[1], inner.extent);
}

status struct_blocks(const type_contents& c, block_list& out) {
  const auto& n = c.numbers();
  const auto count = c.types().size();
  for (std::size_t i = 0; i < count; ++i) {
    piece inner;
    TELPHER_TRY(piece_of(c.types()[i], inner));
    append_repeated(out, inner.blocks, n[1 + count + i], n[1 + i], inner.extent);
  }
  return status::ok;
}

// --- arrays ---

void order_dimensions(std::int64_t order, std::vector<dimension>& dimensions) {
  if (order == MPI_ORDER_C) std::reverse(dimensions.begin(), dimensions.end());
}

// dimensions, sizes..., subsizes..., starts..., order
void subarray_blocks(const std::vector<std::int64_t>& n, const piece& inner, block_list& out) {
  const auto count = static_cast<std::size_t>(n[0]);
  std::vector<dimension> dimensions;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size = n[1 + i], subsize = n[1 + count + i], start = n[1 + 2 * count + i];
    dimensions.push_back({size, {{start, subsize}}});
  }
  order_dimensions(n[1 + 3 * count], dimensions);
  out = array_blocks(inner, dimensions);
}

std::vector<index_run> distributed(std::int64_t how, std::int64_t argument, std::int64_t size,
                                   std::int64_t coordinate, std::int64_t processes) {
  if (how == MPI_DISTRIBUTE_NONE) return {{0, size}};
  std::int64_t block = argument;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG)
    block = how == MPI_DISTRIBUTE_CYCLIC ? 1 : (size + processes - 1) / processes;
  return dealt_indices(size, block, coordinate, processes);
}

// processes, rank, dimensions, sizes..., distributions..., arguments..., process grid..., order
void darray_blocks(const std::vector<std::int64_t>& n, const piece& inner, block_list& out) {
  const auto count = static_cast<std::size_t>(n[2]);
  const std::int64_t* sizes = &n[3];
  const std::int64_t *how = sizes + count, *arguments = how + count, *grid = arguments + count;
  std::int64_t below = n[0],
               rank = n[1];  // the process grid is in C order whatever the array's order
  std::vector<dimension> dimensions;
  for (std::size_t i = 0; i < count; ++i) {
    below /= grid[i];
    dimensions.push_back(
        {sizes[i], distributed(how[i], arguments[i], sizes[i], rank / below, grid[i])});
    rank %= below;
  }
  order_dimensions(grid[count], dimensions);
  out = array_blocks(inner, dimensions);
}

// --- all ---

status derived_blocks(const type_contents& c, block_list& out) {
  if (c.types().empty()) return status::invalid_argument;
  piece inner;
  TELPHER_TRY(piece_of(c.types().front(), inner));
  const auto& n = c.numbers();
  switch (c.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      out = std::move(inner.blocks);
      return status::ok;
    case MPI_COMBINER_CONTIGUOUS:
      append_repeated(out, inner.blocks, 0, n[0], inner.extent);
      return status::ok;
    case MPI_COMBINER_VECTOR:
      vector_blocks(n, inner, inner.extent, out);
      return status::ok;
#ifdef MPICH_NUMVERSION  // constructors that Fortran programs may still call there
    case MPI_COMBINER_HVECTOR_INTEGER:
#endif
    case MPI_COMBINER_HVECTOR:
      vector_blocks(n, inner, 1, out);
      return status::ok;
    case MPI_COMBINER_INDEXED:
      indexed_blocks(n, inner, inner.extent, out);
      return status::ok;
#ifdef MPICH_NUMVERSION
    case MPI_COMBINER_HINDEXED_INTEGER:
#endif
    case MPI_COMBINER_HINDEXED:
      indexed_blocks(n, inner, 1, out);
      return status::ok;
    case MPI_COMBINER_INDEXED_BLOCK:
      indexed_block_blocks(n, inner, inner.extent, out);
      return status::ok;
    case MPI_COMBINER_HINDEXED_BLOCK:
      indexed_block_blocks(n, inner, 1, out);
      return status::ok;
    case MPI_COMBINER_SUBARRAY:
      subarray_blocks(n, inner, out);
      return status::ok;
    case MPI_COMBINER_DARRAY:
      darray_blocks(n, inner, out);
      return status::ok;
    default:
      return status::invalid_argument;
  }
}

status blocks_of(MPI_Datatype type, block_list& out) {
  type_contents c;
  TELPHER_TRY(c.read(type));
  if (is_leaf(c.combiner())) return leaf_blocks(type, out);
  switch (c.combiner()) {
#ifdef MPICH_NUMVERSION
    case MPI_COMBINER_STRUCT_INTEGER:
#endif
    case MPI_COMBINER_STRUCT:
      return struct_blocks(c, out);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    case MPI_COMBINER_VALUE_INDEX:
      return pair_blocks(c, out);
#endif
    default:
      return derived_blocks(c, out);
  }
}

// Whether all basic elements of a type have `bytes`; 0 until one has been met.
status compare_leaves(MPI_Datatype type, MPI_Count& bytes, bool& uniform) {
  type_contents c;
  TELPHER_TRY(c.read(type));
  if (!is_leaf(c.combiner())) {
    for (const MPI_Datatype inner : c.types()) TELPHER_TRY(compare_leaves(inner, bytes, uniform));
    return status::ok;
  }
  measures m;
  TELPHER_TRY(measure(type, m));
  uniform = uniform && (bytes == 0 || bytes == m.size);
  bytes = m.size;
  return status::ok;
}

// The true bounds are those of the blocks. A host MPI may count members without elements.
void bound(layout& out) noexcept {
  if (out.blocks.empty()) return;
  const auto end_of = [](const layout::block& b) {
    return b.offset + static_cast<std::int64_t>(b.bytes);
  };
  std::int64_t low = out.blocks.front().offset, high = end_of(out.blocks.front());
  for (const layout::block& b : out.blocks) {
    low = std::min(low, b.offset);
    high = std::max(high, end_of(b));
  }
  out.true_lower_bound = low;
  out.true_extent = high - low;
}

}  // namespace

status flatten(MPI_Datatype type, layout& out) {
  measures m;
  TELPHER_TRY(measure(type, m));
  out.size = static_cast<std::uint64_t>(m.size);
  out.lower_bound = m.lower_bound;
  out.extent = m.extent;
  TELPHER_TRY(blocks_of(type, out.blocks));
  bound(out);
  MPI_Count leaf_bytes = 0;
  TELPHER_TRY(compare_leaves(type, leaf_bytes, out.uniform));
  out.uniform |= out.size == 0;
  std::uint64_t bytes = 0;
  out.packed_offsets.reserve(out.blocks.size());
  for (const layout::block& b : out.blocks) {
    out.packed_offsets.push_back(bytes);
    bytes += b.bytes;
  }
  if (bytes != out.size) {
    TELPHER_ERROR("a datatype of %llu bytes was decoded to %llu", (unsigned long long)out.size,
                  (unsigned long long)bytes);
    return status::invalid_argument;
  }
  out.predefined = is_predefined(type);
  out.regular = grid_of(out.blocks);
  out.contiguous = out.blocks.size() == 1 && static_cast<std::int64_t>(out.size) == out.extent;
  return status::ok;
}

}  // namespace telpher::datatype
