# SPDX-License-Identifier: BSD-3-Clause
"""Where this installation has its libraries and programs."""
from __future__ import annotations

import glob
import mmap
import os
import re

from . import UserError, elf

NAME_OF_ABI = {"mpich": "MPICH's ABI", "ompi": "Open MPI", "mpi_abi": "the MPI-5 standard ABI"}


def home() -> str:
    """The folder with bin and lib: from CMake's install it is above share/telpher/telpher, where these
    modules then lie; in a Python wheel the package itself is that folder."""
    here = os.path.dirname(os.path.abspath(__file__))
    if os.path.isfile(os.path.join(here, "bin", "telpher")):
        return here
    return os.path.dirname(os.path.dirname(os.path.dirname(here)))


def folders() -> list:
    base = home()
    return [os.path.join(base, "lib"), os.path.join(base, "lib64"),
            *glob.glob(os.path.join(base, "lib", "*-linux-gnu"))]


def preload(abi: str) -> str:
    """libtelpher-<abi>.so of this installation."""
    name = f"libtelpher-{abi}.so"
    for folder in folders():
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise UserError(f"{name} is not in {home()}/lib: this Telpher was built without {NAME_OF_ABI.get(abi, abi)}; "
                    "build it again with that MPI found by `make setup`")


def for_loader(library: str) -> str:
    """As an entry of LD_PRELOAD, which the loader splits at blanks and colons: it would only warn, and start
    the program without Telpher."""
    if " " in library or ":" in library:
        raise UserError(f"{library}: LD_PRELOAD can name no path with a blank or a colon; install Telpher in another "
                        "folder (a symbolic link does not help)")
    return library


def present() -> dict:
    """Every libtelpher-*.so by its short name."""
    found = {}
    for folder in folders():
        for path in sorted(glob.glob(os.path.join(folder, "libtelpher-*.so"))):
            found.setdefault(os.path.basename(path)[len("libtelpher-"):-len(".so")], path)
    return found


def plugins() -> str:
    """The folder that has the back ends."""
    return os.path.dirname(present().get("emu", os.path.join(home(), "lib", "")))


def cuda_release() -> str:
    """Of the CUDA runtime inside libtelpher-cuda.so, by the text that it holds; "" where there is none."""
    path = present().get("cuda", "")
    if not path:
        return ""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
        found = re.search(rb"telpher_plugin_runtime CUDA (\d+)", whole)
        number = int(found.group(1)) if found else 0
    return f"{number // 1000}.{number % 1000 // 10}" if number else ""


def rocm_release() -> str:
    """The major version of ROCm whose HIP runtime libtelpher-hip.so is linked with; "" where there is none. (That for
    NVIDIA's devices needs none.)"""
    path = present().get("hip", "")
    names = elf.needed(path) or [] if path else []
    return next((name.rpartition(".")[2] for name in names if name.startswith("libamdhip64.so.")), "")


def program(name: str) -> str | None:
    path = os.path.join(home(), "bin", name)
    return path if os.access(path, os.X_OK) else None


def _version_file() -> list:
    for path in (os.path.join(home(), "share", "telpher", "VERSION"), os.path.join(home(), "VERSION")):
        if os.path.isfile(path):
            with open(path) as file:
                return file.read().split()
    return []


def version() -> str:
    return (_version_file() or ["unknown"])[0]


def commit() -> str:
    """What it was built from; empty where the sources were of no repository."""
    return (_version_file()[1:] or [""])[0]


def describe_version() -> str:
    return f"{version()} ({commit()})" if commit() else version()
