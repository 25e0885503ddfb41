// SPDX-License-Identifier: BSD-3-Clause
// What the bench expects of a collective is what the host MPI delivers, for every collective in
// every form, and a single wrong byte is found. Host memory only: MPI's answer is the reference.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "../../bench/collective_run.hpp"

using namespace telpher::bench;

namespace {

int problems = 0;

void check(bool right, const char* what, const std::string& which) {
  if (right) return;
  ++problems;
  std::fprintf(stderr, "%s: %s\n", which.c_str(), what);
}

collective_shape shape_of(const collective& c, form how, MPI_Comm comm, const grid& around,
                          int root) {
  collective_shape s{&c, how};
  find_element(how == form::nonblocking ? "int" : "double", s.type);
  s.op = how == form::blocking ? MPI_SUM : MPI_MAX;
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  s.bytes = 80 * static_cast<std::size_t>(ranks);  // what is scattered has whole elements for all
  s.root = root;
  s.comm = comm;
  s.around = around;
  return s;
}

// The checker itself: bytes behind the data, and one byte changed at either end.
void check_that_a_wrong_byte_is_found(memory_source& source) {
  std::vector<std::byte> bytes(100, std::byte{7});
  std::string wrong;
  window_buffer b(source, kind::host, bytes.size(), 1);
  b.write(0, bytes);
  check(b.holds(0, bytes, wrong), "equal bytes are called wrong", "checker");
  for (const std::size_t at : {std::size_t{0}, bytes.size() - 1, bytes.size() + 3}) {
    b.write(0, bytes);
    static_cast<std::byte*>(b.slot(0))[at] ^= std::byte{1};
    wrong.clear();
    check(!b.holds(0, bytes, wrong) && !wrong.empty(), "a wrong byte is not found", "checker");
  }
}

// Different seeds, ranks and blocks must not look alike, or a mixed-up block would pass.
void check_that_blocks_differ(const collective& c, int size) {
  data_plan p;
  p.which = &c;
  find_element("int", p.type);
  p.block_bytes = 256;
  p.size = size;
  p.neighbours.assign(2, 0);
  if (p.send_blocks() == 0) return;
  const auto first = p.sent(1);
  p.rank = 1;
  check(first != p.sent(1), "two ranks send the same", c.name);
  p.rank = 0;
  check(first != p.sent(2), "two seeds give the same", c.name);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto source = open_memory_source("telpher");
  check_that_a_wrong_byte_is_found(*source);
  for (const int dimensions : {1, 2}) {
    const grid around(size, dimensions, dimensions);
    MPI_Comm neighbours = around.communicator(MPI_COMM_WORLD);
    for (const collective& c : collectives()) {
      check_that_blocks_differ(c, size);
      for (const form how : {form::blocking, form::nonblocking, form::persistent}) {
        if (how == form::persistent && !TELPHER_HAS_PERSISTENT_COLLECTIVES) continue;
        const MPI_Comm comm = c.among_neighbours() ? neighbours : MPI_COMM_WORLD;
        collective_work work(*source, shape_of(c, how, comm, around, size - 1), mode::telpher,
                             nullptr);
        std::string wrong;
        work.run_checked(static_cast<std::uint64_t>(dimensions), wrong);
        check(wrong.empty(), wrong.c_str(), test_name(c, how));
      }
    }
    MPI_Comm_free(&neighbours);
  }
  MPI_Allreduce(MPI_IN_PLACE, &problems, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return problems ? 1 : 0;
}
