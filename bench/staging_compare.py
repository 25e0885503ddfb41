#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ways of staging a message from device to device through the host, side by side in one run.

- by hand: the program copies to the host, sends host memory, and copies back (telpher-bench's own mode);
- naive: Telpher does these three one after the other (TELPHER_PATH=raw);
- even N: N blocks of equal length, the legs overlap (TELPHER_TEST_STAGED_SHAPE=even);
- advanced N: the first block half as long, the last one and a half times (the default).

Rounds take every way in turn, so that what disturbs the machine disturbs all. Figures are the latency of
telpher-bench (half a round trip) in microseconds: the best batch of all rounds, and the median over the rounds
of each round's median.

    staging_compare.py --mpirun "mpirun -n 2" --bench build/dev/bin/telpher-bench-mpich \\
        --preload build/dev/lib/libtelpher-mpich.so --env TELPHER_BACKEND=sycl --json staging.json
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys

BLOCKS = (1, 2, 4, 8)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mpirun", default="mpirun -n 2", help="launcher with its arguments")
    parser.add_argument("--bench", required=True, help="the telpher-bench-<abi> program")
    parser.add_argument("--preload", required=True, help="the libtelpher-<abi>.so")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                        help="set in the ranks of every run; may be repeated")
    parser.add_argument("--sizes", default="64k:4m")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--min-time", default="0.1", help="seconds for each size of one run")
    parser.add_argument("--json", help="also write all figures to this file")
    return parser.parse_args()


def ways():
    """(name, mode of telpher-bench, settings)."""
    yield "by hand", "staged", []
    yield "naive", "telpher", ["TELPHER_PATH=raw"]
    for shape in ("even", "advanced"):
        for blocks in BLOCKS[0 if shape == "even" else 1:]:
            yield (f"{shape} {blocks}", "telpher",
                   ["TELPHER_PATH=staged", f"TELPHER_TEST_STAGED_SHAPE={shape}",
                    f"TELPHER_TEST_STAGED_BLOCKS={blocks}", "TELPHER_STAGED_THRESHOLD=0"])


def run_once(options, mode, settings):
    """One run; the microseconds by size, and what the program says about the machine."""
    command = [*shlex.split(options.mpirun), "env", *options.env, *settings, f"LD_PRELOAD={options.preload}",
               options.bench, "latency", "--sizes", options.sizes, "--buffers", "D:D", "--mode", mode,
               "--min-time", options.min_time, "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    document = json.loads(done.stdout[done.stdout.index("{"):])
    return {r["bytes"]: (r["us"], r["us_min"]) for r in document["rows"]}, document["about"]


def collect(options):
    figures, about = {}, {}
    for number in range(options.rounds):
        listed = list(ways())
        for name, mode, settings in listed if number % 2 == 0 else reversed(listed):
            rows, about = run_once(options, mode, settings)
            for size, pair in rows.items():
                figures.setdefault(size, {}).setdefault(name, []).append(pair)
    return figures, about


def table(title, figures, names, summary):
    print(f"{title}, us; below each its ratio to naive")
    print(f"{'bytes':>8} " + " ".join(f"{name:>10}" for name in names))
    for size in sorted(figures):
        us = {name: summary(samples) for name, samples in figures[size].items()}
        print(f"{size:8} " + " ".join(f"{us[name]:10.1f}" for name in names))
        print(f"{'':8} " + " ".join(f"{us[name] / us['naive']:10.2f}" for name in names))


def main():
    options = arguments()
    figures, about = collect(options)
    names = [name for name, _, _ in ways()]
    print(f"# {about.get('mpi')}, Telpher {about.get('telpher')}, {options.rounds} rounds")
    table("best batch", figures, names, lambda samples: min(best for _, best in samples))
    table("median", figures, names, lambda samples: statistics.median(middle for middle, _ in samples))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"about": about, "ways": names, "rounds": options.rounds, "sizes": figures}, file, indent=1)


if __name__ == "__main__":
    main()
