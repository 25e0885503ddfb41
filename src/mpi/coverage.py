# SPDX-License-Identifier: BSD-3-Clause
"""The page docs/coverage.md: every function with a choice buffer, what it does with a device pointer, and the
test that shows it. From the table that the wrappers are made from; generate.py writes it.

A test is named in api.toml and must be declared in test/mpi/CMakeLists.txt. The page lists as open what its
test does not call by name; names that its macros put together count as well."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "test" / "mpi"
BUFFERS = ("BUFFER", "C_BUFFER")
LARGE_COUNTS = "large_counts"  # the test of the `_c` forms that a row's own test does not call

HEAD = """# Coverage

Generated from `src/mpi/api.toml` by `src/mpi/generate.py`; do not edit.

Every function of MPI 4.1 with a choice buffer, and what Telpher does with a device pointer that is passed there.
A function's `_c` form (large counts) has the same body. The tests are those of `test/mpi`, run over MPICH and Open MPI
on the emulated device: one that calls the function by name, and one that calls its `_c` form.

Telpher wraps what the host MPI's header has. Open MPI 5 calls itself MPI 3.1 and has much of MPI 4, but no `_c` form
and not {absent}.
These run over MPICH only.
"""


def has_buffer(function):
    return any(p.kind in BUFFERS for p in function.parameters)


def how(function, file):
    """What happens to a device pointer, by the words of the row."""
    words = dict(function.words)
    if "how" in words:
        return words["how"]
    if {"input", "output", "inout", "broadcast"} & set(words):
        if "messages" in words:
            return "[as messages](understand/collectives.md#as-messages); else staged through pinned host memory"
        if "devices" not in words:
            return "staged through pinned host memory"
        levels = ", between nodes in two levels" if "levels" in words and function.form == "blocking" else ""
        return f"among the devices{levels}; else staged through pinned host memory"
    return file["how"]


def test_text(name):
    """The sources of a test, with the headers and tables of test/mpi that they include."""
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
            files += re.findall(r'#include "(\w+\.(?:hpp|def))"', texts[file])
    return "".join(texts.values())


def plain(text):
    """C++ without comments and the contents of strings, each definition of a macro in one line."""
    text = text.replace("\\\n", " ")
    return re.sub(r"""'(?:\\.|[^\\])'|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/""", " ", text, flags=re.DOTALL)


def arguments(text, at):
    """Those of the use of a macro whose parenthesis opens before `at`."""
    found, depth = [""], 1
    for c in text[at:]:
        depth += (c in "({[") - (c in ")}]")
        if depth == 0:
            break
        if c == "," and depth == 1:
            found.append("")
        else:
            found[-1] += c
    return [a.strip() for a in found]


def pasted(text):
    """Names that macros put together of their arguments: MPI_##name_##_init."""
    for name, parameters, body in re.findall(r"^#define (\w+)\(([^)]*)\)(.*)", text, flags=re.MULTILINE):
        names = re.findall(r"\w+(?:##\w+)+", body)
        for use in re.finditer(rf"(?<!#define )\b{name}\(", text) if names else ():
            given = dict(zip((p.strip() for p in parameters.split(",")), arguments(text, use.end()), strict=False))
            yield from ("".join(given.get(part, part) for part in n.split("##")) for n in names)


def called_in(text):
    """The functions that C++ calls, or takes the address of."""
    text = plain(text)
    return {*re.findall(r"\bMPI_\w+(?!\w|##)", text), *pasted(text)}


@functools.cache
def called_by(test):
    return called_in(test_text(test))


def covered(name, tests, open_rows):
    """The first of the tests that calls a function, as a cell of the page."""
    for test in tests:
        if name in called_by(test):
            return f"`{test}`"
    open_rows.append(name)
    return "none"


def render(functions, api):
    files = {}
    for file in api["file"]:
        for name in (file["name"], *(name for name, _ in file.get("forms", {}).values())):
            files.setdefault(name, file)
    sections, open_rows, number = {}, [], 0
    twins = {f.name for f in functions if f.large}
    rows = [f for f in functions if has_buffer(f) and not f.large]
    for f in rows:
        test = dict(f.words).get("test") or files[f.file]["test"]
        cells = [f.mpi_name, how(f, files[f.file]), covered(f.mpi_name, [test], open_rows), ""]
        if f.name + "_c" in twins:
            cells[-1] = covered(f.mpi_name + "_c", [test, LARGE_COUNTS], open_rows)
            number += 1
        number += 1
        sections.setdefault(f.section, []).append(f"| {' | '.join(cells)} |")
    head = HEAD.format(absent=", ".join(f.mpi_name for f in rows if f.since > "4.0"))
    lines = [head, f"{number} functions that Telpher wraps, `_c` forms included, and those of the last table.", "",
             "Without a test that calls them: " + (", ".join(sorted(open_rows)) or "none") + ".", ""]
    for section, rows in sorted(sections.items(), key=lambda s: [int(n) for n in s[0].split()[0].split(".")]):
        lines += [f"## {section}", "", "| function | a device pointer | test | test of its `_c` form |",
                  "| --- | --- | --- | --- |", *rows, ""]
    lines += ["## Not wrapped", "", "| function | a device pointer |", "| --- | --- |",
              *(f"| MPI_{name} | {text} |" for name, text in api["unwrapped"].items()), ""]
    return "\n".join(lines)
