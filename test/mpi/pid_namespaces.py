#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of one node, each in a PID namespace of its own, as in containers that share a node's GPUs.

    python3 test/mpi/pid_namespaces.py --abi ABI --mpirun FILE --bin FOLDER --preload FILE

Such ranks see none of each other's processes, so they pass each other file descriptors: of their shared
segments, and of device memory that the program mapped. Prints `ok <case>` or `FAILED <case>: why` and
closes with the totals. Needs the right to make namespaces; else it says so and closes with
'0 passed, 0 failed'.
"""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from run import LAUNCHER_ENV  # noqa: E402

BOUND_S = 100
UNSHARE = ["unshare", "--pid", "--fork"]
# The host MPIs themselves name processes of a node by numbers that mean other processes here: MPICH in copies by
# process_vm_readv, Open MPI in the files of its shared memory (it ends with a segmentation fault, without Telpher too).
HOST_SETTINGS = {"mpich": {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}, "ompi": {"OMPI_MCA_btl": "tcp,self"}}
# A program and its cases. test_chunks fails itself where a message should have been opened and was staged.
CASES = {
    "mapped memory": ("chunks", ["--device", "one chunk", "several chunks", "mapped anew", "collectives"]),
    "plain memory": ("lifetime", ["--device", "same", "freed"]),
    "messages": ("matching", ["--device"]),
    "windows": ("chunks", ["--device", "windows"]),
}
LEFT_OUT = {"mpich": [], "ompi": ["windows"]}  # Open MPI's own crash for the same reason


def why_not() -> str:
    try:
        tried = subprocess.run([*UNSHARE, "true"], check=False, capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return tried.stderr.strip() if tried.returncode else ""


def run_case(options, label: str, program: str, arguments: list[str]) -> bool:
    settings = {"LD_PRELOAD": options.preload, "TELPHER_BACKEND": "emu", "TELPHER_NAP": "on", "TELPHER_TABLE": "off",
                "TELPHER_LOG": "debug", **HOST_SETTINGS[options.abi]}
    line = [options.mpirun, *(["--oversubscribe", "--bind-to", "none"] if options.abi == "ompi" else []), "-n", "2",
            *UNSHARE, "env", *(f"{k}={v}" for k, v in settings.items()),
            f"{options.bin}/test_{program}-{options.abi}", *arguments]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")} | LAUNCHER_ENV
    process = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    try:
        text, _ = process.communicate(timeout=BOUND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
        text += "\nstill running"
    one_node = text.count("2 of 2 ranks share this node") == 2
    good = process.returncode == 0 and one_node and " 0 failed" in text
    tail = " | ".join(line for line in text.splitlines() if " debug " not in line)[-800:]
    why = "" if good else f": exit code {process.returncode}, one node {one_node}: {tail}"
    print(f"{'ok' if good else 'FAILED'} {label}{why}", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--abi", required=True, help="mpich or ompi")
    parser.add_argument("--mpirun", required=True, help="the launcher of the programs' MPI")
    parser.add_argument("--bin", required=True, help="the folder of the test programs")
    parser.add_argument("--preload", required=True, help="Telpher's library for that MPI")
    options = parser.parse_args()
    if reason := why_not():
        print(f"left out: PID namespaces cannot be made: {reason}")
        print("0 passed, 0 failed")
        return 77
    results = [run_case(options, label, *case) for label, case in CASES.items()
               if label not in LEFT_OUT[options.abi]]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
