// SPDX-License-Identifier: BSD-3-Clause
// Managed memory that the program has put on a device is moved as device memory, and goes back to
// the host MPI when the program puts it back. With "host" (TELPHER_MANAGED=host) it always does.
// Which way it went is seen on the emulated device alone.
#include <algorithm>

#include "emulated.hpp"
#include "suite.hpp"

using namespace mpi_test;

namespace {

constexpr int elements = 30000;
constexpr std::size_t bytes = elements * sizeof(int);

/// A function of a vendor's library that is in the process.
template <class F>
F* loaded(const char* library, const char* symbol) {
  void* const opened = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  return opened ? reinterpret_cast<F*>(dlsym(opened, symbol)) : nullptr;
}

constexpr int to_host = -1;  // CU_DEVICE_CPU, hipCpuDeviceId

// The driver's first form, which takes an ordinal; headers of CUDA 13 name another one so.
bool prefetch_by_cuda(void* at, int device) {
  static auto* const call = loaded<int(unsigned long long, std::size_t, int, void*)>(
      "libcuda.so.1", "cuMemPrefetchAsync");
  static auto* const wait = loaded<int()>("libcuda.so.1", "cuCtxSynchronize");
  return call && wait && call(reinterpret_cast<std::uintptr_t>(at), bytes, device, nullptr) == 0 &&
         wait() == 0;
}

bool prefetch_by_hip(void* at, int device) {
  for (const char* library : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    auto* const call =
        loaded<int(const void*, std::size_t, int, void*)>(library, "hipMemPrefetchAsync");
    auto* const wait = loaded<int()>(library, "hipDeviceSynchronize");
    if (call && wait) return call(at, bytes, device, nullptr) == 0 && wait() == 0;
  }
  return false;
}

/// False where the back end in use has no such call.
bool prefetch(const buffer& b, int device) {
  static auto* const by_emulated = emulated<int(void*, int)>("telpher_emu_prefetch");
  if (by_emulated) return by_emulated(b.data(), device) == 0;
  const std::string backend = backend_name();
  if (backend == "cuda") return prefetch_by_cuda(b.data(), device);
  return backend == "hip" && prefetch_by_hip(b.data(), device);
}

int own_device() {
  auto* const ask = memory_functions::find<decltype(telpher_get_device)>("telpher_get_device");
  int device = 0;
  if (ask) ask(&device);
  return device;
}

std::vector<int> numbers(int rank) {
  std::vector<int> n(elements);
  for (int i = 0; i < elements; ++i) n[static_cast<std::size_t>(i)] = 7 * rank + i % 1000;
  return n;
}

void put(buffer& b, const std::vector<int>& n) {
  b.write(reinterpret_cast<const unsigned char*>(n.data()), bytes);
}

void expect(suite& s, const buffer& b, const std::vector<int>& n) {
  s.expect_none(b.compare(reinterpret_cast<const unsigned char*>(n.data())));
}

/// Both ways between two ranks, from and to memory of all kinds.
void messages(suite& s, buffer& own, bool as_device) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (const kind k : kinds()) {
    s.note("with %s", name(k));
    buffer other(k, bytes);
    put(own, numbers(s.rank));
    other.clear();
    MPI_Sendrecv(own.data(), elements, MPI_INT, peer, 0, other.data(), elements, MPI_INT, peer, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(s, other, numbers(peer));
    put(other, numbers(s.rank + 5));
    own.clear();
    MPI_Request r;
    MPI_Irecv(own.data(), elements, MPI_INT, peer, 1, MPI_COMM_WORLD, &r);
    MPI_Send(other.data(), elements, MPI_INT, peer, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect(s, own, numbers(peer + 5));
  }
  if (counted("copies") < 0) return;
  const auto work = [] { return counted("copies") + counted("launches"); };
  put(own, numbers(s.rank));
  const long long before = work();
  MPI_Sendrecv_replace(own.data(), elements, MPI_INT, peer, 3, peer, 3, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  s.expect((work() > before) == as_device, as_device ? "moved by the device" : "host memory");
  expect(s, own, numbers(peer));
}

void collectives(suite& s, buffer& own) {
  buffer result(kind::managed, bytes);
  own.clear();
  put(own, numbers(s.rank));
  result.clear();
  MPI_Allreduce(own.data(), result.data(), elements, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::vector<int> sum(elements, 0);
  for (int rank = 0; rank < s.ranks; ++rank) {
    const auto n = numbers(rank);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += n[i];
  }
  expect(s, result, sum);
  MPI_Bcast(own.data(), elements, MPI_INT, s.ranks - 1, MPI_COMM_WORLD);
  expect(s, own, numbers(s.ranks - 1));
}

void window(suite& s, buffer& own) {
  const int next = (s.rank + 1) % s.ranks, before = (s.rank + s.ranks - 1) % s.ranks;
  own.clear();
  buffer from(kind::device, bytes);
  put(from, numbers(s.rank));
  MPI_Win win;
  MPI_Win_create(own.data(), bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(from.data(), elements, MPI_INT, next, 0, elements, MPI_INT, win);
  MPI_Win_fence(0, win);
  expect(s, own, numbers(before));
  MPI_Win_free(&win);
}

void all_calls(suite& s, buffer& own, bool as_device) {
  messages(s, own, as_device);
  collectives(s, own);
  window(s, own);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const bool told = std::find(s.opt.words.begin(), s.opt.words.end(), "host") != s.opt.words.end();
  s.opt.words.clear();
  {
    buffer own(kind::managed, bytes);
    if (!prefetch(own, own_device())) {
      if (s.rank == 0) std::printf("# left out: %s puts no memory on a device\n", backend_name());
      return s.finish();
    }
    s.run("on a device", [&] { all_calls(s, own, !told); });
    prefetch(own, to_host);
    s.run("on the host again", [&] { all_calls(s, own, false); });
  }
  return s.finish();
}
