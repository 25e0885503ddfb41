// SPDX-License-Identifier: BSD-3-Clause
#include "usage.hpp"

namespace telpher::bench {

const char* const usage =
    R"(usage: mpirun -n N telpher-bench-<abi> TEST[,TEST...] [D D] [options]
 tests
  latency multi_lat bw bibw mbw_mr   messages between pairs of ranks
  barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw
  reduce allreduce reduce_scatter reduce_scatter_block scan exscan
  neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw
                                     collectives; iallreduce and the like: non-blocking, with overlap;
                                     allreduce_persistent and the like: persistent
                                     collectives, icollectives, collectives_persistent: all of them
  put_latency get_latency put_bw get_bw acc_latency fop_latency cas_latency
                                     one-sided: operations and a flush on a window of the second rank
  pack unpack                        MPI_Pack and MPI_Unpack in one rank, with -D, from A to B of -b
  halo                               faces of a box between two ranks, by subarray types
  file_write file_read               each rank at a place of its own in a file
  matrix                             latency and bandwidth between every two ranks
  host                               host memory only, as JSON
 what is measured
  -s, --sizes MIN:MAX      sizes, powers of two between them (1:4m; collectives 1:1m), or 8,1k,64k
  -b, --buffers A:B        memory of the first and the second rank of a pair, or of even and odd ranks
                           of a collective: D device, H host, M managed, P pinned (D:D); or as
                           OSU's benchmarks take them, D D behind the test
      --mode MODE,…        telpher (buffers passed to MPI), staged (by hand through host memory), nccl or
                           other (what else stands beside a test: messages beside one-sided operations and
                           neighbourhoods, a plain copy beside packing, faces packed by the program, files
                           and host memory), both (telpher and staged), or all in turn (all; both for pairs;
                           not staged where all buffers are host memory); enqueued: --enqueue without
                           the same by hand
      --pairs N            pairs of multi_lat and mbw_mr (half of the ranks)
  -w, --window N           messages in flight of bw, bibw, mbw_mr (64)
      --window-memory SIZE most memory of a window's slots on one rank (64m)
      --persistent         pairs: persistent requests
  -D, --derived TYPE       pairs, pack, unpack: contiguous, vector:BLOCK:STRIDE, indexed:BLOCK:STRIDE or
                           subarray:BLOCK:ROW[:ROWS:PLANE]: BLOCK bytes of each row of ROW bytes, of ROWS
                           rows of each plane with PLANE rows
      --win HOW            one-sided: create (over memory of the program) or allocate (create)
      --faces N[:WIDTH]    halo: faces, and the width of the halo in cells of 8 bytes (6:4)
      --file PATH          file_write, file_read: a file to use, deleted afterwards (a temporary one)
      --root N             root of a collective (0)
      --type TYPE          elements that are reduced: float, double, int, char (float)
      --op OP              sum, max, min (sum)
      --neighbours D[:R]   neighbourhoods: grid of D dimensions, ranks up to R away on an axis (1:1)
      --enqueue            latency, multi_lat and collectives in the order of a stream (persistent ones
                           matched by telpher_match), beside the same by hand: a wait for the stream,
                           then MPI's call
      --stream-work SIZE   with --enqueue: device memory that is filled in the stream before each message or
                           call, in a kernel's place; beside a non-blocking collective such fills
                           take the place of computing by the CPU, for the overlap (0)
      --test-calls N       MPI_Test calls while computing, for the overlap (0)
      --device A:B:...     device of each rank, taken round (by local rank)
      --alloc KIND         device memory from telpher, or from CUDA's driver: malloc, async, vmm, vmm-fd,
                           vmm-fd-pieces (as many mappings as the device allows) (telpher)
 how
  -i, --iterations N       timed iterations for each size (as many as --min-time takes)
  -x, --warm-up N          iterations before (by time)
      --min-time SECONDS   timed for each size and mode (0.25)
      --batches N          the median of N batches is reported (11)
      --validate[=every]   check every byte: of three more iterations, or of every timed one
 what is printed
      --full               also the fastest and the slowest rank, and the iterations
      --percentiles[=LIST] also percentiles of single iterations (50,90,99)
      --memory-copy-limit  pairs, put_bw, get_bw: what one plain copy of the bytes takes
      --progress SECONDS   how often a long run says on stderr how far it is (10)
      --json FILE          also write rows, machine, versions and settings; - is stdout
      --csv                print comma-separated rows
)";

}  // namespace telpher::bench
