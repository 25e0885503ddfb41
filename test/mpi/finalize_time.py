#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Finalize of many ranks on few processors takes at most twice as long as without the library.

Each barrier of the host MPI there costs a time slice of every rank, which was three to five times. Runs both by
turns, and compares the shortest times, until they are near enough or there were too many runs.
"""
import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from run import LAUNCHER_ENV  # noqa: E402

RANKS = 16
RUNS = 8
BOUND = 2.0


def seconds(options, preload: bool) -> float:
    """Of the rank that took longest."""
    command = [options.mpirun, *(["--oversubscribe", "--bind-to", "none"] if options.abi == "ompi" else []),
               "-n", str(RANKS), "env"]
    if preload:
        command += [f"LD_PRELOAD={options.preload}", "TELPHER_BACKEND=emu"]
    done = subprocess.run([*command, options.program, "timed"], env=os.environ | LAUNCHER_ENV, capture_output=True,
                          text=True, timeout=60)
    times = [float(t) for t in re.findall(r"finalized in ([0-9.]+) s", done.stdout)]
    if done.returncode != 0 or len(times) != RANKS:
        sys.exit(f"FAILED {'with' if preload else 'without'} the library: exit code {done.returncode}\n"
                 f"{done.stdout}{done.stderr}\n0 passed, 1 failed")
    return max(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("abi", "mpirun", "program", "preload"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    without = under = float("inf")
    for run in range(RUNS):
        without = min(without, seconds(options, preload=False))
        under = min(under, seconds(options, preload=True))
        print(f"run {run}: at least {without:.3f} s without, {under:.3f} s with", flush=True)
        if under <= BOUND * without:
            print("ok finalize\n1 passed, 0 failed")
            return 0
    print(f"FAILED finalize: more than {BOUND:g} times\n0 passed, 1 failed")
    return 1


if __name__ == "__main__":
    sys.exit(main())
