# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/measure/comparison.svg, the picture of the README, from committed results.

    python3 tools/plot_comparison.py            write it
    python3 tools/plot_comparison.py --check    only say whether it is up to date

Three panels: latency and bandwidth of messages beside UCX, time of MPI_Allreduce beside NCCL. UCX is the
better of its two settings at each size. Needs nothing but Python.
"""
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from generated_doc import write_or_check

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "h200x2"
TARGET = ROOT / "docs" / "measure" / "comparison.svg"

OURS, THEIRS = "#0b62c4", "#d9822b"
PANEL_W, PANEL_H, LEFT, TOP, GAP = 250, 190, 52, 62, 66
WIDTH, HEIGHT = LEFT + 3 * PANEL_W + 2 * GAP + 24, TOP + PANEL_H + 66


@dataclass
class Panel:
    title: str
    better: str
    unit: str
    peer: str
    ours: dict[int, float]
    theirs: dict[int, float]
    mark: int  # the size at which the ratio is written
    linear: bool = False


def rows(file: str) -> list[dict]:
    return json.loads((RESULTS / file).read_text())


def messages(test: str, field: str, best) -> tuple[dict, dict]:
    ours: dict[int, float] = {}
    theirs: dict[int, float] = {}
    for row in rows("sizes.json"):
        if row["test"] == test and row["label"].startswith("peers-"):
            if row["label"].startswith("peers-telpher"):
                ours[row["bytes"]] = row[field]
            else:
                theirs[row["bytes"]] = best(row[field], theirs.get(row["bytes"], row[field]))
    return ours, theirs


def allreduce() -> tuple[dict, dict]:
    found: dict[str, dict[int, float]] = {"telpher": {}, "nccl": {}}
    for row in rows("collectives.json"):
        if row["test"] == "allreduce" and row["label"] == "coll 2" and row["mode"] in found:
            found[row["mode"]][row["bytes"]] = row["us"]
    return found["telpher"], found["nccl"]


def size_text(size: int) -> str:
    for unit, text in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= unit:
            return f"{size // unit}{text}"
    return f"{size}"


def ticks(low: float, high: float) -> list[float]:
    """Every second whole number of a linear axis; else 1, 2 and 5 of each decade, fewer if those are too many."""
    if low == 0:
        return [float(value) for value in range(0, int(high) + 1, 2)]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if math.log10(high / low) < 2 else (1,)
    return [f * 10.0**d for d in decades for f in factors if low <= f * 10.0**d <= high]


def text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{words}</text>'


def draw(panel: Panel, x0: float) -> list[str]:
    sizes = sorted(panel.ours)
    values = [*panel.ours.values(), *panel.theirs.values()]
    low, high = (0.0, max(values) * 1.3) if panel.linear else (min(values) / 1.4, max(values) * 1.4)
    span_x = math.log2(sizes[-1] / sizes[0])

    def x(size: float) -> float:
        return x0 + math.log2(size / sizes[0]) / span_x * PANEL_W

    def y(value: float) -> float:
        part = value / high if panel.linear else math.log(value / low) / math.log(high / low)
        return TOP + PANEL_H - part * PANEL_H

    out = [text(x0, TOP - 26, panel.title, 'class="title"'),
           text(x0, TOP - 10, f"{panel.unit}, {panel.better} is better", 'class="small"')]
    for value in ticks(low, high):
        out.append(f'<line x1="{x0}" x2="{x0 + PANEL_W}" y1="{y(value):.1f}" y2="{y(value):.1f}" class="grid"/>')
        out.append(text(x0 - 6, y(value) + 4, f"{value:g}", 'class="small" text-anchor="end"'))
    shown = sizes if len(sizes) < 8 else sizes[::2]
    for size in shown:
        out.append(text(x(size), TOP + PANEL_H + 16, size_text(size), 'class="small" text-anchor="middle"'))
    out.append(text(x0 + PANEL_W / 2, TOP + PANEL_H + 33, "bytes", 'class="small" text-anchor="middle"'))
    for name, colour, line in ((panel.peer, THEIRS, panel.theirs), ("Telpher", OURS, panel.ours)):
        points = [(x(s), y(line[s])) for s in sizes]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"><title>{name}, {size_text(s)}: '
                f"{line[s]:.3g} {panel.unit}</title></circle>" for s, (a, b) in zip(sizes, points, strict=True)]
    ratio = panel.theirs[panel.mark] / panel.ours[panel.mark]
    ratio = ratio if panel.better == "lower" else 1 / ratio
    top, bottom = sorted((y(panel.ours[panel.mark]), y(panel.theirs[panel.mark])))
    at = x(panel.mark)
    out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" class="mark"/>')
    out.append(text(at + 14, top - 10, f"{ratio:.1f} times", 'class="ratio" text-anchor="end"'))
    return out


def legend(x: float, name: str, colour: str) -> list[str]:
    y = HEIGHT - 14
    return [f'<line x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2.5"/>',
            text(x + 28, y, name, 'class="small"')]


def render() -> str:
    latency, bandwidth = messages("latency", "us", min), messages("bw", "gbps", max)
    bandwidth = tuple({size: value for size, value in line.items() if size >= 8192} for line in bandwidth)
    panels = [Panel("Latency of MPI_Send", "lower", "us", "UCX", *latency, mark=1024, linear=True),
              Panel("Bandwidth, windows of 64", "higher", "GB/s", "UCX", *bandwidth, mark=65536),
              Panel("MPI_Allreduce, 2 GPUs", "lower", "us", "NCCL", *allreduce(), mark=1024)]
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" role="img" aria-label="Telpher beside UCX and NCCL on two H200s">',
             "<style>text{font-family:system-ui,Helvetica,Arial,sans-serif;fill:#222}"
             ".title{font-size:15px;font-weight:600}.small{font-size:12px;fill:#555}"
             ".ratio{font-size:12px;font-weight:600}.grid{stroke:#e3e3e3}"
             ".mark{stroke:#999;stroke-dasharray:3 3}</style>",
             '<rect width="100%" height="100%" fill="#fff"/>']
    for number, panel in enumerate(panels):
        lines += draw(panel, LEFT + number * (PANEL_W + GAP))
    lines += legend(LEFT, "Telpher over plain Open MPI 4.1.6", OURS)
    lines += legend(LEFT + 260, "UCX 1.22 with CUDA under the same Open MPI; NCCL 2.28", THEIRS)
    lines.append(text(WIDTH - 24, HEIGHT - 14, "two NVIDIA H200, NVLink", 'class="small" text-anchor="end"'))
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(TARGET, render()))
