#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Everything that is measured between nodes on one machine, by one command, into one folder.

Nodes are network namespaces (needs root) whose links `tc tbf` shapes; devices are emulated. On an idle machine:

    bench/between_nodes.py build/dev --out results/nodes

1. pairs: bandwidth and 8-byte latency of device buffers against host buffers of the same MPI, one rank a node.
2. allreduce: in two levels, against the host MPI's own and its flat ring with device buffers staged by hand, on
   2 and 4 nodes x 4 ranks. First all nodes at once do an allreduce of their own; the links are then shaped so
   that its bus bandwidth is to a rank's share of its node's link as on the machine that --like describes.
   Beside it stands what `telpher coll simulate` says of a machine of the shape that was measured.
3. compression: allreduce, allgather and alltoall on the same 2 nodes and on a link of a tenth of the rate, zfp
   against none, with the largest error.

Writes between_nodes.json (every figure, the commands) and between_nodes.txt (the tables). Figures of a busy machine
say nothing; the load is written down with them.
"""
import argparse
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import nodes as checks  # noqa: E402
import off_node  # noqa: E402
import run  # noqa: E402
from namespaces import Nodes, why_not  # noqa: E402

RANKS = 4  # of a node
# There are more ranks than cores. Kernels that wait for each other are threads of an emulated device, which would
# hold the cores that the others need; the stepped transport has none. For the same reason the host MPI is called
# by MPI_Iallreduce: Telpher's MPI_Wait gives the core away between two polls, a blocking call of MPICH does not.
CROWDED = {"TELPHER_COLL_TRANSPORT": "stepped"}
HOST_CALL = "iallreduce"
RING = {"mpich": {"MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM": "tsp_ring"},
        "ompi": {"OMPI_MCA_coll_libnbc_iallreduce_algorithm": "1"}}


class Session:
    def __init__(self, options):
        self.options = options
        self.head, _ = run.read_manifest(options.build)
        self.home = Path(self.head["build"])
        self.begin = time.monotonic()
        self.lines: list[str] = []
        self.document: dict = {"command": [Path(sys.argv[0]).name, *sys.argv[1:]], "mpi": options.mpi,
                               "cores": os.cpu_count(), "load_before": os.getloadavg()}

    def say(self, text: str = "") -> None:
        print(text, flush=True)
        self.lines.append(text)

    def write(self) -> None:
        self.document["load_after"] = os.getloadavg()
        self.document["seconds"] = round(time.monotonic() - self.begin)
        self.say(f"\n{self.document['seconds']} s; load {self.document['load_before'][0]:.1f} before, "
                 f"{self.document['load_after'][0]:.1f} after, on {os.cpu_count()} cores")
        out = self.options.out
        out.mkdir(parents=True, exist_ok=True)
        (out / "between_nodes.json").write_text(json.dumps(self.document, indent=1) + "\n")
        (out / "between_nodes.txt").write_text("\n".join(self.lines) + "\n")

    def bench_line(self, arguments: list[str]) -> list[str]:
        return [f"{self.home}/bin/telpher-bench-{self.options.mpi}", *arguments, "--json", "-"]

    def environment(self, extra: dict[str, str]) -> list[str]:
        env = checks.environment(self.head, self.options.mpi, {**CROWDED, **extra})
        return ["env", *(f"{k}={v}" for k, v in env.items())]

    def run_on(self, nodes: Nodes, program: list[str], extra: dict[str, str]) -> str:
        mpirun = run.launcher(self.head, self.options.mpi)
        line = [*nodes.launch_line(self.options.mpi, mpirun, RANKS), *self.environment(extra), *program]
        return output_of(start(line))

    def rows_on(self, nodes: Nodes, arguments: list[str], extra: dict[str, str]) -> dict[int, dict]:
        return rows(self.run_on(nodes, self.bench_line(arguments), extra))

    def simulate(self, machine: str, ranks: int, sizes: str) -> list[dict]:
        """Rows of the simulator for allreduce."""
        line = [f"{self.home}/bin/telpher", "coll", "simulate", "--machine", machine, "--operation", "allreduce",
                "--ranks", str(ranks), "--bytes", sizes, "--csv"]
        done = subprocess.run(line, check=True, capture_output=True, text=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))


def start(line: list[str]) -> subprocess.Popen:
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, env={**os.environ, **run.LAUNCHER_ENV})


def output_of(process: subprocess.Popen, limit: float = 200) -> str:
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit(f"{' '.join(process.args)}\nran for more than {limit:.0f} s")
    if process.returncode != 0:
        sys.exit(f"{' '.join(process.args)}\nended with {process.returncode}\n{text}")
    return text


def rows(text: str) -> dict[int, dict]:
    """Of each size, from what telpher-bench wrote."""
    document = json.loads(text[text.index("{"):text.rindex("}") + 1])
    return {row["bytes"]: row for row in document["rows"]}


def size_name(count: int) -> str:
    for unit, letter in ((1 << 20, "m"), (1 << 10, "k")):
        if count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


# --- 1: pairs of ranks ---

def pairs(s: Session) -> None:
    o = s.options
    s.document["pairs"] = {"rate": o.rate, "figures": {}}
    for test, sizes in (("latency", "8"), ("bw", o.pair_sizes)):
        shape = argparse.Namespace(mpi=o.mpi, sizes=sizes, window=4, min_time=o.min_time)
        best: dict[str, dict[int, float]] = {}
        for _ in range(o.repetitions):
            for name, preload in (("host", None), ("device", {})):
                with Nodes(2, o.rate) as nodes:
                    best[name] = off_node.best(best.get(name, {}),
                                               off_node.measure(s.head, nodes, shape, test, preload))
        s.document["pairs"]["figures"][test] = best
        s.say(f"\n{test} between two nodes, links of {o.rate}, best of {o.repetitions}")
        unit = "us" if test == "latency" else "MB/s"
        s.say(f"{'bytes':>8}{'host ' + unit:>14}{'device ' + unit:>14}{'device/host':>14}")
        for size, host in best["host"].items():
            device = best["device"][size]
            if test == "latency":
                s.say(f"{size_name(size):>8}{host:14.2f}{device:14.2f}{device / host:14.3f}")
            else:
                s.say(f"{size_name(size):>8}{size / host:14.1f}{size / device:14.1f}{host / device:14.3f}")


# --- 2: allreduce ---

def machine_keys(path: Path) -> dict[str, float]:
    words = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return {w[0]: float(w[1]) for w in words if len(w) == 2}


def wanted_ratio(s: Session) -> float:
    """Bus bandwidth of an allreduce in a node over a rank's share of its network."""
    path = Path(__file__).resolve().parent.parent / "share/machines" / f"{s.options.like}.txt"
    keys = machine_keys(path)
    found = s.simulate(str(path), int(keys["gpus"]), "64m")
    return max(float(row["bus_gbps"]) for row in found) * keys["gpus"] / keys["nics"] / keys["nic_gbps"]


def in_node(s: Session, count: int) -> dict[str, float]:
    """All nodes at once: an allreduce of each node's own ranks."""
    mpirun = run.launcher(s.head, s.options.mpi)
    arguments = ["allreduce", "-s", "8,4m", "-b", "D:D", "--mode", "telpher", "--min-time", str(s.options.min_time),
                 "--batches", "5"]
    with Nodes(count) as nodes:
        alone = [[str(nodes.folder / "on"), name, mpirun, *(["-launcher", "fork"] if s.options.mpi == "mpich" else []),
                  "-n", str(RANKS)] for name in nodes.names]
        running = [start([*line, *s.environment({}), *s.bench_line(arguments)]) for line in alone]
        found = [rows(output_of(process)) for process in running]
    return {"gbps": sum(f[4 << 20]["bus_gbps"] for f in found) / count, "us": sum(f[8]["us"] for f in found) / count}


def shaped_machine(s: Session, count: int, inside: dict[str, float], link_gbps: float) -> str:
    """A description whose node does an allreduce as fast as these did."""
    latency_us = 50.0  # assumed, where it was not measured
    if "pairs" in s.document:
        latency_us = s.document["pairs"]["figures"]["latency"]["host"][8]

    def text(scale: float) -> str:
        return "\n".join([f"gpus {RANKS}", "nics 1", f"pair_gbps {scale}", f"port_gbps {5 * scale}",
                          f"memory_gbps {30 * scale}", f"launch_us {inside['us']}", f"nic_gbps {link_gbps}",
                          f"nic_us {latency_us}", "message_us 1", "encode_gbps 1", "decode_gbps 1"]) + "\n"
    path = s.options.out / f"{count}_nodes.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(1.0))
    unscaled = max(float(row["bus_gbps"]) for row in s.simulate(str(path), RANKS, "64m"))
    path.write_text("# Made by between_nodes.py from what it measured.\n" + text(inside["gbps"] / unscaled))
    return str(path)


def predicted(s: Session, machine: str, ranks: int) -> dict[int, dict[str, float]]:
    """Microseconds of the flat ring and of the best two-level algorithm, by size."""
    found: dict[int, dict[str, float]] = {}
    for row in s.simulate(machine, ranks, s.options.sizes):
        kind = "ring" if row["algorithm"] == "ring" else "two_level" if "two_level" in row["algorithm"] else ""
        if kind:
            size = found.setdefault(int(row["bytes"]), {})
            size[kind] = min(float(row["us"]), size.get(kind, 1e30))
    return found


def measured_ways(s: Session, count: int, rate: str) -> dict[str, dict[int, float]]:
    """Microseconds of each way, by size."""
    o = s.options
    common = ["-s", o.sizes, "-b", "D:D", "-i", str(o.calls), "-x", "2", "--batches", str(o.calls)]
    by_hand = [HOST_CALL, "--mode", "staged"]
    ways = {"two_level": (["allreduce", "--mode", "telpher"], {"TELPHER_COLL_ALGORITHM": "allreduce=two_level"}),
            "host": (by_hand, {}), "ring": (by_hand, RING[o.mpi])}
    figures = {}
    with Nodes(count, rate) as nodes:
        for way, (mode, extra) in ways.items():
            figures[way] = {size: row["us"] for size, row in s.rows_on(nodes, [*mode, *common], extra).items()}
    return figures


def allreduce(s: Session) -> str:
    """Gives the rate of two nodes' links."""
    ratio = wanted_ratio(s)
    s.document["allreduce"] = {"like": s.options.like, "ratio": ratio, "settings": CROWDED, "host_call": HOST_CALL,
                               "nodes": {}}
    s.say(f"\nallreduce, {RANKS} ranks a node, floats; in node over off node {ratio:.1f} as in "
          f"share/machines/{s.options.like}.txt")
    rates = {}
    for count in (2, 4):
        inside = in_node(s, count)
        link = inside["gbps"] * RANKS / ratio
        rates[count] = f"{max(1, round(link * 8000))}mbit"
        machine = shaped_machine(s, count, inside, link)
        figures, simulated = measured_ways(s, count, rates[count]), predicted(s, machine, count * RANKS)
        s.document["allreduce"]["nodes"][count] = {"in_node": inside, "link": rates[count], "us": figures,
                                                   "simulated_us": simulated}
        s.say(f"\n{count} nodes: {inside['gbps']:.3f} GB/s bus bandwidth in each, links of {rates[count]}")
        s.say(f"{'bytes':>8}{'two_level us':>14}{'over host':>11}{'over ring':>11}{'simulated':>11}")
        for size, us in figures["two_level"].items():
            said = simulated[size]
            over = [figures["host"][size] / us, figures["ring"][size] / us, said["ring"] / said["two_level"]]
            s.say(f"{size_name(size):>8}{us:14.0f}" + "".join(f"{times:11.2f}" for times in over))
    s.say("over host, over ring: time of the host MPI, staged by hand, over that of two levels; simulated: of the "
          "flat ring")
    return rates[2]


# --- 3: compression ---

def a_tenth_of(rate: str) -> str:
    """A codec that is the CPU's pays only where the link is slow."""
    number = rate.rstrip("abcdefghijklmnopqrstuvwxyz")
    bits = float(number) * {"gbit": 1e9, "mbit": 1e6, "kbit": 1e3}[rate[len(number):]]
    return f"{round(bits / 10e3)}kbit"


def compression(s: Session, rates: list[str]) -> None:
    for rate in rates:
        compression_at(s, rate)


def compression_at(s: Session, rate: str) -> None:
    o = s.options
    levels = {"TELPHER_COLL_ALGORITHM": "allreduce=two_level,allgather=two_level,alltoall=two_level"}
    kinds = {"none": {}, f"zfp:rate={o.zfp_rate}": {
        "TELPHER_COMPRESSION": f"zfp:rate={o.zfp_rate}", "TELPHER_COMPRESSION_THRESHOLD": "64k",
        "TELPHER_COMPRESSION_FORCE": "on"}}
    program = [f"{s.home}/bin/telpher-bench-lossy-{o.mpi}", str(o.min_time), o.sizes, *o.compressed.split(",")]
    found: dict[str, list[dict]] = {}
    with Nodes(2, rate) as nodes:
        for name, extra in kinds.items():
            text = s.run_on(nodes, program, {**levels, **extra})
            found[name] = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    s.document.setdefault("compression", {})[rate] = found
    plain, coded = found.values()
    s.say(f"\n2 nodes x {RANKS} ranks, links of {rate}: {list(kinds)[1]} against none, floats")
    s.say(f"{'':>12}{'bytes':>8}{'none us':>12}{'zfp us':>12}{'speed-up':>10}{'error':>11}{'bound':>9}"
          f"{'error/value':>13}")
    for a, b in zip(plain, coded, strict=True):
        s.say(f"{a['operation']:>12}{size_name(a['bytes']):>8}{a['us']:12.0f}{b['us']:12.0f}{a['us'] / b['us']:10.2f}"
              f"{b['error']:11.3g}{b['bound']:9.3g}{b['error'] / b['largest']:13.2e}")
    s.say("error, bound: of all values; the bound is the library's, for all calls up to there; error/value: over the "
          "largest value")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--out", type=Path, default=Path("between_nodes"), help="folder for the results")
    parser.add_argument("--mpi", default="mpich", choices=["mpich", "ompi"])
    parser.add_argument("--parts", default="pairs,allreduce,compression")
    parser.add_argument("--rate", default="1gbit", help="of the links between pairs, as tc writes it")
    parser.add_argument("--pair-sizes", default="256k,1m,4m,16m")
    parser.add_argument("--like", default="frontier", help="the machine whose ratio the links have (share/machines)")
    parser.add_argument("--sizes", default="1m,4m,16m", help="of collectives")
    parser.add_argument("--zfp-rate", type=float, default=8)
    parser.add_argument("--compressed", default="alltoall,allgather,allreduce")
    parser.add_argument("--links", default="", help="of nodes with compression, with commas; without: as for "
                        "allreduce, and a tenth of it")
    parser.add_argument("--min-time", type=float, default=0.3)
    parser.add_argument("--calls", type=int, default=5, help="of each allreduce; their median counts")
    parser.add_argument("--repetitions", type=int, default=3)
    s = Session(parser.parse_args())
    if reason := why_not():
        sys.exit(f"nodes cannot be made: {reason}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # nodes go away on the way out
    parts = s.options.parts.split(",")
    if "pairs" in parts:
        pairs(s)
    rate = allreduce(s) if "allreduce" in parts else s.options.rate
    if "compression" in parts:
        compression(s, s.options.links.split(",") if s.options.links else [rate, a_tenth_of(rate)])
    s.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
