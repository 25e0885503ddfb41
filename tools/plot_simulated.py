# SPDX-License-Identifier: BSD-3-Clause
"""Draws what `telpher coll simulate --csv` printed: python3 tools/plot_simulated.py CSV PICTURE [--over ranks]

One panel for each rank count (or size, with --over ranks), one line for each algorithm. Needs matplotlib.
"""
import csv
import sys
from collections import defaultdict


def read(path: str, over: str) -> dict:
    """{panel: {algorithm: [(x, us)]}}"""
    panel = "ranks" if over == "bytes" else "bytes"
    panels: dict = defaultdict(lambda: defaultdict(list))
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            name = row["algorithm"] + (f", ratio {row['ratio']}" if row["ratio"] != "1" else "")
            panels[int(row[panel])][f"{row['operation']} {name}"].append((int(row[over]), float(row["us"])))
    return panels


def draw(panels: dict, over: str, picture: str) -> None:
    import matplotlib
    matplotlib.use("svg" if picture.endswith(".svg") else "agg")
    matplotlib.rcParams["svg.hashsalt"] = "telpher"  # the same file every time
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(panels), figsize=(6 * len(panels), 4.5), squeeze=False)
    for axis, (value, lines) in zip(axes[0], sorted(panels.items()), strict=True):
        for name, points in lines.items():
            axis.loglog(*zip(*sorted(points), strict=True), marker=".", label=name, base=2)
        axis.set_yscale("log", base=10)
        axis.set_title(f"{value} GPUs" if over == "bytes" else f"{value} bytes")
        axis.set_xlabel(over)
        axis.set_ylabel("us, simulated")
        axis.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(picture, metadata={"Date": None} if picture.endswith(".svg") else None)


def main(arguments: list) -> int:
    if len(arguments) not in (2, 4):
        print(__doc__, file=sys.stderr)
        return 2
    over = arguments[3] if len(arguments) == 4 else "bytes"
    draw(read(arguments[0], over), over, arguments[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
