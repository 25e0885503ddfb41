#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ping-pong of managed memory that lies on the device, with mpi4py and CuPy, two ranks.

    telpher run -n 2 python3 bench/managed.py                      moved as device memory
    telpher run -n 2 --set managed=host python3 bench/managed.py   left to the host MPI: its pages migrate

Each rank prefetches its buffer to its device once, and fills it there by a kernel before each message, as a program
would. Prints for each size the median of 5 batches of 50 round trips, halved, in us, without the time of the kernels.
"""
import statistics
import time

import cupy
from mpi4py import MPI

SIZES = (8, 1 << 10, 64 << 10, 1 << 20, 16 << 20)
BATCHES, TRIPS = 5, 50


def managed(size: int) -> cupy.ndarray:
    memory = cupy.cuda.malloc_managed(size)
    cupy.cuda.runtime.memPrefetchAsync(memory.ptr, size, cupy.cuda.Device().id, 0)
    return cupy.ndarray((size,), cupy.uint8, cupy.cuda.MemoryPointer(memory.mem, 0))


def trip(comm: MPI.Comm, rank: int, out: cupy.ndarray, back: cupy.ndarray, value: int) -> float:
    out.fill(value)
    cupy.cuda.get_current_stream().synchronize()
    comm.Barrier()
    start = time.perf_counter()
    if rank == 0:
        comm.Send(out, 1)
        comm.Recv(back, 1)
    else:
        comm.Recv(back, 0)
        comm.Send(back, 0)
    seconds = time.perf_counter() - start
    if int(back[0]) != value or int(back[-1]) != value:
        raise SystemExit(f"rank {rank}: wrong bytes")
    return seconds


def main() -> None:
    comm, rank = MPI.COMM_WORLD, MPI.COMM_WORLD.rank
    cupy.cuda.Device(rank % cupy.cuda.runtime.getDeviceCount()).use()
    for size in SIZES:
        out, back = managed(size), managed(size)
        trip(comm, rank, out, back, 1)
        means = []
        for batch in range(BATCHES):
            times = [trip(comm, rank, out, back, (batch * TRIPS + i) % 251) for i in range(TRIPS)]
            means.append(statistics.median(times) / 2 * 1e6)
        if rank == 0:
            print(f"{size:10} {statistics.median(means):10.2f} us, best {min(means):.2f}", flush=True)


if __name__ == "__main__":
    main()
