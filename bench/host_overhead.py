#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Telpher costs a program that never uses a device.

Runs `telpher-bench-<abi> host` alternately with and without the library preloaded and compares the
medians over all repetitions, figure by figure. A run of each kind is taken in turn, in alternating
order, so that what disturbs the machine disturbs both.

    host_overhead.py --mpirun "mpirun -n 2" --bench build/release/bin/telpher-bench-mpich \\
                     --preload build/release/lib/libtelpher-mpich.so --repetitions 10 --json overhead.json
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpirun", default="mpirun -n 2", help="launcher with its arguments")
    parser.add_argument("--bench", required=True, help="the telpher-bench-<abi> program")
    parser.add_argument("--preload", required=True, help="the libtelpher-<abi>.so to compare with none")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="set in the ranks of both kinds of run; may be repeated")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--min-time", default="0.1", help="seconds for each figure of one run")
    parser.add_argument("--json", help="also write all figures to this file")
    return parser.parse_args()


def run_once(options, preload):
    """One run; the rows by (test, bytes), and what the program says about the machine."""
    # `env` behind the launcher's arguments: the launcher itself stays without the library.
    command = shlex.split(options.mpirun) + ["env"] + options.env
    if preload:
        command.append(f"LD_PRELOAD={preload}")
    command += [options.bench, "host", "--min-time", options.min_time, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    document = json.loads(done.stdout[done.stdout.index("{"):])
    if preload and not document["about"]["telpher"]:
        sys.exit(f"{preload} was preloaded, but the program does not see it")
    return {(r["test"], r["bytes"]): r["us"] for r in document["rows"]}, document["about"]


def collect(options):
    """The microseconds of all repetitions: {(test, bytes): {"with": [...], "without": [...]}}."""
    figures, about = {}, {}
    for repetition in range(options.repetitions):
        kinds = ["without", "with"] if repetition % 2 == 0 else ["with", "without"]
        for kind in kinds:
            rows, about[kind] = run_once(options, options.preload if kind == "with" else None)
            for key, us in rows.items():
                figures.setdefault(key, {"with": [], "without": []})[kind].append(us)
    return figures, about["with"]


def summarise(figures):
    rows = []
    for (test, size), samples in figures.items():
        pairs = zip(samples["with"], samples["without"], strict=True)
        rows.append({
            "test": test,
            "bytes": size,
            "us_with": statistics.median(samples["with"]),
            "us_without": statistics.median(samples["without"]),
            "ratio": statistics.median(samples["with"]) / statistics.median(samples["without"]),
            "ratio_of_pairs": statistics.median(a / b for a, b in pairs),
            "ratio_of_minima": min(samples["with"]) / min(samples["without"]),
            "samples": samples,
        })
    return rows


def main():
    options = arguments()
    figures, about = collect(options)
    rows = summarise(figures)
    print(f"# {about['mpi']}, Telpher {about['telpher']}, {options.repetitions} repetitions; "
          "ratio: with / without, 1 is no cost")
    print(f"{'test':16} {'bytes':>8} {'without us':>11} {'with us':>11} {'ratio':>7} "
          f"{'of pairs':>8} {'of minima':>9}")
    for r in rows:
        print(f"{r['test']:16} {r['bytes']:8} {r['us_without']:11.3f} {r['us_with']:11.3f} "
              f"{r['ratio']:7.3f} {r['ratio_of_pairs']:8.3f} {r['ratio_of_minima']:9.3f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"about": about, "mpirun": options.mpirun, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
