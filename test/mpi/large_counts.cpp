// SPDX-License-Identifier: BSD-3-Clause
// Large counts came with MPI 4.0; Open MPI 5 has none.
#include "large_counts.hpp"

int main(int argc, char** argv) {
  mpi_test::suite s(&argc, &argv, 2);
#if MPI_VERSION >= 4
  namespace large_counts = mpi_test::large_counts;
  large_counts::messages(s);
  large_counts::packing(s);
  large_counts::collectives(s);
  large_counts::reductions(s);
  large_counts::neighbours(s);
  large_counts::windows(s);
#else
  if (s.rank == 0) std::printf("# this MPI has no large counts\n");
#endif
  return s.finish();
}
