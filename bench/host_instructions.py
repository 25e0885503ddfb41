#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that calls in host memory take, without Telpher and under it, as callgrind counts them.

One rank talks to itself, so nothing waits and the counts repeat. Needs valgrind.

    host_instructions.py --mpi build/deps/openmpi --lib build/release/lib/libtelpher-ompi.so [--threads]
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The calls, and for how many messages or calls one round stands.
CASES = {"waitall": 32, "waitany": 32, "testany": 32, "test": 32, "testsome": 32, "irecv_send": 1, "any": 1,
         "isend_recv": 1, "sendrecv": 1, "replace": 1, "persistent": 32, "allreduce": 1, "bcast": 1, "barrier": 1}
SHORT, LONG = 20, 220


def count(program, case, rounds, lib, more):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=counted",
               program, case, str(rounds), *more]
    if lib:
        env.update(TELPHER_BACKEND="emu", TELPHER_PLUGIN_PATH=str(Path(lib).resolve().parent))
        command = ["env", f"LD_PRELOAD={Path(lib).resolve()}", *command]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return int(found[1])


def each(program, case, lib, more):
    rounds = count(program, case, LONG, lib, more) - count(program, case, SHORT, lib, more)
    return rounds / (LONG - SHORT) / CASES[case]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpi", required=True, help="where the host MPI is installed")
    parser.add_argument("--lib", required=True, action="append", help="a libtelpher-<abi>.so; may be repeated")
    parser.add_argument("--case", action="append", choices=CASES, help="all if none is named")
    parser.add_argument("--threads", action="store_true", help="with MPI_THREAD_MULTIPLE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/host_instructions"
        source = Path(__file__).with_suffix(".cpp")
        subprocess.run([f"{options.mpi}/bin/mpicxx", "-std=c++20", "-O1", "-o", program, str(source)], check=True)
        for case in options.case or CASES:
            counts = [each(program, case, lib, ["multiple"] * options.threads) for lib in (None, *options.lib)]
            print(f"{case:12}", *(f"{n:8.0f}" for n in counts), flush=True)


if __name__ == "__main__":
    main()
