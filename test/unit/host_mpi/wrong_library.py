#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what libtelpher-<abi>.so does in a process that it is not meant for.

usage: wrong_library.py LIBRARY ABI [OTHER_ABI=PROGRAM...]

In a program without MPI it must be silent; in a program of another kind of MPI it must say in one line
which library is the right one, and end the program.
"""
import os
import subprocess
import sys


def run(library, *command):
    environment = {**os.environ, "LD_PRELOAD": library}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def problems_without_mpi(library):
    for command in (["true"], ["env"], [sys.executable, "-c", "import sys"]):
        done = run(library, *command)
        if done.returncode or done.stderr:
            yield f"{' '.join(command)}: exit {done.returncode}: {done.stderr}"


def problems_with_another_mpi(library, abi, other, program):
    done = run(library, program)
    lines = done.stderr.splitlines()
    if done.returncode != 1:
        yield f"{other} program: exit {done.returncode} instead of 1: {done.stderr}"
    if len(lines) != 1 or not all(f"libtelpher-{name}.so" in lines[0] for name in (abi, other)):
        yield f"{other} program: not one line that names both libraries: {done.stderr}"


def main(library, abi, *programs):
    problems = list(problems_without_mpi(library))
    for other, program in (text.split("=", 1) for text in programs):
        problems += problems_with_another_mpi(library, abi, other, program)
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
