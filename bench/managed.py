#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ping-pong of managed memory that lies on the device, with mpi4py and CuPy, two ranks.

    telpher run -n 2 python3 bench/managed.py                      moved as device memory
    telpher run -n 2 --set managed=host python3 bench/managed.py   left to the host MPI: its pages migrate

Each rank prefetches its buffers to its device once. In a turn a kernel fills rank 0's buffer, the bytes go there and
back, and a kernel of rank 0 adds to what came back: so what the pages' migration costs the kernels counts as well.
Prints for each size the median of 5 batches of 50 turns in us, and the same without MPI.
"""
import statistics
import time

import cupy
from mpi4py import MPI

SIZES = (8, 1 << 10, 64 << 10, 1 << 20, 16 << 20)
BATCHES, TURNS = 5, 50


def managed(size: int) -> cupy.ndarray:
    memory = cupy.cuda.malloc_managed(size)
    cupy.cuda.runtime.memPrefetchAsync(memory.ptr, size, cupy.cuda.Device().id, 0)
    return cupy.ndarray((size,), cupy.uint8, cupy.cuda.MemoryPointer(memory.mem, 0))


def turn(comm: MPI.Comm, rank: int, out: cupy.ndarray, back: cupy.ndarray, value: int, sends: bool) -> float:
    comm.Barrier()
    start = time.perf_counter()
    if rank == 0:
        out.fill(value)
        cupy.cuda.get_current_stream().synchronize()
    if sends and rank == 0:
        comm.Send(out, 1)
        comm.Recv(back, 1)
    elif sends:
        comm.Recv(back, 0)
        comm.Send(back, 0)
    if rank == 0:
        back += 1
        cupy.cuda.get_current_stream().synchronize()
    return time.perf_counter() - start


def check(rank: int, back: cupy.ndarray, value: int) -> None:
    """On the device: the host must not touch the pages."""
    if not bool((back == value + (rank == 0)).all()):
        raise SystemExit(f"rank {rank}: wrong bytes")


def main() -> None:
    comm, rank = MPI.COMM_WORLD, MPI.COMM_WORLD.rank
    cupy.cuda.Device(rank % cupy.cuda.runtime.getDeviceCount()).use()
    for size in SIZES:
        out, back = managed(size), managed(size)
        means = {True: [], False: []}
        turn(comm, rank, out, back, 1, True)
        check(rank, back, 1)
        for batch in range(BATCHES):
            for sends in (True, False):
                times = [turn(comm, rank, out, back, (batch * TURNS + i) % 250, sends) for i in range(TURNS)]
                means[sends].append(statistics.median(times) * 1e6)
                if sends:
                    check(rank, back, (batch * TURNS + TURNS - 1) % 250)
        if rank == 0:
            print(f"{size:10} {statistics.median(means[True]):10.2f} us, without MPI "
                  f"{statistics.median(means[False]):.2f}", flush=True)


if __name__ == "__main__":
    main()
