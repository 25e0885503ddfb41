#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks what a libtelpher-<abi>.so shows to the process that loads it.

usage: exports.py LIBRARY HOST_MPI_DECLARED.hpp WRAPPED.def

It must export MPI_X and PMPI_X for exactly those wrapped functions that the host's mpi.h declares, besides names
of its own; refer to no symbol of an MPI library; and need neither MPI nor the C++ library. The unwinder, libgcc_s,
is the system's.
"""
import pathlib
import re
import subprocess
import sys

OWN_NAMES = re.compile(r"telpher_\w+|MPIX_Query_\w+|MPIX_GPU_query_support|MPIX_\w+_enqueue(_c)?|MPIX_Stream_\w+"
                       r"|MPIX_Comm_get_stream|MPIX_Info_set_hex")
MPI_NAMES = re.compile(r"P?MPIX?_\w+|ompi_\w+|MPIR_\w+")
FORBIDDEN_LIBRARIES = re.compile(r"libmpi|libstdc\+\+|libc\+\+")


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], check=True, capture_output=True, text=True).stdout


def dynamic_symbols(library):
    """Names defined and names undefined."""
    rows = [line.split() for line in readelf("--dyn-syms", library).splitlines()]
    rows = [(row[6], row[7].split("@")[0]) for row in rows if len(row) >= 8 and row[0][:-1].isdigit()]
    return ({name for section, name in rows if section != "UND"},
            {name for section, name in rows if section == "UND"})


def expected_exports(library, declared, wrapped):
    present = set(re.findall(r"HAS_(\w+) 1$", pathlib.Path(declared).read_text(), re.M))
    names = re.findall(r"^TELPHER_PMPI\((\w+)\)", pathlib.Path(wrapped).read_text(), re.M)
    return {f"{layer}_{name}" for name in names if name in present for layer in ("MPI", "PMPI")}


def main(library, declared, wrapped):
    defined, undefined = dynamic_symbols(library)
    exported = {name for name in defined if not OWN_NAMES.fullmatch(name)}
    expected = expected_exports(library, declared, wrapped)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", library))
    problems = [f"exports {name}, which it should not" for name in sorted(exported - expected)]
    problems += [f"does not export {name}" for name in sorted(expected - exported)]
    problems += [f"refers to {name}" for name in sorted(undefined) if MPI_NAMES.fullmatch(name)]
    problems += [f"needs {name}" for name in needed if FORBIDDEN_LIBRARIES.match(name)]
    for problem in problems:
        print(f"{library} {problem}")
    print(f"{len(expected)} wrappers expected, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
