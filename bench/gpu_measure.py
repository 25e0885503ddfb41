# SPDX-License-Identifier: BSD-3-Clause
"""The steps of bench/gpu_session.py that measure. Figures go to the session's rows; each step prints a table
and gives one line on what came of it."""
import json
import statistics
import sys

from gpu_jobs import Session

WINDOW = "-w 64 --window-memory 256m"
PEER_TESTS = (("latency", "8,1k,8k,64k", ""), ("bw", "8,8k,64k,256k,1m,4m,64m", WINDOW),
              ("bibw", "256k,1m,64m", WINDOW))
PATHS = [{"TELPHER_PATH": path} for path in ("auto", "ipc_get", "ipc_put", "batch", "linger", "staged")]
LINGERS = [{"TELPHER_LINGER": value} for value in ("on", "off")]


def size_text(size: int) -> str:
    for shift, unit in ((20, "MB"), (10, "KB")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def figure(row: dict) -> float:
    """Microseconds of latency, GB/s of the others, millions of messages a second at 8 bytes of those."""
    if unit(row) == "us":
        return row["us"]
    return row["rate"] / 1e6 if row["bytes"] <= 8 else row["gbps"]


def unit(row: dict) -> str:
    return "us" if row["test"].endswith(("latency", "multi_lat")) else "M/s" if row["bytes"] <= 8 else "GB/s"


def shown(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def cell(row: dict) -> str:
    return shown(figure(row)) + ("" if row["validated"] is not False else " WRONG")


def judge(rows: list[dict], runs: int, done: int) -> str:
    wrong = sum(row["validated"] is False for row in rows)
    text = f"{done} of {runs} runs gave figures, {wrong} rows WRONG" if wrong else f"{done} of {runs} runs gave figures"
    return text + ("" if done == runs else ", FAILED others")


# --- against peers ---

def medians(rounds: list[list[dict]]) -> dict:
    """{(test, bytes): (median figure, row)} over the rounds of one side."""
    samples: dict = {}
    for row in (row for rows in rounds for row in rows):
        samples.setdefault((row["test"], row["bytes"]), []).append(row)
    return {key: (statistics.median(figure(row) for row in rows), rows[0]) for key, rows in samples.items()}


def peer_environments(session: Session) -> dict:
    library = next(session.options.ucx.resolve().rglob("libucp.so.0")).parent
    base = {"LD_LIBRARY_PATH": str(library)}
    return {"ucx-rndv0": base | {"UCX_RNDV_THRESH": "0"}, "ucx": base}


def peers(session: Session) -> str:
    if not session.options.ucx:
        return "left out: no --ucx"
    if session.options.backend != "cuda":
        return "left out: the peer takes CUDA memory only"
    sides = {"telpher": None} | peer_environments(session)
    rounds: dict = {side: [] for side in sides}
    runs = 0
    for turn in range(session.options.rounds):
        for test, sizes, more in PEER_TESTS:
            for side, peer in sides.items():
                line = (f"-s {sizes} --mode telpher --alloc malloc "
                        f"--device {session.devices_of_ranks()} --min-time 0.1 "
                        f"--batches 7 --validate {more}")
                rounds[side].append(session.bench(f"peers-{side}-{turn}", test, line, peer=peer, limit=45))
                runs += 1
        peer_table(session, rounds, turn)
    done = sum(bool(rows) for side in rounds.values() for rows in side)
    return judge([row for side in rounds.values() for rows in side for row in rows], runs, done)


def peer_table(session: Session, rounds: dict, turn: int) -> None:
    """Shown after each round, so that a session that is cut off has one; the last stays for the summary."""
    found = {side: medians(rows) for side, rows in rounds.items()}
    lines = []
    for key in dict.fromkeys(key for side in found.values() for key in side):
        values = {side: rows[key] for side, rows in found.items() if key in rows}
        row = next(iter(values.values()))[1]
        columns = [f"{key[0]} {size_text(key[1])} {unit(row)}"]
        columns += [shown(values[side][0]) if side in values else "-" for side in rounds]
        others = [values[side][0] for side in values if side != "telpher"]
        best = (min if key[0] == "latency" else max)(others, default=0)
        ours = values.get("telpher")
        columns += [f"{ours[0] / best:.2f}" if ours and best else "-", ours[1]["path"] if ours else "-"]
        lines.append(columns)
    if turn:
        session.tables.pop()
    session.table(f"Telpher over Open MPI against Open MPI over UCX, medians of {turn + 1} rounds; ours / best peer",
                  ["test", *rounds, "ratio", "path"], lines)


# --- point to point ---

def both_columns(rows: list[dict]) -> dict:
    """{bytes: 'telpher (ratio to staged)'}"""
    found: dict = {}
    for row in rows:
        found.setdefault(row["bytes"], {})[row["mode"]] = row
    return {size: cell(modes["telpher"]) + (f" ({modes['staged']['us'] / modes['telpher']['us']:.1f})"
                                            if "staged" in modes else "")
            for size, modes in found.items() if "telpher" in modes}


def size_table(session: Session, title: str, columns: dict) -> None:
    sizes = sorted({size for column in columns.values() for size in column})
    session.table(title, ["bytes", *columns],
                  [[size_text(size), *(column.get(size, "-") for column in columns.values())] for size in sizes])


def pt2pt(session: Session) -> str:
    runs = [(f"{test} D:D", test, f"-s 8:1m -b D:D --validate --min-time 0.1 {WINDOW}", "ompi")
            for test in ("latency", "bw", "bibw")]
    large = "-s 2m:64m -b D:D --validate --min-time 0.1 --batches 5 -w 16 --window-memory 256m"
    runs += [(f"{test} D:D", test, large, "ompi")
             for test in ("latency", "bw", "bibw")]
    short = "--validate --min-time 0.1 --batches 5 -w 16 --window-memory 256m -s 8,1k,8k,64k,256k,1m,16m"
    for kinds in ("D:H", "H:D", "M:D"):
        runs += [(f"{test} {kinds}", test, f"-b {kinds} {short}", "ompi") for test in ("latency", "bw")]
    if "mpich" in session.abis():
        runs += [(f"{test} mpich", test, f"-b D:D {short}", "mpich") for test in ("latency", "bw")]
    runs += [("one device", "latency", "-s 8,64k,1m --validate --device 0:0", "ompi")]
    columns: dict = {}
    rows, done = [], 0
    for label, test, line, abi in runs:
        found = session.bench("pt2pt " + label, test, line, abi)
        rows += found
        done += bool(found)
        columns.setdefault(label, {}).update(both_columns(found))
    whole = {label: column for label, column in columns.items() if label.endswith("D:D")}
    size_table(session, "device to device, us or GB/s (8 B: M/s), in brackets how much better than staged by hand",
               whole)
    size_table(session, "other memory, the same",
               {label: column for label, column in columns.items() if label not in whole})
    return judge(rows, len(runs), done)


def sizes(session: Session) -> str:
    """Every byte of every size from 1 B to 256 MiB, each kind of memory, on two devices and on one."""
    line = "-s 1:256m --mode telpher --validate --min-time 0.01 --batches 3 -w 4 --window-memory 256m"
    runs = [(f"{test} {kinds} {devices}", test, f"{line} -b {kinds} --device {devices}")
            for devices in dict.fromkeys((session.devices_of_ranks(), "0:0"))
            for kinds in ("D:D", "D:H", "H:D", "M:D") for test in ("latency", "bw", "bibw")]
    rows, done, lines = [], 0, []
    for label, test, words in runs:
        found = session.bench("sizes " + label, test, words)
        rows += found
        done += bool(found)
        wrong = sum(row["validated"] is not True for row in found)
        lines.append([label, str(len(found)), size_text(max((row["bytes"] for row in found), default=0)), str(wrong)])
    session.table("1 B to 256 MiB, every byte looked at", ["run", "sizes", "largest", "wrong"], lines)
    return judge(rows, len(runs), done)


def memory(session: Session) -> str:
    kinds = ("telpher", "malloc", "async", "vmm", "vmm-fd") if session.options.backend == "cuda" else ("telpher",)
    rows, done, lines = [], 0, []
    for kind in kinds:
        line = f"-s 8,8k,64k,1m,16m --mode telpher --alloc {kind} --device {session.devices_of_ranks()} --validate"
        found = session.bench(f"memory {kind}", "latency", line + " --min-time 0.1")
        rows += found
        done += bool(found)
        lines.append([kind, *([f"{cell(row)} {row['path']}" for row in found] or ["-"] * 5)])
    session.table("latency by the kind of allocation, us",
                  ["allocation", "8 B", "8 KB", "64 KB", "1 MB", "16 MB"], lines)
    return judge(rows, len(kinds), done)


def rate(session: Session) -> str:
    runs = [(f"{abi} {kinds} window {window}", abi, f"-s 8 -b {kinds} -w {window} --mode telpher --validate")
            for abi in session.abis() for kinds in ("D:D", "H:H") for window in (64, 512)]
    rows, lines = [], []
    for label, abi, line in runs:
        found = session.bench("rate " + label, "mbw_mr", line, abi)
        rows += found
        lines.append([label, *([f"{found[0]['rate'] / 1e6:.3f}", found[0]["path"]] if found else ["-", "-"])])
    session.table("messages of 8 bytes, millions a second", ["run", "M/s", "path"], lines)
    return judge(rows, len(runs), sum(line[1] != "-" for line in lines))


# --- codecs ---

def codec(session: Session) -> str:
    file = session.scratch / "codec.json"
    file.unlink(missing_ok=True)
    done = session.command([session.build / "bin/telpher-bench-codec", "-s", "1m,16m,64m,256m", "-r", "4,8,16,32",
                            "--min-time", "0.05", "--json", file], 240,
                           {"TELPHER_BACKEND": session.options.backend,
                            "TELPHER_PLUGIN_PATH": str(session.build / "lib")})
    rows = json.loads(file.read_text())["rows"] if file.is_file() else []
    session.rows += [row | {"label": "codec"} for row in rows]
    lines = [[f"{row['codec']} {row['type']} {row['dims']}D rate {row['rate']:g} {size_text(row['bytes'])}",
              f"{row['encode_gbps']:.1f}", f"{row['decode_gbps']:.1f}", f"{row['copy_gbps']:.1f}",
              f"{row['encode_of_copy']:.2f}", f"{row['decode_of_copy']:.2f}"] for row in rows]
    session.table("codecs, GB/s of plain bytes", ["run", "encode", "decode", "copy", "e/copy", "d/copy"], lines)
    return f"{len(rows)} rows" if done.good and rows else "FAILED"


# --- forced paths ---

def paths(session: Session) -> str:
    tests = (("latency", "8,8k,64k,1m", ""), ("bw", "8,8k,64k,256k,1m,16m", WINDOW))
    lines, rows, done = [], [], 0
    for settings in PATHS + LINGERS:
        name = " ".join(f"{key.removeprefix('TELPHER_').lower()}={value}" for key, value in settings.items())
        line, used = [name], []
        for test, sizes, more in tests:
            found = session.bench(f"paths {name}", test, f"-s {sizes} --mode telpher --validate --min-time 0.1 {more}",
                                  limit=45, **settings)
            rows += found
            done += bool(found)
            by_size = {size_text(row["bytes"]): cell(row) for row in found}
            line += [by_size.get(size_text(parse(size)), "-") for size in sizes.split(",")]
            used += [row["path"] for row in found]
        lines.append([*line, "/".join(dict.fromkeys(used))])
    head = ["setting"] + [f"{ {'latency': 'lat'}.get(test, test) } {size}" for test, sizes, _ in tests
                          for size in sizes.split(",")]
    session.table("forced paths: latency us; bandwidth GB/s (8 B: M/s)", [*head, "paths seen"], lines)
    return judge(rows, len(lines) * len(tests), done)


def parse(size: str) -> int:
    shift = {"k": 10, "m": 20}.get(size[-1], 0)
    return int(size.rstrip("km")) << shift


# --- host memory only ---

def host(session: Session) -> str:
    results = []
    for abi in session.abis():
        file = session.scratch / f"host-{abi}.json"
        file.unlink(missing_ok=True)
        session.command([sys.executable, "bench/host_overhead.py", "--mpirun", " ".join(session.mpirun(abi)),
                         "--bench", session.build / f"bin/telpher-bench-{abi}",
                         "--preload", session.build / f"lib/libtelpher-{abi}.so",
                         "--repetitions", "5", "--min-time", "0.05", "--json", file], 120,
                        {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        rows = json.loads(file.read_text())["rows"] if file.is_file() else []
        labels = {"label": f"host {abi}", "abi": abi}
        session.rows += [{key: value for key, value in row.items() if key != "samples"} | labels
                         for row in rows]
        lines = [[f"{row['test']} {size_text(row['bytes'])}", f"{row['us_without']:.3f}", f"{row['us_with']:.3f}",
                  f"{row['ratio']:.3f}", f"{row['ratio_of_minima']:.3f}"] for row in rows]
        session.table(f"host memory over {abi}, us", ["test", "without", "with", "ratio", "of minima"], lines)
        worst = max((row["ratio"] for row in rows), default=0)
        results.append(f"{abi} worst ratio {worst:.3f}" if rows else f"{abi} FAILED")
    return "; ".join(results)


# --- back ends ---

def backends(session: Session, *names: str) -> str:
    """The same exchange through each back end in turn; how much slower the others are than the first."""
    found: dict = {name: {} for name in names}
    rounds: dict = {name: [] for name in names}
    for turn in range(session.options.rounds):
        for test, sizes in (("latency", "8,1k,64k"), ("bw", "8k,256k,4m")):
            for name in names:
                line = f"-s {sizes} --mode telpher --device {session.devices_of_ranks()} --min-time 0.1 --validate"
                rounds[name].append(session.bench(f"backend-{name}-{turn}", test, line, limit=45,
                                                  TELPHER_BACKEND=name))
    for name in names:
        found[name] = medians(rounds[name])
    lines, ratios = [], []
    for key, (first, row) in found[names[0]].items():
        others = [found[name][key][0] for name in names[1:] if key in found[name]]
        ratios += [first / other if row["test"] != "latency" else other / first for other in others]
        lines.append([f"{key[0]} {size_text(key[1])}", unit(row), *(shown(value) for value in (first, *others))])
        lines[-1] += ["-"] * (2 + len(names) - len(lines[-1]))
    session.table("back ends, medians of the rounds", ["", "unit", *names], lines)
    worst = f"at worst {max(ratios):.2f} times the first" if ratios else "FAILED: no figures of both"
    return f"{' and '.join(names)}: {worst}"


def memcpy(session: Session) -> str:
    results = []
    for name in ("cuda", "hip") if session.options.backend == "cuda" else (session.options.backend,):
        file = session.out / f"memcpy-{name}.json"
        done = session.command([session.build / "bin/telpher-memcpy", "--backend", name, "-s", "8,512,8k,64k,1m,4m",
                                "--json", file], 90, {"TELPHER_PLUGIN_PATH": str(session.build / "lib")})
        results.append(f"{name} {'ok' if done.good else 'FAILED'}")
    return "; ".join(results)
