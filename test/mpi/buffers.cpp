// SPDX-License-Identifier: BSD-3-Clause
// MPI_Buffer_attach of every kind of memory: buffered sends of host and device memory arrive, and
// the program gets its own buffer back.
#include "suite.hpp"

using namespace mpi_test;

namespace {

constexpr int bytes = 3000, messages = 3;
constexpr int room = messages * (bytes + MPI_BSEND_OVERHEAD);

void send_buffered(suite& s, kind k, MPI_Comm comm) {
  const int right = (s.rank + 1) % s.ranks, left = (s.rank + s.ranks - 1) % s.ranks;
  void* const out = try_allocate(k, bytes);
  std::vector<unsigned char> data(bytes), got(bytes), wanted(bytes);
  for (int m = 0; m < messages; ++m) {
    write_pattern(static_cast<std::uint64_t>(10 * s.rank + m), data.data(), bytes);
    copy(k, out, data.data(), bytes);
    MPI_Bsend(out, bytes, MPI_BYTE, right, m, comm);
  }
  for (int m = 0; m < messages; ++m) {
    MPI_Recv(got.data(), bytes, MPI_BYTE, left, m, comm, MPI_STATUS_IGNORE);
    write_pattern(static_cast<std::uint64_t>(10 * left + m), wanted.data(), bytes);
    s.expect(got == wanted, "the bytes of a buffered message");
  }
  release(k, out);
}

/// `Count`: what the calls give the size in.
template <class Count = int, class Attach, class Detach>
void use(suite& s, kind k, MPI_Comm comm, const Attach& attach, const Detach& detach) {
  void* const buffer = try_allocate(k, room);
  for (const kind sent : kinds()) {
    s.note("%s messages", name(sent));
    s.expect_equal(attach(buffer, room), MPI_SUCCESS, "attaching");
    send_buffered(s, sent, comm);
    void* back = nullptr;
    Count size = 0;
    s.expect_equal(detach(&back, &size), MPI_SUCCESS, "detaching");
    s.expect(back == buffer, "the program's own buffer comes back");
    s.expect_equal(size, room, "its size");
  }
  release(k, buffer);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  for (const kind k : kinds()) {
    s.run(std::string("process/") + name(k),
          [&] { use(s, k, MPI_COMM_WORLD, MPI_Buffer_attach, MPI_Buffer_detach); });
#if MPI_VERSION >= 4
    s.run(std::string("process, large counts/") + name(k),
          [&] { use<MPI_Count>(s, k, MPI_COMM_WORLD, MPI_Buffer_attach_c, MPI_Buffer_detach_c); });
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    s.run(std::string("communicator/") + name(k), [&] {
      MPI_Comm comm;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      use(
          s, k, comm, [&](void* b, int n) { return MPI_Comm_attach_buffer(comm, b, n); },
          [&](void* b, int* n) { return MPI_Comm_detach_buffer(comm, b, n); });
      use<MPI_Count>(
          s, k, comm, [&](void* b, MPI_Count n) { return MPI_Comm_attach_buffer_c(comm, b, n); },
          [&](void* b, MPI_Count* n) { return MPI_Comm_detach_buffer_c(comm, b, n); });
      MPI_Comm_free(&comm);
    });
#endif
  }
  return s.finish();
}
