# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs of test/mpi across namespaced nodes over real TCP, and takes a node away.

    python3 test/nodes.py BUILD [--nodes 2] [--ranks 2] [--mpi mpich,ompi] [--name PART] [--no-loss]

Needs root; where nodes cannot be made it says why and closes with '0 passed, 0 failed'. Otherwise closes
with 'N passed, N failed' as test/run.py does.
"""
import argparse
import itertools
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import run
from namespaces import Nodes, why_not

# pt2pt and datatypes use every pair of ranks and form: one rank a node is enough for them.
ONE_RANK = ("pt2pt", "datatypes", "datatypes_packing", "lifetime")
PROGRAMS = {
    "pt2pt": ["--device"], "matching": ["--device"], "completion": ["--device"], "completion_errors": ["--device"],
    "progress": ["--device"], "datatypes": ["--device"], "datatypes_packing": ["--device"],
    "threads": ["--device"], "lifetime": ["--device"],
    "stress": ["--device", "--messages", "4000"],
    "coll_data": ["--device"], "coll_reduce": ["--device"], "coll_groups": ["--device"],
    "coll_two_level": ["--device"], "coll_deferred": ["--device", "coll_any_path"],
    "coll_exchange": ["--device", "coll_any_path"],
}
# As their tests on pretended nodes have it: small calls in two levels as well.
IN_TWO_LEVELS = ("allreduce", "reduce", "bcast", "allgather", "alltoall", "reduce_scatter_block", "allgatherv",
                 "alltoallv", "reduce_scatter")
# Open MPI 5.0.11's coll/han makes communicators in a collective, which hangs beside a pending MPI_Comm_idup, without
# Telpher as well.
SETTINGS = {"coll_deferred": {"OMPI_MCA_coll_han_priority": "0"},
            "coll_two_level": {"TELPHER_COLL_BLOCK": "4k",
                               "TELPHER_COLL_ALGORITHM": ",".join(f"{w}=two_level" for w in IN_TWO_LEVELS)}}
# What a lost node is found by: bounds short enough for a test.
BOUND = 40.0
LOSS_SETTINGS = {"TELPHER_TRANSFER_TIMEOUT": "3s", "TELPHER_WAIT_TIMEOUT": "8s"}


# MPICH 5.0.2's ucx netmod loses any-source receives between nodes: test_matching hangs there without
# Telpher as well (docs/understand/between-nodes.md). Its ofi netmod does not.
HOST_SETTINGS = {"mpich": {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"},
                 # Open MPI 5.0.11 attaches 64 ranges to a window, refuses the next, and hangs in the one after it.
                 "ompi": {"OMPI_MCA_osc_rdma_max_attach": "256"}}


def environment(head: dict, abi: str, extra: dict[str, str]) -> dict[str, str]:
    return {"LD_PRELOAD": f"{head['build']}/lib/libtelpher-{abi}.so", "TELPHER_BACKEND": "emu",
            "TELPHER_EMU_MEMORY": "256m", **HOST_SETTINGS[abi], **extra}


def command(head: dict, nodes: Nodes, abi: str, per_node: int, program: str, arguments: list[str],
            extra: dict[str, str]) -> list[str]:
    env = environment(head, abi, extra)
    return [*nodes.launch_line(abi, run.launcher(head, abi), per_node), "env",
            *(f"{k}={v}" for k, v in env.items()),
            f"{head['build']}/test/bin/test_{program}-{abi}", *arguments]


def suites(head: dict, options, abi: str) -> list[bool]:
    results = []
    with Nodes(options.nodes) as nodes:
        for program, arguments in PROGRAMS.items():
            if options.name not in program:
                continue
            ranks = options.ranks or (1 if program in ONE_RANK else 2)
            line = command(head, nodes, abi, ranks, program, arguments, SETTINGS.get(program, {}))
            label = f"{program} {abi} {options.nodes} nodes x {ranks}"
            test = run.Test(label, line, run.LAUNCHER_ENV, options.timeout, 1)
            outcome = run.run_test(test, 1.0)
            run.report(test, outcome)
            results.append(outcome[0])
    return results


# --- a node is lost ---

def stop(nodes: Nodes, program: str) -> None:
    nodes.signal(1, signal.SIGSTOP, program)


def kill(nodes: Nodes, program: str) -> None:
    nodes.signal(1, signal.SIGKILL, program)


def cut(nodes: Nodes, _: str) -> None:
    nodes.cut(1)


def wait_for_word(process: subprocess.Popen, path: Path, word: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if word in path.read_text(errors="replace"):
            return True
        time.sleep(0.05)
    return False


def node_is_free(nodes: Nodes, program: str) -> bool:
    return nodes.signal(0, 0, program) == 0


# What the ranks do meanwhile: messages, sums in host memory, sums on the devices.
SUMS = {"TELPHER_COLL_ALGORITHM": "allreduce=two_level", "TELPHER_COLL_BLOCK": "64k"}
LOSSES = {"messages": ([], {}), "small sums": (["4096"], SUMS), "large sums": (["4194304"], SUMS)}


def loss(head: dict, options, abi: str, take_away, what: str = "messages") -> bool:
    """True if the ranks of the remaining node ended within the bound, and not in silence."""
    program = f"test_lost-{abi}"
    mark = secrets.token_hex(12)
    with Nodes(2) as nodes, tempfile.NamedTemporaryFile() as output:
        arguments, extra = LOSSES[what]
        line = command(head, nodes, abi, options.ranks or 2, "lost", arguments, {**LOSS_SETTINGS, **extra})
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   start_new_session=True,
                                   env={**os.environ, **run.LAUNCHER_ENV, run.MARK: mark})
        path = Path(output.name)
        ready = wait_for_word(process, path, "exchanging", 40)
        begin = time.monotonic()
        if ready:
            take_away(nodes, program)
        while ready and time.monotonic() - begin < BOUND and not node_is_free(nodes, program):
            time.sleep(0.05)
        seconds = time.monotonic() - begin
        ended = ready and node_is_free(nodes, program)
        run.kill_marked(mark)
        for name in nodes.names:
            for pid in nodes.processes(name):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        process.wait()
        text = path.read_text(errors="replace")
    said = text.replace("exchanging", "").strip() != "" or process.returncode != 0
    passed = ended and said and "nothing happened" not in text
    test = run.Test(f"lost node: {take_away.__name__}, {what}, {abi}", line, {}, BOUND, 1)
    run.report(test, (passed, seconds, "" if ended else "still running", text))
    if passed and options.verbose:
        print(text)
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=0, help="ranks on each node; 0: 1 or 2")
    parser.add_argument("--mpi", default="", help="comma-separated ABIs; default all built for")
    parser.add_argument("--name", default="", help="only programs whose name contains this")
    parser.add_argument("--no-loss", action="store_true", help="take no node away")
    parser.add_argument("--timeout", type=float, default=400)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if reason := why_not():
        print(f"nodes cannot be made: {reason}")
        print("0 passed, 0 failed")
        return 0
    head, _ = run.read_manifest(options.build)
    abis = [abi for abi in ("mpich", "ompi") if (not options.mpi or abi in options.mpi.split(","))
            and (Path(head["build"]) / f"lib/libtelpher-{abi}.so").is_file()]
    results = list(itertools.chain.from_iterable(suites(head, options, abi) for abi in abis))
    if not options.no_loss and options.name in "lost":
        cases = [(kill, "messages"), (stop, "messages"), (cut, "messages"), (stop, "small sums"),
                 (stop, "large sums"), (cut, "large sums")]
        results += [loss(head, options, abi, how, what) for abi in abis for how, what in cases]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
