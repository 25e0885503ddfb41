// SPDX-License-Identifier: BSD-3-Clause
// Calls of this rank alone: the data as a stretch of packed bytes, in blocks that overlap. A file
// in native representation holds the bytes of memory. So a block may end wherever a unit of the
// file's view ends, also within an element of the program's data. Other representations convert
// elements, so there a block is a whole number of elements.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "datatype/datatype.hpp"
#include "datatype/type_contents.hpp"
#include "memory/memory.hpp"
#include "mpi/file_direct.hpp"
#include "mpi/files.hpp"
#include "path/copier.hpp"
#include "path/table.hpp"
#include "ticket/peers.hpp"
#include "ticket/progress.hpp"

namespace telpher::mpi::files {
namespace {

// A call is cut into quarters, so that the copy of the first, which nothing hides, is short. Each
// block costs a start and a wait of the device, 13 us on an H200, which blocks of less do not
// save (results/h200x1/files_blocks.txt). Larger ones were no faster.
constexpr std::uint64_t least_block = 512u << 10, largest_block = 2u << 20, page = 4u << 10;
constexpr std::uint64_t large_bytes = 8u << 20;  // more is not packed for one call

// How the data of a call is cut.
struct cut {
  memory::place where;
  const datatype::layout* layout;
  std::uint64_t bytes;  // of the data, packed
  std::uint64_t block;
  view seen;
  MPI_Datatype type;   // of a block: MPI_BYTE, or the program's
  std::uint64_t size;  // of one such
  std::int64_t away;   // its first byte, from the address that the host MPI gets
};

/// `contiguous`: whether the view has holes is of interest.
view view_of(MPI_File file, bool contiguous) noexcept {
  view v;
  MPI_Datatype unit = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING];
  if (file == MPI_FILE_NULL ||
      pmpi::File_get_view(file, &v.begins, &unit, &filetype, representation) != MPI_SUCCESS)
    return {};
  int bytes = 0;
  pmpi::Type_size(unit, &bytes);
  v.unit = bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
  v.native = std::strcmp(representation, "native") == 0;
  if (contiguous) {
    const auto l = datatype::layout_of(filetype);
    v.contiguous = l && (*l)->is_plain();
  }
  for (MPI_Datatype* type : {&unit, &filetype})
    if (!datatype::is_predefined(*type)) pmpi::Type_free(type);
  return v;
}

bool is_atomic(MPI_File file) noexcept {
  int atomic = 0;
  return pmpi::File_get_atomicity(file, &atomic) != MPI_SUCCESS || atomic;
}

// Not cut. The kernel that stays copies all at once.
bool is_small(std::uint64_t bytes) noexcept {
  return bytes < 2 * least_block || path::linger_sizes.holds(bytes);
}

std::uint64_t block_of(std::uint64_t bytes, std::uint64_t multiple_of) noexcept {
  const std::uint64_t quarter = (bytes / 4 + page - 1) / page * page;
  const std::uint64_t wanted = std::clamp(quarter, least_block, largest_block);
  const std::uint64_t block = std::max<std::uint64_t>(wanted / multiple_of, 1) * multiple_of;
  return is_small(bytes) ? bytes : std::min(block, bytes);
}

// Nothing where an image of the program's buffer must be passed: its blocks lie in several kinds of
// memory, a representation converts elements with gaps, the call must be atomic and not small, or
// the host MPI will refuse it.
std::optional<cut> cut_of(const access& a) noexcept {
  const auto found = datatype::layout_of(a.type);
  if (!found) return std::nullopt;
  const datatype::layout& l = **found;
  if (!datatype::is_committed(l, a.type, ticket::job().control) ||
      (a.buffer == MPI_BOTTOM && datatype::mixes_places(l, a.buffer)))
    return std::nullopt;
  const std::uint64_t bytes = l.size * static_cast<std::uint64_t>(a.count);
  const auto* first = static_cast<const std::byte*>(a.buffer) + l.blocks.front().offset;
  cut c{memory::classify(first), &l, bytes, bytes, {.unit = 1}, a.type, l.size, l.true_lower_bound};
  if (is_small(bytes) && l.contiguous) return c;  // whatever the file's view is
  const view v = view_of(a.file, bytes > large_bytes && is_direct(a));
  if (v.unit == 0 || bytes % v.unit != 0 || !(v.native || l.contiguous)) return std::nullopt;
  const std::uint64_t block = block_of(bytes, v.native ? v.unit : std::lcm(v.unit, l.size));
  const bool at_once = block < bytes && is_atomic(a.file);
  if ((at_once && bytes > large_bytes) || block > std::numeric_limits<int>::max())
    return std::nullopt;
  c.block = at_once ? bytes : block;
  c.seen = v;
  if (v.native) {
    c.type = MPI_BYTE;
    c.size = 1;
    c.away = 0;
  }
  return c;
}

// Two blocks of pinned memory that take turns between the device and the file, from byte `first` of
// the data on.
class pipeline {
 public:
  pipeline(const access& a, const cut& c, std::uint64_t first) noexcept
      : access_(a), cut_(c), reads_(a.way == direction::read), first_(first), done_(first) {}

  status prepare() noexcept {
    const bool gaps = !cut_.layout->one_run(access_.count);
    auto s = memory::stream(cut_.where, gaps     ? memory::stream_role::kernel
                                        : reads_ ? memory::stream_role::copy
                                                 : memory::stream_role::in);
    TELPHER_TRY(s);
    stream_ = *s;
    for (memory::buffer& b : blocks_) {
      auto block = gaps ? memory::buffer::for_kernels(cut_.block, cut_.where.owner)
                        : memory::buffer::host(cut_.block, cut_.where.owner, true);
      TELPHER_TRY(std::move(block).into(b));
      if (cut_.block == cut_.bytes) break;
    }
    return status::ok;
  }

  /// Moves all, or as much as the host MPI and the device can. `outcome` is the device's; the host
  /// MPI's code is returned.
  int run(MPI_Offset offset, MPI_Status* last, const host_call& f, status& outcome) noexcept {
    int code = MPI_SUCCESS;
    if (!reads_) outcome = move(first_, bytes_at(first_));
    for (std::uint64_t at = first_; at < cut_.bytes && !failed(outcome); at += cut_.block) {
      const std::uint64_t n = bytes_at(at);
      if (!reads_) {
        outcome = wait();
        if (failed(outcome)) break;
        const std::uint64_t next = at + cut_.block;
        if (next < cut_.bytes) outcome = move(next, bytes_at(next));
      }
      code = f(block(at) - cut_.away, static_cast<MPI_Count>(n / cut_.size), cut_.type,
               offset + static_cast<MPI_Offset>(at / cut_.seen.unit), last);
      const std::uint64_t moved = code == MPI_SUCCESS ? std::min(transferred(*last), n) : 0;
      if (!reads_)
        done_ += moved;
      else if (!failed(outcome))
        outcome = end_move();
      if (reads_ && moved > 0 && !failed(outcome)) {
        outcome = move(at, moved);
        if (!failed(outcome)) under_way_ = moved;
      }
      if (moved < n) break;
    }
    const status last_one = end_move();
    if (!failed(outcome)) outcome = last_one;
    return code;
  }

  /// Bytes that are in the file, or on the device.
  std::uint64_t done() const noexcept { return done_; }

 private:
  std::uint64_t bytes_at(std::uint64_t at) const noexcept {
    return std::min(cut_.block, cut_.bytes - at);
  }
  std::byte* block(std::uint64_t at) const noexcept {
    return static_cast<std::byte*>(blocks_[(at - first_) / cut_.block % 2].data());
  }
  // All of a small call at once, by the kernel that stays, where it does: no call of the driver.
  status move_by_kernel(std::uint64_t at, std::uint64_t bytes) noexcept {
    if (cut_.block != cut_.bytes || !path::linger_sizes.holds(bytes) ||
        !cut_.layout->one_run(access_.count) || !blocks_[0].pinned())
      return status::not_supported;
    std::byte *const there = static_cast<std::byte*>(access_.buffer) +
                             cut_.layout->blocks.front().offset + at,
                     *const here = block(at);
    const auto held = ticket::progress().lock();
    return path::copier::copy_by_linger(cut_.where, reads_ ? there : here, reads_ ? here : there,
                                        bytes, reads_);
  }
  // Between the device and the block.
  status move(std::uint64_t at, std::uint64_t bytes) noexcept {
    if (const status s = move_by_kernel(at, bytes); s != status::not_supported) return s;
    in_stream_ = true;
    device::backend& owner = *cut_.where.owner;
    return reads_ ? datatype::unpack_part(owner, *cut_.layout, block(at), at, bytes, access_.buffer,
                                          stream_)
                  : datatype::pack_part(owner, *cut_.layout, access_.buffer, at, bytes, block(at),
                                        stream_);
  }
  status wait() noexcept {
    return std::exchange(in_stream_, false) ? cut_.where.owner->synchronise(stream_) : status::ok;
  }
  status end_move() noexcept {
    const status s = wait();
    if (!failed(s)) done_ += under_way_;
    under_way_ = 0;
    return s;
  }

  const access& access_;
  const cut& cut_;
  bool reads_;
  device::stream stream_{};
  bool in_stream_ = false;  // something that has not been waited for
  memory::buffer blocks_[2];
  std::uint64_t first_;
  std::uint64_t done_;
  std::uint64_t under_way_ = 0;  // of a read, to the device
};

// What the vendor's library moves of large data that lies together in memory and in the file.
// `ended`: that is all.
std::uint64_t move_directly(const access& a, const cut& c, std::optional<MPI_Offset> offset,
                            bool& ended) noexcept {
  if (!c.seen.contiguous || c.block == c.bytes || !c.layout->one_run(a.count)) return 0;
  return move_directly(
      a, {c.where, static_cast<std::byte*>(a.buffer) + c.layout->blocks[0].offset, c.bytes, c.seen},
      offset, ended);
}

}  // namespace

int access::in_blocks(std::optional<MPI_Offset> offset, MPI_Status* status,
                      const host_call& f) const noexcept {
  const auto c = cut_of(*this);
  if (!c) return whole(offset, status, f);
  MPI_Status seen{};
  MPI_Status* const last = status == MPI_STATUS_IGNORE ? &seen : status;
  bool ended = false;
  pipeline blocks(*this, *c, move_directly(*this, *c, offset, ended));
  auto outcome = ended ? telpher::status::ok : blocks.prepare();
  int code = MPI_SUCCESS;
  if (!ended && !failed(outcome)) code = blocks.run(offset.value_or(0), last, f, outcome);
  path::count(path::kind::file, blocks.done());
  pmpi::Status_set_cancelled(last, 0);
  pmpi::Status_set_elements_x(last, MPI_BYTE, static_cast<MPI_Count>(blocks.done()));
  if (code != MPI_SUCCESS) return code;
  return failed(outcome) ? fail(outcome) : MPI_SUCCESS;
}

}  // namespace telpher::mpi::files
