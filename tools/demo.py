# SPDX-License-Identifier: BSD-3-Clause
"""`make demo`: says what it will do, fetches what is missing, builds what it shows and runs it once.

    python3 tools/demo.py [--mpich PREFIX] [--ompi PREFIX]

One run of telpher-demo with two ranks, over one host MPI, on the GPUs of this machine or on emulated
devices. Builds the CMake preset `demo`: that library, that back end, that program and nothing else.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from telpher import devices

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "demo"
LOG = ROOT / "build" / "demo.log"
RUN_LIMIT_S = 300
# One core's seconds for a first build: without a GPU as measured on an AMD EPYC; with one a guess, since
# optimised code and a vendor's kernels take longer.
BUILD_CPU_S, BUILD_GPU_CPU_S = 200, 900
OPTIMISED = "CMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"
STEP = re.compile(r"^\[(\d+)/(\d+)\]")


def say(text: str) -> None:
    print(f"demo: {text}", flush=True)


def cores() -> int:
    return min(len(os.sched_getaffinity(0)), 16)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{max(seconds, 10) / 10:.0f}0 seconds"


def usable_gpus() -> list:
    """The GPUs whose back end can be built here and has run on such a device or its like."""
    gpus = devices.all_devices()
    if not gpus or gpus[0].vendor == "cuda":
        return gpus
    if gpus[0].vendor == "hip" and (shutil.which("hipcc") or shutil.which("hipcc", path="/opt/rocm/bin")):
        return gpus
    why = "no hipcc was found" if gpus[0].vendor == "hip" else "the SYCL back end has not run on a GPU yet"
    say(f"{len(gpus)} GPUs are here ({gpus[0].vendor}), but {why}: emulated devices are shown")
    return []


def announce(gpus: list) -> None:
    what = f"{len(gpus)} GPUs ({gpus[0].vendor})" if gpus else "no GPU: two emulated devices in host memory"
    cost = (BUILD_GPU_CPU_S if gpus else BUILD_CPU_S) / cores()
    say(f"this machine has {what}")
    say("1. find an MPI, cmake and ninja here, or fetch them into build/deps (some tens of MB)")
    say(f"2. build Telpher into build/demo: about {minutes(cost)} on {cores()} free cores; a second time, nothing")
    say("3. send device memory through plain MPI calls between two ranks: some seconds")
    say("nothing is written outside build/; Ctrl-C stops, the next `make demo` goes on from there")


class Progress:
    """One line that counts compile steps: rewritten on a terminal, else a line for each tenth."""

    def __init__(self):
        self.start, self.shown, self.live = time.monotonic(), -1, sys.stdout.isatty()

    def step(self, done: int, count: int) -> None:
        tenth = done * 10 // count
        if not self.live and tenth == self.shown:
            return
        self.shown = tenth
        gone = time.monotonic() - self.start
        left = f", about {gone / done * (count - done):.0f} s left" if gone > 5 and done < count else ""
        end = "" if self.live and done < count else "\n"
        lead = "\r\x1b[K" if self.live else ""
        print(f"{lead}demo: built {done} of {count} files, {gone:.0f} s{left}", end=end, flush=True)


def build(gpus: list, abi: str) -> bool:
    backend = gpus[0].vendor if gpus else "emu"
    command = [sys.executable, "tools/build.py", "demo"]
    for target in (f"telpher_{abi}", f"telpher_{backend}", f"telpher-demo-{abi}"):
        command += ["--target", target]
    if gpus:
        command += ["-D", f"TELPHER_{backend.upper()}=ON", "-D", OPTIMISED]
    if backend == "cuda" and shutil.which("nvidia-smi"):
        command += ["-D", "TELPHER_CUDA_ARCHITECTURES=native"]
    progress = Progress()
    with LOG.open("w") as log:
        job = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in job.stdout:
            log.write(line)
            if step := STEP.match(line):
                progress.step(int(step.group(1)), int(step.group(2)))
    if job.wait() == 0:
        return True
    print("\n" + "".join(LOG.read_text().splitlines(keepends=True)[-25:]), end="")
    say(f"the build failed; all of its output is in {LOG.relative_to(ROOT)}")
    return False


def run(gpus: list, abi: str) -> int:
    backend = [] if gpus else ["--backend", "emu"]
    line = ["build/demo/bin/telpher", "run", "-n", "2", *backend, f"build/demo/bin/telpher-demo-{abi}"]
    say(shlex.join(line))
    try:
        code = subprocess.run(line, cwd=ROOT, timeout=RUN_LIMIT_S, stdin=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        say(f"no end within {RUN_LIMIT_S} s")
        return 1
    if code:
        say(f"the demonstration failed with exit code {code}")
        return 1
    wanted = f" WITH={gpus[0].vendor}" if gpus else ""
    say(f"done. Next: `make install PREFIX=$HOME/telpher{wanted}`, then `telpher run -n 2 ./your_program`;")
    say("docs/start/install.md goes on from here")
    return 0


def main() -> int:
    gpus = usable_gpus()
    announce(gpus)
    setup = [sys.executable, "tools/setup.py", "--with", "mpi", *sys.argv[1:]]
    if code := subprocess.run(setup, cwd=ROOT).returncode:
        return code
    if gpus and subprocess.run([*setup, "--with", gpus[0].vendor], cwd=ROOT).returncode:
        say("the GPUs' compiler could not be had: going on with emulated devices")
        gpus = []
    state = json.loads((ROOT / "build" / "deps" / "setup.json").read_text())
    abi = min(state["mpi"])
    say(f"host MPI: {state['mpi'][abi]} ({abi}); building, output in {LOG.relative_to(ROOT)}")
    return run(gpus, abi) if build(gpus, abi) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print()
        say("stopped; the next `make demo` goes on from here")
        sys.exit(130)
