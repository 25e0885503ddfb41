# SPDX-License-Identifier: BSD-3-Clause
"""Heat (pip install heat): arrays that are split over the ranks, as PyTorch tensors on their GPUs. Sums, sorts,
transposes and factors of them are compared with what NumPy makes of the same numbers.

Heat has no function to ask whether the MPI is GPU-aware. Over MPICH and its kin it believes a variable, which this
program sets; over Open MPI it always copies through host memory.

    telpher run -n 2 python -m mpi4py with_heat.py
"""
import os
import sys
import time

import numpy
import torch
from mpi4py import MPI

os.environ["MPIR_CVAR_ENABLE_HCOLL"] = "1"  # MPICH has read its own by now
import heat  # noqa: E402
from heat.core import communication  # noqa: E402

ROWS, COLUMNS = 100_003, 12  # the ranks' parts differ


def compare(found: dict, numbers: numpy.ndarray, device: str) -> dict:
    """Fills in what each operation found. Returns the seconds that each took."""
    x = heat.array(numbers, split=0, device=device)
    took = {}
    operations = {
        "sum": lambda: heat.sum(x, axis=0),
        "standard deviation": lambda: heat.std(x, axis=0),
        "cumulative sum": lambda: heat.cumsum(x, axis=0),
        "sort": lambda: heat.sort(x, axis=0)[0],
        "other split": lambda: heat.resplit(x, 1),
        "matrix product": lambda: heat.matmul(x.T, x),
        "singular values": lambda: heat.linalg.svd(x, compute_uv=False),
    }
    for name, operation in operations.items():
        MPI.COMM_WORLD.Barrier()
        begin = time.perf_counter()
        try:
            found[name] = operation().numpy()
        except Exception as error:  # of Heat's
            found[name] = error
        took[name] = time.perf_counter() - begin
    return took


def main():
    rank = MPI.COMM_WORLD.Get_rank()
    device = "gpu" if torch.cuda.is_available() else "cpu"
    numbers = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS))
    expected = {
        "sum": numbers.sum(axis=0),
        "standard deviation": numbers.std(axis=0),
        "cumulative sum": numbers.cumsum(axis=0),
        "sort": numpy.sort(numbers, axis=0),
        "other split": numbers,
        "matrix product": numbers.T @ numbers,
        "singular values": numpy.linalg.svd(numbers, compute_uv=False),
    }
    found: dict = {}
    took = compare(found, numbers, device)
    right = True
    for name, value in expected.items():
        good = isinstance(found[name], numpy.ndarray) and numpy.allclose(found[name], value)
        right = right and good
        if rank == 0:
            print(f"{name:20} {'right' if good else f'WRONG: {found[name]}'} {took[name] * 1e3:9.1f} ms", flush=True)
    right = MPI.COMM_WORLD.allreduce(right, op=MPI.LAND)
    if rank == 0:
        way = "device pointers" if communication.GPU_AWARE_MPI else "Heat's copies in host memory"
        print(f"Heat {heat.__version__} on {device}, {way}: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
