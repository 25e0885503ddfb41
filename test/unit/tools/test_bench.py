# SPDX-License-Identifier: BSD-3-Clause
"""What a long `telpher bench` says of how far it is: on stderr, and as often as it was asked to."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

BUILD = os.environ["BUILD"]
SETUP = Path(BUILD).parent.joinpath("deps/setup.json")
MPIS = json.loads(SETUP.read_text())["mpi"] if SETUP.exists() else {}
LINE = re.compile(r"^telpher-bench: test (\d+) of (\d+), part (\d+) of (\d+) after \d+ s, about \d+ s left$", re.M)


@unittest.skipUnless(MPIS, "no MPI was found for this build")
class Progress(unittest.TestCase):
    def said(self, *words: str) -> list:
        command = [f"{BUILD}/bin/telpher", "bench", "--mpi", next(iter(MPIS)), "--backend", "emu", *words, "-i", "2"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertNotIn("telpher-bench:", answer.stdout)
        return [tuple(map(int, numbers)) for numbers in LINE.findall(answer.stderr)]

    def test_every_part_but_the_last(self):
        found = self.said("latency,allreduce,get_latency", "-s", "8,64", "--progress", "0.000001")
        self.assertEqual(found, [(1, 3, 1, 2), (1, 3, 2, 2), (2, 3, 1, 2), (2, 3, 2, 2), (3, 3, 1, 2)])

    def test_one_long_test(self):
        self.assertEqual(self.said("bw", "-s", "8,64,512", "--progress", "0.000001"), [(1, 1, 1, 3), (1, 1, 2, 3)])

    def test_a_matrix_counts_pairs(self):
        self.assertEqual(self.said("--once", "matrix", "--progress", "0.000001"), [(1, 1, 1, 2)])

    def test_short_runs_say_nothing(self):
        self.assertEqual(self.said("latency", "-s", "8,64"), [])


unittest.main()
