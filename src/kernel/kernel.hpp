// SPDX-License-Identifier: BSD-3-Clause
// The list of Telpher's kernels and their parameter structs. A parameter struct is trivially
// copyable and has at most 4000 bytes, because parameters must reach the device with the launch. If
// every thread read them from host memory, that would cost tens of microseconds
// (docs/understand/optimization.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/lang.hpp"
#include "kernel/packing.hpp"

struct telpher_device_partitions;

namespace telpher::kernel {

enum class id : int {
#define TELPHER_KERNEL(name) name,
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
  count_
};

constexpr std::size_t parameter_capacity = 4000;

/// add_word: one thread adds to a word (release, system scope), which kernels of any device may
/// poll or add to meanwhile.
struct add_word {
  std::uint64_t* word;
  std::uint64_t value;
};

/// copy_batch: copies many contiguous pieces in one launch. Blocks are assigned to pieces in
/// proportion to bytes: piece i gets blocks [first_block[i], first_block[i + 1]). When the last
/// block of a piece is done, it stores `done_value` to the piece's flag in host memory (release,
/// system scope).
struct copy_batch {
  static constexpr int capacity = 128;
  struct piece {
    void* to;
    const void* from;
    std::uint64_t bytes;
  };
  piece pieces[capacity];
  std::uint16_t first_block[capacity + 1];
  std::uint16_t count;
  std::uint32_t done_value;
  std::uint32_t* done;      // host memory mapped for the device, one word per piece; or null
  std::uint32_t* arrivals;  // device memory, one counter per piece, zero before and after
};
static_assert(sizeof(copy_batch) <= parameter_capacity);

/// One command of the lingering copier: two 16-byte halves, each with the sequence number. A reader
/// that sees the number in both halves has read one whole command. Written by write_command
/// (linger.hpp).
struct alignas(32) linger_command {
  std::uint64_t from;
  std::uint32_t bytes;
  std::uint32_t sequence_low;  // copy of the sequence number in the first half
  std::uint64_t to;
  std::uint32_t how;            // linger_command::leave, linger_command::near
  std::uint32_t sequence_high;  // copy of the sequence number in the second half

  static constexpr std::uint32_t leave = 1;  // the copier leaves after this command
  static constexpr std::uint32_t near = 2;   // `to` lies in memory of the copier's device
};
static_assert(sizeof(linger_command) == 32);

/// linger: one block that executes the copies in `mailbox` one after the other. It leaves when none
/// came for `patience_ns`, or after `stay_ns`. Protocol in kernel/linger.hpp.
struct linger {
  const linger_command* mailbox;  // pinned host memory, `depth` commands, used round robin
  std::uint32_t* done;            // pinned host memory: last sequence number finished
  std::uint32_t* gone;            // pinned host memory: set on exit to the first number not taken
  std::uint32_t first_sequence;   // the first number to wait for
  std::uint32_t depth;
  std::uint64_t patience_ns;
  std::uint64_t stay_ns;  // it leaves after this time even while commands come
};

/// What one end of a matched pair of requests keeps in memory of its device (kernel/matched.hpp).
/// All zero at first.
struct matched_words {
  alignas(128) std::uint32_t peers;  // the peer's count, written by the peer
  std::uint32_t opened;              // of a sender: messages that may go direct; by the peer
  std::uint32_t direct;              // of a receiver: 1, stored by the peer, if the message is in
                                     // its buffer; the receiver's start stores 0
  alignas(128) std::uint32_t own;    // this end's count
  std::uint32_t arrivals;  // blocks of this end's launch that are done; 0 between launches
  std::uint32_t decided;   // of a sender: the last message, and whether it went to the buffer
};

/// matched_put and matched_take: one piece for each send that is started, or each receive that is
/// waited for; in matched_put also one without an inbox for each receive that opens its buffer.
/// Blocks are assigned to pieces as in copy_batch.
struct matched_pieces {
  static constexpr int capacity = 56;
  static constexpr unsigned slots = 4;  // of an inbox
  static constexpr std::uint64_t packed_limit =
      128 * 1024;  // bytes of a message that travels packed
  struct piece {
    matched_words* end;    // this end's
    matched_words* peer;   // the other end's, as mapped here
    void* buffer;          // the program's
    void* inbox;           // the receiver's, `slots` of them
    std::uint64_t stride;  // from one slot to the next
    std::uint64_t bytes;   // of a message
    std::uint64_t* ended;  // pinned host memory: this end's count, once the launch is over
    void* target;          // of a send: the receiver's buffer, as mapped here, if it opens it
  };
  piece pieces[capacity];
  std::uint16_t first_block[capacity + 1];
  std::uint16_t count;
};
static_assert(sizeof(matched_pieces) <= parameter_capacity);
using matched_put = matched_pieces;
using matched_take = matched_pieces;

/// partitions_start and partitions_wait: one piece for each request, and in a wait one block.
struct partition_pieces {
  static constexpr int capacity = 96;
  struct piece {
    telpher_device_partitions* end;
    std::uint64_t* opens;       // of a receive: `opened` of the sender, as mapped here; else null
    const std::uint64_t* mark;  // this end's, one for each of the sender's partitions
    std::uint32_t marks;
    std::int32_t far;  // the other end's rank, if it is on another node: `opens` lies there; or -1
    std::uint64_t* ended;  // pinned host memory: the round, once it has been waited for
  };
  piece pieces[capacity];
  std::uint32_t count;
};
static_assert(sizeof(partition_pieces) <= parameter_capacity);
using partitions_start = partition_pieces;
using partitions_wait = partition_pieces;

/// partition_ready: all blocks send one partition.
struct partition_ready {
  const telpher_device_partitions* end;  // the sender's
  const void* from;
  void* to;  // as mapped here, like `mark`; or at rank `far`
  std::uint64_t bytes;
  std::uint64_t* mark;
  std::uint64_t* own_mark;
  std::uint32_t* arrivals;  // of the partition: blocks that are done; 0 between launches
  std::int32_t far;         // as above
};

/// graph_hold: words of pinned host memory.
struct graph_hold {
  std::uint32_t* reached;
  std::uint32_t* over;
};

/// inbox_put: a message of a stream's in flagged words to its place in the receiver's inbox
/// (kernel/inbox.hpp). All blocks share it.
struct inbox_put {
  static constexpr unsigned most_blocks = 12;
  const void* from;
  void* place;  // as mapped here
  std::uint64_t bytes;
  std::uint32_t* sent;  // pinned host memory, for each block: set to 1 when it has read its share
  std::uint32_t mark;   // of the words
};

/// inbox_put_all: several of them, with `share` blocks each.
struct inbox_put_all {
  static constexpr std::size_t capacity = 16;
  inbox_put each[capacity];
  std::uint32_t share;
};
static_assert(sizeof(inbox_put_all) <= parameter_capacity);

/// inbox_take: the receive of such a message, or the wait for another one that the host moves. All
/// blocks share it.
struct inbox_take {
  static constexpr unsigned most_blocks = inbox_put::most_blocks;
  void* to;
  const void* inbox;
  std::uint64_t cell_bytes;
  std::uint64_t* order;    // pinned host memory, written by the host: see below
  std::uint64_t* reached;  // pinned host memory: set to 1 if there was no order yet
  std::uint32_t* over;     // pinned host memory, for each block: set to 1 at its end

  /// Orders. 0 is none; `moved_by_host`: the message is there, or will not come. Any other one
  /// names the message's first cell, its bytes and the mark of its words.
  static constexpr std::uint64_t moved_by_host = ~std::uint64_t{0};
  static constexpr std::uint64_t most_bytes = 0xffffff;
  static constexpr std::uint32_t most_cells = 0xff;
  struct arrival {
    std::uint32_t cell;
    std::uint32_t mark;  // neither 0 nor 0xffffffff
    std::uint64_t bytes;
  };
  TELPHER_BOTH static constexpr std::uint64_t order_for(const arrival& a) {
    return std::uint64_t{a.mark} << 32 | std::uint64_t{a.cell} << 24 | a.bytes;
  }
  TELPHER_BOTH static constexpr arrival read(std::uint64_t order) {
    return {static_cast<std::uint32_t>(order >> 24) & most_cells,
            static_cast<std::uint32_t>(order >> 32), order & most_bytes};
  }
};

/// inbox_take_all: several receives, with `share` blocks each.
struct inbox_take_all {
  static constexpr std::size_t capacity = 32;
  inbox_take each[capacity];
  std::uint32_t share;
};
static_assert(sizeof(inbox_take_all) <= parameter_capacity);

/// The next program for an exchange kernel that stays (kernel/exchange_stay.hpp). Each word has the
/// number of the command beside it. A reader that finds the same number everywhere has read one
/// whole command.
struct alignas(128) exchange_command {
  static constexpr unsigned first_part = 32;  // number of entries that are read at once
  static constexpr unsigned entries = 2 * first_part;
  static constexpr unsigned heading = 3;
  static constexpr unsigned code_capacity = entries - heading;
  static constexpr std::uint64_t two_parts = std::uint64_t{1} << 63;  // beside the number
  struct numbered {
    std::uint64_t word;
    std::uint64_t number;
  };
  /// Words: the call's packed_epoch << 32 | the program's length, blocks << 32 | done_value, epoch,
  /// and the program. A length of 0 means: leave.
  numbered at[entries];
};

/// Where a block of an exchange paused.
struct exchange_place {
  static constexpr unsigned most_items = 512;
  std::uint32_t word;                // index into the program; its length if the block has finished
  std::uint64_t offset[most_items];  // where each work item was in that step
};

/// How packed memory holds data and flags (kernel/exchange.hpp).
enum class packed_format : std::uint32_t { words, lines };
struct packed_line {
  static constexpr std::uint64_t bytes = 128;
  static constexpr std::uint64_t payload = 120;
};

/// exchange: one rank's part of a collective among devices, as a short program of copies,
/// reductions, signals and waits (encoding and protocol in kernel/exchange.hpp). Each block does
/// one slice of everything; blocks wait for each other only where a step says that they meet.
struct exchange {
  static constexpr unsigned most_ranks = 64;
  static constexpr unsigned most_blocks = 64;
  static constexpr std::uint32_t code_capacity = 396;
  std::uint64_t epoch;             // of this call: its signals carry it (see exchange.hpp)
  std::uint32_t packed_epoch;      // of this call: its packed words carry it
  std::uint32_t code_words;        // length of the program
  const std::uint64_t* long_code;  // null: the program is in `code`
  std::uint32_t me;                // own rank
  std::uint32_t done_value;
  std::uint32_t* arrivals;  // device memory, 0 before and after. Only of a kernel that stays: how
                            // many parts of calls its blocks have ended
  std::uint64_t* done;  // pinned host memory, one a block, set when its part of a call has ended or
                        // paused: ended() of done_value; of a replay replays() of both numbers
  const std::uint32_t* stop;     // pinned host memory: done_value asks waiting blocks to give up
  exchange_place* places;        // device memory, one a block; null: nothing in the program waits
  std::uint64_t patience_ns;     // the longest time that a block waits
  std::uint32_t again;           // 1: continue at `places`
  const exchange_command* next;  // pinned host memory; null: the kernel ends with its program
  exchange_command* relay;       // device memory: from block 0 to the others
  std::uint64_t* gone;           // pinned host memory: first_command when block 0 has left
  std::uint64_t first_command;   // the smallest command number to wait for
  std::uint64_t stay_ns;         // how long it waits for a command
  std::uint64_t* calls;          // device memory, two words a block: the calls of a replay, and how
                                 // many of them were a graph's; else null
  std::uint32_t programs;        // of a replay, each of code_words; else 1
  packed_format format;          // lines: of a replay, where has_lines
  std::uint32_t of_graph;        // 1: the call is a graph's
  std::uint64_t* flags[most_ranks];  // of each rank: where its peers signal to it, as mapped here
  std::uint64_t code[code_capacity];

  /// What a block stores in `done` when it has finished or paused.
  TELPHER_BOTH static constexpr std::uint64_t ended(std::uint32_t done_value, bool pauses) {
    return std::uint64_t{pauses} << 32 | done_value;
  }
  TELPHER_BOTH static constexpr std::uint64_t replays(std::uint64_t calls,
                                                      std::uint64_t of_graphs) {
    return of_graphs << 32 | (calls & 0xffffffff);
  }
};
static_assert(sizeof(exchange) <= parameter_capacity);

using unpack_blocks = pack_blocks;  // packing.hpp
static_assert(sizeof(unpack_all) <= parameter_capacity);

/// zfp_encode and zfp_decode: an array in C order, x fastest, and its fixed-rate stream with
/// `block_bits` for each block of 4^dims values. The stream has stream_words() words.
struct zfp_array {
  void* values;
  std::uint32_t* stream;
  std::uint64_t extent[3];  // in values; 1 for missing dimensions
  std::uint64_t blocks;
  std::uint32_t block_bits;
  /// Device memory, or null. Encoding raises it to b + exponent_zero, where 2^b is a bound of the
  /// absolute error of every value. It is unchanged if all values are zero.
  std::uint32_t* worst;

  static constexpr int exponent_zero = 4096;
  /// The largest thread block, and the number of ZFP blocks that it codes at a time.
  TELPHER_BOTH static constexpr unsigned threads_for(int dims) { return dims < 3 ? 128 : 64; }
  /// Whole 64-bit words, counted in units of 32 bits.
  TELPHER_BOTH static constexpr std::uint64_t stream_words(std::uint64_t blocks,
                                                           std::uint32_t block_bits) {
    return (blocks * block_bits + 63) / 64 * 2;
  }
};
template <int dims>
struct zfp_blocks : zfp_array {
  static constexpr int most_threads = threads_for(dims);
};
#define TELPHER_ZFP(name, type, dims)         \
  using zfp_encode_##name = zfp_blocks<dims>; \
  using zfp_decode_##name = zfp_blocks<dims>;
#include "kernel/zfp.def"
#undef TELPHER_ZFP

/// The kernels of the lossless codec (kernel/mpc.hpp), for words of 32 or 64 bits.
struct mpc_stream {
  void* values;
  std::uint64_t words;   // whole words of the kernel's width
  std::uint64_t chunks;  // of chunk_bytes; the last may be shorter
  std::uint64_t payload_words;
  std::uint32_t stride;    // a word is predicted by the one this many words before it; at least 1
  std::uint32_t* scratch;  // for encoding: slot_words for each chunk
  std::uint32_t* offsets;  // chunks + 1: where each chunk starts in the payload, in 32-bit words
  std::uint32_t* payload;  // 8-byte aligned

  static constexpr unsigned chunk_bytes = 4096;
  static constexpr unsigned slot_words = chunk_bytes / 4 + chunk_bytes / 4 / 32;
};
using mpc_encode_32 = mpc_stream;
using mpc_encode_64 = mpc_stream;
using mpc_gather = mpc_stream;
using mpc_decode_32 = mpc_stream;
using mpc_decode_64 = mpc_stream;
struct mpc_place : mpc_stream {
  static constexpr int most_threads = 256;
};

/// The largest thread block of a kernel. Kernels whose work items need many registers set it in the
/// parameter struct; for others it is 1024.
template <class P>
constexpr int most_threads() {
  if constexpr (requires { P::most_threads; })
    return P::most_threads;
  else
    return 1024;
}

}  // namespace telpher::kernel
