/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h: MPI windows for the program's own kernels. Include mpi.h and telpher.h, or this file.
 * The functions that kernels call are in device.h; docs/use/kernels.md has the rules and an
 * example.
 */
#ifndef TELPHER_WINDOW_H
#define TELPHER_WINDOW_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct telpher_device_window;

/*
 * Gives a window of device memory to kernels. `handle` is a record in device memory that says where
 * the memory of every rank lies for kernels of one device. That is the device of this rank's own
 * part of the window or, if the rank has no bytes there, telpher_get_device's.
 *
 * Collective over the window, after MPI_Win_create, MPI_Win_allocate or MPI_Win_allocate_shared.
 * Called again it gives the same handle. The handle may be passed to kernels until MPI_Win_free.
 * When MPI_Win_free is called, no kernel may use it any more.
 *
 * Returns MPI's error codes, and calls the window's error handler. The log names the rank that is
 * in the way and says what to do. Either all ranks get a handle or none does. MPI_ERR_WIN for a
 * null window, MPI_ERR_ARG for a null `handle`, MPI_ERR_UNSUPPORTED_OPERATION
 *  - where a rank of the window exposes host memory, or has memory that peers of its node cannot
 *    map;
 *  - where ranks are on several nodes and MPI runs below MPI_THREAD_MULTIPLE, because a thread of
 *    Telpher's carries what kernels ask of ranks on other nodes;
 *  - for windows of host memory, dynamic windows, and back ends whose kernels cannot wait for each
 *    other (SYCL).
 */
int telpher_win_device(MPI_Win win, const struct telpher_device_window** handle);

#ifdef __cplusplus
}
#endif

#endif
