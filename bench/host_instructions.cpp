// SPDX-License-Identifier: BSD-3-Clause
// What host_instructions.py counts: calls of one rank to itself, all in host memory. The arguments
// are the case, how often, and `multiple` for MPI_THREAD_MULTIPLE; a long and a short run differ by
// the rounds alone.
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int window = 32, bytes = 8;
std::array<char, window * bytes> in, out;
std::array<MPI_Request, 2 * window> requests;
constexpr int all = 2 * window;

void post_window() {
  for (int i = 0; i < window; ++i)
    MPI_Irecv(&in[static_cast<std::size_t>(i * bytes)], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  for (int i = 0; i < window; ++i)
    MPI_Isend(&out[static_cast<std::size_t>(i * bytes)], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(window + i)]);
}

void waitall() {
  MPI_Waitall(all, requests.data(), MPI_STATUSES_IGNORE);
}
void waitany() {
  for (int i = 0, at = 0; i < all; ++i) MPI_Waitany(all, requests.data(), &at, MPI_STATUS_IGNORE);
}
void testany() {
  for (int i = 0, at = 0, flag = 0; i < all; i += flag)
    MPI_Testany(all, requests.data(), &at, &flag, MPI_STATUS_IGNORE);
}
void test() {
  for (MPI_Request& r : requests)
    for (int flag = 0; !flag;) MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
}
void testsome() {
  std::array<int, all> indices;
  for (int left = all, n = 0; left > 0; left -= n)
    MPI_Testsome(all, requests.data(), &n, indices.data(), MPI_STATUSES_IGNORE);
}
template <void (*End)()>
void windowed() {
  post_window();
  End();
}

void irecv_send() {
  MPI_Irecv(in.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send(out.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
void any() {
  MPI_Irecv(in.data(), bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Send(out.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
void isend_recv() {
  MPI_Isend(out.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv(in.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
void sendrecv() {
  MPI_Sendrecv(out.data(), bytes, MPI_BYTE, 0, 0, in.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
void replace() {
  MPI_Sendrecv_replace(in.data(), bytes, MPI_BYTE, 0, 0, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void persistent() {
  MPI_Startall(all, requests.data());
  waitall();
}
void allreduce() {
  MPI_Allreduce(out.data(), in.data(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
void bcast() {
  MPI_Bcast(in.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
void barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}

struct one {
  const char* name;
  void (*run)();
};
constexpr one cases[] = {
    {"waitall", windowed<waitall>},
    {"waitany", windowed<waitany>},
    {"testany", windowed<testany>},
    {"test", windowed<test>},
    {"testsome", windowed<testsome>},
    {"irecv_send", irecv_send},
    {"any", any},
    {"isend_recv", isend_recv},
    {"sendrecv", sendrecv},
    {"replace", replace},
    {"persistent", persistent},
    {"allreduce", allreduce},
    {"bcast", bcast},
    {"barrier", barrier},
};

void init_persistent() {
  for (int i = 0; i < window; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Recv_init(&in[at * bytes], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[at]);
    MPI_Send_init(&out[at * bytes], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[window + at]);
  }
}

}  // namespace

/// What callgrind collects in.
extern "C" [[gnu::noinline]] void counted(void (*run)(), int rounds) {
  for (int n = 0; n < rounds; ++n) run();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool threads = argc > 3 && std::strcmp(argv[3], "multiple") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (std::strcmp(argv[1], "persistent") == 0) init_persistent();
  for (const one& c : cases)
    if (std::strcmp(argv[1], c.name) == 0) counted(c.run, std::atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
