// SPDX-License-Identifier: BSD-3-Clause
// Windows of MPI_Win_allocate_shared in kernels of the program's own: by telpher/device.h, and by
// the addresses of their parts.
#include "kernel_programs.hpp"
#include "shared_window.hpp"
#include "stream_calls.hpp"
#include "telpher/window.h"
#include "window_kernels.hpp"

namespace {

using namespace mpi_test;
using bytes_of = std::vector<unsigned char>;

constexpr std::size_t part_bytes = 8192;  // what kernels put is in the second half
constexpr unsigned block_threads = 96;

/// Each rank's block copies a peer's first half, by the address that this rank has of it.
TELPHER_KERNEL_FUNCTION void load_part(const unsigned char* from, unsigned char* to) {
  for (unsigned i = telpher_thread_number(); i < part_bytes / 2; i += telpher_thread_count())
    to[i] = from[i];
}

template <class T>
T* for_kernels(T* memory) {
  void* address = nullptr;
  telpher_kernel_address(memory, &address);
  return static_cast<T*>(address);
}

bytes_of pattern(int rank, int what) {
  bytes_of b(part_bytes / 2);
  write_pattern(static_cast<std::uint64_t>(8 * rank + what), b.data(), b.size());
  return b;
}

void moves(suite& s, bool apart) {
  const test_stream stream;
  const shared_window<unsigned char> w(apart, part_bytes);
  const array mine(kind::device, ints(part_bytes / sizeof(int))), good(kind::device, ints(2)),
      loaded(kind::device, ints(part_bytes / sizeof(int)));
  handle_of handle = nullptr;
  s.expect_equal(telpher_win_device(w.handle, &handle), 0, "telpher_win_device");
  if (!handle) return;
  const auto half = part_bytes / 2;
  copy(kind::device, w.own, pattern(s.rank, 0).data(), half);
  copy(kind::device, mine.data(), pattern(s.rank, 1).data(), half);
  const auto launched = [&](int code) {
    s.expect_equal(code, 0, "the launch");
    s.expect_equal(telpher_stream_synchronize(stream), 0, "the kernel");
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const auto check = [&](const void* memory, const bytes_of& wanted, const char* what) {
    bytes_of got(half);
    copy(kind::device, got.data(), memory, half);
    s.expect_none(difference(got.data(), wanted.data(), half, what));
  };
  MPI_Barrier(MPI_COMM_WORLD);
  launched(telpher_launch(move_bytes, 1, block_threads, stream, handle,
                          for_kernels(reinterpret_cast<unsigned char*>(mine.data())),
                          std::int64_t{half}, std::uint64_t{half}, true,
                          for_kernels(reinterpret_cast<std::uint64_t*>(good.data()))));
  s.expect_equal(good.read()[0], 1, "calls that are right");
  check(w.own + half, pattern(left(s), 1), "what was put");
  check(reinterpret_cast<unsigned char*>(mine.data()) + half, pattern(left(s), 0), "what was got");
  launched(telpher_launch(
      load_part, 1, block_threads, stream,
      static_cast<const unsigned char*>(for_kernels(w.part(s, right(s), part_bytes))),
      for_kernels(reinterpret_cast<unsigned char*>(loaded.data()))));
  check(loaded.data(), pattern(right(s), 0), "a peer's part, loaded by a kernel");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  if (!s.makes_windows() || !begin_kernels(s)) return s.finish();
  s.run("behind one another", [&] { moves(s, false); });
  s.run("each on its device", [&] { moves(s, true); });
  return s.finish();
}
