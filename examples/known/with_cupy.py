# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks: a CuPy array on the device of rank 0 goes into one on the device of rank 1, and a sum over
both ranks stays on the devices. Plain mpi4py and CuPy (for CUDA or ROCm); nothing here knows of Telpher.

    telpher run -n 2 python -m mpi4py with_cupy.py
"""

import sys

import cupy
from mpi4py import MPI

COUNT = 1 << 20


def main():
    comm = MPI.COMM_WORLD
    rank = comm.Get_rank()
    if comm.Get_size() != 2:
        sys.exit("run this with two ranks")
    node = comm.Split_type(MPI.COMM_TYPE_SHARED)
    cupy.cuda.Device(node.Get_rank() % cupy.cuda.runtime.getDeviceCount()).use()

    if rank == 0:
        data = cupy.arange(COUNT, dtype=cupy.int32)
        # MPI knows nothing of CuPy's stream: what fills the array must be done before it is sent.
        cupy.cuda.get_current_stream().synchronize()
        comm.Send(data, dest=1, tag=123)
    else:
        data = cupy.full(COUNT, -1, dtype=cupy.int32)
        cupy.cuda.get_current_stream().synchronize()
        comm.Recv(data, source=0, tag=123)
    received = bool((data == cupy.arange(COUNT, dtype=cupy.int32)).all())

    total = cupy.empty_like(data)
    cupy.cuda.get_current_stream().synchronize()
    comm.Allreduce(data, total, op=MPI.SUM)
    summed = bool((total == 2 * data).all())

    right = comm.allreduce(received and summed, op=MPI.LAND)
    if rank == 0:
        print(f"{COUNT} int32 sent, received and summed on the devices: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
