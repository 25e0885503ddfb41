# SPDX-License-Identifier: BSD-3-Clause
"""Tuned tables as text (src/base/tuning.hpp says what one holds): written by `telpher tune`, listed by `telpher info`.
The library alone decides which one is in force."""

import glob
import os

from . import UserError, libraries

FIRST = "telpher-table 1"
# The first word of rows, and the macro of selection.def, by the form of the calls that they were measured on.
WORDS = {"blocking": "choice", "matched": "replay_choice", "enqueued": "enqueued_choice"}
MACROS = {"choice": "TELPHER_CHOICE", "replay_choice": "TELPHER_REPLAY_CHOICE",
          "enqueued_choice": "TELPHER_ENQUEUED_CHOICE"}


def sum_of(text: str) -> str:
    """FNV-1a, as the library works it out."""
    total = 0xCBF29CE484222325
    for byte in text.encode():
        total = (total ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{total:016x}"


def write(machine: list, comments: list, settings: dict, choices: list) -> str:
    """The text of a table. A choice: (operation, bytes or 0 for any size, ranks, algorithm, transport, form)."""
    lines = [FIRST, *(f"# {one}" for one in comments), *(f"machine {one}" for one in machine)]
    lines += [f"set {name} {value}" for name, value in settings.items()]
    for operation, size, ranks, algorithm, transport, form in choices:
        lines.append(f"{WORDS[form]} {operation} {size or 'unlimited'} {ranks} {algorithm} {transport}".rstrip())
    text = "\n".join(lines) + "\n"
    return f"{text}check {sum_of(text)}\n"


def read(path: str) -> tuple:
    """The lines before the check, and why there are none, or ""."""
    try:
        with open(path, errors="replace") as file:
            text = file.read(1 << 20)
    except OSError as error:
        return [], error.strerror
    body, _, check = text.rpartition("check ")
    if not text.startswith(FIRST + "\n") or check.strip() != sum_of(body):
        return [], "damaged, or no table"
    return body.splitlines(), ""


def as_selection(path: str) -> str:
    """The rows of a table as src/coll/exchange/selection.def has them: how the built-in table is made."""
    lines, problem = read(path)
    if problem:
        raise UserError(f"--as-selection {path}: {problem}; make one with telpher tune --whole -o FILE")
    found = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0] not in MACROS:
            continue
        if words[4] == "builtin":
            raise UserError(f"{path}: line {number} leaves calls to the built-in table, so this cannot take its place; "
                            "make the table with telpher tune --whole")
        library = words[5] == "vendor"
        macro = "TELPHER_VENDOR_CHOICE" if library else MACROS[words[0]]
        found.append(f"{macro}({', '.join(words[1:4] if library else words[1:6])})")
    return "".join(line + "\n" for line in found)


def file_of(machine: list) -> str:
    return sum_of("".join(one + "\n" for one in machine)) + ".table"


def own_folder() -> str:
    configuration = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", "/"), ".config")
    return os.path.join(configuration, "telpher", "tables")


def look_at(path: str, machine: list) -> dict:
    """What a file is a table of, and why it cannot be one of this machine (whose host MPI is not asked), or ""."""
    lines, problem = read(path)
    if problem:
        return {"file": path, "mpi": "", "problem": problem}
    facts = [line.removeprefix("machine ") for line in lines if line.startswith("machine ")]
    mpi = next((one.removeprefix("mpi ") for one in facts if one.startswith("mpi ")), "")
    other = [one for one in facts if one not in machine and not one.startswith("mpi ")]
    return {"file": path, "mpi": mpi, "problem": f"of another machine ({other[0]})" if other else ""}


def found(machine: list) -> list:
    """The tables that the library could take: the one that TELPHER_TABLE names, or those of the two folders."""
    wanted = os.environ.get("TELPHER_TABLE", "auto")
    if wanted == "off":
        return []
    files = [wanted]
    if wanted == "auto":
        folders = [own_folder(), os.path.join(libraries.home(), "share", "telpher", "tables")]
        files = [path for folder in folders for path in sorted(glob.glob(os.path.join(folder, "*.table")))]
    return [look_at(path, machine) for path in files]
