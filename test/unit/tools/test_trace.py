# SPDX-License-Identifier: BSD-3-Clause
"""Merging of trace files: clocks, links from sender to receiver, who waited for whom, broken files.
With ABI and PROGRAM (telpher-bench of that ABI) as arguments: a real run on emulated devices."""
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import UserError, jobs, trace, trace_merge, trace_report  # noqa: E402

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else ""


def head(rank: int, boot: str = "one", start: int = 0) -> dict:
    return {"k": "head", "format": 1, "rank": rank, "size": 2, "host": "h", "boot": boot, "t": start}


def send(begin: int, end: int, number: int = 1, to: int = 1) -> dict:
    return {"k": "send", "n": "m", "th": 0, "t": begin, "e": end, "to": to, "tag": 0, "bytes": 8, "id": number,
            "complete": end}


def receive(posted: int, arrived: int, end: int, number: int = 1, source: int = 0) -> dict:
    return {"k": "receive", "n": "m", "th": 0, "t": posted, "e": end, "from": source, "tag": 0, "bytes": 8,
            "path": "ipc_get", "id": number, "arrived": arrived}


def wait(begin: int, end: int) -> dict:
    return {"k": "wait", "n": "MPI_Recv", "th": 0, "t": begin, "e": end}


def collective(begin: int, end: int, number: int = 0) -> dict:
    return {"k": "call", "n": "MPI_Allreduce", "th": 0, "t": begin, "e": end, "group": 0, "size": 2, "number": number}


def merged(first: list, second: list, boot: str = "one", start: int = 0) -> trace_merge.Timeline:
    return trace_merge.merge([trace_merge.Rank(head(1, boot, start), second), trace_merge.Rank(head(0), first)])


class Merge(unittest.TestCase):
    def test_numbers_that_return_match_in_order(self):
        timeline = merged([send(10, 30), send(50, 70)], [receive(15, 20, 30), receive(55, 60, 70)])
        self.assertEqual([(x.send["t"], x.receive["t"]) for x in timeline.links], [(10, 15), (50, 55)])

    def test_other_nodes_clocks_are_shifted_into_what_messages_allow(self):
        # The second node's clock is 1,000,000 ahead; MPI_Init ended there 500 later than it seems.
        ahead = 1_000_000
        timeline = merged([send(1000, 1200), receive(1500, 1800, 1900, 2, 1)],
                          [receive(ahead + 900, ahead + 1100, ahead + 1200), send(ahead + 1700, ahead + 1900, 2, 0)],
                          boot="two", start=ahead + 500)
        self.assertEqual(len(timeline.links), 2)
        for link in timeline.links:
            self.assertLessEqual(link.send["t"], link.receive["arrived"])
        self.assertAlmostEqual(timeline.shifts["two"], -ahead, delta=100)

    def test_without_messages_the_start_aligns(self):
        timeline = merged([wait(100, 200)], [wait(7100, 7200)], boot="two", start=7000)
        self.assertEqual(timeline.shifts, {"one": 0, "two": -7000})

    def test_one_boot_is_one_clock(self):
        self.assertEqual(merged([wait(1, 2)], [wait(1, 2)], start=500).shifts, {"one": 0})

    def test_overlapping_messages_get_rows_of_their_own(self):
        events = merged([send(10, 90), send(20, 80, 2), send(95, 99, 3)], []).document()["traceEvents"]
        rows = [e["tid"] for e in events if e.get("cat") == "send"]
        self.assertEqual(rows, [100, 101, 100])

    def test_arrows_lie_in_the_events_they_join(self):
        events = merged([send(10, 30)], [receive(15, 20, 40)]).document()["traceEvents"]
        spans = {(e["pid"], e["tid"]): (e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X"}
        arrows = [e for e in events if e["ph"] in "sf"]
        self.assertEqual([e["ph"] for e in arrows], ["s", "f"])
        for arrow in arrows:
            begin, end = spans[arrow["pid"], arrow["tid"]]
            self.assertTrue(begin <= arrow["ts"] <= end)


class Waits(unittest.TestCase):
    def found(self, first: list, second: list) -> list:
        return [(w["rank"], w["for"], w["why"], round(w["ms"] * 1e6))
                for w in trace_report.summary(merged(first, second))["waits"]]

    def test_what_intervals_cover(self):
        intervals = [(0, 2), (4, 6), (8, 9)]
        for begin in range(11):
            for end in range(11):  # also those that end before they begin
                slow = sum(max(0, min(b, end) - max(a, begin)) for a, b in intervals if a < end)
                self.assertEqual(trace_report.covered(intervals, begin, end), slow)

    def test_a_receiver_waits_for_a_late_sender(self):
        self.assertEqual(self.found([send(100, 130)], [receive(40, 110, 130), wait(40, 130)]),
                         [(1, 0, "late sender", 60)])

    def test_a_sender_waits_for_a_late_receiver(self):
        self.assertEqual(self.found([send(10, 130), wait(20, 130)], [receive(100, 101, 130)]),
                         [(0, 1, "late receiver", 80)])

    def test_who_does_not_wait_is_not_counted(self):
        self.assertEqual(self.found([send(100, 130)], [receive(40, 110, 130)]), [])

    def test_a_collective_waits_for_the_last(self):
        self.assertEqual(self.found([collective(10, 100)], [collective(70, 100)]), [(0, 1, "MPI_Allreduce", 60)])

    def test_a_collective_that_not_all_have_called_is_left_out(self):
        self.assertEqual(self.found([collective(10, 100)], [collective(70, 100, 1)]), [])


class Files(unittest.TestCase):
    def write(self, text: str) -> str:
        file = tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False)
        self.addCleanup(os.unlink, file.name)
        with file:
            file.write(text)
        return file.name

    def test_a_line_cut_off_is_counted_and_the_rest_kept(self):
        path = self.write("\n".join(map(json.dumps, [head(0), wait(1, 2), wait(3, 4)]))[:-9])
        rank = trace_merge.read_rank(path)
        self.assertEqual((len(rank.events), rank.lost), (1, 1))

    def test_what_is_no_trace_is_refused(self):
        for text in ("", "hello\n", json.dumps(wait(1, 2)), json.dumps(head(0) | {"format": 9})):
            with self.assertRaises(UserError):
                trace_merge.read_rank(self.write(text))

    def test_two_files_of_one_rank_are_refused(self):
        with self.assertRaises(UserError):
            trace_merge.merge([trace_merge.Rank(head(0), []), trace_merge.Rank(head(0), [])])


class Arguments(unittest.TestCase):
    def test_the_programs_own_options_stay_its_own(self):
        own, rest = trace.split(["-np", "2", "-oa.json", "--keep=k", "--backend", "emu", "app", "--json", "-o", "x"])
        self.assertEqual(own, ["-oa.json", "--keep=k"])
        self.assertEqual(rest, ["-np", "2", "--backend", "emu", "app", "--json", "-o", "x"])
        self.assertEqual(trace.split(["-n2", "--json", "--", "--json"]), (["--json"], ["-n2", "--", "--json"]))


class Job(unittest.TestCase):
    """What is made of a job whose ranks, as run() plays them, leave files."""

    def traced(self, ranks: list, run) -> tuple:
        """(exit code, what was said, the ranks of the timeline)"""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(jobs, "run", run), \
             mock.patch("sys.stdout"), mock.patch("sys.stderr") as said:
            for rank in ranks:
                with open(os.path.join(folder, f"rank-{rank}.jsonl"), "w") as file:
                    file.write("\n".join(map(json.dumps, [head(rank), wait(1, 2)])))
            open(os.path.join(folder, "rank-1.jsonl"), "a").close()  # killed before its first piece
            options = types.SimpleNamespace(json=False, summary="", output=os.path.join(folder, "out"))
            code = trace.traced_run(options, [], folder)
            with open(options.output) as file:
                events = json.load(file)["traceEvents"]
            text = "".join(call.args[0] for call in said.write.call_args_list)
        return code, text, sorted({event["pid"] for event in events})

    def test_ranks_without_a_file_are_named(self):
        def ended(*_, **__):
            return subprocess.CompletedProcess([], 0)

        self.assertEqual(self.traced([0, 1], ended), (0, "", [0, 1]))
        code, said, ranks = self.traced([0], ended)
        self.assertEqual((code, ranks), (1, [0]))
        self.assertRegex(said, "nothing of rank 1, .*--keep")

    def test_an_interruption_keeps_what_was_recorded(self):
        code, said, ranks = self.traced([0, 1], mock.Mock(side_effect=KeyboardInterrupt))
        self.assertEqual((code, ranks), (130, [0, 1]))
        self.assertIn("ended with 130", said)


@unittest.skipUnless(PROGRAM, "no program was given")
class Real(unittest.TestCase):
    def test_a_run_is_traced(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")}
        clean["TELPHER_COLL"] = "staged"  # its copies are looked for below
        telpher = os.path.join(os.environ["BUILD"], "bin", "telpher")
        with tempfile.TemporaryDirectory() as folder:
            out, numbers = os.path.join(folder, "trace.json"), os.path.join(folder, "summary.json")
            answer = subprocess.run(
                [telpher, "trace", "-o", out, "--summary", numbers, "--json", "-n", "2", "--backend", "emu", PROGRAM,
                 "--json", os.path.join(folder, "rows.json"),
                 "latency,allreduce", "-s", "100000", "-i", "3", "-x", "0", "--batches", "1", "--mode", "telpher"],
                capture_output=True, text=True, timeout=55, env=clean)
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
            with open(out) as file:
                events = json.load(file)["traceEvents"]
            with open(numbers) as file:
                summary = json.load(file)
            self.assertEqual(json.loads(answer.stdout), summary)
            self.assertTrue(os.path.exists(os.path.join(folder, "rows.json")), "the program's own --json")
        names = {(e["pid"], e["name"]) for e in events if e["ph"] == "X"}
        for rank in (0, 1):
            for name in ("MPI_Send", "MPI_Recv", "MPI_Allreduce", "copy to the host", "copy to the device",
                         "send 100000 B to " + str(1 - rank)):
                self.assertIn((rank, name), names)
        # Three round trips, all by ticket, each with an arrow that does not go back in time.
        self.assertEqual(summary["linked_messages"], 6)
        sent = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
        self.assertTrue(all(sent[e["id"]] <= e["ts"] for e in events if e["ph"] == "f"))
        moved = [path for name, path in summary["paths"].items() if name != "host"]
        self.assertEqual((sum(p["messages"] for p in moved), sum(p["bytes"] for p in moved)), (6, 600000))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
