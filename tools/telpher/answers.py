# SPDX-License-Identifier: BSD-3-Clause
"""What programs look for in the environment before they pass device pointers to MPI, because no function of the
MPI would tell them. With Telpher in front of the MPI the answer is yes, so `telpher exec` gives it, where the
rank has a device that Telpher serves. What the user has set stays. docs/use/running-known-programs.md lists who asks
for what."""

import os

OF_ALL = {
    "MPICH_GPU_SUPPORT_ENABLED": "1",  # LAMMPS and others that were compiled with MPICH's mpi.h
    "TPETRA_ASSUME_GPU_AWARE_MPI": "1",  # Trilinos
    "GMX_FORCE_GPU_AWARE_MPI": "1",  # GROMACS, which uses it only if direct communication is asked for
}
OF_VENDOR = {
    "cuda": {"JULIA_MPI_HAS_CUDA": "true", "MPI4JAX_USE_CUDA_MPI": "1"},
    "hip": {"JULIA_MPI_HAS_ROCM": "true"},
    "sycl": {},
}
# Cray's MPICH takes this one for itself, and ends a program that was not linked with its GPU library.
FOR_CRAY, CRAY_FOLDER = "MPICH_GPU_SUPPORT_ENABLED", "/opt/cray"


def answers(vendor: str) -> dict:
    found = OF_ALL | OF_VENDOR.get(vendor, {})
    if os.path.isdir(CRAY_FOLDER):
        del found[FOR_CRAY]
    return found


def give(environment, vendor: str, plugins) -> None:
    """`plugins`: the back ends of this installation; without the device's own the answer would be wrong."""
    if vendor in plugins:
        for name, value in answers(vendor).items():
            environment.setdefault(name, value)
