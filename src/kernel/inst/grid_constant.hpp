// SPDX-License-Identifier: BSD-3-Clause
// TELPHER_GRID_CONSTANT stands before a kernel's parameter. Without it nvcc copies a struct that is
// indexed by a variable to each thread's local memory, 3848 bytes in a reduction. The first launch
// that needs more of that than the device has set aside waits until the device is idle, which it is
// not while a stream waits for us: so for HIP over CUDA, too. AMD's compiler reads arguments in
// place.
#pragma once

#if defined(__CUDACC__)
#define TELPHER_GRID_CONSTANT __grid_constant__
#else
#define TELPHER_GRID_CONSTANT
#endif
