# SPDX-License-Identifier: BSD-3-Clause
"""Where this installation has its libraries and programs."""
import glob
import os

from . import UserError

NAME_OF_ABI = {"mpich": "MPICH's ABI", "ompi": "Open MPI", "mpi_abi": "the MPI-5 standard ABI"}


def home() -> str:
    return os.environ["TELPHER_HOME"]


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


def program(name: str) -> str | None:
    path = os.path.join(home(), "bin", name)
    return path if os.access(path, os.X_OK) else None


def version() -> str:
    for path in (os.path.join(home(), "share", "telpher", "VERSION"), os.path.join(home(), "VERSION")):
        if os.path.isfile(path):
            with open(path) as file:
                return file.read().strip()
    return "unknown"
