# SPDX-License-Identifier: BSD-3-Clause
"""`telpher bench`: runs telpher-bench-<abi> through `telpher run`; what it does not know goes to bench.
`telpher bench memcpy` needs no MPI: it becomes telpher-memcpy."""
import os

from . import UserError, host_mpi, libraries
from .run import run

OWN = ("-n", "-np", "--mpi", "--backend", "--set", "--visible", "--bind", "--mpirun-args")
USAGE = """telpher bench [-n N] [--mpi mpich|ompi|mpi_abi] [--backend NAME] [--set NAME=VALUE] test [options]
  -n is 2 if not given; the rest goes to the bench program (telpher bench latency --help)
telpher bench memcpy [options]
  copies between host and device in one process, without MPI (telpher bench memcpy --help)"""


def split(arguments: list) -> tuple:
    """(options of run, ABI or '', arguments of the bench program)."""
    own, abi, rest, i = [], "", [], 0
    while i < len(arguments):
        word = arguments[i]
        name, equals, value = word.partition("=")
        if name not in OWN:
            rest.append(word)
            i += 1
            continue
        if not equals:
            i += 1
            if i == len(arguments):
                raise UserError(f"{name} needs a value")
            value = arguments[i]
        if name == "--mpi" and value in host_mpi.ABIS:
            abi = value
        own += [name, value]
        i += 1
    return own, abi, rest


def memcpy(arguments: list) -> int:
    path = libraries.program("telpher-memcpy")
    if not path:
        raise UserError(f"no telpher-memcpy in {libraries.home()}/bin; build Telpher again")
    os.environ.setdefault("TELPHER_PLUGIN_PATH", libraries.plugins())
    os.execv(path, [path, *arguments])


def bench(arguments: list) -> int:
    if "memcpy" in arguments[:1]:
        return memcpy(arguments[1:])
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    own, wanted, rest = split(arguments)
    if not {"-n", "-np"} & set(own):
        own += ["-n", "2"]
    # A named ABI only says which program to take: the program then says which MPI it needs.
    if wanted:
        at = own.index("--mpi")
        del own[at:at + 2]
    for abi in [wanted] if wanted else host_mpi.ABIS:
        path = libraries.program(f"telpher-bench-{abi}")
        if path:
            return run([*own, "--", path, *rest])
    raise UserError(f"no telpher-bench-{wanted or '<abi>'} in {libraries.home()}/bin; "
                    "build it with the host MPI found by `make setup`")
