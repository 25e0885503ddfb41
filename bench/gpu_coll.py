# SPDX-License-Identifier: BSD-3-Clause
"""The steps of bench/gpu_session.py that measure collectives: beside NCCL and staging by hand on each number of GPUs,
every algorithm forced, and more ranks than GPUs. Figures go to the session's rows."""
from gpu_jobs import Session
from gpu_measure import cell, judge, shown, size_text

OPERATIONS = "allreduce,bcast,reduce,allgather,alltoall,reduce_scatter_block,gather,scatter"
SIZES = "4,8,1k,8k,64k,256k,1m"  # staging by hand takes long above
LARGE_SIZES = "4m,16m,64m,256m"
TIMED = "--min-time 0.02 --batches 5 --validate"
# What selection.def chooses from: operation, algorithm, sizes, and blocks of the kernel to try (0: by size), each
# on the program's buffers; no blocks: packed.
SMALL, LARGE = "8,4k,16k,64k,256k", "64k,256k,1m,4m,16m,64m"
FORCED = (
    ("allreduce", "push", SMALL, ()), ("allreduce", "one_shot", LARGE, (0,)),
    ("allreduce", "two_shot", LARGE, (0, 16, 64)),
    ("bcast", "push", SMALL, ()), ("bcast", "one_shot", LARGE, (0,)), ("bcast", "two_shot", LARGE, (0,)),
    ("reduce", "one_shot", LARGE, (0,)), ("reduce", "two_shot", LARGE, (0,)),
    ("allgather", "push", SMALL, ()), ("allgather", "one_shot", LARGE, (0, 64)),
    ("alltoall", "push", SMALL, ()), ("alltoall", "one_shot", LARGE, (0,)), ("gather", "one_shot", LARGE, (0,)),
    ("reduce_scatter_block", "push", SMALL, ()), ("reduce_scatter_block", "one_shot", LARGE, (0, 64)),
)
BY_LIBRARY = ("allreduce", "bcast", "reduce", "allgather", "alltoall", "reduce_scatter_block")
TABLE_SIZES = [8, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]


def numbers_of_ranks(session: Session) -> list[int]:
    """2, 4, 8 … up to one rank a device; emulated devices stand for any number."""
    devices = max(2, session.devices if session.options.backend == "cuda" else 4)
    return [ranks for ranks in (2, 4, 8) if ranks <= devices]


class Runs:
    """What several runs of telpher-bench gave."""

    def __init__(self):
        self.rows: list[dict] = []
        self.runs = self.good = 0

    def add(self, rows: list[dict]) -> list[dict]:
        self.rows += rows
        self.runs += 1
        self.good += bool(rows)
        return rows

    def verdict(self) -> str:
        return judge(self.rows, self.runs, self.good)


def modes_table(session: Session, title: str, rows: list[dict], wire: dict[int, float] | None = None) -> None:
    """A line for each operation and size: ours, and how much faster than the others of the same run. `wire`: GB/s that
    host memory of a size gets one way; of two ranks the bus bandwidth is to be compared with it."""
    found: dict = {}
    for row in rows:
        found.setdefault((row["test"], row["bytes"]), {})[row["mode"]] = row
    lines = []
    for (test, size), modes in found.items():
        ours = modes.get("telpher")
        if not ours:
            continue
        against = [shown(modes[m]["us"] / ours["us"]) if m in modes else "-" for m in ("nccl", "staged")]
        others = [shown(modes[m]["us"]) if m in modes else "-" for m in ("nccl", "staged")]
        wrong = " WRONG" if ours["validated"] is False else ""
        lines.append([f"{test} {size_text(size)}", shown(ours["us"]) + wrong, *others, *against,
                      shown(ours["bus_gbps"]), *([] if wire is None else [of_wire(ours, wire)]), ours["path"]])
    session.table(title, ["us", "telpher", "nccl", "staged", "nccl/ours", "staged/ours", "bus GB/s",
                          *([] if wire is None else ["of the wire"]), "path"], lines)


def of_wire(row: dict, wire: dict[int, float]) -> str:
    speed = wire.get(row["bytes"])
    return shown(row["bus_gbps"] / speed) if speed else "-"


def coll(session: Session) -> str:
    runs = Runs()
    for ranks in numbers_of_ranks(session):
        found: list[dict] = []
        for operation in OPERATIONS.split(","):
            large = "4m" if operation in ("gather", "scatter") else LARGE_SIZES
            for sizes, modes in ((SIZES, "all"), (large, "telpher,nccl")):
                found += runs.add(session.bench(f"coll {ranks}", operation, f"-s {sizes} --mode {modes} {TIMED}",
                                                limit=60, ranks=ranks))
        modes_table(session, f"collectives of {ranks} ranks, one a device; us, ratios above 1: ours is faster", found)
    return runs.verdict()


def nonblocking(session: Session) -> str:
    runs = Runs()
    for ranks in numbers_of_ranks(session):
        some = runs.add(session.bench(f"icoll {ranks}", "iallreduce,iallgather,ialltoall",
                                      f"-s 8,64k,1m,16m --mode both {TIMED}", limit=90, ranks=ranks))
        modes_table(session, f"non-blocking and persistent collectives of {ranks} ranks", some)
    return runs.verdict()


def forced(session: Session) -> str:
    """Every algorithm with the sizes it is for."""
    runs = Runs()

    def by_size(rows: list[dict]) -> list[str]:
        found = {row["bytes"]: shown(row["us"]) for row in rows}
        return [found.get(size, "-") for size in TABLE_SIZES]

    for ranks in numbers_of_ranks(session):
        lines = []

        def measured(name: str, operation: str, sizes: str, settings: dict, ranks: int = ranks) -> list[dict]:
            return runs.add(session.bench(f"forced {ranks} {name}", operation,
                                          f"-s {sizes} --mode telpher --min-time 0.02 --batches 3", limit=30,
                                          ranks=ranks, **settings))

        for operation, algorithm, sizes, some_blocks in FORCED:
            ways = [("exchange", "mapped", blocks) for blocks in some_blocks] or [("packed", "auto", 0)]
            ways += [("stepped", "mapped", 0)] if some_blocks else []
            for transport, buffers, blocks in ways:
                name = f"{operation} {algorithm} {transport} {buffers} {blocks}"
                settings = {"TELPHER_COLL_ALGORITHM": f"{operation}={algorithm}", "TELPHER_COLL_TRANSPORT": transport,
                            "TELPHER_TEST_COLL_BUFFERS": buffers, "TELPHER_COLL_BLOCKS": str(blocks)}
                lines.append([name, *by_size(measured(name, operation, sizes, settings))])
        for operation in BY_LIBRARY:
            some = measured(f"{operation} library", operation, LARGE, {"TELPHER_COLL_TRANSPORT": "vendor"})
            lines.append([f"{operation} {', '.join(sorted({row['path'] for row in some}))}", *by_size(some)])
        session.table(f"forced algorithms on {ranks} ranks, us", ["", *map(size_text, TABLE_SIZES)], lines)
    return runs.verdict()


def crowded(session: Session) -> str:
    """More ranks than devices: schedules run without kernels that wait for each other."""
    runs = Runs()
    for ranks in (session.devices * many for many in (2, 4, 8)):
        some = runs.add(session.bench(f"crowded {ranks}", "allreduce,allgather,alltoall",
                                      f"-s 8,64k,1m --mode both {TIMED}", limit=90, ranks=ranks))
        modes_table(session, f"collectives of {ranks} ranks on {session.devices} devices", some)
    return runs.verdict()


def all_pairs(session: Session) -> str:
    """Every rank to every other, and half of the ranks to the other half at once."""
    if session.devices < 2:
        return "left out: one device"
    ranks = numbers_of_ranks(session)[-1]
    rows = session.bench("matrix", "matrix", "-s 8,4m --mode telpher", limit=90, ranks=ranks)
    lines = [[f"{row['from']} to {row['to']} {row['test']}", cell(row), row["path"]] for row in rows]
    session.table("every pair: latency of 8 B in us, bandwidth of 4 MB in GB/s", ["pair", "figure", "path"], lines)
    together = session.bench("pairs at once", "multi_lat,mbw_mr", "-s 8,64k,1m,16m --mode telpher --validate "
                             "--window-memory 256m", limit=90, ranks=ranks)
    session.table(f"{ranks // 2} pairs at once, latency us, bandwidth GB/s of all",
                  ["", "figure", "path"], [[f"{row['test']} {size_text(row['bytes'])}", cell(row), row["path"]]
                                           for row in together])
    return judge(rows + together, 2, bool(rows) + bool(together))
