# SPDX-License-Identifier: BSD-3-Clause
"""CUDA 12's compiler for `make setup WITH=cuda12`: PyPI has the headers and the static runtime, but no nvcc of that
age; Debian 13 has one, in two packages that any user may download and unpack."""

import shutil
import subprocess
from pathlib import Path

from wheels import SetupError

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCE = "deb [signed-by={keys}] {archive} trixie non-free\n"
PACKAGES = ("nvidia-cuda-toolkit", "libnvvm4")
# Where nvcc looks, since it is not where Debian puts it.
PROFILE = """TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
"""
PLACES = {
    "usr/lib/nvidia-cuda-toolkit/bin/nvcc": "bin",
    "usr/bin/cudafe++": "bin",
    "usr/bin/fatbinary": "bin",
    "usr/bin/ptxas": "bin",
    "usr/lib/nvidia-cuda-toolkit/bin/cicc": "nvvm/bin",
    "usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc": "nvvm/libdevice",
}


def run(command: list, folder: Path) -> None:
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if answer.returncode != 0:
        last = (answer.stderr.strip() or answer.stdout.strip() or "no reason given").splitlines()[-1]
        raise SetupError(f"no nvcc of CUDA 12: {command[0]}: {last}; put a toolkit into /usr/local/cuda-12")


def debian_archive() -> str:
    """From where this machine has its own packages; empty where apt knows no such place."""
    if not shutil.which("apt-get"):
        return ""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    found = [line.split() for line in listed]
    # Not updates and security, which are other suites.
    archives = [uri for uri, suite, part in found if part == "main" and "-" not in suite and "/" not in suite]
    return archives[0].rstrip("/") if archives else ""


def unpacked(folder: Path) -> Path:
    """Debian's packages, by an apt that has lists of its own."""
    archive = debian_archive()
    if not archive:
        raise SetupError("no nvcc of CUDA 12: apt knows no archive of Debian; put a toolkit into /usr/local/cuda-12")
    (folder / "lists/partial").mkdir(parents=True)
    (folder / "sources").write_text(SOURCE.format(keys=KEYS, archive=archive))
    apt = ["apt-get", "-o", f"Dir::Etc::sourcelist={folder}/sources", "-o", "Dir::Etc::sourceparts=-"]
    apt += ["-o", f"Dir::State::Lists={folder}/lists"]
    run([*apt, "update"], folder)
    run([*apt, "download", *PACKAGES], folder)
    for package in folder.glob("*.deb"):
        run(["dpkg-deb", "-x", package.name, "root"], folder)
    return folder / "root"


def complete(root: Path) -> None:
    """`root` holds what tools/pins.py names as PyPI's packages lie; makes a toolkit of it."""
    if (root / "bin/nvcc.profile").is_file():
        return
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb") or not Path(KEYS).is_file():
        raise SetupError("no nvcc of CUDA 12: that is fetched by a Debian's apt; put a toolkit into /usr/local/cuda-12")
    for part in sorted(root.glob("nvidia/*/include")):
        shutil.copytree(part, root / "include", dirs_exist_ok=True)
    shutil.copytree(root / "nvidia/cuda_runtime/lib", root / "lib", dirs_exist_ok=True)
    scratch = root / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    debian = unpacked(scratch)
    for name, place in PLACES.items():
        (root / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(debian / name, root / place)
    shutil.rmtree(scratch)
    (root / "bin/nvcc.profile").write_text(PROFILE)
