// SPDX-License-Identifier: BSD-3-Clause
// Reductions of what one rank can reach, and swaps: programs of a few steps that wait for nobody.
#include <algorithm>
#include <bit>
#include <new>

#include "coll/exchange/exchange.hpp"
#include "host_mpi/error.hpp"
#include "kernel/exchange.hpp"

namespace telpher::coll::exchange {
namespace {

std::uint64_t word(const void* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at);
}

std::uint64_t head(kernel::exchange_op op, std::size_t operands) noexcept {
  return static_cast<std::uint64_t>(op) | operands << 8;
}

int blocks_for(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t block_bytes = 32 * 1024;
  return static_cast<int>(std::min<std::uint64_t>(bytes / block_bytes + 1, run::most_blocks));
}

// Over NVLink of two H200: 16 MB in 66 us by 32 blocks, in 81 by 128 (bench/remote_add.cu); 64 KB
// in 9.5 by nine blocks and in 10.5 by three, but 16 KB in 9.3 by three and in 8.1 by one.
int blocks_over_link(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t most_of_one = 32 * 1024, block_bytes = 8 * 1024, most = 32;
  return bytes <= most_of_one ? 1 : static_cast<int>(std::min(bytes / block_bytes + 1, most));
}

/// Steps of at most `at_once` runs. All but the first step begin with the sum so far.
std::vector<std::uint64_t> program_of(void* to, const std::vector<const void*>& runs,
                                      std::uint64_t bytes) {
  constexpr std::size_t at_once = 32;
  std::vector<std::uint64_t> words;
  for (std::size_t next = 0; next < runs.size();) {
    const std::size_t fresh = std::min(runs.size() - next, next == 0 ? at_once : at_once - 1);
    const std::size_t sources = fresh + (next == 0 ? 0 : 1);
    words.push_back(head(kernel::exchange_op::reduce, sources));
    words.push_back(bytes);
    words.push_back(word(to));
    if (next != 0) words.push_back(word(to));
    for (const std::size_t end = next + fresh; next < end; ++next)
      words.push_back(word(runs[next]));
  }
  return words;
}

/// Whether a swap step can take it.
bool is_one_word(std::uint64_t bytes) noexcept {
  return std::has_single_bit(bytes) && bytes <= sizeof(std::uint64_t);
}

bool aligned(const update& u, std::size_t to) noexcept {
  return (word(u.to) | word(u.from) | word(u.old)) % to == 0;
}

std::vector<std::uint64_t> program_of(const swap& s) {
  const update& u = s.value;
  return {head(kernel::exchange_op::swap, 3),
          u.bytes,
          word(u.to),
          word(u.from),
          word(s.compare),
          word(u.old)};
}

/// A single value takes one step. Several take a copy of the old values, then the update. Both
/// steps of a block are on the same slice, so the copy is made before the values change. If `old`
/// is near, the update reads the old values there, and they cross the link only once.
/// `reductions_only`: the device has no other steps (kernel/reductions.hpp); a copy counts as one.
std::vector<std::uint64_t> program_of(const reduction& r, const update& u, bool reductions_only) {
  using kernel::exchange_op;
  if (!reductions_only && r.known && u.bytes == kernel::value_bytes(r.type) && aligned(u, u.bytes))
    return {head(exchange_op::fetch, 2), u.bytes, word(u.to), word(u.from), word(u.old)};
  if (!reductions_only && u.old && !r.known && is_one_word(u.bytes) && aligned(u, u.bytes))
    return program_of(swap{u, u.to});  // compared with itself
  std::vector<std::uint64_t> words;
  if (u.old) words = {head(exchange_op::copy, 1), u.bytes, word(u.old), word(u.to)};
  const std::size_t sources = r.known ? 2 : 1;
  words.insert(words.end(), {head(r.known ? exchange_op::reduce : exchange_op::copy, sources),
                             u.bytes, word(u.to), word(u.from)});
  if (r.known) words.push_back(word(u.old && u.old_is_near ? u.old : u.to));
  return words;
}

/// Runs a program that waits for no other rank. Returns when it has ended. not_supported: no memory
/// is left for a kernel.
template <class Program>
status run_alone(const memory::place& where, kernel::id body, int blocks, std::uint64_t bytes,
                 Program&& program) noexcept {
  auto free = launch_context::take(where);
  if (free.error() == status::out_of_memory) return status::not_supported;
  TELPHER_TRY(free);
  run launched;
  try {
    // The kernel may stay and get a program that pauses, for which most_blocks is the limit.
    const bool may_stay = bytes <= config().coll_linger_limit &&
                          blocks <= static_cast<int>(kernel::exchange::most_blocks);
    const staying way = may_stay ? staying::packed : staying::no;
    TELPHER_TRY(launched.start(*free, body, program(), blocks, way));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  status s = status::ok;
  ticket::progress().wait_unlocked("a local reduction",
                                   [&] { return (s = launched.poll()) != status::would_block; });
  return s;
}

}  // namespace

status start_reduction(launch_context& on, run& launched, const reduction& r, void* to,
                       const std::vector<const void*>& runs, std::uint64_t bytes) noexcept {
  try {
    const std::vector<std::uint64_t> words = program_of(to, runs, bytes);
    return launched.start(on, kernel::exchange_with(r.op, r.type), words, blocks_for(bytes));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

status run_update(const memory::place& where, const reduction& r, const update& u) noexcept {
  const int blocks = u.to_is_far ? blocks_over_link(u.bytes) : blocks_for(u.bytes);
  const bool reductions_only = !where.owner->kernels_may_wait(where.device);
  if (reductions_only && !r.known) return status::not_supported;
  return run_alone(where, r.body(), blocks, u.bytes,
                   [&] { return program_of(r, u, reductions_only); });
}

status run_swap(const memory::place& where, const swap& s) noexcept {
  if (!where.owner->kernels_may_wait(where.device)) return status::not_supported;
  return run_alone(where, kernel::id::exchange, 1, s.value.bytes, [&] { return program_of(s); });
}

bool reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  int* code) noexcept {
  if (!enabled()) return false;
  // Open MPI would take MPI_IN_PLACE for the address of a buffer.
  if (in == MPI_IN_PLACE || inout == MPI_IN_PLACE) {
    if (!memory::classify(in == MPI_IN_PLACE ? inout : in).on_device()) return false;
    *code = host_mpi::fail_with(MPI_COMM_SELF, "MPI_Reduce_local", MPI_ERR_BUFFER,
                                "MPI_IN_PLACE means nothing in this call: pass two buffers");
    return true;
  }
  arguments a(operation::allreduce, 1, 0);
  if (!a.buffers(in, inout) || !a.where.on_device() || !in || !inout) return false;
  a.reducing(count, type, op);
  if (!a.possible || a.bytes == 0) return false;
  const status s = run_update(a.where, a.reduce, {inout, in, nullptr, a.bytes});
  if (s == status::not_supported || s == status::would_block) return false;
  *code = s == status::ok
              ? MPI_SUCCESS
              : host_mpi::fail(MPI_COMM_SELF, "MPI_Reduce_local", s, "the device's kernel failed");
  return true;
}

}  // namespace telpher::coll::exchange
