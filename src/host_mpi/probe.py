# SPDX-License-Identifier: BSD-3-Clause
"""Writes host_mpi_declared.hpp: which PMPI functions an mpi.h declares.

usage: probe.py PREPROCESSED_MPI_H OUTPUT LIST.def...

TELPHER_HOST_HAS_<name> becomes 1 for each PMPI function declared, and 0 for each other name that a
list mentions. The output is rewritten only if it changes.
"""
import pathlib
import re
import sys


def main(preprocessed, output, *lists):
    declared = set(re.findall(r"\bPMPI_(\w+)\s*\(", pathlib.Path(preprocessed).read_text()))
    if "Init" not in declared:
        sys.exit(f"{preprocessed} declares no PMPI_Init: not a preprocessed mpi.h")
    listed = set()
    for name in lists:
        listed |= set(re.findall(r"^TELPHER_PMPI\((\w+)\)", pathlib.Path(name).read_text(), re.M))
    lines = ["// Written at configure time by src/host_mpi/probe.py from the host MPI's mpi.h.", "#pragma once"]
    lines += [f"#define TELPHER_HOST_HAS_{name} {int(name in declared)}" for name in sorted(declared | listed)]
    text = "\n".join(lines) + "\n"
    target = pathlib.Path(output)
    if not target.exists() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
