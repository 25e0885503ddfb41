# SPDX-License-Identifier: BSD-3-Clause
"""The step `apps` of bench/gpu_session.py: the programs of apps/ with device pointers handed to MPI against the
same programs staging by hand, on one and two GPUs, with two ranks and with eight, near their GPUs or not."""
import json
from dataclasses import dataclass

from gpu_jobs import MPI_ENV, Session


@dataclass(frozen=True)
class Layout:
    name: str
    ranks: int
    devices: int = 2  # that the ranks see; 1: as programs that choose no device end up
    near: bool = False  # telpher exec: bound to the cores near the rank's device
    compared: bool = True  # staging by hand is measured as well
    checked: bool = False  # the small runs with every check


LAYOUTS = (
    Layout("2 ranks, 1 GPU", 2, devices=1),
    Layout("2 ranks, 2 GPUs", 2, checked=True),
    Layout("2 ranks, 2 GPUs, near", 2, near=True, compared=False),
    Layout("8 ranks, 2 GPUs", 8),
    Layout("8 ranks, 2 GPUs, near", 8, near=True, compared=False),
    Layout("4 ranks, 4 GPUs", 4, devices=4),
    Layout("8 ranks, 4 GPUs", 8, devices=4, checked=True),
)
SMALL = {  # quick, with every check
    "stencil3d": ("--sizes 1,4k,1m -k 2 --iterations 3 --grid 8", "--mode heat --nx 24 --ny 20 --nz 14 --steps 10",
                  "--mode heat --nx 24 --ny 20 --nz 14 --steps 10 --exchange packed"),
    "ghost_exchange": ("-i 61 -j 47 -h 2 -c -I 20",),
    "cg": ("--nx 16 --ny 16 --nz 16 --iterations 30", "--nx 16 --ny 16 --nz 16 --iterations 30 --exchange matched"),
}
PLAIN = {"stencil3d_cuda": "-n 24 -I 10", "ghost_exchange_cuda": "-i 61 -j 47 -h 2 -c -I 20", "cg_cuda": "-n 16 -I 50"}
TIMED = {
    "messages": ("stencil3d", "--sizes 1,1k,16k,64k,256k,1m -k 4 --iterations 50 --no-check"),
    "heat": ("stencil3d", "--mode heat --nx 256 --ny 256 --nz 256 --steps 100 --no-check"),
    "ghost": ("ghost_exchange", "-i 4096 -j 4096 -h 1 -c -I 50 --no-check"),
    "cg": ("cg", "--iterations 30 --no-check"),
}
TIMED_WITHOUT_GPU = {  # tries the step itself
    "messages": ("stencil3d", "--sizes 1,64k -k 2 --iterations 3 --no-check"),
    "heat": ("stencil3d", "--mode heat --nx 16 --ny 16 --nz 16 --steps 5 --no-check"),
    "ghost": ("ghost_exchange", "-i 64 -j 64 -c -I 5 --no-check"),
    "cg": ("cg", "--nx 8 --ny 8 --nz 8 --iterations 5 --no-check"),
}
IN_ORDER = {"heat": ("matched",), "cg": ("matched",)}  # further ways of --exchange


def launch(session: Session, layout: Layout, abi: str, program: str, arguments: str, limit: float = 120):
    """(outcome, rows)"""
    file = session.scratch / "app.json"
    file.unlink(missing_ok=True)
    line = [session.launcher(abi), "-n", str(layout.ranks)]
    line += ["--bind-to", "none"] if abi == "ompi" else []
    line += session.preload(abi)
    if session.options.backend == "cuda":
        line += ["CUDA_VISIBLE_DEVICES=" + ",".join(map(str, range(layout.devices)))]
    if layout.near:
        line += [session.build / "bin/telpher", "exec", "--bind", "auto", "--"]
    line += [session.build / f"bin/{program}-{abi}", *arguments.split()]
    if program not in PLAIN:
        line += ["--json", file]
    outcome = session.command(line, limit, MPI_ENV)
    rows = json.loads(file.read_text())["rows"] if outcome.good and file.is_file() else []
    return outcome, [row | {"label": f"apps {layout.name}", "abi": abi, "near": layout.near} for row in rows]


def check(session: Session, layout: Layout, abi: str) -> list[str]:
    """The small runs; names of those that failed."""
    runs = [(program, f"{line}{way}") for program, lines in SMALL.items() for line in lines
            for way in ("", "" if "--exchange" in line else " --exchange staged")]
    runs += [(program, line + way) for program, line in PLAIN.items() for way in ("", " -s")
             if (session.build / f"bin/{program}-{abi}").is_file() and session.options.backend == "cuda"]
    return [f"{program} {line} ({layout.name})" for program, line in dict.fromkeys(runs)
            if not launch(session, layout, abi, program, line, 60)[0].good]


def key_of(row: dict) -> str:
    return str(row.get("bytes") or row.get("version") or row.get("phase") or row.get("mode"))


def figure_of(row: dict) -> float:
    """Microseconds of an iteration of messages, seconds of the others."""
    return row["us"] if "us" in row else row["seconds"]


def show(session: Session, name: str, found: dict) -> None:
    """`found`: {(layout, way): {key: figure}}"""
    keys = list(dict.fromkeys(key for figures in found.values() for key in figures))
    lines = []
    for key in keys:
        line = [key]
        for (layout, way), figures in found.items():
            if way == "staged":
                continue
            value, by_hand = figures.get(key), found.get((layout, "staged"), {}).get(key)
            line.append("-" if value is None else f"{value:.4g}" + (f" ({by_hand / value:.2f})" if by_hand else ""))
        lines.append(line)
    unit = "us an iteration" if name == "messages" else "seconds"
    session.table(f"{name}, {unit}; in brackets how much better than staged by hand",
                  [name, *(layout if way == "telpher" else f"{layout}, {way}" for layout, way in found
                           if way != "staged")], lines)


def timed(session: Session, layouts: list[Layout], abi: str) -> tuple[int, int]:
    """(runs that gave figures, runs)"""
    done = runs = 0
    for name, (program, line) in (TIMED if session.options.backend == "cuda" else TIMED_WITHOUT_GPU).items():
        found: dict = {}
        for layout in layouts:
            ways = ("telpher", "staged", *IN_ORDER.get(name, ())) if layout.compared else ("telpher",)
            for way in ways:
                _, rows = launch(session, layout, abi, program, f"{line} --exchange {way}")
                session.rows += rows
                session.save()
                found[layout.name, way] = {key_of(row): figure_of(row) for row in rows}
                runs += 1
                done += bool(rows)
        show(session, name, found)
    return done, runs


def apps(session: Session) -> str:
    abis = session.abis()
    if not abis:
        return "FAILED: no programs were built"
    layouts = [layout for layout in LAYOUTS if session.devices >= layout.devices]
    failed = [name for layout in layouts if layout.checked for name in check(session, layout, abis[0])]
    done, runs = timed(session, layouts, abis[0])
    text = f"{done} of {runs} runs gave figures" + ("" if done == runs else ", FAILED others")
    return text + (f"; FAILED checks: {'; '.join(failed)[:300]}" if failed else "; all checks right")
