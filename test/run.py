# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests that a build declared (tests.jsonl, written by test/telpher_test.cmake).

    python3 test/run.py BUILD [--ring unit,mpi] [--name PART] [--mpi ompi] [--wide] [--vary NAME=A,B] [--beyond]
                        [--in-turn] [--backend cuda --devices 2]

One line a test with its time; of a failed test the last 160 lines of output that do not begin with 'ok'. A test
passes if and only if its exit code is 0 and no process of it stays behind. 77, nothing here to be tested with, is a
failure too but of those declared with MAY_SKIP, which count apart. Closes with 'N passed, N failed[, N left out]'. A
test that runs out of time is killed with all its ranks: every process of a test carries a mark in its environment by
which it is found. Of the caller's own environment no TELPHER_... and TEST_... comes to a test.
"""
import argparse
import itertools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

TAIL_LINES = 160
MARK = "CHECK_RUN_ID"
SKIPPED = 77  # the exit code of a test that found nothing here to test with
LINGERS_S = 10  # so long what a launcher has started may outlive it
WORDS = {True: "ok    ", False: "FAILED", None: "left out"}  # None: by itself, as it may
# Tests in which the host MPI by itself, without Telpher, now and then does not come back: where.
SESSIONS = "MPICH 5.0.2's MPI_Comm_create_from_group, once all sessions had ended"
HOST_HANGS = {"sessions-twice": SESSIONS, "sessions_apart-again": SESSIONS}
# What Open MPI's launcher says when it breaks before it has started any rank; seen once in some thousand runs.
LAUNCHER_BROKE = "The PMIx server's listener thread failed to start"
# The weight of a test that shares the machine with no other. A rank of Open MPI weighs half a job: it gives its
# processor away while it waits, so eight on two cores end sooner than four and four. One of MPICH does not always:
# eight on two cores took half as long again as four and four.
WHOLE = 10 ** 6
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks={leaks}:abort_on_error=0:handle_segv=1:allow_user_segv_handler=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=0:second_deadlock_stack=1",
}


@dataclass
class Test:
    label: str
    command: list[str]
    env: dict[str, str]
    timeout: float
    slots: int
    first: bool = False
    may_skip: bool = False
    variant: dict[str, str] = field(default_factory=dict)


def read_manifest(build: Path) -> tuple[dict, list[dict]]:
    path = build / "tests.jsonl"
    if not path.is_file():
        sys.exit(f"run: {path} is missing; build with TELPHER_TESTS=ON first")
    lines = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return lines[0], lines[1:]


def launcher(head: dict, abi: str) -> str:
    prefix = head["ompi" if abi == "ompi" else "mpich"]
    own = Path(prefix) / "bin" / "mpirun"
    if own.is_file():
        return str(own)
    return shutil.which("mpirun.openmpi" if abi == "ompi" else "mpirun.mpich") or "mpirun"


def launch_line(head: dict, abi: str, ranks: int, env: dict[str, str]) -> list[str]:
    line = [launcher(head, abi)]
    if abi == "ompi":
        line += ["--oversubscribe", "--bind-to", "none"]
    return [*line, "-n", str(ranks), "env", *(f"{k}={v}" for k, v in env.items())]


LAUNCHER_ENV = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
}
# For every test, also those that start jobs themselves. Open MPI's part for libfabric sleeps for a second in each
# process that it ends in, and moves nothing on one machine.
# A rank that waits inside MPICH keeps its processor: with four ranks on two processors an MPI_Allreduce of 8 bytes
# takes 23 ms, and 75 us where it naps in between.
HOST_MPI_ENV = {"OMPI_MCA_btl": "^ofi", "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
                "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16"}

SHARED_MEMORY = Path("/dev/shm")


def own_segments(folder: str) -> dict[str, str]:
    """Where Open MPI keeps a job's segments. It names them by 16 bits of a hash of the job: of jobs that run side by
    side some have one name, and each gets the other's messages (open-mpi/ompi issue 7642)."""
    return {f"OMPI_MCA_btl_{name}_backing_directory": folder for name in ("sm", "vader")}


def sanitizer_env(head: dict, leaks: bool) -> dict[str, str]:
    if not head["sanitizer"]:
        return {}
    return {name: value.format(leaks=int(leaks)) for name, value in SANITIZER_ENV.items()}


def fill(words: list[str], head: dict, abi: str) -> list[str]:
    if words[:1] == ["python3"]:
        words = [sys.executable, *words[1:]]
    for name, value in (("abi", abi), ("build", head["build"]), ("source", head["source"])):
        words = [word.replace("{" + name + "}", value) for word in words]
    return words


def rank_test(head: dict, entry: dict, abi: str, ranks: int, variant: dict[str, str], backend: str) -> Test:
    env = sanitizer_env(head, leaks=False)
    if not entry["plain"]:
        preload = [head["sanitizer_runtime"], f"{head['build']}/lib/libtelpher-{abi}.so"]
        env["LD_PRELOAD"] = ":".join(p for p in preload if p)
        env["TELPHER_BACKEND"] = backend
    env["TELPHER_TABLE"] = "off"  # what somebody measured on this machine
    if backend == "emu":
        env["TELPHER_NAP"] = "on"  # the tests beside this one share the processors with it
    env |= dict(pair.split("=", 1) for pair in fill(entry["env"], head, abi)) | variant
    elsewhere = "emu" not in env.get("TELPHER_BACKEND", "emu")  # some cases are the emulated device's alone
    program = fill([entry["programs"][abi], *entry["arguments"]], head, abi)
    weight = (ranks + 1) // 2 if abi == "ompi" else ranks
    label = f"{entry['name']} {abi} x{ranks}" + "".join(f" {v}" for v in variant.values())
    return Test(label, launch_line(head, abi, ranks, env) + program, LAUNCHER_ENV,
                entry["timeout"], slots=WHOLE if entry["alone"] else weight, first=entry["first"],
                may_skip=entry["may_skip"] or elsewhere, variant=variant)


def single_test(head: dict, entry: dict) -> Test:
    env = sanitizer_env(head, leaks=True)
    env |= dict(pair.split("=", 1) for pair in fill(entry["env"], head, ""))
    command = fill([entry["programs"][""], *entry["arguments"]], head, "")
    return Test(entry["name"], command, env, entry["timeout"], slots=WHOLE if entry["alone"] else 1,
                first=entry["first"], may_skip=entry["may_skip"])


def variants_of(entry: dict, options) -> list[dict[str, str]]:
    if not entry["paths"] or not options.vary:
        return [{}]
    name, _, values = options.vary.partition("=")
    return [{}] + [{name: value} for value in values.split(",")]


def runs_of(entry: dict, options) -> list[tuple[int, dict[str, str]]]:
    """Rank counts, each with what is forced."""
    most = options.devices if options.devices and entry["device_each"] else max(entry["ranks"] + entry["wide"])
    if options.devices == 1 and entry["device_each"]:
        return []
    plain, wide = ([min(count, most) for count in counts] for counts in
                   (entry["ranks"], entry["wide"] if options.wide else []))
    variants = variants_of(entry, options)
    if entry["beyond"]:
        return [(count, {}) for count in sorted(set(plain))] if options.beyond or options.name else []
    if options.beyond:
        return [*itertools.product(sorted(set(wide) - set(plain)), [{}]),
                *itertools.product([min(plain + wide)], variants[1:])]
    return [*itertools.product(sorted(set(plain + wide)), variants)]


def takes_turn(entry: dict, entry_at: int, abis: list[str], abi: str, run: tuple[int, dict[str, str]],
               options) -> bool:
    """Whether this run of the entry is over this MPI. The first one is over all, unless the entry is a variant
    (program-variant); neighbours in the list have another."""
    count, variant = run
    further = variant or options.beyond or count > min(entry["ranks"]) or "-" in entry["name"]
    if not options.in_turn or not further:
        return True
    values = options.vary.partition("=")[2].split(",")
    at = entry_at + (values.index(*variant.values()) if variant else count)
    return abi == abis[at % len(abis)]


def fits(entry: dict, backend: str) -> bool:
    """Whether a test says something of another back end than the emulated device."""
    if backend == "emu":
        return True
    emulated = ("TELPHER_EMU_", "TELPHER_TEST_EMU_", "TELPHER_BACKEND=")
    own = entry["emulated"] or any(word.startswith(emulated) or "emulated" in word for word in entry["env"])
    return bool(entry["ranks"]) and not entry["plain"] and not own


def select(head: dict, entries: list[dict], options) -> list[Test]:
    rings = set(options.ring.split(",")) if options.ring else None
    mpis = set(options.mpi.split(",")) if options.mpi else None
    parts, others = ([part for part in words.split(",") if part] for words in (options.name, options.but))
    names = [f"{entry['name']} {abi}" for entry in entries if not rings or entry["ring"] in rings
             for abi in entry["programs"]]
    if unknown := [part for part in parts if not any(part in name for name in names)]:
        sys.exit(f"run: no test of these rings has in its name: {', '.join(unknown)}")
    tests = []
    varied = 0
    for number, entry in enumerate(entries):
        if rings and entry["ring"] not in rings or not fits(entry, options.backend):
            continue
        named = [abi for abi in entry["programs"] for name in [f"{entry['name']} {abi}"]
                 if (not parts or any(p in name for p in parts)) and not any(p in name for p in others)]
        if not entry["ranks"]:
            tests += [single_test(head, entry)] if named and not options.beyond else []
            continue
        abis = [abi for abi in named if not mpis or abi in mpis]
        tests += [rank_test(head, entry, abi, *run, options.backend)
                  for abi, run in itertools.product(abis, runs_of(entry, options))
                  if takes_turn(entry, varied if run[1] else number, abis, abi, run, options)]
        varied += entry["paths"]
    return tests


def marked_processes(mark: str, name: str = MARK) -> list[int]:
    needle = f"{name}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if needle in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue  # gone, or not ours
    return found


def kill_marked(mark: str) -> int:
    """Ends every process of a test; how many there were."""
    total = 0
    for _ in range(20):
        processes = [pid for pid in marked_processes(mark) if pid != os.getpid()]
        if not processes:
            break
        total = max(total, len(processes))
        for pid in processes:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
    return total


def stayed_behind(mark: str) -> int:
    """How many processes of a test did not end soon after it; none is left."""
    end = time.monotonic() + LINGERS_S
    while marked_processes(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return kill_marked(mark)


def run_test(test: Test, timeout_scale: float) -> tuple[bool | None, float, str, str]:
    """(passed, seconds, remark, output). Run again where the host MPI is to blame, which the remark says."""
    outcome = run_once(test, timeout_scale)
    for _ in range(2):
        if outcome[0] is not False:
            break
        if LAUNCHER_BROKE in outcome[3]:
            why = "the launcher did not start at first"
        elif HOST_HANGS.get(test.label.split()[0]) and outcome[2].startswith("no end"):
            why = f"at first no end in {HOST_HANGS[test.label.split()[0]]}"
        else:
            break
        passed, seconds, remark, output = run_once(test, timeout_scale)
        outcome = passed, seconds, f"{remark}; " * bool(remark) + why, output
    return outcome


def run_once(test: Test, timeout_scale: float) -> tuple[bool | None, float, str, str]:
    """(passed, seconds, remark, output). The folders for temporary files and for shared memory are the test's own:
    launchers keep files in the first under fixed names, and one that ends takes them from one that begins."""
    mark = secrets.token_hex(12)
    begin = time.monotonic()
    remark = ""
    callers = {k: v for k, v in os.environ.items() if not k.startswith(("TELPHER_", "TEST_"))}
    with tempfile.TemporaryFile() as output, \
            tempfile.TemporaryDirectory(prefix="t", ignore_cleanup_errors=True) as scratch, \
            tempfile.TemporaryDirectory(prefix="t", dir=SHARED_MEMORY, ignore_cleanup_errors=True) as segments:
        try:
            process = subprocess.Popen(test.command, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True,
                                       env={**HOST_MPI_ENV, **own_segments(segments), **callers, **test.env,
                                            "TMPDIR": scratch, MARK: mark})
            code = process.wait(test.timeout * timeout_scale)
        except subprocess.TimeoutExpired:
            count = kill_marked(mark)
            process.wait()
            code, remark = -1, f"no end within {test.timeout * timeout_scale:g} s; killed {count} processes"
        except OSError as error:
            code, remark = -1, f"cannot start: {error}"
        seconds = time.monotonic() - begin
        left = stayed_behind(mark)
        if left and not remark:
            code, remark = code or -1, f"left {left} processes behind; killed"
        elif code > 0 and not remark:
            remark = f"exit code {code}"
        elif code < -1 and not remark:
            remark = f"ended by {signal.Signals(-code).name}"
        output.seek(0)
        passed = None if code == SKIPPED and test.may_skip and not left else code == 0
        return passed, seconds, remark, output.read().decode(errors="replace")


class Slots:
    """Lets tests of several weights share the machine; a weight above the capacity means all of it."""

    def __init__(self, capacity: int):
        self.capacity = self.free = capacity
        self.changed = threading.Condition()

    def take(self, wanted: int) -> int:
        wanted = min(wanted, self.capacity)
        with self.changed:
            self.changed.wait_for(lambda: self.free >= wanted)
            self.free -= wanted
        return wanted

    def give(self, count: int) -> None:
        with self.changed:
            self.free += count
            self.changed.notify_all()


def report(test: Test, outcome: tuple[bool | None, float, str, str]) -> None:
    passed, seconds, remark, output = outcome
    line = f"{WORDS[passed]} {seconds:7.2f} s  {test.label}"
    print(line + (f"  ({remark})" if remark else ""))
    if passed is False:
        print("       " + " ".join(test.command))
        told = [text for text in output.splitlines() if not text.startswith("ok ")]
        print("".join(f"    | {text}\n" for text in told[-TAIL_LINES:]), end="")
    sys.stdout.flush()


def run_tests(tests: list[Test], jobs: int, timeout_scale: float) -> tuple[int, int, int]:
    """How many passed, failed and were left out."""
    slots, printing = Slots(jobs), threading.Lock()
    counts = {True: 0, False: 0, None: 0}

    def one(test: Test) -> None:
        held = slots.take(test.slots)
        try:
            outcome = run_test(test, timeout_scale)
        finally:
            slots.give(held)
        with printing:
            counts[outcome[0]] += 1
            report(test, outcome)

    for test in tests:
        if test.first:
            one(test)
    # The heavier a test, the later, so that none holds up lighter ones while it waits for room.
    ordered = sorted((test for test in tests if not test.first), key=lambda t: t.slots)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, ordered))
    return counts[True], counts[False], counts[None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--ring", default="", help="comma-separated rings; default all")
    parser.add_argument("--name", default="", help="only tests whose name or ABI contains one of these (commas)")
    parser.add_argument("--but", default="", help="no tests whose name or ABI contains one of these")
    parser.add_argument("--mpi", default="", help="comma-separated ABIs; default all built for")
    parser.add_argument("--wide", action="store_true", help="also the rank counts declared as WIDE")
    parser.add_argument("--vary", default="", help="NAME=A,B: tests declared with PATHS run once more each")
    parser.add_argument("--beyond", action="store_true",
                        help="only what a plain run leaves out: WIDE counts, tests declared BEYOND (else "
                        "run by --name only), and --vary at the fewest ranks")
    parser.add_argument("--in-turn", action="store_true",
                        help="variants of a test, further rank counts, values of --vary, and what --beyond runs: "
                        "each over one of the MPIs, in turn")
    parser.add_argument("--backend", default="emu", help="run ranks on this back end's devices: what is not about "
                        "the emulated device alone")
    parser.add_argument("--devices", type=int, default=0, help="how many there are: tests that need one a rank "
                        "run with no more ranks")
    parser.add_argument("--jobs", type=int, default=6,
                        help="tests at a time, where one of ranks counts as many (Open MPI: half); six suit two cores")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    head, entries = read_manifest(options.build)
    tests = select(head, entries, options)
    if options.list:
        for test in tests:
            print(test.label)
        return 0
    timeout_scale = 4.0 if head["sanitizer"] else 1.0
    passed, failed, left_out = run_tests(tests, options.jobs, timeout_scale)
    print(f"{passed} passed, {failed} failed" + f", {left_out} left out" * (left_out > 0))
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
