#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Device buffers against host buffers of the same MPI between two nodes on one shaped link.

Makes two nodes of network namespaces (needs root), shapes their links with `tc tbf`, and runs telpher-bench
alternately with device buffers through Telpher and with host buffers on the bare MPI. The figure of a size
is the best of all repetitions of a kind; the ratio is bandwidth of device over host.

    bench/off_node.py build/dev --mpi mpich --rate 1gbit --sizes 8,64k,1m,4m,16m --json off_node.json
    bench/off_node.py build/dev --vary TELPHER_PIPELINE_BLOCK=256k,512k,1m       # one column a value
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))
import nodes as checks  # noqa: E402
import run  # noqa: E402
from namespaces import Nodes, why_not  # noqa: E402


def measure(head: dict, nodes: Nodes, options, test: str, preload: dict[str, str] | None) -> dict[int, float]:
    """Microseconds of a message for each size."""
    env = dict(checks.HOST_SETTINGS[options.mpi])
    if preload is not None:
        env = checks.environment(head, options.mpi, preload)
    line = [*nodes.launch_line(options.mpi, run.launcher(head, options.mpi), 1), "env",
            *(f"{k}={v}" for k, v in env.items()), f"{head['build']}/bin/telpher-bench-{options.mpi}", test,
            "-s", options.sizes, "-b", "H:H" if preload is None else "D:D", "--mode", "telpher",
            "-w", str(options.window), "--min-time", str(options.min_time), "--json", "-"]
    done = subprocess.run(line, capture_output=True, text=True, check=False,
                          env={**os.environ, **run.LAUNCHER_ENV})
    if done.returncode != 0 or "{" not in done.stdout:
        sys.exit(f"{' '.join(line)}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    document = json.loads(done.stdout[done.stdout.index("{"):done.stdout.rindex("}") + 1])
    return {row["bytes"]: row["us"] for row in document["rows"]}


def variants(options) -> dict[str, dict[str, str] | None]:
    kinds: dict[str, dict[str, str] | None] = {"host": None}
    if not options.vary:
        return kinds | {"device": {}}
    name, _, values = options.vary.partition("=")
    return kinds | {value: {name: value} for value in values.split(",")}


def best(old: dict[int, float], new: dict[int, float]) -> dict[int, float]:
    return {size: min(us, old.get(size, us)) for size, us in new.items()}


def table(test: str, figures: dict[str, dict[int, float]]) -> None:
    names = list(figures)
    print(f"\n{test}: microseconds a message, and host's time over each (1.00: as fast as host buffers)")
    print(f"{'bytes':>10}" + "".join(f"{name:>12}" for name in names)
          + "".join(f"{'r ' + name:>10}" for name in names[1:]))
    for size in figures["host"]:
        print(f"{size:>10}" + "".join(f"{figures[name][size]:12.2f}" for name in names)
              + "".join(f"{figures['host'][size] / figures[name][size]:10.3f}" for name in names[1:]))
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--mpi", default="mpich", choices=["mpich", "ompi"])
    parser.add_argument("--rate", default="1gbit", help="of each node's link, as tc writes it; empty: unshaped")
    parser.add_argument("--sizes", default="8,8k,64k,256k,1m,4m,16m")
    parser.add_argument("--tests", default="latency,bw")
    parser.add_argument("--window", type=int, default=4)
    parser.add_argument("--min-time", type=float, default=0.5)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--vary", default="", help="NAME=A,B: device buffers once with each value")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    if reason := why_not():
        sys.exit(f"nodes cannot be made: {reason}")
    head, _ = run.read_manifest(options.build)
    document = {"command": [Path(sys.argv[0]).name, *sys.argv[1:]], "rate": options.rate,
                "mpi": options.mpi, "figures": {}}
    for test in options.tests.split(","):
        figures: dict[str, dict[int, float]] = {}
        for _ in range(options.repetitions):
            for name, preload in variants(options).items():
                with Nodes(2, options.rate) as nodes:
                    figures[name] = best(figures.get(name, {}), measure(head, nodes, options, test, preload))
        table(test, figures)
        document["figures"][test] = figures
    if options.json:
        Path(options.json).write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
