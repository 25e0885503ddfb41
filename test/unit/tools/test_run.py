# SPDX-License-Identifier: BSD-3-Clause
"""`telpher run` end to end: test_run.py ABI PROGRAM, where the program is hello of that ABI."""
import os
import subprocess
import sys
import unittest

ABI, HELLO = sys.argv[1], sys.argv[2]
TELPHER = os.path.join(os.environ["BUILD"], "bin", "telpher")


def telpher(*arguments: str, **more: str) -> subprocess.CompletedProcess:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")}
    return subprocess.run([TELPHER, *arguments], capture_output=True, text=True, timeout=50, env=clean | more)


class Run(unittest.TestCase):
    def test_every_rank_starts_with_the_library(self):
        answer = telpher("run", "-n", "3", "--backend", "emu", HELLO, "-n", LD_PRELOAD="libm.so.6")
        lines = sorted(line for line in answer.stdout.splitlines() if line.startswith("rank "))
        self.assertEqual(len(lines), 3, answer.stdout + answer.stderr)
        for rank, line in enumerate(lines):
            self.assertTrue(line.startswith(f"rank {rank} of 3 preload "), line)
            self.assertRegex(line, rf"preload libm\.so\.6:\S+/libtelpher-{ABI}\.so backend emu argument -n")
        self.assertEqual(answer.returncode, 0)

    def test_exec_needs_no_run(self):
        answer = telpher("exec", HELLO, "word", TELPHER_BACKEND="emu")
        self.assertIn(f"libtelpher-{ABI}.so backend emu argument word", answer.stdout, answer.stderr)

    def test_a_launcher_of_another_mpi_is_refused(self):
        foreign = "MPI_LOCALRANKID" if ABI == "ompi" else "OMPI_COMM_WORLD_LOCAL_RANK"
        answer = telpher("exec", HELLO, **{foreign: "0"})
        self.assertEqual(answer.returncode, 2, answer.stdout)
        self.assertIn("every rank would be alone", answer.stderr)

    def test_the_exit_code_is_the_programs(self):
        self.assertNotEqual(telpher("run", "-n", "1", "--mpi", ABI, "/bin/false").returncode, 0)

    def test_errors_are_one_line(self):
        for arguments in (["run", "-n", "0", HELLO], ["run", "-n", "2"], ["run", "-n", "2", "/bin/true"],
                          ["run", "-n", "2", "--set", "log", HELLO], ["nothing"]):
            answer = telpher(*arguments)
            self.assertEqual(answer.returncode, 2)
            self.assertEqual(len(answer.stderr.strip().splitlines()), 1, answer.stderr)


unittest.main(argv=sys.argv[:1])
