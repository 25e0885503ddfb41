# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks: a JAX array goes from rank 0's device to rank 1's, and a sum over both ranks stays on the devices.
Plain mpi4py and JAX, with CuPy for the memory that messages land in. Without a GPU all are in host memory.

    XLA_PYTHON_CLIENT_PREALLOCATE=false telpher run -n 2 python -m mpi4py with_jax.py
"""

import sys

import jax
import jax.numpy as jnp
from mpi4py import MPI

COUNT = 1 << 20


class DeviceView:
    """A JAX array by its __cuda_array_interface__ alone. mpi4py would rather take DLPack, and asks for it with
    stream=-1 (the array API's "do not synchronize"), which JAX 0.11 takes for a stream and refuses."""

    def __init__(self, array):
        self.array = array  # lives as long as the view
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def to_send(array, device):
    """With its type: mpi4py does not know the format that JAX tells of its buffers."""
    array.block_until_ready()  # MPI knows nothing of JAX's streams
    return [DeviceView(array) if device.platform == "gpu" else array, MPI.FLOAT]


def landing(device):
    """JAX's arrays cannot be written to: a message lands in memory of another library, which JAX then takes over
    without a copy (jnp.from_dlpack)."""
    if device.platform == "gpu":
        import cupy as library

        library.cuda.Device(device.local_hardware_id).use()
    else:
        import numpy as library
    return library.empty(COUNT, dtype="float32")


def main():
    comm = MPI.COMM_WORLD
    if comm.Get_size() != 2:
        sys.exit("run this with two ranks")
    devices = jax.local_devices()
    device = devices[comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank() % len(devices)]
    with jax.default_device(device):
        expected = data = jnp.arange(COUNT, dtype=jnp.float32)
        if comm.Get_rank() == 0:
            comm.Send(to_send(data, device), dest=1, tag=123)
        else:
            received = landing(device)
            comm.Recv(received, source=0, tag=123)
            data = jnp.from_dlpack(received)
        total = landing(device)
        comm.Allreduce(to_send(data, device), [total, MPI.FLOAT], op=MPI.SUM)
        right = bool((data == expected).all()) and bool((jnp.from_dlpack(total) == 2 * expected).all())
    right = comm.allreduce(right, op=MPI.LAND)
    if comm.Get_rank() == 0:
        print(f"{COUNT} float32 of JAX sent, received and summed on {device}: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
