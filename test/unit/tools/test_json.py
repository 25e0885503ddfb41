# SPDX-License-Identifier: BSD-3-Clause
"""Commands print one JSON document with --json, and nothing else on stdout."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ["BUILD"]
SETUP = Path(BUILD).parent.joinpath("deps/setup.json")
MPIS = json.loads(SETUP.read_text())["mpi"] if SETUP.exists() else {}


def telpher(*arguments: str, code: int = 0):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")}
    answer = subprocess.run([f"{BUILD}/bin/telpher", *arguments], capture_output=True, text=True, timeout=60, env=clean)
    if answer.returncode != code:
        raise AssertionError(f"{arguments}: {answer.returncode}: {answer.stdout}{answer.stderr}")
    return json.loads(answer.stdout)


class Json(unittest.TestCase):
    def test_coll_list(self):
        found = telpher("coll", "list", "--json")
        one_shot = next(a for a in found if (a["operation"], a["algorithm"]) == ("allreduce", "one_shot"))
        self.assertEqual(one_shot["restrictions"], ["one node"])

    def test_coll_verify(self):
        found = telpher("coll", "verify", "--ranks", "2,3", "--operation", "bcast", "--json")
        self.assertTrue(found)
        for one in found:
            self.assertEqual((one["operation"], one["mistake"]), ("bcast", ""))
            self.assertGreater(one["problems"], 0)

    def test_coll_simulate(self):
        asked = ("--machine", "h200", "--operation", "allreduce", "--ranks", "4", "--bytes", "4k-8k")
        found = telpher("coll", "simulate", *asked, "--json")
        self.assertEqual({row["bytes"] for row in found}, {4096, 8192})
        self.assertGreater(min(row["us"] for row in found), 0)

    def test_nothing_to_simulate_is_an_empty_list(self):
        asked = ("--machine", "h200", "--ranks", "24", "--algorithm", "two_level_doubling")  # of 2^k nodes
        self.assertEqual(telpher("coll", "simulate", *asked, "--json"), [])

    def test_info_says_what_no_preload_sees(self):
        text = subprocess.run([f"{BUILD}/bin/telpher", "info", "--backend", "emu"], capture_output=True, text=True,
                              timeout=60).stdout
        for words in (telpher("info", "--backend", "emu", "--json")["not_seen"], text):
            for name in ("dlopen", "dlsym", "telpher_symbol"):
                self.assertIn(name, words)

    def test_version(self):
        found = telpher("--version", "--json")
        self.assertEqual(set(found), {"version", "commit"})
        text = subprocess.run([f"{BUILD}/bin/telpher", "--version"], capture_output=True, text=True).stdout.strip()
        self.assertEqual(text, f"{found['version']} ({found['commit']})" if found["commit"] else found["version"])

    def test_report_list(self):
        self.assertIn("allreduce", telpher("report", "--set", "quick", "--list", "--json"))

    @unittest.skipUnless(MPIS, "no MPI was found for this build")
    def test_run_print(self):
        prefix = next(iter(MPIS.values()))
        words = ["run", "-n", "3", "--mpi", prefix, "--backend", "emu", "--print"]
        found = telpher(*words, "--json", "/bin/true", "word")
        self.assertEqual((found["command"][0], found["command"][-2:]), (f"{prefix}/bin/mpirun", ["/bin/true", "word"]))
        self.assertEqual(found["environment"]["TELPHER_BACKEND"], "emu")

    def test_run_without_print_says_why_not(self):
        answer = subprocess.run([f"{BUILD}/bin/telpher", "run", "-n", "1", "--json", "/bin/true"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn("goes with --print", answer.stderr)

    def test_bench(self):
        for words in (["codec", "-s", "64k"], ["memcpy", "-s", "64k"]):
            found = telpher("bench", *words, "--backend", "emu", "--min-time", "0.001", "--json", "-")
            self.assertTrue(found["rows"], words)

    @unittest.skipUnless(MPIS, "no MPI was found for this build")
    def test_bench_of_ranks(self):
        for test in ("latency", "matrix"):
            asked = ("--mpi", next(iter(MPIS)), "--backend", "emu", test, "-s", "8,64", "-i", "2", "--json", "-")
            self.assertTrue(telpher("bench", *asked)["rows"])

    def test_compare(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, us in (("a", 10.0), ("b", 20.0)):
                row = {"test": "latency", "bytes": 8, "kinds": "D:D", "mode": "telpher", "us": us, "us_min": us}
                Path(folder, name).write_text(json.dumps({"about": {"ranks": int(us)}, "rows": [row]}))
            found = telpher("bench", "compare", f"{folder}/a", f"{folder}/b", "--json", code=1)
        self.assertEqual((found["slower"], found["rows"][0]["ratio"], found["differs"]), (1, 2.0, {"ranks": [10, 20]}))


unittest.main()
