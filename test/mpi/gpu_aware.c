/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host MPI that takes CUDA's memory says of itself; before libmpi, which says otherwise. */
int MPIX_Query_cuda_support(void);
int MPIX_GPU_query_support(int type, int* is_supported);

int MPIX_Query_cuda_support(void) {
  return 1;
}

int MPIX_GPU_query_support(int type, int* is_supported) {
  *is_supported = type == 0;
  return 0;
}
