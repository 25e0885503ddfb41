# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks: an array of Numba, filled by a kernel, goes from rank 0's device to rank 1's, and a sum over both ranks
stays on the devices. Plain mpi4py and Numba (numba-cuda); nothing here knows of Telpher.

    telpher run -n 2 python -m mpi4py with_numba.py
"""

import sys

import numpy
from mpi4py import MPI
from numba import cuda

COUNT = 1 << 20


@cuda.jit
def fill(array, factor):
    at = cuda.grid(1)
    if at < array.size:
        array[at] = factor * at


def main():
    comm = MPI.COMM_WORLD
    if comm.Get_size() != 2:
        sys.exit("run this with two ranks")
    cuda.select_device(comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank() % len(cuda.gpus))
    data = cuda.device_array(COUNT, dtype=numpy.float32)
    total = cuda.device_array_like(data)
    fill[(COUNT + 255) // 256, 256](data, 1 if comm.Get_rank() == 0 else -1)
    cuda.synchronize()  # MPI knows nothing of Numba's stream
    if comm.Get_rank() == 0:
        comm.Send(data, dest=1, tag=123)
    else:
        comm.Recv(data, source=0, tag=123)
    comm.Allreduce(data, total, op=MPI.SUM)
    expected = numpy.arange(COUNT, dtype=numpy.float32)
    right = bool((data.copy_to_host() == expected).all() and (total.copy_to_host() == 2 * expected).all())
    right = comm.allreduce(right, op=MPI.LAND)
    if comm.Get_rank() == 0:
        print(f"{COUNT} float32 of Numba sent, received and summed on the devices: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
