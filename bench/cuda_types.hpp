// SPDX-License-Identifier: BSD-3-Clause
// Types of CUDA's driver for memory that a program maps itself. They are declared here because the
// portable build has no CUDA headers, and are those of the driver's binary interface, unchanged
// since CUDA 11.2.
#pragma once

namespace telpher::bench::cuda_types {

struct location {
  int type;  // 1: a device
  int id;
};
struct allocation_properties {
  int type;          // 1: pinned, the only one
  int handle_types;  // 0: none, 1: POSIX file descriptor
  location where;
  void* unused_on_linux;
  unsigned char flags[8];
};
struct access_description {
  location where;
  int flags;  // 3: read and write
};

}  // namespace telpher::bench::cuda_types
