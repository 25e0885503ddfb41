// SPDX-License-Identifier: BSD-3-Clause
// A program that replaces operator new, with a header in front of each piece, as those do that
// count their memory: no piece of Telpher's comes to its operator delete, and none of its own to
// Telpher's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "suite.hpp"

namespace {

constexpr std::uint64_t mark = 0x7e1f0a11d0c5eed5;
struct alignas(16) header {
  std::uint64_t seen;
};

void* piece_of(std::size_t bytes) {
  auto* const h = static_cast<header*>(std::malloc(bytes + sizeof(header)));
  if (h == nullptr) throw std::bad_alloc();
  h->seen = mark;
  return h + 1;
}

void give_back(void* piece) noexcept {
  if (piece == nullptr) return;
  header* const h = static_cast<header*>(piece) - 1;
  if (h->seen != mark) {
    std::puts("FAILED operator delete: a piece that is not the program's");
    std::abort();
  }
  h->seen = 0;
  std::free(h);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return piece_of(bytes);
}
void operator delete(void* piece) noexcept {
  give_back(piece);
}
void operator delete(void* piece, std::size_t) noexcept {
  give_back(piece);
}

int main(int argc, char** argv) {
  using namespace mpi_test;
  suite s(&argc, &argv, 2);
  s.run("messages", [&] {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int other = 1 - s.rank;
    for (const std::size_t bytes : {8, 5000, 3000000}) {
      buffer out(kinds().back(), bytes), in(kinds().back(), bytes);
      out.fill(static_cast<std::uint64_t>(s.rank));
      in.clear();
      if (s.rank < 2)
        MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, other, 1, in.data(), as_int(bytes),
                     MPI_BYTE, other, 1, comm, MPI_STATUS_IGNORE);
      if (s.rank < 2) s.expect_none(in.compare(static_cast<std::uint64_t>(other), bytes));
      MPI_Allreduce(out.data(), in.data(), as_int(bytes), MPI_BYTE, MPI_BOR, comm);
    }
    MPI_Comm_free(&comm);
  });
  return s.finish();
}
