# SPDX-License-Identifier: BSD-3-Clause
"""`telpher coll`: its help, and names that it does not know."""

import os
import subprocess
import unittest

BUILD = os.environ["BUILD"]


def coll(*arguments: str):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")}
    command = [f"{BUILD}/bin/telpher", "coll", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean)


class Coll(unittest.TestCase):
    SIMULATE = ("simulate", "--machine", "h200", "--operation", "bcast", "--ranks", "4", "--bytes", "4k")

    def refused(self, *arguments: str) -> str:
        answer = coll(*arguments)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        return answer.stderr.splitlines()[0]

    def test_help(self):
        for words in ((), ("list",), ("verify",), ("simulate",), ("simulate", "--machine", "nowhere")):
            for option in ("--help", "-h"):
                answer = coll(*words, option)
                self.assertEqual((answer.returncode, answer.stderr), (0, ""))
                self.assertIn("telpher coll simulate --machine FILE", answer.stdout)

    def test_an_unknown_algorithm_is_an_error_that_names_the_known_ones(self):
        for words in (self.SIMULATE, ("verify", "--operation", "bcast", "--ranks", "2")):
            for names in ("nosuch", "one_shot,nosuch"):
                said = self.refused(*words, "--algorithm", names)
                self.assertIn("no algorithm nosuch of bcast; there are ", said)
                self.assertIn("one_shot", said)

    def test_an_algorithm_of_another_operation_is_unknown(self):
        self.assertIn("no algorithm pairwise of bcast", self.refused(*self.SIMULATE, "--algorithm", "pairwise"))

    def test_an_unknown_operation_is_an_error(self):
        self.assertIn("no operation nosuch", self.refused("verify", "--operation", "nosuch"))

    def test_known_algorithms_are_simulated(self):
        answer = coll(*self.SIMULATE, "--algorithm", "one_shot", "--csv")
        self.assertEqual((answer.returncode, len(answer.stdout.splitlines())), (0, 2))


unittest.main()
