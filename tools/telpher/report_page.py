# SPDX-License-Identifier: BSD-3-Clause
"""The report as one HTML file that needs no network: data as JSON, report_page.js draws it."""
from __future__ import annotations

import html
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
PAIR_TESTS = {"latency": "Latency", "multi_lat": "Latency of several pairs", "bw": "Bandwidth",
              "bibw": "Bandwidth both ways", "mbw_mr": "Bandwidth of several pairs"}
KINDS = {"D": "device", "H": "host", "M": "managed", "P": "pinned"}
TIMED = {"latency", "multi_lat"}
MODE_NAMES = {"telpher": "Telpher", "staged": "staged by hand", "nccl": "NCCL",
              "messages": "messages by hand"}


def size_text(count: float) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count:g} B"


def figure(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def bandwidth(gbps: float) -> str:
    return f"{figure(gbps)} GB/s" if gbps >= 0.1 else f"{figure(gbps * 1e3)} MB/s"


# --- plots -------------------------------------------------------------------------------------------


def kind_text(kinds: str) -> str:
    first, _, second = kinds.partition(":")
    return f"{KINDS.get(first, first)} to {KINDS.get(second, second)} memory"


def series_of(rows: list, field: str, scale: float = 1.0) -> list:
    modes = {}
    for row in rows:
        drawn = field in row and (row[field] > 0 or field == "overlap")  # the others have logarithmic axes
        if drawn and row["bytes"] > 0:
            modes.setdefault(row["mode"], []).append([row["bytes"], row[field] * scale, row["path"]])
    return [{"name": MODE_NAMES.get(mode, mode), "mode": mode, "points": points} for mode, points in modes.items()]


def plot(title: str, note: str, rows: list, field: str, unit: str, better: str, scale: float = 1.0) -> dict | None:
    series = series_of(rows, field, scale)
    if not series:
        return None
    return {"title": title, "note": note, "unit": unit, "better": better, "series": series}


def plots(found: list) -> dict:
    """{section: [plots]}; a test may be in several steps, each with its own kinds of memory."""
    sections = {"Messages between two ranks": [], "Collectives": [], "Non-blocking collectives": []}
    groups = {}
    for step in found:
        for row in step["rows"]:
            if not row["test"].startswith("matrix"):
                variant = " ".join(step["name"].split()[1:]) if row["test"] in PAIR_TESTS else row["kinds"]
                groups.setdefault((row["test"], variant, row["kinds"]), []).append(row)
    for (test, variant, kinds), rows in groups.items():
        named = variant if variant != kinds else ""
        if test in PAIR_TESTS:
            where = sections["Messages between two ranks"]
            title = PAIR_TESTS[test] + (f", {named}" if named else "")
            if test in TIMED:
                where.append(plot(title, kind_text(kinds), rows, "us", "µs", "lower"))
            else:
                where.append(plot(title, kind_text(kinds), rows, "gbps", "GB/s", "higher"))
            continue
        blocking = not any("overlap" in row for row in rows)
        where = sections["Collectives" if blocking else "Non-blocking collectives"]
        note = f"{KINDS.get(kinds[0], kinds)} memory"
        where.append(plot(f"MPI_{test.capitalize()}", note + ", time", rows, "us", "µs", "lower"))
        if blocking:
            where.append(plot(f"MPI_{test.capitalize()}", note + ", bus bandwidth", rows, "bus_gbps", "GB/s", "higher"))
        else:
            where.append(plot(f"MPI_{test.capitalize()}", note + ", hidden behind computing", rows, "overlap", "%",
                              "higher"))
    return {name: [p for p in kept if p] for name, kept in sections.items() if any(kept)}


def matrices(found: list) -> list:
    out = []
    for step in found:
        for test, title, field, unit in (("matrix_latency", "latency", "us", "µs"),
                                         ("matrix_bw", "bandwidth", "gbps", "GB/s")):
            rows = [row for row in step["rows"] if row["test"] == test]
            if rows:
                by = {"ipc_get": "copy engine", "batch": "kernel"}.get(step["name"].split()[-1], "Telpher's choice")
                out.append({"title": f"{title.capitalize()} by {by}", "unit": unit,
                            "better": "lower" if field == "us" else "higher",
                            "note": size_text(rows[0]["bytes"]) + ", one pair at a time",
                            "size": step["about"]["ranks"],
                            "cells": [[row["from"], row["to"], row[field], row["path"]] for row in rows]})
    return out


# --- tables ------------------------------------------------------------------------------------------


def table(head: list, rows: list, numbers: bool = True) -> str:
    cells = "".join(f"<th>{html.escape(str(name))}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row) + "</tr>" for row in rows)
    kind = "numbers" if numbers else "words"
    return (f'<div class="scroll"><table class="{kind}"><thead><tr>{cells}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def glance(found: list) -> str:
    """For each test the smallest and the largest size: Telpher, staged by hand, and how they compare."""
    lines = []
    for step in found:
        tests = {}
        for row in step["rows"]:
            if row["bytes"] > 0 and not row["test"].startswith("matrix"):
                tests.setdefault(row["test"], {}).setdefault(row["bytes"], {})[row["mode"]] = row
        for test, by_size in tests.items():
            for size in sorted({min(by_size), max(by_size)}):
                modes = by_size[size]
                if "telpher" not in modes:
                    continue
                timed = test not in PAIR_TESTS or test in TIMED
                own = modes["telpher"]

                def value(row, timed=timed):
                    return figure(row["us"]) + " µs" if timed else bandwidth(row["gbps"])
                other = modes.get("staged")
                lines.append([step["name"] if len(tests) == 1 else test, size_text(size), value(own),
                              value(other) if other else "–", f"{other['us'] / own['us']:.2f}" if other else "–",
                              own["path"] if own["path"] != "-" else "–",
                              {True: "right", False: "WRONG", None: "–"}[own["validated"]]])
    return table(["test", "size", "Telpher", "staged by hand", "times better", "path", "bytes"], lines)


def all_rows(found: list) -> str:
    parts = []
    for step in found:
        rows = [[row["test"], size_text(row["bytes"]), row["kinds"], MODE_NAMES.get(row["mode"], row["mode"]),
                 figure(row["us"]), figure(row["us_min"]), figure(row["gbps"]), row["iterations"], row["path"]]
                for row in step["rows"] if not row["test"].startswith("matrix")]
        if rows:
            head = ["test", "size", "buffers", "how", "µs", "best µs", "GB/s", "iterations", "path"]
            parts.append(f"<details><summary>{html.escape(step['name'])}</summary>{table(head, rows)}</details>")
    return "".join(parts)


def circumstances(found: list, content: dict) -> str:
    if not found:
        return ""
    about = found[0]["about"]
    names = {"machine": "system", "cpu": "processor", "cores": "cores", "ranks": "ranks", "backend": "back end",
             "device_name": "device", "devices": "devices of the ranks", "staged_copy": "copy call of staging by hand",
             "telpher": "Telpher", "mpi": "host MPI"}
    rows = [[label, about[key]] for key, label in names.items() if key in about]
    rows.append(["measured from", content["begun"]])
    settings = sorted({(k, v) for step in found for k, v in step["about"]["settings"].items()
                       if k not in ("TELPHER_HOME", "TELPHER_LAUNCHED", "TELPHER_PATH")})
    rows += [[f"setting {name}", value] for name, value in settings]
    return table(["what", "value"], rows, numbers=False)


def repeat(content: dict) -> str:
    asked = content["asked"]
    words = ["telpher report", f"-n {asked['ranks']}", f"--set {asked['set']}", f"--min-time {asked['min_time']}"]
    words += [f"--{name} {asked[name]}" for name in ("mpi", "backend") if asked[name]]
    commands = [step["command"] for step in content["steps"].values()]
    return ("<p>All of it:</p><pre>" + html.escape(" ".join(words)) + "</pre><details><summary>Each step by itself"
            "</summary><pre>" + html.escape("\n".join(commands)) + "</pre></details>")


def failures(failed: dict) -> str:
    if not failed:
        return ""
    parts = [f"<h3>{html.escape(name)}</h3><pre>{html.escape(step['command'])}\n\n{html.escape(step['output'])}</pre>"
             for name, step in failed.items()]
    return '<section id="failed"><h2>What failed</h2>' + "".join(parts) + "</section>"


def asset(name: str) -> str:
    with open(os.path.join(HERE, name)) as file:
        return file.read()


def document(title: str, body: str, drawn: dict) -> str:
    data = json.dumps(drawn, separators=(",", ":")).replace("</", "<\\/")
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><style>{asset("report_page.css")}</style></head><body><main>
<h1>{html.escape(title)}</h1>{body}
</main><script type="application/json" id="data">{data}</script><script>{asset("report_page.js")}</script></body></html>
"""


def opening(found: list) -> str:
    """The line under the title, and what must be said of the figures."""
    if not found:
        return '<p class="sub">nothing was measured</p>'
    about = found[0]["about"]
    named = [str(about[key]) for key in ("device_name", "mpi", "cpu") if about.get(key)]
    line = " · ".join([f"{about['ranks']} ranks", *named])
    warning = ""
    if any(step["about"]["backend"] == "emu" for step in found):
        warning = ('<p class="warning">Emulated devices in host memory: the figures compare one build or path with '
                   "another and say nothing about a GPU.</p>")
    return f'<p class="sub">{html.escape(line)}</p>{warning}'


MATRICES = '<section><h2>Between every two ranks</h2><div class="plots" id="matrices"></div></section>'


def matrix_page(found: list) -> str:
    return document("Telpher: between every two ranks", opening(found) + MATRICES,
                    {"sections": {}, "matrices": matrices(found)})


def page(title: str, found: list, failed: dict, content: dict) -> str:
    drawn = {"sections": plots(found), "matrices": matrices(found)}
    sections = "".join(f'<section><h2>{html.escape(name)}</h2><div class="plots" data-section="{html.escape(name)}">'
                       "</div></section>" for name in drawn["sections"])
    if drawn["matrices"]:
        sections += MATRICES
    body = f"""{opening(found)}
<section><h2>At a glance</h2>{glance(found)}
<p class="note">Medians of batches taken in turn. “Times better” is how many times better Telpher is than copying to the
host, calling MPI, and copying back. “Bytes”: every received byte was compared.</p></section>
{sections}{failures(failed)}
<section><h2>All figures</h2>{all_rows(found)}</section>
<section><h2>Machine, versions, settings</h2>{circumstances(found, content)}</section>
<section><h2>How to repeat it</h2>{repeat(content)}</section>"""
    return document(title, body, drawn)
