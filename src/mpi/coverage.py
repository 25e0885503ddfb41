# SPDX-License-Identifier: BSD-3-Clause
"""The page docs/coverage.md: every function with a choice buffer, what it does with a device pointer, and the
test that shows it. From the table that the wrappers are made from; generate.py writes it.

A test is named in api.toml and must be declared in test/mpi/CMakeLists.txt. The page lists as open what its
test does not call by name."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "test" / "mpi"
BUFFERS = ("BUFFER", "C_BUFFER")

HEAD = """# Coverage

Generated from `src/mpi/api.toml` by `src/mpi/generate.py`; do not edit.

Every function of MPI 4.1 with a choice buffer, and what Telpher does with a device pointer that is passed there.
A function's `_c` form (large counts) has the same body. The test is one of `test/mpi`, run over MPICH and Open MPI on
the emulated device; it calls the function by name, and the `_c` form where *large counts* says so.
"""


def has_buffer(function):
    return any(p.kind in BUFFERS for p in function.parameters)


def how(function, file):
    """What happens to a device pointer, by the words of the row."""
    words = dict(function.words)
    if "how" in words:
        return words["how"]
    if "refuse" in words:
        return "refused with an MPI error that names the call"
    if {"input", "output", "inout", "broadcast"} & set(words):
        if "messages" in words:
            return "[as messages](understand/collectives.md#as-messages); else staged through pinned host memory"
        if "devices" not in words:
            return "staged through pinned host memory"
        levels = ", between nodes in two levels" if "levels" in words and function.form == "blocking" else ""
        return f"among the devices{levels}; else staged through pinned host memory"
    return file["how"]


def test_text(name):
    """The sources of a test, with the headers of test/mpi that they include."""
    cmake = (TESTS / "CMakeLists.txt").read_text()
    declared = re.findall(r"NAME (\S+)|foreach\(program ([^)]*)\)", cmake)
    names = {word for pair in declared for text in pair for word in text.split()}
    if not any(n == name or n.startswith(name + "-") for n in names):
        raise SystemExit(f"api.toml names the test '{name}', which test/mpi does not have")
    program = re.search(rf"telpher_mpi_program\(test_{name} ([^)]*)\)", cmake)
    files = re.findall(r"\w+\.cpp", program[1]) if program else [f"{name}.cpp"]
    texts = {}
    while files:
        file = files.pop()
        if file not in texts and (TESTS / file).is_file():
            texts[file] = (TESTS / file).read_text()
            files += re.findall(r'#include "(\w+\.hpp)"', texts[file])
    return "".join(texts.values())


def called(name, text):
    """Whether a test calls the function, which it may put together from parts of the name."""
    parts = {f"MPI_{name}", name, name.removeprefix("File_"), re.sub("_(init|begin|end)$", "", name)}
    parts.add(re.sub("_(begin|end)$", "", name).removeprefix("File_"))
    return any(re.search(rf"\b{part}\b", text) for part in parts)


def render(functions, api):
    files = {}
    for file in api["file"]:
        for name in (file["name"], *(name for name, _ in file.get("forms", {}).values())):
            files.setdefault(name, file)
    texts, sections, open_rows, number = {}, {}, [], 0
    twins = {f.name for f in functions if f.large}
    for f in functions:
        if f.large or not has_buffer(f):
            continue
        test = dict(f.words).get("test") or files[f.file]["test"]
        text = texts.setdefault(test, test_text(test))
        shown = called(f.name, text)
        large = "" if f.name + "_c" not in twins else "called" if f"MPI_{f.name}_c(" in text else "same body"
        number += 1 + (f.name + "_c" in twins)
        if not shown:
            open_rows.append(f.mpi_name)
        cell = f"`{test}`" if shown else "none"
        sections.setdefault(f.section, []).append(f"| {f.mpi_name} | {how(f, files[f.file])} | {cell} | {large} |")
    lines = [HEAD, f"{number} functions that Telpher wraps, `_c` forms included, and those of the last table.", "",
             "Without a test that calls them: " + (", ".join(sorted(open_rows)) or "none") + ".", ""]
    for section, rows in sorted(sections.items(), key=lambda s: [int(n) for n in s[0].split()[0].split(".")]):
        lines += [f"## {section}", "", "| function | a device pointer | test | large counts |",
                  "| --- | --- | --- | --- |", *rows, ""]
    lines += ["## Not wrapped", "", "| function | a device pointer |", "| --- | --- |",
              *(f"| MPI_{name} | {text} |" for name, text in api["unwrapped"].items()), ""]
    return "\n".join(lines)
