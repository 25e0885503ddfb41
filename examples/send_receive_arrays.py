# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks: an array of PyTorch or JAX goes from rank 0's device to rank 1's through mpi4py, which
takes any object with DLPack or __cuda_array_interface__. Without a GPU the arrays are in host memory.

    mpirun -n 2 python -m mpi4py send_receive_arrays.py torch|jax
"""

import sys

from mpi4py import MPI

COUNT = 1 << 20


def exchange_torch(comm, local_rank):
    import torch

    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", local_rank % torch.cuda.device_count())
        torch.cuda.set_device(device)

    def finish():  # MPI knows nothing of PyTorch's stream
        if device.type == "cuda":
            torch.cuda.current_stream().synchronize()

    expected = torch.arange(COUNT, dtype=torch.float32, device=device)
    if comm.Get_rank() == 0:
        finish()
        comm.Send(expected, dest=1, tag=123)
        return True, device
    received = torch.full_like(expected, -1)
    finish()
    comm.Recv(received, source=0, tag=123)
    return torch.equal(received, expected), device


class DeviceView:
    """A JAX array by its __cuda_array_interface__ alone. mpi4py would rather take DLPack, and asks for it with
    stream=-1 (the array API's "do not synchronize"), which JAX 0.11 takes for a stream and refuses."""

    def __init__(self, array):
        self.array = array  # lives as long as the view
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def exchange_jax(comm, local_rank):
    import jax
    import jax.numpy as jnp

    device = jax.local_devices()[local_rank % len(jax.local_devices())]
    with jax.default_device(device):
        expected = jnp.arange(COUNT, dtype=jnp.float32)
        expected.block_until_ready()
        if comm.Get_rank() == 0:
            message = DeviceView(expected) if device.platform == "gpu" else expected
            # With its type: mpi4py does not know the format that JAX tells of its buffers.
            comm.Send([message, MPI.FLOAT], dest=1, tag=123)
            return True, device
        # JAX's arrays cannot be written to: the message lands in memory of another library, which
        # JAX then takes over without a copy.
        if device.platform == "gpu":
            import cupy as memory_library

            memory_library.cuda.Device(device.local_hardware_id).use()
        else:
            import numpy as memory_library
        landing = memory_library.empty(COUNT, dtype="float32")
        comm.Recv(landing, source=0, tag=123)
        received = jnp.from_dlpack(landing)
        return bool((received == expected).all()), device


def main():
    exchanges = {"torch": exchange_torch, "jax": exchange_jax}
    comm = MPI.COMM_WORLD
    if len(sys.argv) != 2 or sys.argv[1] not in exchanges or comm.Get_size() != 2:
        sys.exit("usage: mpirun -n 2 python send_receive_arrays.py torch|jax")
    local_rank = comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank()
    right, device = exchanges[sys.argv[1]](comm, local_rank)
    right = comm.allreduce(right, op=MPI.LAND)
    if comm.Get_rank() == 0:
        print(f"{COUNT} float32 of {sys.argv[1]} on {device}: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
