# SPDX-License-Identifier: BSD-3-Clause
"""Heat (pip install heat): arrays that are split over the ranks, as PyTorch tensors on their GPUs. Sums, another
split and a product of them are compared with what NumPy makes of the same numbers.

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
OPERATIONS = {  # of Heat's array, and of NumPy's
    "sum": (lambda x: heat.sum(x, axis=0), lambda n: n.sum(axis=0)),
    "standard deviation": (lambda x: heat.std(x, axis=0), lambda n: n.std(axis=0)),
    "cumulative sum": (lambda x: heat.cumsum(x, axis=0), lambda n: n.cumsum(axis=0)),
    "other split": (lambda x: heat.resplit(x, 1), lambda n: n),
    "matrix product": (lambda x: heat.matmul(x.T, x), lambda n: n.T @ n),
}


def main():
    comm = MPI.COMM_WORLD
    device = "gpu" if torch.cuda.is_available() else "cpu"
    numbers = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS))
    x = heat.array(numbers, split=0, device=device)
    right = True
    for name, (operation, same_in_numpy) in OPERATIONS.items():
        comm.Barrier()
        begin = time.perf_counter()
        found = operation(x).numpy()  # on all ranks
        took = time.perf_counter() - begin
        good = comm.allreduce(numpy.allclose(found, same_in_numpy(numbers)), op=MPI.LAND)
        right = right and good
        if comm.Get_rank() == 0:
            print(f"{name:20} {'right' if good else 'WRONG'} {took * 1e3:9.1f} ms", flush=True)
    if comm.Get_rank() == 0:
        way = "device pointers" if communication.GPU_AWARE_MPI else "Heat's copies in host memory"
        print(f"Heat {heat.__version__} on {device}, {way}: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
