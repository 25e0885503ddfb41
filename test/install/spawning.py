# SPDX-License-Identifier: BSD-3-Clause
"""A rank that calls telpher.preload() and spawns another, which is to have the library from its start."""

import os
import sys

import telpher

telpher.preload()
from mpi4py import MPI  # noqa: E402

parent = MPI.Comm.Get_parent()
if parent != MPI.COMM_NULL:
    assert "libtelpher-" in os.environ.get("LD_PRELOAD", ""), "the library was not given to a child"
other = parent if parent != MPI.COMM_NULL else MPI.COMM_SELF.Spawn(sys.executable, [os.path.abspath(__file__)])
other.Barrier()
print("a rank is right", flush=True)
other.Disconnect()
