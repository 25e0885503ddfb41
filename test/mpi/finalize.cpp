// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize with messages that nobody receives, which the host MPIs end with, and from the
// destructor of a static object, where messages and collectives of device memory are right too.
#include <mpi.h>

#include <chrono>
#include <numeric>
#include <string_view>

#include "memory.hpp"

using namespace mpi_test;

namespace {

int rank = 0, ranks = 0;

[[noreturn]] void wrong(const char* what) {
  std::printf("FAILED rank %d: %s\n", rank, what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void start() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

// The frame's buffers use objects that static destructors find destroyed.
struct memory {
  explicit memory(std::size_t n) : bytes(n), data(try_allocate(kind::device, n)) {
    if (data == nullptr) wrong("no device memory");
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  ~memory() { release(kind::device, data); }
  void fill(int id) const {
    const std::vector<unsigned char> host(bytes, static_cast<unsigned char>(id));
    functions().copy(data, host.data(), bytes);
  }
  void expect(int id) const {
    std::vector<unsigned char> host(bytes);
    functions().copy(host.data(), data, bytes);
    for (const unsigned char c : host)
      if (c != static_cast<unsigned char>(id)) wrong("the bytes");
  }

  std::size_t bytes;
  void* data;
};

void ring(std::size_t bytes) {
  const memory out(bytes), in(bytes);
  out.fill(rank + 1);
  in.fill(0);
  const int n = static_cast<int>(bytes), before = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(out.data, n, MPI_BYTE, (rank + 1) % ranks, 5, in.data, n, MPI_BYTE, before, 5,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  in.expect(before + 1);
}

void sum() {
  constexpr std::size_t n = 1000;
  std::vector<int> own(n), all(n);
  std::iota(own.begin(), own.end(), rank);
  const memory in(n * sizeof(int)), out(n * sizeof(int));
  functions().copy(in.data, own.data(), in.bytes);
  MPI_Allreduce(in.data, out.data, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  functions().copy(all.data(), out.data, out.bytes);
  for (std::size_t i = 0; i < n; ++i)
    if (all[i] != ranks * (ranks - 1) / 2 + ranks * static_cast<int>(i)) wrong("the sum");
}

void everything() {
  ring(100);
  ring(100000);
  ring(3000000);
  sum();
}

void end() {
  MPI_Finalize();
  std::printf("ok rank %d ended\n", rank);
  std::fflush(stdout);
}

struct environment {
  environment() { start(); }
  ~environment() {
    everything();
    end();
  }
};

// Left for the host MPI to end with: sends and receives without a partner, freed or not.
void leave_behind() {
  for (const int bytes : {100, 70000, 3000000}) {
    MPI_Request request;
    const auto memory = [&] { return try_allocate(kind::device, static_cast<std::size_t>(bytes)); };
    if (rank == 0) {
      MPI_Isend(memory(), bytes, MPI_BYTE, 1, 90, MPI_COMM_WORLD, &request);
      MPI_Isend(memory(), bytes, MPI_BYTE, 1, 91, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      MPI_Issend(memory(), bytes, MPI_BYTE, 1, 92, MPI_COMM_WORLD, &request);
    }
    MPI_Irecv(memory(), bytes, MPI_BYTE, (rank + 1) % ranks, 93, MPI_COMM_WORLD, &request);
    MPI_Irecv(memory(), bytes, MPI_BYTE, (rank + 1) % ranks, 94, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
}

// The same without a receive, which would keep MPICH from looking: small and large, host and
// device.
void leave_sends_behind() {
  if (rank != 0) return;
  for (const kind k : {kind::host, kind::device})
    for (const int bytes : {8, 479, 3000, 70000}) {
      MPI_Request request;
      MPI_Isend(try_allocate(k, static_cast<std::size_t>(bytes)), bytes, MPI_BYTE, 1, 95,
                MPI_COMM_WORLD, &request);
    }
}

// A send whose request was freed is received all the same.
void free_a_send() {
  constexpr int bytes = 3000000;
  const auto& m = *new memory(bytes);
  if (rank == 0) {
    m.fill(8);
    MPI_Request request;
    MPI_Isend(m.data, bytes, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  } else if (rank == 1) {
    MPI_Recv(m.data, bytes, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    m.expect(8);
  }
}

// No device memory: the program runs without Telpher, too.
void end_timed() {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = std::chrono::steady_clock::now();
  MPI_Finalize();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("finalized in %.4f s\n", took.count());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[argc - 1] : "";
  functions();
  if (how == "library") {  // whose destructors run when it is closed, or at the end of the process
    start();
    everything();
    const std::string program = argv[0];
    const std::string folder = program.substr(0, program.rfind('/') + 1);
    void* const library = dlopen((folder + "../../lib/test_ending_library.so").c_str(), RTLD_NOW);
    if (!library) wrong(dlerror());
    *static_cast<void (**)()>(dlsym(library, "at_the_end")) = [] {
      everything();
      end();
    };
    if (rank == 0) dlclose(library);  // now; at the other ranks the process ends first
    return 0;
  }
  if (how == "static") {
    static const environment one;
    return 0;
  }
  if (how == "static-used") {
    static const environment one;
    everything();
    return 0;
  }
  start();
  if (how == "timed") {
    end_timed();
    return 0;
  }
  everything();
  free_a_send();
  if (how == "unmatched") leave_behind();
  if (how == "unreceived") leave_sends_behind();
  end();
  return 0;
}
