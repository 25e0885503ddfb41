// SPDX-License-Identifier: BSD-3-Clause
// A halo exchange inside a kernel: cells on a ring of ranks, each of which becomes a sum with its
// two neighbours, step after step in one launch. Edges go to the neighbours' windows with a signal,
// and a kernel waits for its neighbours' signals; the CPU takes no part. One source: a plain
// compiler makes the program for the emulated device, nvcc -x cu and hipcc -x hip that for GPUs.
#include <mpi.h>
#include <telpher/device.h>
#include <telpher/window.h>

#include <cstdio>
#include <vector>

using cell = std::uint64_t;

// A rank's window, in words of 8 bytes: the signals of the neighbours, the step that the kernel has
// got to, the halos of even and odd steps, and the cells of even and odd steps.
enum : std::int64_t { from_left, from_right, reached, halos, cells = halos + 4 };
constexpr int count = 1000;
constexpr cell steps = 200, modulus = 10007;
constexpr std::size_t bytes = (cells + 2 * count) * sizeof(cell);

TELPHER_KERNEL_FUNCTION void exchange(const telpher_device_window* w, cell first, cell polls) {
  const int rank = telpher_window_rank(w), ranks = telpher_window_ranks(w);
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  auto* const memory = static_cast<cell*>(telpher_window_address(w, rank, 0, bytes));
  cell step = first;
  for (; step < steps; ++step) {
    const cell* const now = memory + cells + step % 2 * count;
    cell* const next = memory + cells + (step + 1) % 2 * count;
    const auto halo = static_cast<std::int64_t>(halos + 2 * (step % 2));
    // To the left rank this one is the right neighbour. Who has seen step + 1 sees the edge, too. A
    // halo is written again two steps later: its reader has answered the step between by then.
    telpher_put_signal_block(w, left, halo + 1, now, sizeof(cell), from_right, step + 1,
                             TELPHER_SIGNAL_SET);
    telpher_put_signal_block(w, right, halo, now + count - 1, sizeof(cell), from_left, step + 1,
                             TELPHER_SIGNAL_SET);
    if (!telpher_wait_signal_for_block(w, from_left, TELPHER_AT_LEAST, step + 1, polls) ||
        !telpher_wait_signal_for_block(w, from_right, TELPHER_AT_LEAST, step + 1, polls))
      break;  // the neighbour may need this device: another launch repeats the step
    for (int i = static_cast<int>(telpher_thread_number()); i < count;
         i += static_cast<int>(telpher_thread_count())) {
      const cell before = i > 0 ? now[i - 1] : memory[halo];
      const cell after = i < count - 1 ? now[i + 1] : memory[halo + 1];
      next[i] = (before + 2 * now[i] + after) % modulus;
    }
  }
  if (telpher_thread_number() == 0) memory[reached] = step;
}

namespace {

std::vector<cell> start(int ranks) {
  std::vector<cell> all(static_cast<std::size_t>(ranks) * count);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i * i % modulus;
  return all;
}

std::vector<cell> expected(std::vector<cell> now) {
  const std::size_t n = now.size();
  std::vector<cell> next(n);
  for (cell step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < n; ++i)
      next[i] = (now[(i + n - 1) % n] + 2 * now[i] + now[(i + 1) % n]) % modulus;
    now.swap(next);
  }
  return now;
}

// Launches until all steps are done: a kernel that has waited in vain ends, so that none holds the
// device for ever where ranks share it. How often it was launched, or 0 for an error.
int run(const telpher_device_window* w, cell* memory, void* stream) {
  constexpr int most_launches = 100000;
  constexpr cell polls = 100000;
  cell done = 0;
  for (int launches = 1; launches < most_launches; ++launches) {
    if (telpher_launch(exchange, 1, 256, stream, w, done, polls) != TELPHER_SUCCESS ||
        telpher_stream_synchronize(stream) != TELPHER_SUCCESS ||
        telpher_memcpy(&done, memory + reached, sizeof done) != TELPHER_SUCCESS)
      return 0;
    if (done == steps) return launches;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0, ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  void *memory = nullptr, *stream = nullptr;
  if (telpher_use_device() != 0 || telpher_malloc(&memory, bytes, TELPHER_MEMORY_DEVICE) != 0 ||
      telpher_memset(memory, 0, bytes) != 0 || telpher_stream_create(&stream) != 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  auto* const words = static_cast<cell*>(memory);
  const std::vector<cell> all = start(ranks);
  telpher_memcpy(words + cells, all.data() + rank * count, count * sizeof(cell));

  MPI_Win window;
  const telpher_device_window* handle = nullptr;
  MPI_Win_create(memory, bytes, sizeof(cell), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  telpher_win_device(window, &handle);  // all ranks have set their words when it returns
  const int launches = run(handle, words, stream);

  std::vector<cell> own(count), got(all.size());
  telpher_memcpy(own.data(), words + cells + steps % 2 * count, count * sizeof(cell));
  MPI_Gather(own.data(), count, MPI_UINT64_T, got.data(), count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  const bool right = launches > 0 && (rank != 0 || got == expected(all));
  if (rank == 0)
    std::printf("%s: %llu steps in %d launches of rank 0\n", right ? "right" : "WRONG",
                static_cast<unsigned long long>(steps), launches);
  MPI_Win_free(&window);
  telpher_stream_destroy(stream);
  telpher_free(memory);
  MPI_Finalize();
  return right ? 0 : 1;
}
