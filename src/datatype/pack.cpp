// SPDX-License-Identifier: BSD-3-Clause
// Gathering and scattering on devices, by one kernel. The kernel's parameters describe blocks that
// form a grid. Other blocks stand in a table in device memory, which is made at the layout's first
// use on a device and lives as long as the layout. Its memory comes from a pool and goes back
// there. Without the pool each new type would cost an allocation, and freeing it might wait for
// every kernel of the device, even for one that waits for MPI. The caller keeps the layout until
// the kernel has ended.
#include <algorithm>
#include <mutex>
#include <new>

#include "datatype/datatype.hpp"
#include "datatype/strided.hpp"
#include "memory/memory.hpp"

namespace telpher::datatype {

/// One layout's blocks on one device. The tables of a layout form a list; new ones are added at the
/// front, and none is removed.
struct device_table {
  device::backend* owner;
  int device;
  memory::buffer memory;
  const device_table* next;
};

namespace {

constexpr int threads = unpack_plan::threads;
constexpr int groups_per_processor = 8;

std::mutex making_tables;

/// How many blocks of threads fill a device. A list like that of the tables.
struct width {
  device::backend* owner;
  int device;
  std::uint64_t groups;
  const width* next;
};
std::atomic<const width*> widths{nullptr};

const width* find_width(const device::backend& b, int device) noexcept {
  const width* w = widths.load(std::memory_order_acquire);
  while (w && (w->owner != &b || w->device != device)) w = w->next;
  return w;
}

[[gnu::cold]] result<const width*> measure_width(device::backend& b, int device) noexcept {
  std::lock_guard lock(making_tables);
  if (const width* known = find_width(b, device)) return known;
  device::device_properties properties{};
  TELPHER_TRY(b.properties(device, properties));
  const auto* w = new (std::nothrow)
      width{&b, device,
            static_cast<std::uint64_t>(std::max(groups_per_processor * properties.processors, 1)),
            widths.load(std::memory_order_relaxed)};
  if (!w) return status::out_of_memory;
  widths.store(w, std::memory_order_release);
  return w;
}

result<const width*> width_of(device::backend& b, int device) noexcept {
  if (const width* w = find_width(b, device)) return w;
  return measure_width(b, device);
}

const device_table* find_table(const layout& l, const device::backend& b, int device) noexcept {
  const device_table* t = l.tables.load(std::memory_order_acquire);
  while (t && (t->owner != &b || t->device != device)) t = t->next;
  return t;
}

// Three arrays one after the other, as kernel::pack_blocks names them: offset, length,
// packed_offset.
std::vector<std::uint64_t> table_words(const layout& l) {
  const std::size_t n = l.blocks.size();
  std::vector<std::uint64_t> words(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    words[i] = static_cast<std::uint64_t>(l.blocks[i].offset);
    words[n + i] = l.blocks[i].bytes;
    words[2 * n + i] = l.packed_offsets[i];
  }
  return words;
}

status upload(device::backend& b, const std::vector<std::uint64_t>& words, void* to,
              device::stream s) noexcept {
  TELPHER_TRY(b.copy(to, words.data(), words.size() * sizeof words[0], s));
  return b.synchronise(s);  // other streams use the table without waiting for this one
}

[[gnu::cold]] result<const device_table*> make_table(device::backend& b, const layout& l,
                                                     int device, device::stream s) noexcept {
  std::lock_guard lock(making_tables);
  if (const device_table* made = find_table(l, b, device)) return made;
  try {
    const auto words = table_words(l);
    auto memory = memory::buffer::device({&b, device}, words.size() * sizeof words[0]);
    TELPHER_TRY(memory);
    TELPHER_TRY(upload(b, words, memory->data(), s));
    const auto* t =
        new device_table{&b, device, std::move(*memory), l.tables.load(std::memory_order_relaxed)};
    l.tables.store(t, std::memory_order_release);
    return t;
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

// Kernels count units, and divide their numbers, in 32 bits.
bool too_many(std::uint64_t bytes, std::uint32_t unit) noexcept {
  return bytes / unit >= kernel::divisor::limit;
}

// A grid is moved by units, if there are such in all that is named; else block by block.
void describe_grid(const layout& l, kernel::pack_blocks& p) noexcept {
  p.is_grid = 1;
  p.base += l.blocks.front().offset;
  const strided s = strided_of(l, p.base, (p.first + p.bytes + l.size - 1) / l.size);
  p.unit =
      std::min(s.unit, common_unit(reinterpret_cast<std::uintptr_t>(p.packed) | p.first | p.bytes));
  if (p.unit != 0 && too_many(p.first + p.bytes, p.unit)) p.unit = 0;
  p.regular = block_grid_of(s, p.unit);
}

// The row that holds a packed byte.
std::uint64_t row_of(const layout& l, std::uint64_t byte) noexcept {
  const auto after =
      std::upper_bound(l.packed_offsets.begin(), l.packed_offsets.end(), byte % l.size);
  return byte / l.size * l.blocks.size() +
         static_cast<std::uint64_t>(after - l.packed_offsets.begin()) - 1;
}

// Fills in where the blocks lie: as a grid, or by the table.
status describe(device::backend& b, const layout& l, int device, device::stream s,
                kernel::pack_blocks& p) noexcept {
  if (l.regular) {
    describe_grid(l, p);
    return status::ok;
  }
  const device_table* t = find_table(l, b, device);
  if (!t) {
    const auto made = make_table(b, l, device, s);
    TELPHER_TRY(made);
    t = *made;
  }
  const auto* words = static_cast<const std::uint64_t*>(t->memory.data());
  const std::uint64_t first = row_of(l, p.first);
  p.listed = {reinterpret_cast<const std::int64_t*>(words),
              words + p.blocks,
              words + 2 * p.blocks,
              l.extent,
              first,
              row_of(l, p.first + p.bytes - 1) - first + 1};
  return status::ok;
}

// A thread for each piece that a thread moves in a step, and at least one for each row.
result<unpack_plan> shared_out(device::backend& b, int device,
                               const kernel::pack_blocks& p) noexcept {
  const auto w = width_of(b, device);
  TELPHER_TRY(w);
  const std::uint64_t rows = p.bytes / p.size * p.blocks;
  const std::uint64_t busy = p.unit ? p.bytes / p.unit : std::max(rows, p.bytes / 16);
  return unpack_plan{p, std::clamp<std::uint64_t>((busy + threads - 1) / threads, 1, (*w)->groups),
                     (*w)->groups};
}

// Serves both directions, hence the addresses without const. Counts from the first element that the
// bytes touch, so that the numbers stay small.
result<kernel::pack_blocks> blocks_of(device::backend& b, const layout& l, int device,
                                      std::uint8_t* base, std::uint64_t first, std::uint64_t bytes,
                                      std::uint8_t* packed, device::stream s) noexcept {
  kernel::pack_blocks p{};
  p.packed = packed;
  p.base = base + static_cast<std::int64_t>(first / l.size) * l.extent;
  p.first = first % l.size;
  p.bytes = bytes;
  p.size = l.size;
  p.blocks = l.blocks.size();
  TELPHER_TRY(describe(b, l, device, s, p));
  return p;
}

// Where the bytes that `p` unpacks are not packed, but lie in a grid of their own.
status from_grid(const strided& from, kernel::pack_blocks& p) noexcept {
  if (!p.is_grid || p.unit == 0) return status::not_supported;
  p.unit = std::min(p.unit, from.unit);
  if (p.unit == 0 || too_many(p.first + p.bytes, p.unit)) return status::not_supported;
  p.regular.units_of_block = units_of(p.size / p.blocks, p.unit);
  p.from_grid = 1;
  p.other = block_grid_of(from, p.unit);
  return status::ok;
}

status launch(device::backend& b, kernel::id k, const layout& l, std::uint8_t* base,
              std::uint64_t first, std::uint64_t bytes, std::uint8_t* packed,
              device::stream s) noexcept {
  device::pointer_info where;
  TELPHER_TRY(b.classify(base + l.blocks.front().offset, false, where));
  const auto blocks = blocks_of(b, l, where.device, base, first, bytes, packed, s);
  TELPHER_TRY(blocks);
  const auto p = shared_out(b, where.device, *blocks);
  TELPHER_TRY(p);
  return b.launch(k, &p->rows, static_cast<int>(p->blocks), threads, s);
}

// Whether so many bytes from the first one on are one run, at the first block.
bool one_run(const layout& l, std::uint64_t end) noexcept {
  return l.contiguous || end <= l.blocks.front().bytes;
}

}  // namespace

layout::~layout() {
  for (const device_table* t = tables.load(std::memory_order_acquire); t;) {
    const device_table* next = t->next;
    delete t;
    t = next;
  }
}

strided strided_of(const layout& l, const void* first, std::uint64_t count) noexcept {
  strided s;
  s.block_bytes = l.blocks.front().bytes;
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(first) | s.block_bytes;
  for (int d = 0; d < 3; ++d) {
    s.counts[d] = static_cast<std::uint32_t>(l.regular->counts[d]);
    s.strides[d] = l.regular->strides[d];
    bits |= static_cast<std::uint64_t>(s.strides[d]);
  }
  s.extent = count > 1 ? l.extent : 0;
  bits |= static_cast<std::uint64_t>(s.extent);
  s.unit = common_unit(bits);
  if (s.unit != 0 && too_many(count * l.size, s.unit)) s.unit = 0;
  return s;
}

status pack_part(device::backend& b, const layout& l, const void* base, std::uint64_t first,
                 std::uint64_t bytes, void* packed, device::stream s) noexcept {
  if (bytes == 0) return status::ok;
  auto* from = static_cast<std::uint8_t*>(const_cast<void*>(base));
  if (one_run(l, first + bytes))
    return b.copy(packed, from + l.blocks.front().offset + first, bytes, s);
  return launch(b, kernel::id::pack_blocks, l, from, first, bytes,
                static_cast<std::uint8_t*>(packed), s);
}

status unpack_part(device::backend& b, const layout& l, const void* packed, std::uint64_t first,
                   std::uint64_t bytes, void* base, device::stream s) noexcept {
  if (bytes == 0) return status::ok;
  auto* to = static_cast<std::uint8_t*>(base);
  if (one_run(l, first + bytes))
    return b.copy(to + l.blocks.front().offset + first, packed, bytes, s);
  return launch(b, kernel::id::unpack_blocks, l, to, first, bytes,
                static_cast<std::uint8_t*>(const_cast<void*>(packed)), s);
}

status pack(device::backend& b, const layout& l, const void* base, MPI_Count count, void* packed,
            device::stream s) noexcept {
  return pack_part(b, l, base, 0, l.size * static_cast<std::uint64_t>(count), packed, s);
}

status unpack(device::backend& b, const layout& l, const void* packed, void* base, MPI_Count count,
              device::stream s) noexcept {
  return unpack_part(b, l, packed, 0, l.size * static_cast<std::uint64_t>(count), base, s);
}

status swap_bytes(device::backend& b, int device, void* to, const void* from, std::uint64_t bytes,
                  std::uint32_t unit, device::stream s) noexcept {
  if (bytes == 0) return status::ok;
  const auto w = width_of(b, device);
  TELPHER_TRY(w);
  const kernel::swap_bytes p{static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(from),
                             bytes, unit};
  const std::uint64_t useful = (bytes / sizeof(std::uint64_t) + threads - 1) / threads;
  const auto groups = std::clamp<std::uint64_t>(useful, 1, (*w)->groups);
  return b.launch(kernel::id::swap_bytes, &p, static_cast<int>(groups), threads, s);
}

result<unpack_plan> plan_unpack(device::backend& b, const layout& l, int device, const void* packed,
                                const strided* from, void* base, MPI_Count count,
                                device::stream s) noexcept {
  auto* source = static_cast<std::uint8_t*>(const_cast<void*>(packed));
  const std::uint64_t bytes = l.size * static_cast<std::uint64_t>(count);
  auto p = blocks_of(b, l, device, static_cast<std::uint8_t*>(base), 0, bytes, source, s);
  TELPHER_TRY(p);
  if (from) TELPHER_TRY(from_grid(*from, *p));
  return shared_out(b, device, *p);
}

result<unpack_plan> plan_gather(device::backend& b, int device, const void* first,
                                const strided& from, void* to, std::uint64_t bytes) noexcept {
  const std::uint32_t unit = std::min(
      from.unit,
      common_unit(reinterpret_cast<std::uintptr_t>(first) | reinterpret_cast<std::uintptr_t>(to)));
  if (unit == 0 || too_many(bytes, unit)) return status::not_supported;
  kernel::pack_blocks p{};
  p.packed = static_cast<std::uint8_t*>(const_cast<void*>(first));
  p.base = static_cast<std::uint8_t*>(to);
  p.bytes = bytes;
  p.size = bytes;
  p.blocks = 1;
  p.is_grid = 1;
  p.unit = unit;
  p.regular = block_grid_of({bytes, {1, 1, 1}, unit, {}, 0}, unit);
  p.from_grid = 1;
  p.other = block_grid_of(from, unit);
  return shared_out(b, device, p);
}

}  // namespace telpher::datatype
