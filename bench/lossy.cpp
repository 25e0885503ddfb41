// SPDX-License-Identifier: BSD-3-Clause
// telpher-bench-lossy: time and error of collectives on smooth floats in device memory, to compare
// runs with and without compression (TELPHER_COMPRESSION). One JSON object per line: the operation,
// the bytes of a rank's longest vector, the median microseconds of the slowest rank, the largest
// error of any value at any rank against the exact result, the error bound that the library reports
// for the whole process so far, and the largest value.
//
//   telpher-bench-lossy SECONDS BYTES[,BYTES…] allreduce|allgather|alltoall…
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memory.hpp"
#include "options.hpp"

using namespace telpher::bench;

namespace {

int rank = 0, ranks = 1;

/// Rank `from`'s value at index `i`: waves of two lengths, similar to fields of a simulation.
float value(int from, std::size_t i) {
  const auto x = static_cast<double>(i);
  return static_cast<float>(100 * std::sin(x / 300 + from) + 5 * std::sin(x / 17 + 3 * from));
}

struct work {
  const char* name;
  bool sends_all, receives_all;  // one block for each rank, or one vector
  int (*call)(const void*, void*, int, MPI_Comm);
  double (*exact)(std::size_t i, std::size_t block);
};

const work works[] = {
    {"allreduce", true, true,
     [](const void* s, void* r, int block, MPI_Comm c) {
       return MPI_Allreduce(s, r, block * ranks, MPI_FLOAT, MPI_SUM, c);
     },
     [](std::size_t i, std::size_t) {
       double sum = 0;
       for (int r = 0; r < ranks; ++r) sum += static_cast<double>(value(r, i));
       return sum;
     }},
    {"allgather", false, true,
     [](const void* s, void* r, int block, MPI_Comm c) {
       return MPI_Allgather(s, block, MPI_FLOAT, r, block, MPI_FLOAT, c);
     },
     [](std::size_t i, std::size_t block) {
       return static_cast<double>(value(static_cast<int>(i / block), i % block));
     }},
    {"alltoall", true, true,
     [](const void* s, void* r, int block, MPI_Comm c) {
       return MPI_Alltoall(s, block, MPI_FLOAT, r, block, MPI_FLOAT, c);
     },
     [](std::size_t i, std::size_t block) {
       const auto mine = static_cast<std::size_t>(rank) * block;
       return static_cast<double>(value(static_cast<int>(i / block), mine + i % block));
     }},
};

/// An array of floats in device memory.
class floats {
 public:
  floats(memory_source& source, std::size_t count)
      : source_(source), count_(count), at_(source.allocate(kind::device, count * sizeof(float))) {}
  floats(const floats&) = delete;
  floats& operator=(const floats&) = delete;
  ~floats() { source_.release(kind::device, at_); }
  void* at() const { return at_; }
  void write(const std::vector<float>& from) { source_.copy(at_, from.data(), bytes()); }
  std::vector<float> read() const {
    std::vector<float> all(count_);
    source_.copy(all.data(), at_, bytes());
    return all;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(float); }
  memory_source& source_;
  std::size_t count_;
  void* at_;
};

double largest(double own) {
  MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return own;
}

double timed_call(const work& w, const floats& from, const floats& to, int block) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (w.call(from.at(), to.at(), block, MPI_COMM_WORLD) != MPI_SUCCESS) fail("%s failed", w.name);
  return largest(MPI_Wtime() - start);
}

void measure(memory_source& source, const work& w, std::size_t bytes, double seconds) {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t block = bytes / sizeof(float) / all, whole = block * all;
  floats from(source, w.sends_all ? whole : block), to(source, whole);
  std::vector<float> sent(w.sends_all ? whole : block);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = value(rank, i);
  from.write(sent);
  const int n = static_cast<int>(block);
  for (int i = 0; i < 2; ++i) timed_call(w, from, to, n);  // warm-up: votes, mappings
  std::vector<double> times;
  double left = seconds;
  while (times.size() < 3 || (left > 0 && times.size() < 200)) {
    times.push_back(timed_call(w, from, to, n));
    left -= times.back();  // the same on all ranks
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  double error = 0, most = 0;
  const std::vector<float> got = to.read();
  for (std::size_t i = 0; i < whole; ++i) {
    const double wanted = w.exact(i, block);
    error = std::max(error, std::abs(static_cast<double>(got[i]) - wanted));
    most = std::max(most, std::abs(wanted));
  }
  static const auto ask =
      reinterpret_cast<double (*)()>(dlsym(RTLD_DEFAULT, "telpher_compression_error"));
  const double bound = largest(ask ? ask() : 0);
  error = largest(error);
  most = largest(most);
  if (rank == 0)
    std::printf(
        "{\"operation\": \"%s\", \"bytes\": %zu, \"us\": %.2f, \"calls\": %zu, "
        "\"error\": %.4g, \"bound\": %.4g, \"largest\": %.4g}\n",
        w.name, bytes, times[times.size() / 2] * 1e6, times.size(), error, bound, most);
}

void run(int argc, char** argv) {
  const auto source = open_memory_source("telpher");
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0;
  if (argc < 4 || !(seconds > 0))
    give_up("telpher-bench-lossy SECONDS BYTES[,BYTES] OPERATION [OPERATION]");
  for (int a = 3; a < argc; ++a) {
    const auto* w = std::find_if(std::begin(works), std::end(works), [&](const work& known) {
      return std::strcmp(known.name, argv[a]) == 0;
    });
    if (w == std::end(works)) give_up("operations: allreduce, allgather, alltoall");
    const std::string sizes = argv[2];
    for (std::size_t at = 0; at < sizes.size();) {
      const std::size_t end = std::min(sizes.find(',', at), sizes.size());
      std::size_t bytes = 0;
      if (!parse_size(sizes.substr(at, end - at), bytes)) give_up("BYTES: sizes such as 256k,4m");
      measure(*source, *w, bytes, seconds);
      at = end + 1;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  run(argc, argv);
  MPI_Finalize();
}
