#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What continuous integration runs: its rings are make targets, the short ring has a bit of everything, and a
ring whose tool is missing fails."""
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[3]


def rings() -> list[str]:
    return re.search(r"rings=\(check ([^)]*)\)", (ROOT / ".ci/run").read_text()).group(1).split()


def make(target: str, setup_finds_all: bool) -> int:
    """With a Python that starts nothing: setup.py ends as if it had found all or not."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "python"
        python.write_text(f'#!/bin/sh\ncase "$1" in *setup.py) exit {0 if setup_finds_all else 1};; esac\n')
        python.chmod(python.stat().st_mode | stat.S_IEXEC)
        return subprocess.run(["make", "-s", f"PYTHON={python}", target], cwd=ROOT, capture_output=True).returncode


class Rings(unittest.TestCase):
    def test_rings_are_make_targets(self):
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        self.assertEqual([r for r in rings() if r not in targets], [])
        for ring in ("lint", "check-short", "check-asan", "check-asan-ranks", "check-tsan", "check-vendors"):
            self.assertIn(ring, rings())

    def test_a_ring_without_its_tool_fails(self):
        for ring in rings():
            if ring == "demo":
                continue
            self.assertEqual(make(ring, True), 0, ring)
            self.assertNotEqual(make(ring, False), 0, ring)

    def test_tools_asked_for_alone_leave_what_a_build_finds(self):
        sys.path.insert(0, str(ROOT / "tools"))
        import setup
        with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(
                setup, DEPS=Path(folder), STATE=Path(folder) / "setup.json"):
            for parts, state, mpi in ((["mpich"], {"mpi": {"mpich": "/here"}}, {"mpich": "/here"}),
                                      (["lint"], {"mpi": {}, "ruff": "/there"}, {"mpich": "/here"}),
                                      (["cuda"], {"mpi": {}, "nvcc": "/there"}, {})):
                line = ["setup.py", *(word for part in parts for word in ("--with", part))]
                with (mock.patch.object(setup, "prepare", return_value=(state, [])),
                      mock.patch.object(sys, "argv", line)):
                    self.assertEqual(setup.main(), 0)
                self.assertEqual(json.loads(setup.STATE.read_text())["mpi"], mpi)

    def test_the_short_ring_has_stress_nodes_and_a_soak(self):
        lines = (Path(os.environ["BUILD"]) / "tests.jsonl").read_text().splitlines()
        short = {t["name"] for t in map(json.loads, lines) if t.get("ring") == "short"}
        for name in ("random-short", "coll_exchange-short", "stress-three-nodes", "matching-three-nodes", "soak-short"):
            self.assertIn(name, short)


if __name__ == "__main__":
    sys.exit(unittest.main())
