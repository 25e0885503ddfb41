# SPDX-License-Identifier: BSD-3-Clause
"""The report's plots as PNGs for a paper, drawn by matplotlib where this Python, the one on PATH or a named one has
it. Runs as a program of its own, because the telpher command leaves out site packages."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HOW = ("no PNGs: matplotlib is missing; pip install matplotlib, then the same command with --render "
       "(--plot-python names a Python that has it)")
COLORS = {"telpher": "#0b66c3", "staged": "#c2570c", "nccl": "#4d8a1f", "messages": "#7a5ca8"}
MARKS = {"telpher": "o", "staged": "s", "nccl": "^", "messages": "v"}


def pythons(named: str) -> list:
    found = [named] if named else [sys.executable, shutil.which("python3")]
    return [path for path in dict.fromkeys(found) if path and shutil.which(path)]


def draw(found: list, folder: str, named: str) -> str:
    """Draws in another process; what to tell the user."""
    from . import report_page
    drawn = {"sections": report_page.plots(found), "matrices": report_page.matrices(found), "folder": folder}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(drawn, file)
        file.flush()
        for python in pythons(named):
            if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode != 0:
                continue
            done = subprocess.run([python, os.path.join(HERE, "report_figures.py"), file.name], capture_output=True,
                                  text=True)
            if done.returncode == 0:
                return f"figures: {done.stdout.strip()} in {folder}"
            return f"no PNGs: {done.stderr.strip().splitlines()[-1:]}"
    return HOW


# --- as a program ------------------------------------------------------------------------------------


def file_name(*words: str) -> str:
    text = " ".join(words).lower()
    return "-".join("".join(c if c.isalnum() or c == "_" else " " for c in text).split()) + ".png"


def size_text(count: float, _=None) -> str:
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit:
            return f"{count / unit:g}{name}"
    return f"{count:g}"


def draw_plot(plt, plot: dict, folder: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter
    figure, axes = plt.subplots(figsize=(4.2, 2.9), constrained_layout=True)
    for series in plot["series"]:
        axes.plot([p[0] for p in series["points"]], [p[1] for p in series["points"]], label=series["name"],
                  color=COLORS[series["mode"]], marker=MARKS[series["mode"]], markersize=3.5, linewidth=1.4)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(plt.FuncFormatter(size_text))
    if plot["unit"] == "%":
        axes.set_ylim(0, 100)
    else:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(plt.FuncFormatter(lambda v, _: f"{v:g}"))
        values = [p[1] for series in plot["series"] for p in series["points"]]
        narrow = max(values) / min(values) < 30  # few powers of ten: 2 and 5 between them are named too
        axes.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        axes.yaxis.set_minor_formatter(plt.FuncFormatter(lambda v, _: f"{v:g}") if narrow else NullFormatter())
    axes.set_xlabel("size in bytes")
    axes.set_ylabel(plot["unit"])
    axes.set_title(f"{plot['title']} ({plot['note']})", fontsize=9)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(os.path.join(folder, file_name(plot["title"], plot["note"])), dpi=200)
    plt.close(figure)


def draw_matrix(plt, matrix: dict, folder: str) -> None:
    size = matrix["size"]
    values = [[float("nan")] * size for _ in range(size)]
    for start, end, value, _ in matrix["cells"]:
        values[start][end] = value
    side = max(2.6, 0.5 * size + 1.6)
    figure, axes = plt.subplots(figsize=(side + 0.8, side), constrained_layout=True)
    image = axes.imshow(values, cmap="Blues" if matrix["better"] == "higher" else "Blues_r")
    middle = (max(c[2] for c in matrix["cells"]) + min(c[2] for c in matrix["cells"])) / 2
    for start, end, value, _ in matrix["cells"]:
        deep = (value > middle) == (matrix["better"] == "higher")
        axes.text(end, start, f"{value:.3g}", ha="center", va="center", fontsize=8, color="white" if deep else "black")
    axes.set_xticks(range(size))
    axes.set_yticks(range(size))
    axes.set_xlabel("to rank")
    axes.set_ylabel("from rank")
    axes.set_title(f"{matrix['title']}, {matrix['unit']}", fontsize=9)
    figure.colorbar(image, shrink=0.8)
    figure.savefig(os.path.join(folder, file_name("matrix", matrix["title"])), dpi=200)
    plt.close(figure)


def main(path: str) -> int:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    with open(path) as file:
        drawn = json.load(file)
    os.makedirs(drawn["folder"], exist_ok=True)
    plots = [plot for section in drawn["sections"].values() for plot in section]
    for plot in plots:
        draw_plot(plt, plot, drawn["folder"])
    for matrix in drawn["matrices"]:
        draw_matrix(plt, matrix, drawn["folder"])
    print(f"{len(plots) + len(drawn['matrices'])} PNGs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
