// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local: a program of one step, for nobody but this rank.
#include <algorithm>

#include "coll/exchange/exchange.hpp"
#include "host_mpi/error.hpp"
#include "kernel/exchange.hpp"

namespace telpher::coll::exchange {

bool reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  int* code) noexcept {
  if (!enabled()) return false;
  arguments a(operation::allreduce, 1, 0);
  if (!a.buffers(in, inout) || !a.where.on_device() || !in || !inout) return false;
  a.reducing(count, type, op);
  if (!a.possible || a.bytes == 0) return false;
  auto free = lane::take(a.where);
  if (!free) return false;
  const std::vector<std::uint64_t> words = {
      static_cast<std::uint64_t>(kernel::exchange_op::reduce) | 2 << 8, a.bytes,
      reinterpret_cast<std::uintptr_t>(inout), reinterpret_cast<std::uintptr_t>(in),
      reinterpret_cast<std::uintptr_t>(inout)};
  run launched;
  constexpr std::uint64_t block_bytes = 32 * 1024;
  const int blocks = static_cast<int>(std::min<std::uint64_t>(a.bytes / block_bytes + 1, 256));
  status s =
      launched.start(*free, kernel::exchange_with(a.reduce.op, a.reduce.type), words, blocks);
  if (s == status::not_supported) return false;  // a back end without these kernels
  if (s == status::ok)
    wait_for([&] { return (s = launched.poll()) != status::would_block; }, [](double) {});
  *code = s == status::ok
              ? MPI_SUCCESS
              : host_mpi::fail(MPI_COMM_SELF, "MPI_Reduce_local", s, "the device's kernel failed");
  return true;
}

}  // namespace telpher::coll::exchange
