# SPDX-License-Identifier: BSD-3-Clause
"""The test runner: passes, failures, time-outs with processes that hide, and its closing line."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

RUN = Path(__file__).resolve().parents[2] / "run.py"


def entry(name: str, *command: str, timeout: float = 20) -> dict:
    return {"name": name, "ring": "unit", "programs": {"": command[0]}, "arguments": list(command[1:]), "ranks": [],
            "wide": [], "env": [], "timeout": timeout, "paths": False, "alone": False, "first": False, "plain": False,
            "may_skip": False}


def alive(pid: str) -> bool:
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def run(*entries: dict, arguments: tuple = ()) -> subprocess.CompletedProcess:
    head = {"build": "/b", "source": "/s", "sanitizer": "", "sanitizer_runtime": "", "mpich": "", "ompi": ""}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tests.jsonl").write_text("\n".join(json.dumps(e) for e in (head, *entries)) + "\n")
        return subprocess.run([sys.executable, str(RUN), folder, *arguments], capture_output=True, text=True,
                              timeout=60)


class Runner(unittest.TestCase):
    def test_counts_by_exit_code_only(self):
        answer = run(entry("good", "sh", "-c", "echo 3 passed, 9 failed"), entry("bad", "sh", "-c", "exit 4"))
        self.assertEqual(answer.stdout.splitlines()[-1], "1 passed, 1 failed")
        self.assertIn("exit code 4", answer.stdout)
        self.assertEqual(answer.returncode, 1)

    def test_shows_the_last_lines_of_a_failure_only(self):
        answer = run(entry("long", "sh", "-c", "seq 1 500; exit 1"), entry("quiet", "sh", "-c", "echo hidden"))
        self.assertIn("| 500\n", answer.stdout)
        self.assertIn("| 341\n", answer.stdout)
        self.assertNotIn("| 340\n", answer.stdout)
        self.assertNotIn("hidden", answer.stdout)

    def test_a_timed_out_test_is_killed_with_what_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            pids = os.path.join(folder, "pids")
            hide = f"setsid sleep 600 & echo $! >> {pids}; echo $$ >> {pids}; sleep 600"
            answer = run(entry("slow", "sh", "-c", hide, timeout=0.5))
            self.assertIn("no end within 0.5 s; killed", answer.stdout)
            for pid in Path(pids).read_text().split():
                self.assertFalse(alive(pid), pid)

    def test_a_first_test_ends_before_the_others_begin(self):
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "made")
            users = [entry(f"user{i}", "test", "-f", made) for i in range(3)]
            maker = {**entry("maker", "sh", "-c", f"sleep 0.3; touch {made}"), "first": True}
            self.assertEqual(run(*users, maker).stdout.splitlines()[-1], "4 passed, 0 failed")

    def test_what_may_be_left_out_is_counted_apart(self):
        skips = ("sh", "-c", "exit 77")
        may = {**entry("may", *skips), "may_skip": True}
        answer = run(entry("good", "true"), may)
        self.assertEqual(answer.stdout.splitlines()[-1], "1 passed, 0 failed, 1 left out")
        self.assertEqual(answer.returncode, 0)
        self.assertEqual(run(may, entry("may not", *skips)).stdout.splitlines()[-1], "0 passed, 1 failed, 1 left out")

    def test_a_process_that_stays_behind_is_a_failure(self):
        answer = run(entry("leaves", "sh", "-c", "setsid sleep 600 &"), entry("waits", "sh", "-c", "sleep 1 &"))
        self.assertIn("left 1 processes behind", answer.stdout)
        self.assertEqual(answer.stdout.splitlines()[-1], "1 passed, 1 failed")

    def test_settings_of_the_caller_do_not_come_to_tests(self):
        with mock.patch.dict(os.environ, {"TELPHER_PATH": "raw", "TEST_THREADS": "1", "OTHER": "kept"}):
            answer = run(entry("env", "sh", "-c", 'test "$TELPHER_PATH$TEST_THREADS$OTHER" = kept'))
            self.assertEqual(answer.returncode, 0)

    def test_names_that_no_test_has_are_told(self):
        one = entry("one", "true")
        answer = run(one, arguments=("--name", "one,two"))
        self.assertIn("two", answer.stderr)
        self.assertEqual(answer.returncode, 1)
        self.assertEqual(run(one, entry("other", "true"), arguments=("--but", "oth")).stdout.splitlines()[-1],
                         "1 passed, 0 failed")

    def test_a_signal_is_named(self):
        self.assertIn("SIGSEGV", run(entry("crash", "sh", "-c", "kill -SEGV $$")).stdout)

    def test_a_missing_program_fails(self):
        answer = run(entry("none", "/no/such/program"))
        self.assertIn("cannot start", answer.stdout)
        self.assertEqual(answer.stdout.splitlines()[-1], "0 passed, 1 failed")

    def test_no_test_selected_is_a_failure(self):
        self.assertEqual(run(entry("one", "true"), arguments=("--ring", "mpi")).returncode, 1)

    def test_values_in_turn_meet_every_mpi_once_a_pair_of_tests(self):
        ranked = [{**entry(name, ""), "ring": "mpi", "programs": {"mpich": "a", "ompi": "b"}, "ranks": [2],
                   "paths": True, "device_each": False, "emulated": False, "beyond": False}
                  for name in ("first", "second")]
        answer = run(*ranked, arguments=("--vary", "WAY=x,y", "--in-turn", "--list"))
        plain = [f"{name} {abi} x2" for name in ("first", "second") for abi in ("mpich", "ompi")]
        forced = ["first mpich x2 x", "first ompi x2 y", "second mpich x2 y", "second ompi x2 x"]
        self.assertEqual(sorted(answer.stdout.splitlines()), sorted(plain + forced))

    def test_further_rank_counts_in_turn(self):
        ranked = [{**entry(name, ""), "ring": "mpi", "programs": {"mpich": "a", "ompi": "b"}, "ranks": [2],
                   "wide": [3, 4], "paths": False, "device_each": False, "emulated": False, "beyond": False}
                  for name in ("first", "second")]
        answer = run(*ranked, arguments=("--wide", "--beyond", "--in-turn", "--list"))
        turns = ["first ompi x3", "first mpich x4", "second mpich x3", "second ompi x4"]
        self.assertEqual(sorted(answer.stdout.splitlines()), sorted(turns))

    def test_variants_and_further_counts_in_turn(self):
        ranked = [{**entry(name, ""), "ring": "mpi", "programs": {"mpich": "a", "ompi": "b"}, "ranks": [2, 3],
                   "wide": [], "paths": False, "device_each": False, "emulated": False, "beyond": False}
                  for name in ("first", "first-other")]
        answer = run(*ranked, arguments=("--in-turn", "--list"))
        turns = ["first mpich x2", "first ompi x2", "first ompi x3", "first-other ompi x2", "first-other mpich x3"]
        self.assertEqual(sorted(answer.stdout.splitlines()), sorted(turns))

    def test_arguments_are_filled_in(self):
        answer = run(entry("fill", "test", "{build}{source}", "=", "/b/s"))
        self.assertEqual(answer.returncode, 0)


unittest.main()
