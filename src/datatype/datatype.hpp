// SPDX-License-Identifier: BSD-3-Clause
// MPI datatypes as the message path needs them: how many bytes, where they lie, and how to gather
// them from device memory. A type is flattened once, at its first use, and kept as long as the host
// MPI keeps the type.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "datatype/strided.hpp"
#include "datatype/unpack_plan.hpp"
#include "device/device.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::datatype {

struct device_table;

/// Blocks of one size at regular distances, in up to three dimensions, the fastest first: a vector,
/// a subarray, a vector of vectors. A kernel computes where its blocks lie.
struct grid {
  std::uint64_t counts[3] = {1, 1, 1};
  std::int64_t strides[3] = {};
};

/// A committed type in canonical form. Offsets are from the buffer address; blocks are in the order
/// of the type map (which is the order of the packed bytes) with neighbours merged.
struct layout {
  struct block {
    std::int64_t offset;
    std::uint64_t bytes;
  };
  std::uint64_t size = 0;  // bytes of data in one element (MPI_Type_size_x)
  std::int64_t lower_bound = 0;
  std::int64_t extent = 0;
  std::int64_t true_lower_bound = 0;
  std::int64_t true_extent = 0;
  bool contiguous = false;  // count elements are one run of bytes: one block, size == extent
  bool predefined = false;  // lives until MPI_Finalize: nobody needs to hold it
  bool uniform = true;      // all basic elements are of one size
  std::vector<block> blocks;
  std::vector<std::uint64_t> packed_offsets;  // of each block, in the packed bytes of one element
  std::optional<grid> regular;  // where the blocks lie, if they are a grid of less than 2^31

  /// Whether any number of elements are one run of bytes that begins at the buffer's address.
  bool is_plain() const noexcept {
    return contiguous && !blocks.empty() && blocks.front().offset == 0;
  }
  /// Whether so many elements are one run of bytes, at `true_lower_bound`.
  bool one_run(MPI_Count count) const noexcept {
    return contiguous || (count == 1 && blocks.size() == 1);
  }

  layout() = default;
  layout(const layout&) = delete;
  layout& operator=(const layout&) = delete;
  ~layout();

  mutable std::atomic<const device_table*> tables{nullptr};  // block tables in device memory
  mutable std::atomic<int> users{1};                         // the cache, and every `hold`
  mutable std::atomic<bool> committed{false};                // as far as `is_committed` knows
};

/// The layout of a type; predefined types and repeated look-ups cost one hash probe. Never null: a
/// type that cannot be decoded (no envelope) is an invalid_argument. The pointer is valid until the
/// type is freed; work that outlives the call (a type may be freed before its message is complete)
/// takes a `hold`.
///
/// The host MPI says when a type ends, by the delete callback of an attribute, whoever freed it. A
/// handle is used again only after that, so it never finds the layout of another type.
result<const layout*> layout_of(MPI_Datatype type) noexcept;

/// Whether messages may use the type. The host MPI is asked, on a communicator whose errors return,
/// by a receive from MPI_PROC_NULL. Once it has said yes, it is not asked again.
[[gnu::cold, gnu::noinline]] bool is_committed_slow(const layout& l, MPI_Datatype type,
                                                    MPI_Comm comm) noexcept;
inline bool is_committed(const layout& l, MPI_Datatype type, MPI_Comm comm) noexcept {
  return l.committed.load(std::memory_order_relaxed) || is_committed_slow(l, type, comm);
}

/// A type of the same elements, to be freed, which stays when the program frees its own; committed
/// as that is (`comm` as above). It has no attributes: MPI_Type_dup would call the program's
/// functions for them. Null if the host MPI makes none.
MPI_Datatype duplicate_of(MPI_Datatype type, MPI_Comm comm) noexcept;

/// Keeps a layout alive after MPI_Type_free.
class hold {
 public:
  hold() = default;
  explicit hold(const layout* l) noexcept : layout_(l) {
    if (!layout_->predefined) layout_->users.fetch_add(1, std::memory_order_relaxed);
  }
  hold(hold&& other) noexcept : layout_(std::exchange(other.layout_, nullptr)) {}
  hold& operator=(hold&& other) noexcept {
    std::swap(layout_, other.layout_);
    return *this;
  }
  ~hold() {
    if (layout_ && !layout_->predefined) drop(layout_);
  }

  const layout* get() const noexcept { return layout_; }
  const layout* operator->() const noexcept { return layout_; }
  const layout& operator*() const noexcept { return *layout_; }

  static void drop(const layout* l) noexcept;

 private:
  const layout* layout_ = nullptr;
};

/// Whether the blocks of an element at `base` lie in different kinds of memory, or on different
/// devices. Looks up each block, so it is only for MPI_BOTTOM, whose types hold addresses.
bool mixes_places(const layout& l, const void* base) noexcept;

/// Forgets every type and gives device memory back; from MPI_Finalize, before the devices go away.
void shut_down() noexcept;

/// Gathers `count` elements at device address `base` into contiguous bytes at `packed` (device or
/// pinned memory), or scatters them back; enqueued on `s`. Uses one kernel launch.
status pack(device::backend& b, const layout& l, const void* base, MPI_Count count, void* packed,
            device::stream s) noexcept;
status unpack(device::backend& b, const layout& l, const void* packed, void* base, MPI_Count count,
              device::stream s) noexcept;

/// The same for bytes [first, first + bytes) of the packed ones, which are those at `packed`.
status pack_part(device::backend& b, const layout& l, const void* base, std::uint64_t first,
                 std::uint64_t bytes, void* packed, device::stream s) noexcept;
status unpack_part(device::backend& b, const layout& l, const void* packed, std::uint64_t first,
                   std::uint64_t bytes, void* base, device::stream s) noexcept;

/// Copies contiguous bytes on a device, each unit of 2, 4 or 8 with its bytes in the other order;
/// `to` may be `from`. Enqueued on `s`.
status swap_bytes(device::backend& b, int device, void* to, const void* from, std::uint64_t bytes,
                  std::uint32_t unit, device::stream s) noexcept;

/// `count` elements of a `regular` layout, whose first block lies at `first`.
strided strided_of(const layout& l, const void* first, std::uint64_t count) noexcept;

/// What a kernel of `device` needs to do the latter, for launches that take several messages. A
/// table of blocks is made in `s` if there is none yet. With `from` the bytes are not packed: their
/// first block lies at `packed` (not_supported if the elements are no grid of such units).
result<unpack_plan> plan_unpack(device::backend& b, const layout& l, int device, const void* packed,
                                const strided* from, void* base, MPI_Count count,
                                device::stream s) noexcept;

/// The same to `bytes` contiguous bytes at `to`. not_supported if they are not aligned.
result<unpack_plan> plan_gather(device::backend& b, int device, const void* first,
                                const strided& from, void* to, std::uint64_t bytes) noexcept;

/// The same on host memory, by the CPU, for bytes [first, first + bytes) of the packed stream.
void pack_host(const layout& l, const void* base, std::uint64_t first, std::uint64_t bytes,
               void* packed) noexcept;
void unpack_host(const layout& l, const void* packed, std::uint64_t first, std::uint64_t bytes,
                 void* base) noexcept;

}  // namespace telpher::datatype
