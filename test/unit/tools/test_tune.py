# SPDX-License-Identifier: BSD-3-Clause
"""Tuned tables over a host MPI, on the emulated device: test_tune.py ABI MPIRUN. `telpher tune` makes one, the library
takes it, refuses those that are damaged or of another machine, and falls back where ranks have different ones."""

import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import UserError, tables  # noqa: E402
from telpher import tune as command  # noqa: E402
from telpher import tune_choices as tune  # noqa: E402
from telpher import tune_nodes  # noqa: E402

ABI, MPIRUN = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
BUILD = os.environ["BUILD"]
TELPHER = os.path.join(BUILD, "bin", "telpher")
RANK = "OMPI_COMM_WORLD_RANK" if ABI == "ompi" else "PMI_RANK"
QUICK = ["-s", "64", "--mode", "telpher", "-i", "20", "-x", "2", "--batches", "2", "--validate"]


class Decisions(unittest.TestCase):
    """What is made of measured times."""

    def variants(self, **times):
        found = []
        for name, of_sizes in times.items():
            name = tune.BUILT_IN if name == "built_in" else " ".join(name.rsplit("_", 1))
            one = tune.Variant(name, 2, ("allreduce",), {})
            one.rounds = [{("allreduce", size): us for size, us in of_sizes.items()}]
            found.append(one)
        return found

    def choices(self, **times):
        return tune.Column(self.variants(**times), 2, "allreduce", [1, 2, 4, 8], 0.05).complete()

    def test_only_what_is_clearly_faster_differs(self):
        rows = self.choices(built_in={1: 10, 2: 10, 4: 10, 8: 10}, push_packed={1: 5, 2: 6, 4: 9.9, 8: 20})
        self.assertEqual(rows, [("allreduce", 2, 2, "push", "packed", "blocking"),
                                ("allreduce", 0, 2, "builtin", "", "blocking")])

    def test_the_built_in_choice_between_two_others(self):
        rows = self.choices(built_in={1: 9, 2: 5, 4: 9, 8: 9}, push_packed={1: 5, 2: 5, 4: 5, 8: 5})
        self.assertEqual([row[1:5] for row in rows][:3],
                         [(1, 2, "push", "packed"), (2, 2, "builtin", ""), (8, 2, "push", "packed")])

    def test_a_variant_that_failed_is_not_chosen(self):
        self.assertEqual(self.choices(built_in={1: 9, 2: 9, 4: 9, 8: 9}, push_packed={}),
                         [("allreduce", 0, 2, "builtin", "", "blocking")])

    def test_what_not_every_call_can_take_has_another_row_behind_it(self):
        times = {"built_in": {1: 10, 2: 10, 4: 10, 8: 10}, "push_packed": {1: 5, 2: 9.9, 4: 9, 8: 9},
                 "push_lines": {1: 7, 2: 6, 4: 6, 8: 20}}
        self.assertEqual([row[1:5] for row in self.choices(**times)],
                         [(1, 2, "push", "packed"), (4, 2, "push", "lines"), (4, 2, "builtin", ""),
                          (8, 2, "push", "packed"), (0, 2, "builtin", "")])

    def test_a_whole_table_leaves_nothing_to_the_built_in_one(self):
        times = {"push_packed": {1: 5, 2: 5, 4: 9, 8: 9}, "two_shot_exchange": {1: 9, 2: 4.9, 4: 7, 8: 8},
                 "library_vendor": {1: 99, 2: 99, 4: 7.9, 8: 5}}
        rows = tune.Column(self.variants(**times), 2, "allreduce", [1, 2, 4, 8], 0.05, whole=True).complete()
        self.assertEqual([row[1:5] for row in rows], [(2, 2, "push", "packed"), (4, 2, "two_shot", "exchange"),
                                                      (0, 2, "library", "vendor"), (0, 2, "two_shot", "exchange")])

    def test_each_form_has_rows_of_its_own(self):
        found = []
        for form in ("blocking", "matched"):
            built_in, push = self.variants(built_in={1: 10}, push_packed={1: 5})
            push.keep, built_in.form, push.form = ("coll_packed",), form, form
            found += [built_in, push]
        rows = tune.all_choices(found, [1], 0.05)
        self.assertEqual([(row[1], row[3], row[5]) for row in rows],
                         [(0, "builtin", "enqueued"), (1, "push", "matched"), (0, "builtin", "matched"),
                          (1, "push", "blocking"), (0, "builtin", "blocking")])
        self.assertEqual([(row[1], row[3], row[5]) for row in tune.all_choices(found, [1], 0.05, whole=True)],
                         [(0, "push", "matched"), (0, "push", "blocking")])

    def test_bounds(self):
        sizes = [1, 2, 4, 8]
        always, never = self.variants(a={1: 1, 2: 1, 4: 9, 8: 9}, b={1: 3, 2: 3, 4: 3, 8: 3})
        self.assertEqual(tune.bound(always, never, sizes, 8, False, 0.05), 2)
        self.assertEqual(tune.bound(always, never, sizes, 3, False, 0.05), 3)  # as good: stays
        always, never = self.variants(a={1: 9, 2: 9, 4: 1, 8: 1}, b={1: 3, 2: 3, 4: 3, 8: 3})
        self.assertEqual(tune.bound(always, never, sizes, 0, True, 0.05), 4)

    def test_a_bound_that_hardly_matters_stays(self):
        always, never = self.variants(a={1: 99, 2: 99, 4: 99, 8: 99}, b={1: 97, 2: 97, 4: 97, 8: 97})
        self.assertEqual(tune.bound(always, never, [1, 2, 4, 8], 8, False, 0.05), 8)  # 2 % each, 8 % together

    def test_a_bound_that_one_test_loses_by_stays(self):
        always, never = self.variants(a={1: 9}, b={1: 3})
        for one, us in ((always, 1), (never, 2)):
            one.tests = ("allreduce", "bcast")
            one.rounds[0]["bcast", 1] = us
        self.assertEqual(tune.bound(always, never, [1], 1, False, 0.05), 1)

    def trial(self, **table):
        built_in, tuned = self.variants(built_in={1: 10, 2: 10, 4: 10, 8: 10}, table=table["table"])
        return tune.Trial({(2, "blocking"): (built_in, tuned)}, 0.05)

    def test_rows_count_that_the_trial_confirms(self):
        trial = self.trial(table={1: 6, 2: 9.9, 4: 6, 8: 10})
        variants = self.variants(built_in={1: 10, 2: 10, 4: 10, 8: 10}, push_packed={1: 5, 2: 5, 4: 5, 8: 10})
        rows = tune.Column(variants, 2, "allreduce", [1, 2, 4, 8], 0.05, trial=trial).complete()
        self.assertEqual([row[1:4] for row in rows], [(1, 2, "push"), (2, 2, "builtin"), (4, 2, "push"),
                                                      (0, 2, "builtin")])

    def test_bounds_count_that_the_trial_confirms(self):
        trial = self.trial(table={1: 9, 2: 10.5, 4: 12, 8: 10})
        self.assertTrue(trial.confirms_bound(("allreduce",), [1, 2]))
        self.assertFalse(trial.confirms_bound(("allreduce",), [2, 4]))
        self.assertFalse(trial.confirms_bound(("allreduce", "bw"), [1]))  # one was not measured

    def between_nodes(self, schedules: dict, staged: dict) -> dict:
        """The limits of tests by the times of sizes, with three ranks."""
        pair = tune_nodes.variants_of(3, tuple(staged))
        for one, times in zip(pair, (schedules, staged), strict=True):
            one.rounds = [{(test, size): us for test, of in times.items() for size, us in of.items()}]
        return tune_nodes.limits(pair, [1, 2, 4], 0.05)

    def test_limits_between_nodes(self):
        found = self.between_nodes({"allreduce": {1: 9, 2: 4, 4: 4}, "allgather": {1: 9, 2: 9, 4: 4},
                                    "bcast": {1: 9, 2: 9, 4: 4.99}, "reduce": {1: 1, 2: 1, 4: 1}},
                                   {test: {1: 5, 2: 5, 4: 5} for test in ("allreduce", "allgather", "bcast", "reduce")})
        self.assertEqual(found, {"allreduce": 2, "allgather": 12, "bcast": tune_nodes.NEVER, "reduce": 1})
        self.assertEqual(tune_nodes.setting(found), "allreduce=2,allgather=12,bcast=never,reduce=1")

    def test_what_did_not_go_between_nodes_says_nothing(self):
        self.assertEqual(self.between_nodes({}, {"allreduce": {1: 5, 2: 5, 4: 5}}), {})

    def test_the_median_of_rounds_counts(self):
        one = tune.Variant("x", 2, ("bw",), {}, (), [{("bw", 1): us} for us in (9, 1, 2)])
        self.assertEqual(one.time("bw", 1), 2)


class Failures(unittest.TestCase):
    """Where nothing can be measured nothing may be written."""

    def setUp(self):
        self.options = types.SimpleNamespace(rounds=1, sizes="64", min_time="1", timeout=1, json=True)
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def bench(self, code: int, stderr: str, rows: "list | None" = None):
        def answer(options, ranks, tests, settings, more, file, form=""):
            if rows is not None:
                Path(file).write_text(json.dumps({"rows": rows}))
            return subprocess.CompletedProcess([], code, "", stderr)

        return mock.patch.object(command, "bench", answer)

    def measure(self) -> int:
        self.variants = [tune.Variant("x", 2, ("bw",), {}), tune.Variant("y", 2, ("bw",), {})]
        with mock.patch("sys.stderr"):
            return command.measure(self.options, self.variants, self.scratch.name)

    def test_no_run_that_succeeds(self):
        with self.bench(1, "why\nno device"), self.assertRaisesRegex(UserError, "nothing was written: no device"):
            self.measure()

    def test_rows_that_are_on_another_node(self):
        with self.bench(0, ""), self.assertRaisesRegex(UserError, "nothing was written: .*on another node"):
            self.measure()

    def test_rows_of_the_round_before_do_not_count(self):
        with self.bench(0, "", [{"test": "bw", "bytes": 64, "us": 1, "path": "host"}]):
            self.assertEqual(self.measure(), 1)
        self.assertEqual(self.variants[0].rounds, [{("bw", 64): 1}])
        with self.bench(0, ""), self.assertRaises(UserError):
            self.measure()

    def test_the_machine_is_of_a_run_that_succeeded_here(self):
        said = "[telpher 0 info] machine: emu; x"
        for code, rows, problem in ((1, [], "do not run here"), (0, None, "on another node")):
            with tempfile.TemporaryDirectory() as folder, self.bench(code, said, rows):
                self.assertRaisesRegex(UserError, problem, command.machine_of, self.options, folder)
        with self.bench(0, said, []):
            self.assertEqual(command.machine_of(self.options, self.scratch.name), ["emu", "x"])


@unittest.skipUnless(ABI, "no host MPI is named")
class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.home = Path(cls.scratch.name)
        answer = cls.telpher("tune", "--json", "--backend", "emu", "--mpi", ABI, "-n", "2", "-s", "64,4k", "--rounds",
                             "1", "--min-time", "0.002", "--forms", "blocking", "--only",
                             "allreduce,mapped_limit")
        cls.tuned = json.loads(answer.stdout)
        cls.machine = cls.tuned["machine"]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def environment(cls, **more: str) -> dict:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TELPHER_", "XDG_"))}
        return clean | {"HOME": str(cls.home)} | more

    @classmethod
    def telpher(cls, *arguments: str, **more: str) -> subprocess.CompletedProcess:
        answer = subprocess.run([TELPHER, *arguments], capture_output=True, text=True, timeout=100,
                                env=cls.environment(**more))
        if answer.returncode != 0:
            raise AssertionError(f"{arguments}: {answer.stdout}{answer.stderr}")
        return answer

    def bench(self, table: str, **more: str) -> str:
        """An explained allreduce, every byte of which is looked at."""
        return self.telpher("bench", "--mpi", ABI, "--backend", "emu", "--explain", "allreduce", *QUICK,
                            TELPHER_TABLE=table, **more).stderr

    def file(self, name: str, machine: list, choices: list, settings: dict) -> str:
        path = self.home / name
        path.write_text(tables.write(machine, [], settings, [(*one, "blocking")[:6] for one in choices]))
        return str(path)

    def good(self) -> str:
        return self.file("good", self.machine, [("allreduce", 4096, 2, "one_shot", "exchange")], {"mapped_limit": 4096})

    def test_tune_writes_where_the_library_looks(self):
        self.assertTrue(self.tuned["runs"])
        self.assertEqual(Path(self.tuned["file"]), self.home / ".config/telpher/tables" / tables.file_of(self.machine))
        self.assertIn("table: " + self.tuned["file"], self.bench("auto"))
        self.assertIn("table: built-in", self.bench("off"))
        told = json.loads(self.telpher("info", "--json", "--backend", "emu").stdout)["tables"]
        self.assertEqual([(one["file"], one["problem"]) for one in told], [(self.tuned["file"], "")])

    def test_its_rows_are_used(self):
        said = self.bench(self.good())
        self.assertIn("mapped up to 4 KiB", said)
        self.assertIn("one_shot by coll_exchange", said)
        self.assertIn("(tuned row: to 4096 bytes, to 2 ranks)", said)

    def explained(self, table: str, *tests: str) -> str:
        return self.telpher("bench", "--mpi", ABI, "--backend", "emu", "--explain", ",".join(tests), "-s", "64",
                            "--enqueue", "--mode", "enqueued", "-i", "40", "-x", "40", "--batches", "2", "--validate",
                            TELPHER_TABLE=table).stderr

    def persistent(self) -> bool:
        """Open MPI 4 has no persistent collectives."""
        answer = subprocess.run([TELPHER, "bench", "--mpi", ABI, "--backend", "emu", "allreduce_persistent", *QUICK],
                                capture_output=True, text=True, timeout=100, env=self.environment())
        none = "has no persistent collectives" in answer.stderr
        self.assertEqual(answer.returncode != 0, none, answer.stderr)
        return not none

    def test_rows_of_calls_that_streams_repeat_are_used(self):
        rows = [("allreduce", 0, 2, "one_shot", "exchange", "enqueued"),
                ("allreduce", 0, 2, "push", "lines", "matched"),  # no emulated device delivers lines
                ("allreduce", 0, 2, "two_shot_push", "packed", "matched"),
                ("scan", 4096, 2, "push", "packed", "blocking")]
        table = self.file("forms", self.machine, rows, {})
        said = self.explained(table, "allreduce", "scan")
        self.assertIn("table: " + table + ", 4 choices", said)
        self.assertIn("one_shot by coll_exchange", said)
        self.assertIn("(tuned enqueued row: any size, to 2 ranks)", said)
        self.assertIn("push by coll_packed", said)
        self.assertIn("(tuned row: to 4096 bytes, to 2 ranks)", said)
        if not self.persistent():
            return
        said = self.explained(table, "allreduce_persistent")
        self.assertIn("two_shot_push by coll_packed", said)
        self.assertIn("(tuned replay row: any size, to 2 ranks)", said)

    def test_a_whole_table_holds_what_the_built_in_one_does(self):
        file = self.home / "whole.table"
        said = self.telpher("tune", "--whole", "--json", "--backend", "emu", "--mpi", ABI, "-n", "2", "-s", "64",
                            "--rounds", "1", "--min-time", "0.002", "--only", "allreduce,exscan,gatherv", "-o",
                            str(file))
        rows = json.loads(said.stdout)["choices"]
        forms = ("enqueued", "matched", "blocking") if self.persistent() else ("enqueued", "blocking")
        self.assertEqual({(row[0], row[5]) for row in rows},
                         {("exscan", "blocking"), ("gatherv", "blocking"), *(("allreduce", form) for form in forms)})
        self.assertEqual({row[1] for row in rows}, {0})
        said = self.explained(str(file), "allreduce")
        self.assertIn("(tuned enqueued row: any size, to 2 ranks)", said)
        printed = self.telpher("tune", "--as-selection", str(file)).stdout.splitlines()
        self.assertEqual(len(printed), len(rows))
        known = re.compile(r"TELPHER_((REPLAY_|ENQUEUED_)?CHOICE\(\w+, unlimited, 2, \w+, \w+\)"
                           r"|VENDOR_CHOICE\(\w+, unlimited, 2\))")
        self.assertEqual([line for line in printed if not known.fullmatch(line)], [])
        self.assertTrue(any(line.startswith("TELPHER_ENQUEUED_CHOICE(allreduce, ") for line in printed))

    def test_limits_between_nodes(self):
        file = self.home / "nodes.table"
        line = ["tune", "--json", "--backend", "emu", "--mpi", ABI, "-n", "2", "-s", "64,2m", "--rounds", "1",
                "--min-time", "0.002", "--forms", "nodes", "--only", "allreduce,bcast", "-o", str(file)]
        said = self.telpher(*line, TELPHER_TEST_PRETENDED_NODES="2")
        found = json.loads(said.stdout)["settings"]["coll_between"]
        self.assertRegex(found, r"^allreduce=(\d+|never),bcast=(\d+|never)$")
        self.assertIn(f"set coll_between {found}", file.read_text())
        said = self.telpher(*line)
        self.assertEqual(json.loads(said.stdout)["settings"], {})
        self.assertIn("no call went between nodes", said.stderr)

    def test_limits_between_nodes_are_used(self):
        table = self.file("limits", self.machine, [], {"coll_between": "allreduce=64,bcast=never"})
        said = self.telpher("bench", "--mpi", ABI, "--backend", "emu", "--explain", "allreduce,bcast", *QUICK, "-s",
                            "64,2m", TELPHER_TABLE=table, TELPHER_TEST_PRETENDED_NODES="2")
        ways = [row.split()[-2] for row in said.stdout.splitlines() if row[:1].isdigit()]
        self.assertEqual(ways, ["coll_levels", "coll_levels", "coll_staged", "coll_staged"])

    def test_what_leaves_calls_to_the_built_in_table_cannot_take_its_place(self):
        file = self.file("part", self.machine, [("allreduce", 0, 2, "builtin", "")], {})
        answer = subprocess.run([TELPHER, "tune", "--as-selection", file], capture_output=True, text=True, timeout=60)
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--whole", answer.stderr)

    def test_what_is_terminated_keeps_its_whole_rounds(self):
        file = self.home / "cut.table"
        line = [TELPHER, "tune", "--backend", "emu", "--mpi", ABI, "-n", "2", "-s", "64", "--rounds", "99",
                "--min-time", "0.002", "--only", "mapped_limit", "-o", str(file)]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=self.environment()) as child:
            for said in child.stdout:
                if said.startswith("round 2 of 99, run 2"):
                    child.terminate()
        self.assertEqual(child.returncode, 0)
        self.assertIn("1 rounds of 2 runs", file.read_text())

    def test_a_setting_comes_before_rows(self):
        said = self.bench(self.good(), TELPHER_COLL_ALGORITHM="allreduce=two_shot")
        self.assertIn("two_shot by coll_exchange", said)
        self.assertIn("(by TELPHER_COLL_ALGORITHM)", said)

    def test_of_another_machine(self):
        other = [line.replace("8 x", "4 x") for line in self.machine]
        said = self.bench(self.file("other", other, [], {}))
        self.assertIn("is of another machine: 'emu 4 x", said)
        self.assertIn("table: built-in", said)

    def test_damaged(self):
        path = Path(self.good())
        path.write_text(path.read_text().replace("4096", "8192"))
        said = self.bench(str(path))
        self.assertIn("is damaged", said)
        self.assertIn("(built-in row", said)

    def test_an_algorithm_that_there_is_not(self):
        said = self.bench(self.file("strange", self.machine, [("allreduce", 64, 2, "magic", "packed")], {}))
        self.assertIn("there is no magic packed for allreduce", said)

    def test_ranks_with_different_tables(self):
        good = self.good()
        self.file("good.1", self.machine, [("allreduce", 4096, 2, "two_shot", "exchange")], {})
        os.replace(good, good + ".0")
        script = self.home / "rank.sh"
        bench = f"{BUILD}/bin/telpher-bench-{ABI}"
        script.write_text(f'TELPHER_TABLE={good}.${RANK} TELPHER_EXPLAIN=on LD_PRELOAD={BUILD}/lib/libtelpher-{ABI}.so '
                          f'TELPHER_BACKEND=emu exec {bench} allreduce {" ".join(QUICK)}\n')
        more = ["--oversubscribe", "--bind-to", "none"] if ABI == "ompi" else []
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        answer = subprocess.run([MPIRUN, *more, "-n", "2", "sh", str(script)], capture_output=True, text=True,
                                timeout=60, env=os.environ | root)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(answer.stderr.count("ranks have different tuned tables"), 1)
        self.assertIn("table: built-in", answer.stderr)
        self.assertIn("(built-in row", answer.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
