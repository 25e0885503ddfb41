// SPDX-License-Identifier: BSD-3-Clause
// What a program over a host MPI that takes CUDA's memory hears (gpu_aware.c says so for it): while
// Telpher is not active, what that MPI says; while it is, what Telpher can do with its back end.
#include "suite.hpp"

extern "C" int MPIX_Query_cuda_support(void);
extern "C" int MPIX_GPU_query_support(int type, int* is_supported);

namespace {

int supported_by_kind() {
  int answer = -1;
  MPIX_GPU_query_support(0, &answer);
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  const int before = MPIX_Query_cuda_support(), before_by_kind = supported_by_kind();
  mpi_test::suite s(&argc, &argv, 1);
  const bool cuda = std::string_view(mpi_test::backend_name()) == "cuda";
  const int wanted = s.opt.device && !cuda ? 0 : 1;
  s.run("queries", [&] {
    s.expect_equal(before, 1, "MPIX_Query_cuda_support before MPI_Init");
    s.expect_equal(before_by_kind, 1, "MPIX_GPU_query_support before MPI_Init");
    s.expect_equal(MPIX_Query_cuda_support(), wanted, "MPIX_Query_cuda_support");
    s.expect_equal(supported_by_kind(), wanted, "MPIX_GPU_query_support");
  });
  return s.finish();
}
