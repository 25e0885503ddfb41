# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/settings.md from src/base/settings.def; with --check only says whether it is up to date."""
import re
import sys
from pathlib import Path

from generated_doc import write_or_check

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "base" / "settings.def"
TARGET = ROOT / "docs" / "settings.md"

HEAD = """# Settings

Generated from `src/base/settings.def` by `tools/settings_doc.py`; do not edit.

A setting `name` is the environment variable `TELPHER_NAME`. They are read once, when the library starts. A value that
is not valid is an error and the default stays in force; an unknown `TELPHER_` variable is a warning that names the
nearest known one. `telpher info --settings` prints those that a user may want, and those that are set, with value and
origin; with `--all` all but those for tests. `telpher run --set name=value` sets one for one run.

Sizes take `k`, `m`, `g` (powers of 1024) and `inf`; durations need a unit: `ns`, `us`, `ms`, `s`; booleans take
`on`/`off`, `yes`/`no`, `true`/`false`, `1`/`0`.

Where a setting must be the same on all ranks and is not, MPI_Init says so and the value of rank 0 is used on all.
"""
# What stands before the tables of each audience.
CHAPTERS = {"users": "", "experts": """
# For experts

Choices, bounds of memory, and patience.
""", "measured": """
# Measured costs

Bounds between ways that all give the same bytes; their defaults were measured. A machine with other bounds is better
served by `telpher tune`, whose tables may set them ([tuning](measure/tune.md)), than by setting these by hand.
""", "tests": """
# For tests

What Telpher's own tests need. `telpher info` does not list them.
"""}
TEXT = r'"((?:[^"\\]|\\.)*)"'
PATHS = SOURCE.with_name("paths.def")
ROW = re.compile(r"TELPHER_(JOB_)?SETTING\(" + r",\s*".join([r"(\w+)"] * 3 + [TEXT] * 4) + r"\)")


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def sections() -> list:
    """[(heading, [(audience, row of a table)])] in the order of the source."""
    found: list = []
    paths = "|".join(["auto", *re.findall(r"^TELPHER_PATH\((\w+), (?:every|some),", PATHS.read_text(), re.MULTILINE)])
    for line in SOURCE.read_text().replace(" path_choices,", f' "{paths}",').splitlines():
        if section := re.match(r"// --- (.*) ---", line):
            found.append((section.group(1).capitalize(), []))
        elif line.startswith(("TELPHER_SETTING(", "TELPHER_JOB_SETTING(")):
            row = ROW.match(line)
            if not row:
                sys.exit(f"settings_doc: cannot read this line of {SOURCE.name}: {line}")
            of_job, who, kind, name, default, allowed, _, text = row.groups()
            if of_job:
                text += " (the same on all ranks)"
            shown = [f"`TELPHER_{name.upper()}`", kind, f"`{default}`" if default else "empty",
                     allowed.replace("|", ", ") + (", or a name" if kind == "word" else ""), cell(text)]
            found[-1][1].append((who, "| " + " | ".join(shown) + " |"))
    return found


def tables(parts: list, audience: str) -> list:
    lines = []
    for heading, rows in parts:
        chosen = [row for who, row in rows if who == audience]
        if chosen:
            lines += [f"\n## {heading}\n", "| variable | type | default | allowed | what it does |",
                      "| --- | --- | --- | --- | --- |", *chosen]
    return lines


def render() -> str:
    lines, parts = [HEAD.rstrip()], sections()
    for audience, text in CHAPTERS.items():
        lines += [text.rstrip()] * bool(text) + tables(parts, audience)
    return "\n".join(lines) + "\n"


def main() -> int:
    return write_or_check(TARGET, render())


if __name__ == "__main__":
    sys.exit(main())
