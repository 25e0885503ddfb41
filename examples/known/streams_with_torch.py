# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of PyTorch are summed over the ranks in the order of PyTorch's stream: kernels before and after the sum,
and no wait of the CPU between them. Each rank fits a line to its own points. All end with the same weights, which are
compared with what the CPU finds from all points.

    telpher run -n 2 python -m mpi4py streams_with_torch.py
"""
import sys

import torch
from mpi4py import MPI
from telpher import streams

STEPS, POINTS = 20, 1 << 16


def points(rank: int, ranks: int, device: str | torch.device) -> torch.Tensor:
    at = torch.arange(POINTS, dtype=torch.float64, device=device) / POINTS
    return torch.stack([at, torch.ones_like(at)], dim=1) * ((rank + 1) / ranks)


def gradient(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return x.T @ (x @ weights - x.sum(dim=1)) / POINTS


def main():
    comm = MPI.COMM_WORLD
    if not torch.cuda.is_available():
        sys.exit("run this with GPUs")
    device = torch.device("cuda", comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank() % torch.cuda.device_count())
    torch.cuda.set_device(device)
    ordered = streams.StreamComm(comm, torch.cuda.current_stream)

    ranks = comm.Get_size()
    x, weights = points(comm.Get_rank(), ranks, device), torch.zeros(2, dtype=torch.float64, device=device)
    total = torch.empty_like(weights)
    for _ in range(STEPS):
        ordered.Allreduce(gradient(x, weights), total, op=MPI.SUM)
        weights -= 0.5 / ranks * total
    torch.cuda.current_stream().synchronize()

    expected = torch.zeros(2, dtype=torch.float64)
    everyone = [points(rank, ranks, "cpu") for rank in range(ranks)]
    for _ in range(STEPS):
        expected -= 0.5 / ranks * sum(gradient(theirs, expected) for theirs in everyone)
    right = torch.allclose(weights.cpu(), expected) and streams.status(torch.cuda.current_stream()) == MPI.SUCCESS
    right = comm.allreduce(right, op=MPI.LAND)
    if comm.Get_rank() == 0:
        print(f"{STEPS} sums of gradients in the order of PyTorch's stream: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
