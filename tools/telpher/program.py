# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program uses: an executable by the libraries it links, a Python script by the libmpi that
its interpreter's mpi4py maps. Nothing is run but `ldd` and, for Python, an import of mpi4py."""
import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from . import UserError, elf, host_mpi

ASK = "say which with --mpi mpich, --mpi ompi or --mpi PREFIX"
PYTHON = re.compile(r"^(python|pypy)[\d.]*t?d?$")
PROBE = """
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
for line in open('/proc/self/maps'):
    words = line.rstrip('\\n').split(None, 5)
    path = words[5] if len(words) > 5 else ''
    if path.startswith('/') and 'libmpi' in path.rsplit('/', 1)[-1]:
        print('TELPHER_LIBMPI', path)
print('TELPHER_MPI4PY', mpi4py.__version__)
"""


@dataclass
class Program:
    abi: str
    library: str  # the libmpi file, or ""
    python: bool = False
    mpi4py: str = ""  # its version

    def show_to_mpi4py(self, environment) -> None:
        """mpi4py 4.1 and newer loads the first MPI it meets, unless it is told: every rank is to load the one
        that was found, and that the launcher belongs to."""
        if self.python and self.library:
            environment.setdefault("MPI4PY_LIBMPI", self.library)


def find(name: str) -> str:
    path = shutil.which(name)
    if path:
        return path
    if os.path.isfile(name):
        raise UserError(f"{name} is not executable; chmod +x it, or name its interpreter first")
    raise UserError(f"no program {name}; give a path, or a name in PATH")


def _mapped_by(python: str, library: str) -> "Program | None":
    """What the interpreter's mpi4py loads, told to try `library` first if that is given."""
    environment = dict(os.environ) | ({"MPI4PY_LIBMPI": library} if library else {})
    try:
        answer = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=120, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{python} does not answer ({error}); {ASK}") from None
    if answer.returncode != 0:
        last = (answer.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UserError(f"{python} cannot import mpi4py ({last}); install it, or {ASK}")
    version = re.search(r"^TELPHER_MPI4PY (.*)", answer.stdout, re.M)
    for line in answer.stdout.splitlines():
        path = line[len("TELPHER_LIBMPI "):] if line.startswith("TELPHER_LIBMPI ") else ""
        abi = host_mpi.abi_of_library(path)
        if abi:
            return Program(abi, path, python=True, mpi4py=version.group(1) if version else "")
    return None


def _of_python(python: str, wanted: str) -> Program:
    found = _mapped_by(python, "")
    if not found:
        raise UserError(f"the mpi4py of {python} maps no MPI library that Telpher knows; {ASK}")
    if wanted in ("", found.abi) or "MPI4PY_LIBMPI" in os.environ:
        return found
    try:  # two MPIs are there, and mpi4py prefers the one that the launcher does not belong to
        other = _mapped_by(python, host_mpi.SONAME[wanted])
    except UserError:
        other = None
    return other if other and other.abi == wanted else found


def _of_executable(path: str) -> Program:
    if elf.needed(path) is None:
        raise UserError(f"{path} is linked statically: nothing can be put in front of its MPI; "
                        "link it with the shared MPI library")
    for name, file in elf.resolved(path).items():
        abi = host_mpi.abi_of_library(name)
        if abi:
            return Program(abi, file)
    raise UserError(f"{path} links no MPI library that Telpher knows "
                    f"(a wrapper, or a program that loads MPI later?); {ASK}")


def _interpreter(path: str) -> str:
    with open(path, "rb") as file:
        first = file.readline(512)
    words = first[2:].decode(errors="replace").split() if first.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [w for w in words[1:] if not w.startswith("-") and "=" not in w]
    if not words:
        raise UserError(f"{path} is neither an ELF program nor a script with a #! line; {ASK}")
    return words[0]


def identify(name: str, wanted: str = "") -> Program:
    """`wanted` is the ABI that the launcher serves, if one is known: mpi4py may have a choice."""
    path = find(name)
    if PYTHON.match(os.path.basename(path)):
        return _of_python(path, wanted)
    try:
        if elf.is_elf(path):
            return _of_executable(path)
        interpreter = _interpreter(path)
    except OSError as error:  # it may be executed only
        raise UserError(f"{path} cannot be read ({error.strerror}), so its MPI cannot be seen; {ASK}") from None
    if PYTHON.match(os.path.basename(interpreter)):
        return _of_python(find(interpreter), wanted)
    raise UserError(f"{path} is a script of {os.path.basename(interpreter)}, which may start any program; {ASK}")
