# SPDX-License-Identifier: BSD-3-Clause
"""`telpher tune`: measures on this machine which way is the fastest, and writes a table that the library then takes in
place of its built-in choices.

Every variant is a run of telpher-bench of its own, because settings count when a program starts. Rounds go through all
variants in turn, so that a disturbance hits all alike; a round that is interrupted is thrown away. A choice differs
from the built-in one only where it was faster by more than --margin."""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

from . import UserError, info, jobs, libraries, tables, tune_nodes
from .tune_choices import (BLOCKING, BUILT_IN, ENQUEUED, FORMS, MATCHED, NODES, OPERATIONS, STREAMED, Trial, Variant,
                           all_choices, between, bound)

# (algorithm, transport in a row of a table, TELPHER_COLL_TRANSPORT, the paths that show that it ran so, the forms of
# calls that can take it). Where ranks share a device, what would exchange is stepped.
WAYS = (
    ("push", "packed", "auto", ("coll_packed",), FORMS),
    ("two_shot_push", "packed", "auto", ("coll_packed",), FORMS),
    ("push", "lines", "lines", ("coll_lines",), (ENQUEUED, MATCHED)),
    ("two_shot_push", "lines", "lines", ("coll_lines",), (ENQUEUED, MATCHED)),
    ("one_shot", "exchange", "auto", ("coll_exchange", "coll_stepped"), FORMS),
    ("two_shot", "exchange", "auto", ("coll_exchange", "coll_stepped"), FORMS),
    ("one_shot", "stepped", "stepped", ("coll_stepped",), (BLOCKING,)),
    ("library", "vendor", "vendor", ("coll_vendor",), (BLOCKING,)),
)
# How telpher-bench measures a form: what its tests' names end in, and its options.
BENCH = {
    BLOCKING: ("", ["--mode", "telpher"]),
    ENQUEUED: ("", ["--enqueue", "--mode", "enqueued"]),
    MATCHED: ("_persistent", ["--enqueue", "--mode", "enqueued"]),
    NODES: ("", ["--mode", "telpher"]),
}
# Setting: tests, what it is put to so that the way below it is always or never taken, whether it is a lower bound.
BOUNDS = {
    "mapped_limit": (("latency", "bw"), "1m", "0", False),
    "linger_limit": (("latency", "bw"), "1m", "0", False),
    "batch_limit": (("bw",), "1g", "0", False),
    "coll_mapped_threshold": (("allreduce", "allgather"), "0", "inf", True),
}
ELSEWHERE = ("rank 0 left no measurements in this machine's files: it runs on another node; start telpher tune on the "
             "first node of the job, or put TMPDIR on a file system that the nodes share")
UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("telpher tune", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("-n", "--ranks", default="", metavar="N,N", help="numbers of ranks (2, and one a device up to 8)")
    p.add_argument("-s", "--sizes", default="", metavar="N,N", help="sizes in bytes (powers of 4 from 64 to 16m)")
    p.add_argument("--rounds", type=int, default=3, metavar="N", help="how often everything is measured (3)")
    p.add_argument("--min-time", default="0.05", metavar="SECONDS", help="for each size in each round (0.05)")
    p.add_argument("--margin", type=float, default=0.05, metavar="PART", help="less is no difference (0.05)")
    p.add_argument("--only", default="", metavar="TESTS", help="collectives to look at, or bounds; else all")
    p.add_argument("--forms", default=",".join(FORMS), metavar="FORMS", help="of enqueued (calls that "
                   "come again in streams), matched\n(persistent ones after telpher_match), blocking; all three.\n"
                   "nodes: calls between nodes, if ranks are on several")
    p.add_argument("--mpirun-args", default="", metavar="'ARGS'", help="arguments passed on to mpirun")
    p.add_argument("--whole", action="store_true", help="leave nothing to the built-in choices: the fastest of "
                   "what was measured, for every size")
    p.add_argument("--as-selection", default="", metavar="FILE", help="only print a table in the form of "
                   "selection.def, whose rows are built in")
    p.add_argument("--mpi", default="", metavar="mpich|ompi|mpi_abi", help="the MPI to measure with")
    p.add_argument("--backend", default="", metavar="NAME", help="cuda, hip, sycl or emu")
    p.add_argument("-o", "--output", default="", metavar="FILE", help="the table (where the library looks for it)")
    p.add_argument("--json", action="store_true", help="print one JSON object at the end, with every measurement")
    p.add_argument("--timeout", type=int, default=600, metavar="SECONDS", help="how long one run may take (600)")
    return p


def size_of(text: str) -> int:
    text = text.strip().lower()
    if text == "inf":
        return 1 << 62
    unit = UNITS.get(text[-1:], 1)
    digits = text[:-1] if unit > 1 else text
    if not digits.isdigit():
        raise UserError(f"{text} is no size such as 64k")
    return int(digits) * unit


# --- what is measured ---


def bench(options, ranks: int, tests: tuple, settings: dict, more: list, file: str,
          form: str = BLOCKING) -> subprocess.CompletedProcess:
    ending, how = BENCH[form]
    telpher = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher")]
    command = [*telpher, "bench", "-n", str(ranks), *more, *how, "--json", file]
    for name in ("mpi", "backend", "mpirun-args"):
        given = getattr(options, name.replace("-", "_"))
        command += [f"--{name}={given}"] if given else []
    environment = dict(os.environ) | {"TELPHER_TABLE": "off"}
    environment |= {"TELPHER_" + name.upper(): value for name, value in settings.items()}
    return jobs.run([*command, ",".join(test + ending for test in tests)], env=environment, timeout=options.timeout)


def machine_of(options, folder: str) -> list:
    """The signature, as the library itself tells it to ranks of this job."""
    file = os.path.join(folder, "first")
    try:
        answer = bench(options, 2, ("latency",), {"explain": "on"}, ["-s", "8", "-i", "1"], file)
    except subprocess.TimeoutExpired:
        raise UserError(f"two ranks of telpher-bench do not end within {options.timeout} s") from None
    if answer.returncode == 0 and not os.path.isfile(file):
        raise UserError(ELSEWHERE)
    for line in answer.stderr.splitlines() + answer.stdout.splitlines():
        if answer.returncode == 0 and "] machine: " in line:
            return line.split("] machine: ", 1)[1].split("; ")
    last = (answer.stderr.strip() or answer.stdout.strip() or "nothing was printed").splitlines()[-1]
    raise UserError(f"two ranks of telpher-bench with device memory do not run here: {last}")


def algorithms() -> dict:
    """The names of each operation's algorithms."""
    program = libraries.program("telpher-coll")
    if not program:
        raise UserError(f"telpher-coll is not in {libraries.home()}/bin; build Telpher again")
    found: dict = {}
    for line in subprocess.run([program, "list"], capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) > 1:
            found.setdefault(words[0], set()).add(words[1])
    return found


def wanted(options, names) -> tuple:
    asked = options.only.split(",") if options.only else list(names)
    return tuple(name for name in names if name in asked)


def tests_of(options, form: str) -> tuple:
    return wanted(options, OPERATIONS if form == BLOCKING else STREAMED)


def collective_variants(options, ranks: int, form: str) -> list:
    tests = tests_of(options, form)
    if not tests:
        return []
    known, found = algorithms(), [Variant(BUILT_IN, ranks, tests, {}, form=form)]
    for algorithm, transport, forced, paths, forms in WAYS:
        own = tuple(t for t in tests if algorithm == "library" or algorithm in known.get(t, ()))
        if not own or form not in forms:
            continue
        settings = {"coll_transport": forced}
        if algorithm == "library":
            settings["ccl"] = "on"
        else:
            settings["coll_algorithm"] = ",".join(f"{t}={algorithm}" for t in own)
        found.append(Variant(f"{algorithm} {transport}", ranks, own, settings, paths, form=form))
    return found


def node_variants(options, counts: list) -> list:
    """Of the most ranks, since more of them are on each node then."""
    if NODES not in options.forms:
        return []
    return tune_nodes.variants_of(counts[-1], wanted(options, tune_nodes.OPERATIONS))


def bound_variants(options) -> list:
    found = []
    for name in wanted(options, BOUNDS):
        tests, always, never, _ = BOUNDS[name]
        found.append(Variant(f"{name} {always}", 2, tests, {name: always}))
        found.append(Variant(f"{name} {never}", 2, tests, {name: never}))
    return found


def rows_of(variant: Variant, file: str, sizes: list) -> dict:
    """By the size that was asked for: the bench makes it smaller where it is no whole number of elements a rank."""
    with open(file) as document:
        rows = json.load(document)["rows"]
    ending, _ = BENCH[variant.form]
    return {(r["test"].removesuffix(ending), min((s for s in sizes if s >= r["bytes"]), default=r["bytes"])): r["us"]
            for r in rows if not variant.keep or r["path"] in variant.keep}


def run_round(options, variants: list, folder: str, head: str) -> list:
    """What each variant took. A variant that cannot run is left out from then on."""
    found, began = [], time.monotonic()
    for number, variant in enumerate(list(variants)):
        passed = time.monotonic() - began
        left = f", some {passed / number * (len(variants) - number):.0f} s left in it" if number else ""
        what = f"{variant.name}, {variant.form}"
        say(options, f"{head}, run {number + 1} of {len(variants)}: {what}, {variant.ranks} ranks{left}")
        file = os.path.join(folder, f"rows-{number}.json")
        if os.path.exists(file):  # of the round before
            os.unlink(file)
        more = ["-s", options.sizes, "--min-time", options.min_time, "--batches", "5"]
        try:
            answer = bench(options, variant.ranks, variant.tests, variant.settings, more, file, variant.form)
            code, text = answer.returncode, answer.stderr.strip()
        except subprocess.TimeoutExpired:
            code, text = 1, f"no end within {options.timeout} s"
        if code == 0 and not os.path.isfile(file):
            code, text = 1, ELSEWHERE
        if "table" in variant.settings and "the table" in text:
            raise UserError(text.splitlines()[0])  # it was not used: a trial of it says nothing
        if code != 0:
            variant.failure = text.splitlines()[-1] if text else f"exit code {code}"
            say(options, f"left out: {what}: {variant.failure}")
        variant.runs += code == 0
        found.append(rows_of(variant, file, [int(s) for s in options.sizes.split(",")]) if code == 0 else {})
    return found


def say(options, text: str) -> None:
    print(text, file=sys.stderr if options.json else sys.stdout, flush=True)


def measure(options, variants: list, folder: str) -> int:
    """Fills the variants; the number of whole rounds. An error where no run of any of them succeeded."""
    for number in range(options.rounds):
        try:
            found = run_round(options, variants, folder, f"round {number + 1} of {options.rounds}")
        except KeyboardInterrupt:
            say(options, f"interrupted: {number} whole rounds count")
            return number
        if not any(variant.runs for variant in variants):
            last = variants[-1].failure if variants else "these options leave nothing to measure"
            raise UserError(f"no run succeeded, so nothing was written: {last}")
        for at, variant in enumerate(variants):
            variant.rounds.append(found[at])
    return options.rounds


# --- what is made of it ---


def all_bounds(variants: list, options, sizes: list) -> dict:
    """Settings to be changed: (value, tests, the sizes that then go another way)."""
    defaults = {row["name"]: row["default"] for row in info.probe(options.backend).get("settings", [])}
    by_name, found = {v.name: v for v in variants}, {}
    for name in wanted(options, BOUNDS):
        tests, always, never, lower = BOUNDS[name]
        default = size_of(defaults.get(name, "0"))
        value = bound(by_name[f"{name} {always}"], by_name[f"{name} {never}"], sizes, default, lower, options.margin)
        if value != default:
            found[name] = value, tests, between(value, default, sizes, lower)
    return found


def node_settings(variants: list, options, sizes: list) -> dict:
    found = tune_nodes.limits(variants, sizes, options.margin)
    if NODES in options.forms and not found:
        say(options, "no call went between nodes: start ranks on several, with --mpirun-args perhaps")
    return {"coll_between": tune_nodes.setting(found)} if found else {}


def trial_of(options, counts: list, candidate: str, folder: str) -> "Trial | None":
    """The table in that file beside the built-in choices; none if no round of them was whole."""
    pairs = {}
    of_bounds = [test for name in wanted(options, BOUNDS) for test in BOUNDS[name][0]]
    for ranks, form in itertools.product(sorted({*counts, *([2] if of_bounds else [])}), FORMS):
        tests = tests_of(options, form) if ranks in counts and form in options.forms else ()
        tests = tuple(dict.fromkeys((*tests, *(of_bounds if ranks == 2 and form == BLOCKING else ()))))
        if tests:
            pairs[ranks, form] = (Variant("trial: built-in", ranks, tests, {}, form=form),
                                  Variant("trial: the table", ranks, tests, {"table": candidate}, form=form))
    rounds = measure(options, [one for pair in pairs.values() for one in pair], folder)
    return Trial(pairs, options.margin) if rounds else None


# --- the command ---


def rank_counts(options) -> list:
    if options.ranks:
        words = options.ranks.split(",")
        if not all(word.isdigit() and int(word) > 1 for word in words):
            raise UserError(f"-n {options.ranks}: numbers from 2 on, such as 2,4")
        return sorted({int(word) for word in words})
    devices = max((len(b["devices"]) for b in info.probe(options.backend).get("backends", [])), default=0)
    return sorted({2, min(max(devices, 2), 8, len(os.sched_getaffinity(0)))} - {1})


def check(options) -> list:
    """The sizes."""
    if options.rounds < 1 or not 0 <= options.margin < 1:
        raise UserError("--rounds is 1 or more, --margin from 0 to below 1")
    unknown = set(options.only.split(",")) - {"", *OPERATIONS, *BOUNDS}
    if unknown:
        raise UserError(f"--only {sorted(unknown)[0]}: it takes {', '.join([*OPERATIONS, *BOUNDS])}")
    options.forms = options.forms.split(",")
    if strange := sorted(set(options.forms) - {*FORMS, NODES}):
        raise UserError(f"--forms {strange[0]}: it takes {', '.join((*FORMS, NODES))}")
    options.sizes = options.sizes or ",".join(str(4**power) for power in range(3, 13))
    sizes = sorted({size_of(word) for word in options.sizes.split(",")})
    options.sizes = ",".join(map(str, sizes))
    return sizes


def save(path: str, text: str) -> None:
    """Whole or not at all: jobs may be starting."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path + ".new", "w") as file:
            file.write(text)
        os.replace(path + ".new", path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


def tune(arguments: list) -> int:
    options = parser().parse_args(arguments)
    if options.as_selection:
        print(tables.as_selection(options.as_selection), end="")
        return 0
    sizes = check(options)
    jobs.interrupt_on_terminate()
    trial = None
    with tempfile.TemporaryDirectory(prefix="telpher-tune-") as folder:
        machine = machine_of(options, folder)
        counts = rank_counts(options)
        variants = [v for ranks in counts for form in FORMS if form in options.forms
                    for v in collective_variants(options, ranks, form)]
        variants += node_variants(options, counts) + bound_variants(options)
        say(options, f"machine: {'; '.join(machine)}")
        rounds = measure(options, variants, folder)
        if rounds == 0:
            return 130
        bounds = all_bounds(variants, options, sizes)
        choices = all_choices(variants, sizes, options.margin, whole=options.whole)
        if rounds == options.rounds and (bounds or choices):
            candidate = os.path.join(folder, "candidate")
            save(candidate, tables.write(machine, [], {name: one[0] for name, one in bounds.items()}, choices))
            trial = trial_of(options, counts, candidate, folder)
    if trial:
        bounds = {name: one for name, one in bounds.items() if trial.confirms_bound(*one[1:])}
        choices = choices if options.whole else all_choices(variants, sizes, options.margin, trial)
        variants += [one for pair in trial.pairs.values() for one in pair]
    settings = {name: one[0] for name, one in bounds.items()} | node_settings(variants, options, sizes)
    comments = [
        f"by telpher tune on {os.uname().nodename}, {time.strftime('%Y-%m-%d')}",
        f"{rounds} rounds of {len(variants)} runs" + ("" if trial else "; not tried as a whole"),
        f"ranks {', '.join(map(str, counts))}; sizes {options.sizes}; margin {options.margin}",
    ]
    path = options.output or os.path.join(tables.own_folder(), tables.file_of(machine))
    save(path, tables.write(machine, comments, settings, choices))
    report(options, path, machine, settings, choices, variants)
    return 0


def report(options, path: str, machine: list, settings: dict, choices: list, variants: list) -> None:
    if options.json:
        runs = [
            {"variant": v.name, "form": v.form, "ranks": v.ranks, "test": test, "bytes": size,
             "us": [r[test, size] for r in v.rounds]}
            for v in variants
            for test, size in sorted(set.intersection(*(set(r) for r in v.rounds)))
        ]
        print(json.dumps({"file": path, "machine": machine, "settings": settings, "choices": choices, "runs": runs}))
        return
    for name, value in settings.items():
        print(f"  {name} {value}")
    for operation, size, ranks, algorithm, transport, form in choices:
        if not size and algorithm == "builtin":
            continue  # what is not said is so
        print(f"  {operation}, {form}, to {size or 'any size'} on {ranks} ranks: {algorithm} {transport}".rstrip())
    same = not settings and not choices
    print(f"{path}: {'the built-in choices are as good' if same else 'differs from the built-in choices'}")
    print("in force" if not options.output else f"in force with TELPHER_TABLE={path}", "from the next start on")
