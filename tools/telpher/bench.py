# SPDX-License-Identifier: BSD-3-Clause
"""`telpher bench`: runs telpher-bench-<abi> through `telpher run`; what it does not know goes to bench.
`telpher bench memcpy` and `codec` need no MPI: they become telpher-memcpy and telpher-bench-codec."""
import os
import subprocess
import sys
import tempfile

from . import UserError, host_mpi, libraries
from .run import run

OWN = ("-n", "-np", "--mpi", "--backend", "--set", "--visible", "--bind", "--mpirun-args")
ALONE = {"codec": "telpher-bench-codec", "memcpy": "telpher-memcpy"}
USAGE = """telpher bench matrix [-n N] ...        between every two ranks, by copy engine and by kernel
telpher bench compare a.json b.json    two measurements; exit code 1 if the second is slower
telpher bench codec [--backend NAME] [options]: encode and decode of the codecs, without MPI
telpher bench memcpy [options]: copies between host and device in one process, without MPI
telpher bench [-n N] [--mpi mpich|ompi|mpi_abi] [--backend NAME] [--set NAME=VALUE] test [options]
  --explain says which table is in force, and by which of its rows each collective is run
  -n is 2 if not given; the rest goes to the bench program (telpher bench latency --help)
  --json FILE writes a document there (- is stdout); of compare, --json alone prints one"""


def split(arguments: list) -> tuple:
    """(options of run, ABI or '', arguments of the bench program)."""
    own, abi, rest, i = [], "", [], 0
    while i < len(arguments):
        word = arguments[i]
        name, equals, value = word.partition("=")
        if word == "--explain":  # which paths there are, and by which row of which table each collective is run
            own += ["--set", "explain=on"]
            i += 1
            continue
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


def alone(name: str, arguments: list) -> int:
    """Runs a program that needs no MPI."""
    own, _, rest = split(arguments)
    extra = {own[i]: own[i + 1] for i in range(0, len(own), 2)}
    if unknown := set(extra) - {"--backend"}:
        raise UserError(f"telpher bench: {', '.join(sorted(unknown))} is for programs with MPI; {name} runs without")
    path = libraries.program(name)
    if not path:
        raise UserError(f"no {name} in {libraries.home()}/bin; build Telpher again")
    env = dict(os.environ)
    env.setdefault("TELPHER_PLUGIN_PATH", libraries.plugins())
    if "--backend" in extra:
        env["TELPHER_BACKEND"] = extra["--backend"]
    return subprocess.run([path, *rest], env=env).returncode


def json_alone(arguments: list, at: int) -> int:
    """`--json -` as word `at`: stdout has the document and nothing else, what is printed meanwhile goes to stderr."""
    telpher = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher")]
    with tempfile.TemporaryDirectory(prefix="telpher-bench-") as folder:
        file = os.path.join(folder, "rows.json")
        words = [*arguments[:at], "--json", file, *arguments[at + 2:]]
        code = subprocess.run([*telpher, "bench", *words], stdout=sys.stderr).returncode
        if os.path.exists(file):
            with open(file) as document:
                print(document.read(), end="")
    return code


def bench(arguments: list) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    for at in range(len(arguments) - 1):
        if arguments[at:at + 2] == ["--json", "-"]:
            return json_alone(arguments, at)
    if arguments[0] in ALONE:
        return alone(ALONE[arguments[0]], arguments[1:])
    if arguments[0] == "compare":
        from .compare import main
        return main(arguments[1:])
    if "matrix" in arguments and "--once" not in arguments:
        from .matrix import main
        arguments.remove("matrix")
        return main(arguments)
    # One run of the program's own test `matrix`, with the path that the environment says.
    own, wanted, rest = split([word for word in arguments if word != "--once"])
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
