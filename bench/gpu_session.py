#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds, tests and measures Telpher on a machine with GPUs, in named steps with time limits.

    bench/gpu_session.py [STEP...] --out DIR [--mpich PREFIX] [--ucx DIR] [--budget SECONDS]

A step that fails does not stop the others. DIR gets log.txt (all output), results.json (every row that
telpher-bench measured) and summary.txt. Needs cmake, ninja, a C++ compiler, nvcc, Open MPI, and nothing
from the network; --mpich adds a second MPI, --ucx (bench/carry.py) what Telpher is compared with.
"""
import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import gpu_apps  # noqa: E402
import gpu_between  # noqa: E402
import gpu_coll  # noqa: E402
import gpu_long  # noqa: E402
import gpu_measure  # noqa: E402
import gpu_streams  # noqa: E402
import gpu_surface  # noqa: E402
import gpu_tests  # noqa: E402
from gpu_jobs import ROOT, OutOfTime, Session  # noqa: E402

# In the order of their worth, should the time not do for all.
STEPS = {
    "build": (gpu_tests.build, "configure and build with the CUDA back end and the tests"),
    "info": (gpu_tests.info, "the machine, and telpher info"),
    "contract": (gpu_tests.contract, "contract tests on the device, unit tests"),
    "demo": (gpu_tests.demo, "telpher-demo over every MPI"),
    "coll": (gpu_coll.coll, "collectives beside NCCL and staging by hand, on each number of devices"),
    "coll_tests": (gpu_tests.collectives, "the programs of test/mpi on collectives, one rank a device"),
    "forced": (gpu_coll.forced, "every algorithm of the collectives, forced"),
    "nonblocking": (gpu_coll.nonblocking, "non-blocking and persistent collectives"),
    "between": (gpu_between.between, "between pretended nodes, beside staging by hand and a GPU-aware host MPI"),
    "ways": (gpu_between.ways, "between pretended nodes: schedules beside both kinds of staging, 256 KiB to 64 MiB"),
    "tcp": (gpu_between.tcp, "the same of two ranks, with TCP between them"),
    "crowded": (gpu_coll.crowded, "collectives of more ranks than devices"),
    "all_pairs": (gpu_coll.all_pairs, "messages between every two ranks"),
    "peers": (gpu_measure.peers, "against Open MPI over UCX, in turn"),
    "paths": (gpu_measure.paths, "every way of moving bytes, forced"),
    "pt2pt": (gpu_measure.pt2pt, "latency, bandwidth, both ways; kinds of memory; one device for two ranks"),
    "sizes": (gpu_measure.sizes, "1 B to 256 MiB, each kind of memory, two devices and one: every byte looked at"),
    "memory": (gpu_measure.memory, "device memory by every kind of allocation"),
    "surface": (gpu_surface.surface, "one-sided, packing, halos, neighbourhoods, files, each beside another way"),
    "streams": (gpu_streams.streams, "in the order of streams, beside NCCL and NVSHMEM; sums over the link"),
    "rate": (gpu_measure.rate, "messages a second"),
    "codec": (gpu_measure.codec, "encode and decode of ZFP and MPC against a device copy"),
    "mpi": (gpu_tests.mpi, "the tests of test/mpi that devices differ in most"),
    "ring": (gpu_tests.ring, "all of test/mpi, several at a time, in the time that is left"),
    "hip": (gpu_tests.hip, "the HIP back end on NVIDIA's devices: tests, and its figures beside CUDA's"),
    "memcpy": (gpu_measure.memcpy, "copies between host and device by every way"),
    "host": (gpu_measure.host, "what host-only traffic pays"),
    "verify": (gpu_long.verify, "every algorithm's schedules on 1 to 257 ranks"),
    "stress": (gpu_long.stress, "random messages and collectives in millions, on GPUs and on the emulated device"),
    "python": (gpu_tests.python, "mpi4py with CuPy, PyTorch, Numba and JAX"),
    "report": (gpu_tests.report, "telpher report of two ranks"),
    "apps": (gpu_apps.apps, "the applications, against staging by hand"),
}


def arguments():
    lines = "\n".join(f"  {name:10} {what}" for name, (_, what) in STEPS.items())
    parser = argparse.ArgumentParser(description=__doc__, epilog="steps (all, if none is named):\n" + lines,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP")
    parser.add_argument("--out", type=Path, default=ROOT / "build/gpu_session_out")
    parser.add_argument("--build", type=Path, default=ROOT / "build/gpu", help="build folder (build/gpu)")
    parser.add_argument("--mpich", type=Path, help="prefix of an MPICH")
    parser.add_argument("--ompi", type=Path, help="prefix of an Open MPI; else the system's")
    parser.add_argument("--ucx", type=Path, help="folder with a UCX built for CUDA")
    parser.add_argument("--budget", type=float, default=560, help="seconds for everything (560)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the comparison with peers (3)")
    parser.add_argument("--backend", default="cuda", help="cuda; emu tries the script itself")
    parser.add_argument("--cmake", action="append", default=[], metavar="NAME=VALUE",
                        help="CMake's -D, for the step build")
    options = parser.parse_args()
    unknown = set(options.steps) - set(STEPS)
    if unknown:
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    return options


def run_step(session: Session, name: str) -> tuple[str, float]:
    """(what came of it, seconds)."""
    session.say(f"\n===== {name}: {STEPS[name][1]}; {session.end - time.monotonic():.0f} s left =====")
    started = time.monotonic()
    try:
        result = STEPS[name][0](session)
    except OutOfTime:
        result = "OUT OF TIME"
    except Exception as error:  # one step's surprise must not cost the others
        import traceback
        session.say(traceback.format_exc())
        result = f"ERROR {type(error).__name__}: {error}"
    return result, time.monotonic() - started


def main() -> int:
    options = arguments()
    session = Session(options)
    results = []
    for name in options.steps or STEPS:
        result, seconds = run_step(session, name)
        results.append((name, result, seconds))
        session.say(f"===== {name}: {result} ({seconds:.0f} s)")
    lines = ["", "===== SUMMARY =====", *session.tables, "", f"devices {session.devices}"]
    lines += [f"{name:10} {seconds:5.0f} s  {result}" for name, result, seconds in results]
    session.say("\n".join(lines))
    (session.out / "summary.txt").write_text("\n".join(lines) + "\n")
    session.save()
    bad = ("FAILED", "ERROR", "OUT OF TIME", "WRONG")
    return 1 if any(word in result for _, result, _ in results for word in bad) else 0


if __name__ == "__main__":
    sys.exit(main())
