# SPDX-License-Identifier: BSD-3-Clause
"""Makes build/ ready: cmake, ninja, MPIs, and on request vendors' compilers and lint tools.

    python3 tools/setup.py [--with PART]... [--mpich PREFIX] [--ompi PREFIX] [--list]

Parts: cmake ninja (always), mpich, ompi, cuda, cuda12 (older drivers), hip, sycl, lint, wheels (what checks them),
zfp (libzfp, which judges Telpher's ZFP streams in a test that is left out without it), lmod (which reads the module
file in a test, else a stand-in does), and `mpi` (any host MPI: one that is on the machine, else MPICH). What it found
is written to build/deps/setup.json, which tools/build.py reads. A second run finds everything and does nothing. Exit
code 1 if a part that was asked for is missing.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import cuda12
import wheels
from pins import PINS
from telpher import host_mpi

ROOT = Path(__file__).resolve().parent.parent
DEPS = ROOT / "build" / "deps"
STATE = DEPS / "setup.json"

CMAKE_MINIMUM = (3, 25)
NOT_BUILT_WITH = {"lint", "wheels"}  # alone, or none at all, they leave what a build will find as it was
LINT_TOOLS = ("ruff", "codespell", "clang-format", "pympistandard")
FOLDERS = {"ompi": "openmpi"}
GIVEN = {"mpich": "", "ompi": ""}  # prefixes from the command line
HIP_PACKAGES = ["hipcc", "libamdhip64-dev"]


def folder_of(part: str) -> Path:
    return DEPS / FOLDERS.get(part, part)


def get(part: str) -> Path:
    wheels.install(folder_of(part), PINS[part], DEPS)
    return folder_of(part)


def cmake() -> str:
    found = shutil.which("cmake")
    if found:
        answer = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
        version = re.search(r"(\d+)\.(\d+)", answer)
        if version and tuple(map(int, version.groups())) >= CMAKE_MINIMUM:
            return found
    return str(get("cmake") / "cmake" / "data" / "bin" / "cmake")


def ninja() -> str:
    return shutil.which("ninja") or str(get("ninja") / "bin" / "ninja")


def compiler() -> str:
    found = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not found:
        raise wheels.SetupError("no C++ compiler; install Debian's or Ubuntu's package g++")
    return found


def mpi(abi: str) -> str:
    """The prefix of the pinned MPI of an ABI, or of the machine's where that cannot be had."""
    if GIVEN[abi]:
        return GIVEN[abi]
    try:
        return str(get(abi))
    except wheels.SetupError as error:
        there = [m for m in host_mpi.installed() if m.abi == abi and m.prefix]
        if not there:
            raise
        print(f"setup: {error}; using {there[0].prefix}")
        return there[0].prefix


def any_mpi() -> dict[str, str]:
    """For a demonstration: what is on the machine, else MPICH in the build folder."""
    found = {abi: prefix for abi, prefix in GIVEN.items() if prefix}
    if found:
        return found
    for one in host_mpi.installed():
        if one.prefix:
            found.setdefault(one.abi, one.prefix)
    for abi in ("mpich", "ompi"):
        if wheels.present(folder_of(abi), PINS[abi]):
            found[abi] = str(folder_of(abi))
    return found or {"mpich": str(get("mpich"))}


def cuda() -> str:
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc:
        return str(Path(nvcc).resolve().parent.parent)
    root = get("cuda") / "nvidia" / "cu13"
    for library in (root / "lib").glob("*.so.*"):  # the wheels leave out the names that -l looks for
        link = library.with_name(library.name.split(".so.")[0] + ".so")
        if not link.exists():
            link.symlink_to(library.name)
    return str(root)


def older_cuda() -> str:
    for nvcc in sorted(Path("/usr/local").glob("cuda-12*/bin/nvcc"), reverse=True):
        return str(nvcc.parent.parent)
    root = get("cuda12")
    cuda12.complete(root)
    return str(root)


def apt_get(packages: list[str]) -> None:
    """Installs them where root may; whoever needs them looks whether they are there."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print(f"setup: apt-get install {' '.join(packages)}", flush=True)
    quiet = {"capture_output": True, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    subprocess.run(["apt-get", "update"], **quiet)
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *packages], **quiet)


def hip() -> str:
    found = shutil.which("hipcc") or shutil.which("hipcc", path="/opt/rocm/bin")
    if not found:
        apt_get(HIP_PACKAGES)
        found = shutil.which("hipcc")
    if not found:
        raise wheels.SetupError(f"no hipcc; install Debian's packages {' '.join(HIP_PACKAGES)}")
    return found


def zfp() -> str:
    """The libzfp inside PyPI's zfpy, or "" where it cannot be had: the test then takes the system's or none."""
    try:
        found = sorted((get("zfp") / "zfpy.libs").glob("libzfp*.so*"))
    except wheels.SetupError as error:
        print(f"setup: no libzfp to compare with: {error}")
        return ""
    return str(found[0]) if found else ""


def lmod() -> str:
    """What a shell sources to get the command `module`, or "" where it cannot be had: a stand-in reads the module file
    then."""
    start = Path(os.environ.get("LMOD_PKG", "/usr/share/lmod/lmod"), "init/bash")
    if not start.is_file():
        apt_get(["lmod"])
    return str(start) if start.is_file() else ""


def sycl() -> str:
    """Headers, libsycl, its run-time compiler, and the CPU device: all that a machine without oneAPI needs."""
    return str(get("sycl"))


def prepare(parts: set[str]) -> tuple[dict, list[str]]:
    """The state that tools/build.py works with, and what could not be had."""
    state: dict = {"mpi": {}}
    missing = []

    def attempt(name, action, *arguments):
        try:
            return action(*arguments)
        except wheels.SetupError as error:
            missing.append(f"{name}: {error}")
            return None

    state["compiler"] = attempt("compiler", compiler)
    state["cmake"] = attempt("cmake", cmake)
    state["ninja"] = attempt("ninja", ninja)
    if "mpi" in parts:
        state["mpi"].update(attempt("mpi", any_mpi) or {})
    for abi in ("mpich", "ompi"):
        if abi in parts and (prefix := attempt(abi, mpi, abi)):
            state["mpi"][abi] = prefix
    if "cuda" in parts:
        state["cuda"] = attempt("cuda", cuda)
    if "cuda12" in parts:
        state["cuda12"] = attempt("cuda12", older_cuda)
    if "hip" in parts:
        state["hip"] = attempt("hip", hip)
    if "zfp" in parts:
        state["zfp"] = zfp()
    if "lmod" in parts:
        state["lmod"] = lmod()
    if "sycl" in parts:
        state["sycl"] = attempt("sycl", sycl)
    if "wheels" in parts:
        for tool in ("auditwheel", "lupa"):  # lupa: a Lua, to read the module file with where there is no Lmod
            state[tool] = str(attempt(tool, get, tool) or "")
    if "lint" in parts:
        for tool in LINT_TOOLS:
            state[tool] = str(attempt(tool, get, tool) or "")
    return state, missing


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--with", dest="parts", action="append", default=[],
                        choices=["mpi", "mpich", "ompi", "cuda", "cuda12", "hip", "sycl", "lint", "lmod", "wheels",
                                 "zfp"])
    parser.add_argument("--list", action="store_true", help="print what is there and where")
    for abi in GIVEN:
        parser.add_argument(f"--{abi}", metavar="PREFIX", help="take this MPI")
    options = parser.parse_args()
    for abi in GIVEN:
        GIVEN[abi] = getattr(options, abi) or ""
        if GIVEN[abi] and not Path(GIVEN[abi], "include", "mpi.h").is_file():
            print(f"setup: {GIVEN[abi]} is no prefix of an MPI: no include/mpi.h there")
            return 1
    if sys.version_info < (3, 11):  # noqa: UP036
        print(f"setup: Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
        return 1
    state, missing = prepare(set(options.parts))
    DEPS.mkdir(parents=True, exist_ok=True)
    if NOT_BUILT_WITH.issuperset(options.parts) and STATE.is_file():
        state = json.loads(STATE.read_text()) | {name: value for name, value in state.items() if value}
    STATE.write_text(json.dumps(state, indent=1) + "\n")
    if options.list:
        for name, value in state.items():
            print(f"{name:10} {value}")
        for one in host_mpi.installed():
            print(f"{'on machine':10} {one.describe()}")
    for text in missing:
        print(f"setup: missing {text}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
