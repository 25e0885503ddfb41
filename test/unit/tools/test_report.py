# SPDX-License-Identifier: BSD-3-Clause
"""telpher bench compare and telpher report on made-up measurements: verdicts, exit codes, the page, resuming."""
import contextlib
import html.parser
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import UserError, compare, report, report_page  # noqa: E402

ABOUT = {"machine": "m", "cpu": "c", "cores": 2, "ranks": 2, "backend": "emu", "device_name": "emu", "devices": [0, 1],
         "staged_copy": "x", "telpher": "0.1.0", "mpi": "MPICH", "settings": {"TELPHER_BACKEND": "emu</script>"}}


def row(test: str, size: int, us: float, mode: str = "telpher", **more) -> dict:
    return {"test": test, "bytes": size, "kinds": "D:D", "mode": mode, "us": us, "us_min": us / 2,
            "gbps": size / us / 1e3, "iterations": 11, "path": "ipc_get", "validated": True} | more


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_on(self, before: list, after: list, *arguments: str) -> tuple:
        names = []
        for number, rows in enumerate((before, after)):
            names.append(os.path.join(self.folder.name, f"{number}.json"))
            with open(names[-1], "w") as file:
                json.dump({"about": ABOUT, "rows": rows}, file)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = compare.main([*names, *arguments])
        return code, out.getvalue()

    def test_slower_is_flagged_and_fails(self):
        code, text = self.run_on([row("latency", 8, 10), row("latency", 16, 10)],
                                 [row("latency", 8, 12), row("latency", 16, 10.5)])
        self.assertEqual(code, 1)
        self.assertEqual(text.count("SLOWER"), 1)
        self.assertIn("1 slower, 0 faster", text)

    def test_the_threshold_decides(self):
        rows = [row("latency", 8, 10)], [row("latency", 8, 12)]
        self.assertEqual(self.run_on(*rows, "--threshold", "0.25")[0], 0)
        self.assertEqual(self.run_on(*rows, "--threshold", "0.1")[0], 1)

    def test_faster_is_no_failure(self):
        code, text = self.run_on([row("bw", 8, 10)], [row("bw", 8, 5)])
        self.assertEqual(code, 0)
        self.assertIn("faster", text)

    def test_wrong_bytes_fail(self):
        self.assertEqual(self.run_on([row("bw", 8, 10)], [row("bw", 8, 10, validated=False)])[0], 1)

    def test_rows_are_told_apart_by_mode_and_ranks(self):
        code, text = self.run_on([row("matrix_bw", 8, 10, **{"from": 0, "to": 1}), row("bw", 8, 5, "staged")],
                                 [row("matrix_bw", 8, 30, **{"from": 1, "to": 0}), row("bw", 8, 5, "staged")])
        self.assertEqual((code, "1 rows" in text), (0, True))

    def test_nothing_in_common_and_no_result_are_errors(self):
        with self.assertRaises(UserError):
            self.run_on([row("bw", 8, 1)], [row("latency", 8, 1)])
        with self.assertRaises(UserError):
            compare.read(__file__)


class Links(html.parser.HTMLParser):
    """Collects what a browser would fetch, and the data."""

    def __init__(self):
        super().__init__()
        self.fetched, self.scripts, self.inside = [], [], False

    def handle_starttag(self, tag, attributes):
        self.fetched += [value for name, value in attributes if name in ("src", "href")]
        self.inside = tag == "script"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts.append(data)


class Page(unittest.TestCase):
    def page(self) -> Links:
        found = [{"name": "latency D:D", "command": "telpher bench", "about": ABOUT,
                  "rows": [row("latency", 8, 2), row("latency", 8, 8, "staged")]},
                 {"name": "iallreduce", "command": "telpher bench", "about": ABOUT,
                  "rows": [row("iallreduce", 8, 2, overlap=0.0)]},
                 {"name": "matrix batch", "command": "telpher bench", "about": ABOUT,
                  "rows": [row("matrix_bw", 8, 2, **{"from": 0, "to": 1})]}]
        failed = {"bw": {"command": "telpher bench bw", "output": "<broken>"}}
        content = {"asked": {"ranks": 2, "set": "quick", "min_time": "1", "mpi": "", "backend": "emu"}, "begun": "now",
                   "steps": {"latency": {"command": "telpher bench latency"}}}
        self.text = report_page.page("A & B", found, failed, content)
        links = Links()
        links.feed(self.text)
        return links

    def test_it_needs_no_network_and_its_data_is_whole(self):
        links = self.page()
        self.assertEqual(links.fetched, [])
        data = json.loads(links.scripts[0])
        self.assertEqual(data["sections"]["Messages between two ranks"][0]["series"][0]["points"], [[8, 2, "ipc_get"]])
        self.assertEqual([p["unit"] for p in data["sections"]["Non-blocking collectives"]], ["µs", "%"])
        self.assertEqual(data["matrices"][0]["cells"], [[0, 1, 0.004, "ipc_get"]])

    def test_what_it_says(self):
        self.page()
        for text in ("A &amp; B", "&lt;broken&gt;", "emu&lt;/script&gt;", "<td>4.00</td>", "Emulated devices"):
            self.assertIn(text, self.text)


class Resume(unittest.TestCase):
    def fake(self, calls: list, stop_at: int):
        def run_step(command, environment):
            if len(calls) == stop_at:
                raise KeyboardInterrupt
            calls.append(command[3])
            with open(command[-1], "w") as file:
                json.dump({"about": ABOUT, "rows": [row(calls[-1], 8, 1)]}, file)
            return 0, ""
        return run_step

    def run_report(self, folder: str, calls: list, stop_at: int, *more: str) -> int:
        with mock.patch.object(report, "run_step", self.fake(calls, stop_at)), \
             mock.patch.object(report.report_figures, "draw", lambda *_: ""), \
             contextlib.redirect_stdout(io.StringIO()):
            return report.report(["-o", folder, "--set", "quick", "--only", "latency,bw", *more])

    def test_it_goes_on_where_it_was_stopped(self):
        with tempfile.TemporaryDirectory() as folder:
            calls = []
            self.assertEqual(self.run_report(folder, calls, 1), 130)
            self.assertTrue(os.path.isfile(os.path.join(folder, "report.html")))
            self.assertEqual(self.run_report(folder, calls, 9), 0)
            self.assertEqual(calls, ["latency", "bw"])

    def test_other_options_do_not_mix(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_report(folder, [], 9)
            with self.assertRaises(UserError):
                self.run_report(folder, [], 9, "-n", "4")
            self.assertEqual(self.run_report(folder, [], 9, "-n", "4", "--again"), 0)


if __name__ == "__main__":
    unittest.main()
