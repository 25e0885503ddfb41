// SPDX-License-Identifier: BSD-3-Clause
// Reductions of what one rank has: a program of a few steps, for nobody but this rank.
// MPI_Reduce_local is one with two runs.
#include <algorithm>
#include <new>

#include "coll/exchange/exchange.hpp"
#include "host_mpi/error.hpp"
#include "kernel/exchange.hpp"

namespace telpher::coll::exchange {
namespace {

/// Steps of at most `at_once` runs: the first of each but the first step is what came so far.
std::vector<std::uint64_t> program_of(void* to, const std::vector<const void*>& runs,
                                      std::uint64_t bytes) {
  constexpr std::size_t at_once = 32;
  const auto word = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
  std::vector<std::uint64_t> words;
  for (std::size_t next = 0; next < runs.size();) {
    const std::size_t fresh = std::min(runs.size() - next, next == 0 ? at_once : at_once - 1);
    const std::size_t sources = fresh + (next == 0 ? 0 : 1);
    words.push_back(static_cast<std::uint64_t>(kernel::exchange_op::reduce) | sources << 8);
    words.push_back(bytes);
    words.push_back(word(to));
    if (next != 0) words.push_back(word(to));
    for (const std::size_t end = next + fresh; next < end; ++next)
      words.push_back(word(runs[next]));
  }
  return words;
}

}  // namespace

status start_reduction(launch_context& on, run& launched, const reduction& r, void* to,
                       const std::vector<const void*>& runs, std::uint64_t bytes) noexcept {
  try {
    const std::vector<std::uint64_t> words = program_of(to, runs, bytes);
    constexpr std::uint64_t block_bytes = 32 * 1024;
    const int blocks =
        static_cast<int>(std::min<std::uint64_t>(bytes / block_bytes + 1, run::most_blocks));
    return launched.start(on, kernel::exchange_with(r.op, r.type), words, blocks);
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

status reduce_runs(const memory::place& where, const reduction& r, void* to,
                   const std::vector<const void*>& runs, std::uint64_t bytes) noexcept {
  auto free = launch_context::take(where);
  TELPHER_TRY(free);
  run launched;
  TELPHER_TRY(start_reduction(*free, launched, r, to, runs, bytes));
  status s = status::ok;
  ticket::progress().wait_unlocked("a local reduction",
                                   [&] { return (s = launched.poll()) != status::would_block; });
  return s;
}

bool reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  int* code) noexcept {
  if (!enabled()) return false;
  arguments a(operation::allreduce, 1, 0);
  if (!a.buffers(in, inout) || !a.where.on_device() || !in || !inout) return false;
  a.reducing(count, type, op);
  if (!a.possible || a.bytes == 0) return false;
  const status s = reduce_runs(a.where, a.reduce, inout, {in, inout}, a.bytes);
  if (s == status::not_supported || s == status::would_block) return false;
  *code = s == status::ok
              ? MPI_SUCCESS
              : host_mpi::fail(MPI_COMM_SELF, "MPI_Reduce_local", s, "the device's kernel failed");
  return true;
}

}  // namespace telpher::coll::exchange
