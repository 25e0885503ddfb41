# SPDX-License-Identifier: BSD-3-Clause
"""What every script that writes a page of docs/ does with its text: write it, or with --check compare."""
import sys
from pathlib import Path


def write_or_check(target: Path, text: str) -> int:
    """An exit code: 1 if `--check` was given and the page is not the text."""
    if "--check" not in sys.argv[1:]:
        target.write_text(text)
        return 0
    if target.is_file() and target.read_text() == text:
        return 0
    print(f"{target} is not up to date; run python3 tools/{Path(sys.argv[0]).name}")
    return 1
