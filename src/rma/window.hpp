// SPDX-License-Identifier: BSD-3-Clause
// What Telpher keeps for a window of the program. The handle is always the host MPI's. A window
// without device memory is served by the host MPI alone. It has a record here only while operations
// with a device buffer of this rank are under way.
//
// A window with device memory at any rank is served in one of two ways, the same on all its ranks:
//
//   way      when                               operations              synchronisation
//   direct   all ranks are on one node and      on device memory: this  by the words of words.hpp;
//            can open all the device memory     rank's device, at once; also the host MPI's, if a
//                                               on host memory: the     rank exposes host memory
//                                               host MPI's
//   image    else                               the host MPI's, on      the host MPI's, and
//                                               host images             merges (merging.hpp)
//
// Where ranks are outside the job each rank has an image of its own device memory, and a record of
// no other rank (alone.cpp).
//
// The memory of one rank is always served in one way, so that accumulates of all origins exclude
// each other: host memory by the host MPI, device memory by its exclusion word.
//
// A direct update is complete at both ends when its call returns; puts and gets are under way until
// a call that completes them (under_way.hpp). So synchronisation only has to wait for this rank's
// own copies, and to order calls. It waits until a word has a value, and keeps messages moving
// meanwhile. It never needs another rank's help.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "staging/host_images.hpp"
#include "datatype/move.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/imported.hpp"
#include "rma/attached_images.hpp"
#include "rma/image.hpp"
#include "rma/merging.hpp"
#include "rma/relay.hpp"
#include "rma/under_way.hpp"
#include "rma/words.hpp"

namespace telpher::rma {

/// What a rank tells the others of its part when a window is made.
struct exposed {
  std::int64_t bytes;
  std::int64_t unit;
  std::uint8_t on_device;
  std::uint8_t failed;  // it cannot take part, so no window is made
  std::uint8_t apart;   // a shared window: on a device of its own
  path::exported_memory memory;
};

/// Device memory of a rank as this process reaches it.
struct reached {
  memory::mapping mapping;  // of another process's
  datatype::side at;
};

/// Why a window with device memory is not direct, and the first rank for which that holds (-1: not
/// known here).
struct obstacle {
  enum class why : std::uint8_t { none, other_node, not_exported, not_opened, outside_job };
  why what = why::none;
  int rank = -1;
};

/// A window as the program's kernels use it (telpher_win_device).
struct kernel_view {
  memory::buffer record;         // of device memory
  std::vector<reached> targets;  // what the record names, opened for the device of those kernels
  const void* handle = nullptr;  // the record, where kernels find it
  std::unique_ptr<relay> far;    // to ranks of other nodes

  /// Waits until the puts of kernels are complete; false if some may not be.
  bool quiet(const char* call) const noexcept { return !far || far->quiet(call); }
  /// Collective; kernels use the window no longer.
  void end(const char* call) noexcept;
};

/// Device buffers of an operation that the host MPI carries out on their images. Shared by the
/// window and the operation's request; whichever completes it first writes the results.
class staged_operation {
 public:
  explicit staged_operation(int target_) noexcept : target(target_) {}
  staging::host_images images{path::kind::none};
  const int target;
  std::uint64_t number = 0;  // in the order of the calls on its window
  /// The host MPI has completed the operation. Where another thread finishes it, waits for that.
  status finish() noexcept;
  bool finished() const noexcept { return finished_.load(std::memory_order_acquire); }

 private:
  std::mutex guard_;
  std::atomic<bool> finished_{false};
};

enum class hold : std::uint8_t { none, shared, exclusive, unchecked };

struct window {
  enum class way { host, image, direct };

  MPI_Win handle = MPI_WIN_NULL;
  way by = way::host;
  int flavour = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_SEPARATE;
  int rank = 0;
  void* base = nullptr;  // of this rank, as the program knows it
  MPI_Aint bytes = 0;
  int unit = 1;
  std::vector<exposed> ranks;
  bool host_too = false;       // direct: some memory is the host MPI's
  void* own_host = nullptr;    // by PMPI_Alloc_mem: an image, or what the program asked for
  void* own_device = nullptr;  // by telpher_malloc
  std::unique_ptr<image> mirror;
  std::unique_ptr<attached_images> attached;  // of every dynamic window that is not direct
  asserted said;
  obstacle not_direct;

  // --- MPI_Win_allocate_shared ---
  bool contiguous = false;   // rank 0 has allocated all parts as one
  memory::place kernels_on;  // whose kernels use the parts at this rank

  // --- direct ---
  words shared;
  std::vector<reached> targets;
  std::shared_ptr<under_way> copies;
  std::unique_ptr<kernel_view> for_kernels;
  std::uint32_t votes = 0;
  std::shared_ptr<const std::vector<int>> processes;  // the job's rank of each
  std::uint64_t fences = 0;
  bool fenced = false;                     // an epoch between fences may be open
  bool accesses = false, exposes = false;  // between start and complete, post and wait
  std::vector<hold> held;
  std::atomic<int> host_locks{0};    // epochs of MPI_Win_lock and _lock_all that the host MPI has
  std::vector<int> started, posted;  // the groups of the epochs that are open
  std::vector<std::uint64_t> starts, posts;  // how often, for each rank

  // --- operations of the host MPI with images, until they are completed ---
  std::mutex guard;
  std::list<std::shared_ptr<staged_operation>> pending;  // by number
  std::uint64_t issued = 0;

  int size() const noexcept { return static_cast<int>(ranks.size()); }
  bool dynamic() const noexcept { return flavour == MPI_WIN_FLAVOR_DYNAMIC; }
  bool valid(int target) const noexcept { return target >= 0 && target < size(); }
  /// The rank that has allocated the memory of this one.
  int owner(int of) const noexcept { return contiguous ? 0 : of; }
  /// The rank's memory is, or may be, served by direct operations; or by those of the host MPI.
  bool direct_at(int target) const noexcept {
    return by == way::direct && valid(target) &&
           (dynamic() || ranks[static_cast<std::size_t>(target)].on_device);
  }
  bool host_at(int target) const noexcept {
    return by != way::direct || !valid(target) || dynamic() ||
           !ranks[static_cast<std::size_t>(target)].on_device;
  }
};

inline std::atomic<int> known_windows{0};

/// The record, or null.
window* find_slow(MPI_Win handle) noexcept;
/// When the job starts, before any other.
void start_windows() noexcept;
inline window* find(MPI_Win handle) noexcept {
  return known_windows.load(std::memory_order_relaxed) == 0 ? nullptr : find_slow(handle);
}
/// The record, made if there is none; may throw std::bad_alloc.
window& record_of(MPI_Win handle);
window& keep(std::unique_ptr<window> w);
std::unique_ptr<window> take(MPI_Win handle) noexcept;

/// Opens another process's memory, for kernels of the device `here` if that is given.
status reach(const path::exported_memory& m, int process, const memory::place& here,
             reached& out) noexcept;
/// The same for copies: on `here` if that can be.
status reach_best(const path::exported_memory& m, int process, const memory::place& here,
                  reached& out) noexcept;
/// Collective over the ranks of a direct window: waits for all.
void meet(window& w, const char* call) noexcept;
/// Before a direct operation at `target`: whether an epoch allows it; waits for its MPI_Win_post.
bool enter_epoch(window& w, int target, const char* call) noexcept;

}  // namespace telpher::rma
