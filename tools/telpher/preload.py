# SPDX-License-Identifier: BSD-3-Clause
"""Telpher in a Python process that was started without it.

What is loaded for all to see comes first when the loader looks for a name. Loaded so before any MPI,
libtelpher-<abi>.so answers for MPI_Send and its like to mpi4py and to every library that is loaded later, as
if it had been preloaded; it finds the MPI by itself when that is there. Once an MPI is mapped it is too late:
the names of what uses it are bound. Processes that this one starts by MPI_Comm_spawn are given it in LD_PRELOAD, as
TELPHER_PRELOAD tells the library.
"""
import ctypes
import os
import sys

from . import UserError, devices, execute, libraries

LATE = "call telpher.preload() before anything imports mpi4py.MPI, or start the program with telpher run or exec"


def mapped() -> list:
    """The files that this process has mapped."""
    with open("/proc/self/maps") as file:
        lines = [line.split(None, 5) for line in file]
    return sorted({words[5].rstrip("\n") for words in lines if len(words) == 6 and words[5].startswith("/")})


def telphers(paths: list) -> list:
    names = [f"libtelpher-{abi}.so" for abi in execute.CHOICES["--mpi"]]
    return [path for path in paths if os.path.basename(path) in names]


def preload(mpi: str = "", visible: str = "auto", bind: str = "auto") -> str:
    from .host_mpi import abi_of_library
    from .program import identify
    for name, value in (("--mpi", mpi), ("--visible", visible), ("--bind", bind)):
        if value and value not in execute.CHOICES[name]:
            raise UserError(f"telpher.preload: {value} is none of {', '.join(execute.CHOICES[name])}")
    before = mapped()
    if here := telphers(before):  # started by telpher run, or called twice
        return here[0]
    if late := next((path for path in before if abi_of_library(path)), ""):
        raise UserError(f"telpher.preload: {late} is loaded already; {LATE}")
    program = None if mpi else identify(sys.executable, execute.launcher_abi(os.environ))
    library = libraries.preload(mpi or program.abi)
    if program:
        os.environ.setdefault("MPI4PY_LIBMPI", program.library)
    execute.place(os.environ, visible, bind, devices)
    os.environ["TELPHER_PRELOAD"] = execute.with_telpher(os.environ.get("LD_PRELOAD", ""), library)
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    return library
