# SPDX-License-Identifier: BSD-3-Clause
"""The step of bench/gpu_session.py that measures what is beyond messages and collectives: one-sided communication,
packing, halos, neighbourhoods and files, over every host MPI. Each figure stands beside another of the same run and,
where there is one, a bar. A ratio is always ours to the other's, in the test's own unit: of times it should be low,
of speeds high."""
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpu_coll import Runs, numbers_of_ranks
from gpu_jobs import Session
from gpu_measure import shown, size_text

TIMED = "--min-time 0.05 --batches 7"
CHECKED = TIMED + " --validate"
# What is packed: a name, the type, and whether its runs have the 32 bytes from which the bar holds. Sizes below are
# packed bytes, and the span is about eight times that. All sizes are whole planes of the subarrays.
PACKED = (("row", "contiguous", True), ("column of 8 B", "subarray:8:64", False),
          ("column of 32 B", "subarray:32:256", True), ("vector of 128 B", "vector:128:1024", True),
          ("face across x, 32 B", "subarray:32:256:32:34", True),
          ("face across y, 512 B", "subarray:512:528:2:16", True))
SMALL_SIZES, LARGE_SIZES = "1k,8k,64k,1m", "16m,64m"
FACES_SMALL, FACES_LARGE = "1k,8k,64k,1m", "4m,16m"  # the box of a face of 16 MB has 3 GB


@dataclass
class Bar:
    """At most so much, or at least; of a figure with a unit, or of a ratio."""
    limit: float
    most: bool = True
    of_ratio: bool = True

    def holds(self, value: float) -> bool:
        return value <= self.limit if self.most else value >= self.limit

    def worst(self, values: list[tuple[float, str]]) -> tuple[float, str]:
        return (max if self.most else min)(values)

    def of(self, ours: float, ratio: float | None) -> float | None:
        return ratio if self.of_ratio else ours

    def __str__(self) -> str:
        return f"{'ratio' if self.of_ratio else 'ours'} {'<=' if self.most else '>='} {self.limit:g}"


class Surface:
    """The lines of the long table, and by bar and host MPI what is measured against it."""

    def __init__(self, session: Session):
        self.session = session
        self.runs = Runs()
        self.lines: list[list[str]] = []
        self.left_out: list[str] = []  # where the host MPI makes no windows
        self.judged: dict[tuple[str, str, str], tuple[Bar, list[tuple[float, str]]]] = {}

    def bench(self, label: str, test: str, line: str, abi: str, ranks: int = 2, limit: float = 60) -> list[dict]:
        if ranks <= self.session.devices:
            line += f" --device {':'.join(map(str, range(ranks)))}"
        rows = self.session.bench(f"surface {label}", test, line, abi, ranks=ranks, limit=limit)
        if not rows and (self.session.scratch / "rows.json").is_file():  # it ended well, with nothing to measure
            self.left_out.append(f"{label} over {abi}")
            return rows
        return self.runs.add(rows)

    def sizes(self, sizes: str, emulated: str) -> str:
        """An emulated device has little memory."""
        return emulated if self.session.options.backend == "emu" else sizes

    def note(self, abi: str, group: str, what: str, row: dict, unit: str, beside: float | None,
             bar: Bar | None) -> None:
        ours = figure_of(row, unit)
        ratio = ours / beside if beside else None
        value = bar.of(ours, ratio) if bar else None
        held = "-"
        if value is not None:
            held = "yes" if bar.holds(value) else "NO"
            self.judged.setdefault((group, abi, str(bar)), (bar, []))[1].append((value, what))
        wrong = " WRONG" if row["validated"] is False else ""
        self.lines.append([f"{abi} {what}", f"{shown(ours)} {unit}{wrong}", shown(beside) if beside else "-",
                           f"{ratio:.2f}" if ratio else "-", str(bar) if bar else "-", held])

    def held(self) -> tuple[int, int]:
        """(bars held at every size, all bars)"""
        return (sum(all(bar.holds(value) for value, _ in values) for bar, values in self.judged.values()),
                len(self.judged))

    def tables(self) -> None:
        self.session.table("one-sided, packing, halos, neighbourhoods, files: ours beside another way of the same run",
                           ["host MPI, test, beside what", "ours", "beside", "ratio", "bar", "held"], self.lines)
        lines = []
        for (group, abi, text), (bar, values) in self.judged.items():
            value, what = bar.worst(values)
            held = sum(bar.holds(value) for value, _ in values)
            lines.append([f"{group}, {abi}", text, f"{held} of {len(values)}", f"{value:.2f}", what])
        self.session.table("the bars", ["", "bar", "held", "worst", "where"], lines)


def beside_each_other(rows: list[dict], mode: str) -> Iterator[tuple[dict, dict | None]]:
    """Ours and the row of another mode, of each test and size."""
    others = {(row["test"], row["bytes"]): row for row in rows if row["mode"] == mode}
    for row in rows:
        if row["mode"] == "telpher":
            yield row, others.get((row["test"], row["bytes"]))


def figure_of(row: dict | None, unit: str) -> float | None:
    return None if row is None else row["us"] if unit == "us" else row["gbps"]


def no_bar(_: dict) -> None:
    return None


def noted(s: Surface, abi: str, group: str, rows: list[dict], mode: str, unit: str,
          bar_of: Callable[[dict], Bar | None] = no_bar, more: str = "") -> None:
    for row, other in beside_each_other(rows, mode):
        s.note(abi, group, f"{row['test']}{more} {size_text(row['bytes'])}, {mode}", row, unit,
               figure_of(other, unit), bar_of(row))


def one_sided(s: Surface, abi: str) -> None:
    def small(row: dict) -> Bar | None:
        if row["test"] == "fop_latency":
            return Bar(6, of_ratio=False)
        return Bar(1) if row["bytes"] == 8 and row["test"] in ("put_latency", "get_latency") else None

    for win in ("create", "allocate"):
        rows = s.bench(f"one-sided {win}", "put_latency,get_latency,fop_latency,cas_latency",
                       f"-s 8,1k,64k --win {win} {CHECKED}", abi)
        noted(s, abi, "one operation", rows, "messages", "us", small, f" ({win})")
        noted(s, abi, "", [row for row in rows if row["bytes"] == 8], "staged", "us", more=f" ({win})")
    rows = s.bench("accumulate", "acc_latency", f"-s 8,64k,16m {CHECKED}", abi)
    noted(s, abi, "", rows, "staged", "us")
    rows = s.bench("one-sided speed", "put_bw,get_bw", f"-s {s.sizes('1m,64m', '1m')} -w 8 --window-memory 512m "
                   f"--mode telpher,other --memory-copy-limit {TIMED}", abi)
    noted(s, abi, "", rows, "messages", "GB/s")
    for row in rows:
        if row["mode"] == "telpher" and row.get("limit_us"):
            s.note(abi, "speed of the link", f"{row['test']} {size_text(row['bytes'])}, plain copy", row, "GB/s",
                   row["bytes"] / row["limit_us"] / 1e3,
                   Bar(0.9, most=False) if row["bytes"] == 64 << 20 else None)


def packing(s: Surface, abi: str) -> None:
    for name, type_, bar in PACKED:
        for sizes, timed in ((SMALL_SIZES, CHECKED), (s.sizes(LARGE_SIZES, "2m"), TIMED)):
            rows = s.bench(f"pack {name}", "pack,unpack", f"-D {type_} -s {sizes} --mode telpher,other {timed}", abi,
                           ranks=1)
            noted(s, abi, "packing, runs of 32 B and more", rows, "copy", "GB/s",
                  lambda row, bar=bar: Bar(0.8, most=False) if bar else None, f" {name}")


def halos(s: Surface, abi: str) -> None:
    for faces, bar in ((1, Bar(1.2)), (6, Bar(1))):
        for sizes, timed in ((FACES_SMALL, CHECKED), (s.sizes(FACES_LARGE, "2m"), TIMED)):
            rows = s.bench(f"halo {faces}", "halo", f"--faces {faces} -s {sizes} {timed}", abi, limit=90)
            noted(s, abi, f"halo of {faces}", rows, "packed", "us", lambda row, bar=bar: bar, f" of {faces}")


def neighbours(s: Surface, abi: str) -> None:
    for ranks in numbers_of_ranks(s.session):
        rows = s.bench(f"neighbours {ranks}", "neighbor_alltoall,alltoall",
                       f"-s 8,1k,64k,1m,16m --mode telpher,other {CHECKED}", abi, ranks=ranks)
        noted(s, abi, f"neighbourhood of {ranks} ranks", [row for row in rows if row["test"] == "neighbor_alltoall"],
              "messages", "us", lambda row: Bar(1.2), f" of {ranks}")
        whole = {row["bytes"]: row for row in rows if row["test"] == "alltoall" and row["mode"] == "telpher"}
        for row in rows:
            if row["test"] == "neighbor_alltoall" and row["mode"] == "telpher" and ranks == 2:
                s.note(abi, "neighbourhood and alltoall", f"neighbor_alltoall {size_text(row['bytes'])}, alltoall", row,
                       "us", figure_of(whole.get(row["bytes"]), "us"), Bar(1.2))


def files(s: Surface, abi: str) -> None:
    for place in ("", " --file /dev/shm/telpher-surface"):
        rows = s.bench("files" + place, "file_write,file_read", f"-s 64k,1m,64m {CHECKED}{place}", abi, ranks=1)
        more = " in /dev/shm" if place else " in $TMPDIR"
        noted(s, abi, "files", rows, "host", "GB/s",
              lambda row: Bar(0.95, most=False) if row["test"] == "file_write" and row["bytes"] >= 1 << 20 else None,
              more)


def surface(session: Session) -> str:
    s = Surface(session)
    try:
        for part in (one_sided, packing, halos, neighbours, files):
            for abi in session.abis():
                part(s, abi)
    finally:  # also of a session that runs out of time
        s.tables()
    held, bars = s.held()
    left_out = f"; left out: {', '.join(s.left_out)}" if s.left_out else ""
    return f"{s.runs.verdict()}; {held} of {bars} bars held{left_out}"
