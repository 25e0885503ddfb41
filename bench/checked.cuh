// SPDX-License-Identifier: BSD-3-Clause
// CHECKED(call of CUDA's runtime): a program of one process ends with the error's text if it fails.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}
#define CHECKED(call) check(call, #call)
