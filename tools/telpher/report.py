# SPDX-License-Identifier: BSD-3-Clause
"""`telpher report`: runs a chosen set of benchmarks and writes one HTML page with plots, and PNGs for a paper.

Stopped with Ctrl-C, or killed, it goes on where it was when the same command is given again."""
import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from datetime import datetime

from . import UserError, jobs, libraries, report_figures, report_page

EPILOG = "What it measures and how to read it: docs/measure/report.md."
STATE_VERSION = 1
SETS = ("quick", "standard", "full")


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("telpher report", description=__doc__, epilog=EPILOG)
    p.add_argument("-n", "--ranks", type=int, default=2, metavar="N", help="ranks (%(default)s)")
    p.add_argument("--set", dest="chosen", choices=SETS, default="standard", help="how much is measured (%(default)s)")
    p.add_argument("-o", "--output", default="telpher-report", metavar="FOLDER", help="(%(default)s)")
    p.add_argument("--only", default="", metavar="PARTS", help="only steps whose name contains one of these")
    p.add_argument("--min-time", default="", metavar="SECONDS", help="timed for each size and mode")
    p.add_argument("--title", default="", help="of the page")
    p.add_argument("--mpi", default="", help="as telpher run takes it")
    p.add_argument("--backend", default="", help="as telpher run takes it; emu takes emulated devices")
    p.add_argument("--again", action="store_true", help="forget what was measured before")
    p.add_argument("--render", action="store_true", help="measure nothing, make the page anew")
    p.add_argument("--plot-python", default="", metavar="PATH", help="a Python that has matplotlib, for the PNGs")
    p.add_argument("--json", action="store_true", help="print one JSON object at the end; progress goes to stderr")
    p.add_argument("--list", action="store_true", help="print the steps and stop")
    return p


# --- what is measured --------------------------------------------------------------------------------


def sizes(chosen: str, largest: str) -> str:
    return {"quick": f"8,1k,64k,{largest}", "standard": f"1:{largest}", "full": f"1:{largest}"}[chosen]


def steps_of(options) -> list:
    """(name, arguments of telpher bench, environment) of each step."""
    chosen = options.chosen
    kinds = {"quick": ["D:D"], "standard": ["D:D", "H:D", "D:H"],
             "full": ["D:D", "H:D", "D:H", "M:M", "P:D", "H:H"]}[chosen]
    pairs = {"quick": ["latency", "bw"], "standard": ["latency", "bw", "bibw"],
             "full": ["latency", "bw", "bibw"]}[chosen]
    several = [] if chosen == "quick" else ["multi_lat", "mbw_mr"]
    quick = ["allreduce", "allgather", "alltoall", "bcast", "iallreduce"]
    standard = [*quick, "reduce", "reduce_scatter", "gather", "scatter", "scan", "ialltoall", "neighbor_alltoall"]
    steps = []
    for test in pairs:
        for kind in kinds:
            steps.append((f"{test} {kind}", [test, "-b", kind, "-s", sizes(chosen, "4m")], {}))
    if options.ranks >= 4:
        steps += [(f"{test} D:D", [test, "-s", sizes(chosen, "1m")], {}) for test in several]
    if chosen == "full":
        steps.append(("latency vector", ["latency", "-D", "vector:64:128", "-s", "64:1m"], {}))
        steps.append(("latency persistent", ["latency", "--persistent", "-s", "1:1m"], {}))
    for test in {"quick": quick, "standard": standard, "full": ["collectives", "icollectives"]}[chosen]:
        steps.append((test, [test, "-s", sizes(chosen, "1m").replace("1:", "4:")], {}))
    for path in ("ipc_get", "batch"):
        steps.append((f"matrix {path}", ["--once", "matrix"], {"TELPHER_PATH": path}))
    parts = [part for part in options.only.split(",") if part]
    return [step for step in steps if not parts or any(part in step[0] for part in parts)]


def min_time(options) -> str:
    return options.min_time or {"quick": "0.02", "standard": "0.1", "full": "0.25"}[options.chosen]


def command_of(options, arguments: list, file: str) -> list:
    own = ["-n", str(options.ranks)]
    for name in ("mpi", "backend"):
        if getattr(options, name):
            own += [f"--{name}", getattr(options, name)]
    return ["bench", *own, *arguments, "--min-time", min_time(options), "--validate", "--json", file]


# --- state -------------------------------------------------------------------------------------------


class State:
    """What was done, in state.json of the output folder; written anew after each step, never half."""

    def __init__(self, folder: str, asked: dict, forget: bool):
        self.path = os.path.join(folder, "state.json")
        self.content = {"version": STATE_VERSION, "asked": asked, "steps": {},
                        "begun": datetime.now().astimezone().isoformat(timespec="seconds")}
        if forget or not os.path.isfile(self.path):
            return
        with open(self.path) as file:
            before = json.load(file)
        if before.get("version") != STATE_VERSION or before.get("asked") != asked:
            raise UserError(f"{folder} holds a report that was asked for with other options; "
                            "take another folder (-o) or --again")
        self.content = before

    def done(self, name: str) -> bool:
        return self.content["steps"].get(name, {}).get("state") == "done"

    def note(self, name: str, **facts) -> None:
        self.content["steps"][name] = facts
        self.write()

    def write(self) -> None:
        with open(self.path + ".new", "w") as file:
            json.dump(self.content, file, indent=1)
        os.replace(self.path + ".new", self.path)


# --- running -----------------------------------------------------------------------------------------


def run_step(command: list, environment: dict) -> tuple:
    """(exit code, output); the child and its ranks are ended if this process is interrupted."""
    line = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher"), *command]
    done = jobs.run(line, env=dict(os.environ) | environment, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def file_name(step: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else "-" for c in step) + ".json"


def remaining(times: list, left: int) -> str:
    if not times:
        return ""
    seconds = sum(times) / len(times) * left
    return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"


def say(options, *words: str, **more) -> None:
    print(*words, file=sys.stderr if options.json else sys.stdout, flush=True, **more)


def measure(options, state: State, steps: list) -> None:
    data = os.path.join(options.output, "data")
    os.makedirs(data, exist_ok=True)
    times = []
    for number, (name, arguments, environment) in enumerate(steps, 1):
        head = f"[{number}/{len(steps)}] {name}"
        if state.done(name):
            say(options, f"{head}: done before")
            continue
        say(options, f"{head} ...", end="")
        file = os.path.join(data, file_name(name))
        command = command_of(options, arguments, file)
        # As the page shows it, the file lies where the reader stands.
        by_hand = command_of(options, arguments, file_name(name))
        shown = shlex.join([*(f"{k}={v}" for k, v in environment.items()), "telpher", *by_hand])
        begin = time.monotonic()
        code, output = run_step(command, environment)
        seconds = time.monotonic() - begin
        times.append(seconds)
        right = code == 0 and os.path.isfile(file)
        state.note(name, state="done" if right else "failed", seconds=round(seconds, 1), command=shown,
                   file=os.path.relpath(file, options.output), output="" if right else output[-2000:])
        verdict = "" if right else f" FAILED (exit code {code})"
        say(options, f" {seconds:.1f} s{verdict}{remaining(times, len(steps) - number)}")


def results(options, state: State) -> list:
    """What each finished step found: name, command, environment's path, about, rows."""
    found = []
    for name, step in state.content["steps"].items():
        if step["state"] != "done":
            continue
        with open(os.path.join(options.output, step["file"])) as file:
            document = json.load(file)
        found.append({"name": name, "command": step["command"], **document})
    return found


def render(options, state: State) -> None:
    found = results(options, state)
    failed = {name: step for name, step in state.content["steps"].items() if step["state"] == "failed"}
    page = os.path.join(options.output, "report.html")
    title = options.title or "Telpher: what was measured"
    with open(page, "w") as out:
        out.write(report_page.page(title, found, failed, state.content))
    figures = os.path.join(options.output, "figures")
    drawn = report_figures.draw(found, figures, options.plot_python)
    say(options, f"page: {page}\n{drawn}")
    if options.json:
        print(json.dumps({"page": page, "figures": figures, **state.content}, indent=1))


def report(arguments: list) -> int:
    options = parser().parse_args(arguments)
    if options.ranks < 2:
        raise UserError(f"-n {options.ranks}: a report needs two ranks or more")
    steps = steps_of(options)
    if not steps:
        raise UserError(f"--only {options.only}: no step has that in its name; --list prints them")
    if options.list:
        names = [name for name, _, _ in steps]
        print(json.dumps(names) if options.json else "\n".join(names))
        return 0
    os.makedirs(options.output, exist_ok=True)
    asked = {"ranks": options.ranks, "set": options.chosen, "min_time": min_time(options), "mpi": options.mpi,
             "backend": options.backend}
    state = State(options.output, asked, options.again)
    jobs.interrupt_on_terminate()
    try:
        if not options.render:
            measure(options, state, steps)
    except KeyboardInterrupt:
        say(options, "\nstopped; the same command goes on from here")
        render(options, state)
        return 130
    render(options, state)
    failed = [name for name, step in state.content["steps"].items() if step["state"] == "failed"]
    if failed:
        say(options, f"failed: {', '.join(failed)}; the page and {state.path} have their output")
    return 1 if failed else 0
