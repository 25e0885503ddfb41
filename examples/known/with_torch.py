# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks: a PyTorch tensor goes from rank 0's device to rank 1's, and a sum over both ranks stays on the devices.
Plain mpi4py and PyTorch; nothing here knows of Telpher. Without a GPU the tensors are in host memory.

    telpher run -n 2 python -m mpi4py with_torch.py
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True telpher run -n 2 python -m mpi4py with_torch.py
"""

import sys

import torch
from mpi4py import MPI

COUNT = 1 << 20


def choose_device(local_rank: int) -> torch.device:
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", local_rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def finish(device: torch.device) -> None:
    """MPI knows nothing of PyTorch's stream: what fills a tensor must be done before it is sent."""
    if device.type == "cuda":
        torch.cuda.current_stream().synchronize()


def main():
    comm = MPI.COMM_WORLD
    if comm.Get_size() != 2:
        sys.exit("run this with two ranks")
    device = choose_device(comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank())
    expected = torch.arange(COUNT, dtype=torch.float32, device=device)
    data = expected if comm.Get_rank() == 0 else torch.full_like(expected, -1)
    total = torch.empty_like(expected)
    finish(device)
    if comm.Get_rank() == 0:
        comm.Send(data, dest=1, tag=123)
    else:
        comm.Recv(data, source=0, tag=123)
    comm.Allreduce(data, total, op=MPI.SUM)
    right = torch.equal(data, expected) and torch.equal(total, 2 * expected)
    right = comm.allreduce(right, op=MPI.LAND)
    if comm.Get_rank() == 0:
        print(f"{COUNT} float32 of PyTorch sent, received and summed on {device}: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
