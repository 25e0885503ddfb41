// SPDX-License-Identifier: BSD-3-Clause
// The collectives that are measured. Each is one row: what goes in, what must come out, and how its
// three forms are called. A buffer is a sequence of equal blocks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace telpher::bench {

// MPI 4.0 introduced the persistent forms. Open MPI 5 has them although it reports MPI 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define TELPHER_HAS_PERSISTENT_COLLECTIVES 1
#else
#define TELPHER_HAS_PERSISTENT_COLLECTIVES 0
#endif

enum class form { blocking, nonblocking, persistent };

/// The neighbours in neighbourhood collectives: a periodic grid of all ranks with extents as equal
/// as possible. A rank's neighbours are the ranks up to `radius` away along an axis, each once.
class grid {
 public:
  grid() = default;
  grid(int ranks, int dimensions, int radius);
  std::vector<int> neighbours(int rank) const;
  /// A communicator with this grid; the caller frees it.
  MPI_Comm communicator(MPI_Comm comm) const;

 private:
  std::vector<int> extents_;
  int radius_ = 1;
};

/// The arguments of every collective; a collective ignores those that it does not take.
struct arguments {
  const void* send = nullptr;
  void* receive = nullptr;
  int count = 0;  // elements of one block
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_SUM;
  int root = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  // For the v and w variants, with an entry for each block:
  std::vector<int> counts, places, byte_places;
  std::vector<MPI_Aint> neighbour_places;
  std::vector<MPI_Datatype> types;

  /// Fills the arrays for `blocks` blocks.
  void set_blocks(int blocks);
};

struct collective {
  enum class blocks { none, one, each_rank, each_neighbour };
  enum class significant { everywhere, at_root };
  /// Which bytes count for the bandwidth and for the bus bandwidth, as nccl-tests count them.
  enum class traffic { none, block, all_blocks, allreduce };
  /// Where a block that a rank receives comes from.
  enum class origin {
    nothing,
    root,               // the root's block of this rank
    each_rank,          // block j: rank j's first block
    each_ranks_for_me,  // block j: rank j's block of this rank
    reduced,            // the ranks' first blocks, reduced
    reduced_for_me,     // the ranks' blocks of this rank, reduced
    reduced_up_to_me,   // those of the ranks up to this one
    reduced_before_me,  // those of the ranks before this one; the first rank gets nothing
    neighbours,         // block j: the first block of neighbour j
    neighbours_for_me,  // block j: neighbour j's block for this rank
  };

  const char* name;
  blocks send;
  blocks receive;
  significant sends, receives;
  bool in_buffer;  // one buffer for sending and receiving: MPI_Bcast
  traffic counts;
  origin comes_from;
  int (*call)(const arguments&, form, MPI_Request*);

  bool reduces() const noexcept {
    return comes_from >= origin::reduced && comes_from <= origin::reduced_before_me;
  }
  bool among_neighbours() const noexcept { return comes_from >= origin::neighbours; }
};

/// All of them, in the order of the documentation.
const std::vector<collective>& collectives();

/// Finds the collective and the form of a test by its name: allreduce, iallreduce,
/// allreduce_persistent. False if there is none.
bool find_collective(const std::string& test, const collective*& which, form& how);
std::string test_name(const collective& c, form how);

}  // namespace telpher::bench
