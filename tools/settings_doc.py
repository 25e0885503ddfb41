# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/settings.md from src/base/settings.def; with --check only says whether it is up to date."""
import re
import sys
from pathlib import Path

from generated_doc import write_or_check

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "base" / "settings.def"
FOR_USERS = ROOT / "src" / "base" / "settings_for_users.def"
TARGET = ROOT / "docs" / "settings.md"

HEAD = """# Settings

Generated from `src/base/settings.def` by `tools/settings_doc.py`; do not edit.

A setting `name` is the environment variable `TELPHER_NAME`. They are read once, when the library starts. A value that
is not valid is an error and the default stays in force; an unknown `TELPHER_` variable is a warning that names the
nearest known one. `telpher info --settings` prints those that a user may want, and those that are set, with value and
origin; with `--all` every one. `telpher run --set name=value` sets one for one run.

Sizes take `k`, `m`, `g` (powers of 1024) and `inf`; durations need a unit: `ns`, `us`, `ms`, `s`; booleans take
`on`/`off`, `yes`/`no`, `true`/`false`, `1`/`0`.

Where a setting must be the same on all ranks and is not, MPI_Init says so and the value of rank 0 is used on all.
"""
EXPERTS = """
# For experts

Bounds, sizes and patience, most of them measured; and what tests need. A machine with other bounds is better served by
`telpher tune` ([tuning](measure/tune.md)) than by setting these by hand.
"""
TEXT = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(r"TELPHER_(JOB_)?SETTING\(" + r",\s*".join([r"(\w+)", r"(\w+)", TEXT, TEXT, TEXT, TEXT]) + r"\)")


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def sections() -> list:
    """[(heading, [(name, row of a table)])] in the order of the source."""
    found: list = []
    for line in SOURCE.read_text().splitlines():
        if section := re.match(r"// --- (.*) ---", line):
            found.append((section.group(1).capitalize(), []))
        elif line.startswith(("TELPHER_SETTING(", "TELPHER_JOB_SETTING(")):
            row = ROW.match(line)
            if not row:
                sys.exit(f"settings_doc: cannot read this line of {SOURCE.name}: {line}")
            of_job, kind, name, default, allowed, _, text = row.groups()
            if of_job:
                text += " (the same on all ranks)"
            shown = [f"`TELPHER_{name.upper()}`", kind, f"`{default}`" if default else "empty",
                     allowed.replace("|", ", "), cell(text)]
            found[-1][1].append((name, "| " + " | ".join(shown) + " |"))
    return found


def tables(parts: list, wanted) -> list:
    lines = []
    for heading, rows in parts:
        chosen = [row for name, row in rows if wanted(name)]
        if chosen:
            lines += [f"\n## {heading}\n", "| variable | type | default | allowed | what it does |",
                      "| --- | --- | --- | --- | --- |", *chosen]
    return lines


def render() -> str:
    users = set(re.findall(r"^TELPHER_FOR_USERS\((\w+)\)", FOR_USERS.read_text(), re.M))
    parts = sections()
    lines = [HEAD.rstrip(), *tables(parts, lambda name: name in users), EXPERTS.rstrip()]
    return "\n".join([*lines, *tables(parts, lambda name: name not in users)]) + "\n"


def main() -> int:
    return write_or_check(TARGET, render())


if __name__ == "__main__":
    sys.exit(main())
