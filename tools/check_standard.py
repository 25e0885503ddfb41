#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares src/mpi/api.toml with the MPI Forum's own data: every function with a choice buffer must be there, with
the same buffers. `make lint` calls it, with the package that tools/setup.py --with lint gets.

usage: check_standard.py [folder of the unpacked package]
"""
import json
import sys
import tomllib
from importlib import util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src" / "mpi"))
import generate  # noqa: E402

NOT_FUNCTIONS_OF_DATA = ("MPI_T_", "MPI_CONVERSION_FN_NULL")


def standard(folder):
    """The buffers of each function, `_c` forms included."""
    found = {}
    for f in json.loads((folder / "data" / "apis.json").read_text()).values():
        if f["attributes"]["callback"] or not f["attributes"]["c_expressible"]:
            continue
        if f["name"].startswith(NOT_FUNCTIONS_OF_DATA):
            continue
        buffers = {p["name"] for p in f["parameters"] if "BUFFER" in p["kind"]}
        if not buffers:
            continue
        found[f["name"]] = buffers
        if any("POLY" in p["kind"] for p in f["parameters"]):
            found[f["name"] + "_c"] = buffers
    return found


def main(arguments):
    folder = Path(arguments[0]) if arguments else Path(util.find_spec("pympistandard").origin).parent
    api = tomllib.loads((ROOT / "src" / "mpi" / "api.toml").read_text())
    ours = {f.mpi_name: {p.name for p in f.parameters if p.kind in ("BUFFER", "C_BUFFER")} for f in generate.read(api)}
    unwrapped = {f"MPI_{name}" for name in api["unwrapped"]}
    problems = 0
    for name, buffers in standard(folder).items():
        if name.removesuffix("_c") in unwrapped or ours.get(name) == buffers:
            continue
        print(f"{name}: the standard's buffers are {sorted(buffers)}, those of api.toml {sorted(ours.get(name, []))}")
        problems += 1
    print(f"{problems} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
