# SPDX-License-Identifier: BSD-3-Clause
"""What MPIs are on the machine, which ABI each has, and which launcher belongs to it.

Three ABIs matter: mpich (libmpi.so.12, Debian's libmpich.so.12, Cray's and Intel's), ompi
(libmpi.so.40) and mpi_abi (the MPI-5 standard ABI). The compiler wrapper and mpi.h are asked; nothing is
guessed from folder names.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import UserError, elf

ABIS = ("mpich", "ompi", "mpi_abi")
SONAME = {"mpich": "libmpi.so.12", "ompi": "libmpi.so.40", "mpi_abi": "libmpi_abi.so.1"}
FAMILY = {"mpich": "MPICH or one of its ABI", "ompi": "Open MPI", "mpi_abi": "an MPI with the standard ABI"}
ABI_OF_SONAME = (
    (re.compile(r"^libmpi_abi\.so"), "mpi_abi"),
    (re.compile(r"^libmpi\.so\.(40|80)"), "ompi"),
    (re.compile(r"^libmpi\.so\.12"), "mpich"),
    (re.compile(r"^libmpich\.so\.(10|12)"), "mpich"),
    (re.compile(r"^libmpi_(cray|gnu|intel|nvidia|amd|aocc)[^/]*\.so\.12"), "mpich"),
)


def abi_of_library(path: str) -> str | None:
    name = os.path.basename(path)
    if name == "libmpi.so" and os.path.isfile(path):  # a wheel has no links: the same library under a shorter name
        name = elf.soname(path)
    return next((abi for pattern, abi in ABI_OF_SONAME if pattern.match(name)), None)


@dataclass
class HostMpi:
    """One MPI installation; `prefix` has include/mpi.h, or is empty where only a launcher is there."""
    abi: str
    kind: str
    version: str
    prefix: str
    mpirun: str

    def describe(self) -> str:
        return f"{self.kind} {self.version}, ABI {self.abi}, headers {self.prefix or 'missing'}, {self.mpirun}"


def _identify(header: str) -> tuple[str, str, str] | None:
    """(abi, kind, version) from the text of an mpi.h."""
    def field(name):
        found = re.search(rf'#\s*define\s+{name}\s+"?([\w.]+)', header)
        return found.group(1) if found else None

    if field("OMPI_MAJOR_VERSION"):
        parts = [field(f"OMPI_{part}_VERSION") for part in ("MAJOR", "MINOR", "RELEASE")]
        return "ompi", "Open MPI", ".".join(p or "?" for p in parts)
    if version := field("I_MPI_VERSION"):
        return "mpich", "Intel MPI", version
    if version := field("MPICH_VERSION"):
        return "mpich", "MPICH", version
    return None


def _prefix_of(include: Path) -> str:
    if include.name == "include":
        return str(include.parent)
    for triplet in Path("/usr/lib").glob(f"*/{include.name}"):  # Debian: the headers are linked there
        if (triplet / "include" / "mpi.h").is_file():
            return str(triplet)
    return ""


def from_wrapper(mpicc: str) -> HostMpi | None:
    """Asks one compiler wrapper what it would do."""
    try:
        shown = subprocess.run([mpicc, "-show"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    for include in map(Path, re.findall(r"-I\s*(\S+)", shown)):
        header = include / "mpi.h"
        identity = _identify(header.read_text(errors="replace")) if header.is_file() else None
        if identity:
            suffix = os.path.basename(mpicc)[len("mpicc"):]
            mpirun = os.path.join(os.path.dirname(mpicc), "mpirun" + suffix)
            return HostMpi(*identity, _prefix_of(include), mpirun if os.path.exists(mpirun) else "")
    return None


def installed() -> list[HostMpi]:
    """MPIs of the machine, in the order of PATH and then Debian's alternatives."""
    found: dict[tuple, HostMpi] = {}
    for name in ("mpicc", "mpicc.mpich", "mpicc.openmpi", "mpiicc"):
        path = shutil.which(name)
        one = from_wrapper(path) if path else None
        if one:
            found.setdefault((one.abi, one.prefix), one)
    return list(found.values())


def flavour_of(mpirun: str) -> str | None:
    """The ABI that a launcher serves ("mpich" also for the standard ABI), by what it says of itself."""
    try:
        answer = subprocess.run([mpirun, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = answer.stdout + answer.stderr
    if "Open MPI" in text or "OpenRTE" in text or "PRRTE" in text:
        return "ompi"
    return "mpich" if "HYDRA" in text or "Intel(R) MPI" in text else None


def abi_of_prefix(prefix: str) -> str | None:
    """The ABI of the MPI installed below a folder."""
    one = from_wrapper(os.path.join(prefix, "bin", "mpicc"))
    return one.abi if one else flavour_of(os.path.join(prefix, "bin", "mpirun"))


def launcher_beside(library: str) -> str | None:
    """The mpirun of the installation that a libmpi file belongs to."""
    real = Path(os.path.realpath(library))
    for folder in {Path(library).parent, real.parent}:
        for up in (folder.parent, folder.parent.parent):
            for name in ("mpirun", "mpiexec"):
                candidate = up / "bin" / name
                if up != Path("/usr") and up != Path("/") and os.access(candidate, os.X_OK):
                    return str(candidate)
    return None


def library_beside(mpirun: str, abi: str) -> str:
    """The MPI library of the installation that a launcher belongs to, or ""."""
    prefix = Path(os.path.realpath(mpirun)).parent.parent
    names = [SONAME[abi], "libmpich.so.12"] if abi == "mpich" else [SONAME[abi]]
    for folder in (Path(mpirun).parent.parent / "lib", prefix / "lib", prefix / "lib64", prefix / "lib" / "release"):
        for name in names:
            if (folder / name).is_file():
                return str(folder / name)
    return ""


def launcher_for(abi: str, library: str = "", prefix: str = "") -> str:
    """The mpirun to start programs of this MPI with; raises UserError where there is none."""
    if prefix:
        candidate = os.path.join(prefix, "bin", "mpirun")
        if os.access(candidate, os.X_OK):
            return candidate
        raise UserError(f"no mpirun in {prefix}/bin; give --mpi the prefix of an MPI installation")
    beside = launcher_beside(library) if library else None
    if beside:
        return beside
    wanted = "ompi" if abi == "ompi" else "mpich"
    names = ["mpirun", "mpiexec"]
    names[:0] = ["mpirun.openmpi"] if abi == "ompi" else ["mpirun.mpich"]
    for name in names:
        path = shutil.which(name)
        if path and flavour_of(path) == wanted:
            return path
    family = "Open MPI" if wanted == "ompi" else "MPICH"
    raise UserError(f"the program needs {family} but no mpirun of {family} is beside its library or in PATH; "
                    "give its prefix with --mpi")
