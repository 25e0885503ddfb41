# SPDX-License-Identifier: BSD-3-Clause
"""`make lint`: what the rules of CONTRIBUTING.md can be checked by a machine.

Layers of includes, where vendors and mpi.h may appear, file sizes, licence lines, links, generated files,
names that do not belong into the tree; api.toml beside the MPI Forum's own list of functions, codespell, ruff and
clang-format where their packages are installed. Prints one line
a problem and closes with 'N passed, N failed', counting checks. With --format only formats the C++ files.
"""
import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEPS = ROOT / "build" / "deps"

# A folder may include itself and what stands in its row.
MAY_INCLUDE = {
    "base": "",
    "kernel": "base",
    "device": "base kernel",
    "memory": "base kernel device",
    "net": "base kernel device memory",
    "host_mpi": "base",
    "datatype": "base kernel device memory host_mpi",
    "codec": "base kernel device memory",
    "path": "base kernel device memory net host_mpi datatype codec",
    "ticket": "base kernel device memory net host_mpi datatype codec path",
    "staging": "base device memory host_mpi datatype path ticket",
    "coll": "base kernel device memory host_mpi datatype codec path ticket staging",
    "rma": "base kernel device memory host_mpi datatype path ticket staging coll stream api",
    "stream": "base kernel device memory host_mpi",
    "api": "base kernel device memory",
    "mpi": "base kernel device memory host_mpi datatype codec path ticket staging coll rma stream api",
}
MPI_HEADER_FOLDERS = ("src/mpi/", "src/host_mpi/", "test/", "bench/", "examples/", "apps/",
                      "tools/rank.cpp", "include/telpher/stream.h", "include/telpher/window.h")
VENDOR_HEADER = re.compile(r'#\s*include\s*[<"](cuda|hip/|sycl/|level_zero/|nccl|rccl|ze_api)')
VENDOR_FOLDERS = ("src/device/cuda/", "src/device/hip/", "src/device/sycl/", "src/kernel/lang.hpp",
                  "src/kernel/inst/", "include/telpher/device_lang.h", "test/", "bench/", "examples/", "apps/")
FILE_LINES, FUNCTION_LINES = 400, 60
# A comment, a literal, a line for the preprocessor, or what begins and ends blocks and statements.
CPP_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|[{};]|"""
                       r"""^[ \t]*#(?:[^\n\\]|\\.|\\\n)*""", re.DOTALL | re.MULTILINE)
FUNCTION_HEAD = re.compile(r"\)\s*(const|noexcept|override|final|mutable|->[^{;]*|:[^{;]*)*\s*$")
SIZED = {".cpp", ".hpp", ".h", ".c", ".cu", ".py", ".cmake"}
LICENSED = SIZED | {".def", ".toml"}
MACHINE_PATH = re.compile(r"/(w[o]rk|tmp/(wt|deps))/|/roo[t]/|/home/\w+/")
GENERATORS = (["tools/settings_doc.py", "--check"], ["tools/backends_doc.py", "--check"],
              ["tools/plot_comparison.py", "--check"], ["src/mpi/generate.py", "--check"])
SPELLING_IGNORED = "hsa,improbe,inout,renderd"


def tracked() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if answer.returncode == 0:
        return [n for n in answer.stdout.splitlines() if (ROOT / n).is_file()]
    return [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file() and "build" not in p.parts]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(errors="replace")


def check_layers(names: list[str]) -> list[str]:
    """Includes keep to the table, and the table to the drawing in docs/design.md: downward only."""
    drawing = text_of("docs/design.md").split("## The folders")[1].split("\n\n")[1].replace("↓", "")
    level = {folder: at for at, line in enumerate(drawing.splitlines()) for folder in line.split()}
    problems = [f"docs/design.md: {folder} does not stand above {used} in the drawing of the folders"
                for folder, row in MAY_INCLUDE.items() for used in row.split()
                if level.get(folder, len(level)) >= level.get(used, -1)]
    for name in names:
        parts = name.split("/")
        if parts[0] != "src" or len(parts) < 3 or not name.endswith((".cpp", ".hpp", ".cu")):
            continue
        own = parts[1]
        allowed = {own, *MAY_INCLUDE.get(own, "").split()}
        if own not in MAY_INCLUDE:
            problems.append(f"{name}: folder src/{own} is not in the table of layers in tools/lint.py")
            continue
        for number, line in enumerate(text_of(name).splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*"([\w]+)/', line)
            if found and found.group(1) in MAY_INCLUDE and found.group(1) not in allowed:
                problems.append(f"{name}:{number}: {own} may not include {found.group(1)} (layers)")
    return problems


def check_foreign_headers(names: list[str]) -> list[str]:
    problems = []
    for name in names:
        if not name.endswith((".cpp", ".hpp", ".h", ".cu")):
            continue
        for number, line in enumerate(text_of(name).splitlines(), 1):
            if re.match(r"\s*#\s*include\s*<mpi\.h>", line) and not name.startswith(MPI_HEADER_FOLDERS):
                problems.append(f"{name}:{number}: <mpi.h> belongs into host_mpi/host_mpi.hpp only")
            if VENDOR_HEADER.search(line) and not name.startswith(VENDOR_FOLDERS):
                problems.append(f"{name}:{number}: a vendor's header belongs into src/device/<vendor>/")
    return problems


def functions(name: str, text: str):
    """First line and length of each function."""
    if name.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                yield node.lineno, node.end_lineno - node.lineno + 1
    elif name.endswith((".cpp", ".hpp", ".h", ".cu")):
        yield from cpp_functions(text)


def cpp_functions(text: str):
    blocks, head = [], 0
    for token in CPP_TOKEN.finditer(text):
        before = text[head:token.start()].lstrip()
        if token[0] not in "{};":
            head = head if before else token.end()
            continue
        if token[0] == "{":
            is_function = FUNCTION_HEAD.search(CPP_TOKEN.sub("", before)) and "= requires" not in before
            blocks.append((is_function, text.count("\n", 0, token.start() - len(before)) + 1))
        elif token[0] == "}" and blocks:
            is_function, begins = blocks.pop()
            if is_function:
                yield begins, text.count("\n", 0, token.start()) + 2 - begins
        head = token.end()


def check_sizes(names: list[str]) -> list[str]:
    problems = []
    for name in names:
        if Path(name).suffix not in SIZED or name.startswith("src/mpi/generated/"):
            continue
        text = text_of(name)
        lines = text.count("\n")
        if lines > FILE_LINES:
            problems.append(f"{name}: {lines} lines, {FILE_LINES} are the limit; split it")
        for first, length in functions(name, text):
            if length > FUNCTION_LINES:
                problems.append(f"{name}:{first}: a function of {length} lines, {FUNCTION_LINES} are the limit")
    return problems


def check_licences(names: list[str]) -> list[str]:
    wanted = [n for n in names if Path(n).suffix in LICENSED or Path(n).name in ("CMakeLists.txt", "Makefile")]
    return [f"{n}: no SPDX-License-Identifier in its first three lines" for n in wanted
            if "SPDX-License-Identifier: BSD-3-Clause" not in "\n".join(text_of(n).splitlines()[:3])]


def check_words(names: list[str]) -> list[str]:
    problems = []
    for name in names:
        if name == "tools/lint.py" or Path(name).suffix in {".json", ".csv", ".png"}:
            continue
        for number, line in enumerate(text_of(name).splitlines(), 1):
            if MACHINE_PATH.search(line):
                problems.append(f"{name}:{number}: a path of one machine")
            if line.rstrip() != line and Path(name).suffix != ".md":
                problems.append(f"{name}:{number}: blanks at the end of the line")
            if re.search(r"\b(TODO|FIXME|XXX)\b", line):
                problems.append(f"{name}:{number}: a TODO; file an issue or do it")
    return problems


def anchors(page: Path) -> set[str]:
    """What a link into a page may name: its headings, as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def check_links(names: list[str]) -> list[str]:
    """Links between pages, and pages of docs/ that any file names."""
    problems = []
    for name in names:
        text = text_of(name) if Path(name).suffix not in {".json", ".csv", ".png"} else ""
        for link in re.findall(r"\]\(([^)\s:]+)\)", text) if name.endswith(".md") else []:
            path, _, anchor = link.partition("#")
            page = (ROOT / name).parent / path if path else ROOT / name
            if not page.exists() or (anchor and anchor not in anchors(page)):
                problems.append(f"{name}: a link to {link}, which is not there")
        for page in re.findall(r"(?<![\w/.])docs/[\w/-]+\.md", text):
            if not (ROOT / page).is_file():
                problems.append(f"{name}: names {page}, which is not there")
    return problems


def check_generated(_: list[str]) -> list[str]:
    problems = []
    for command in GENERATORS:
        if (ROOT / command[0]).is_file():
            answer = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
            if answer.returncode != 0:
                problems += (answer.stdout + answer.stderr).strip().splitlines()[-5:]
    return problems


def tool(name: str, inside: str = "bin") -> str | None:
    """The pinned tool in the build folder, else the machine's."""
    return shutil.which(name, path=str(DEPS / name / inside)) or shutil.which(name)


def output_of(command: list[str], env: dict | None = None) -> list[str]:
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)
    return [] if answer.returncode == 0 else (answer.stdout + answer.stderr).strip().splitlines()


def check_standard(_: list[str]) -> list[str] | None:
    """No function of the standard is missing in api.toml, nor in docs/coverage.md, which is generated from it."""
    package = DEPS / "pympistandard" / "pympistandard"
    return output_of([sys.executable, "tools/check_standard.py", str(package)]) if package.is_dir() else None


def check_spelling(names: list[str]) -> list[str] | None:
    texts = [n for n in names if Path(n).suffix in LICENSED | {".md"}]
    package = DEPS / "codespell"
    found = shutil.which("codespell")
    if not found and not package.is_dir():
        return None
    command = [sys.executable, "-m", "codespell_lib"] if package.is_dir() else [found]
    return output_of([*command, "--ignore-words-list", SPELLING_IGNORED, *texts],
                     env={**os.environ, "PYTHONPATH": str(package)})


def check_python(names: list[str]) -> list[str] | None:
    ruff = tool("ruff")
    if not ruff:
        return None
    files = [n for n in names if n.endswith(".py")]
    rules = ["--select", "E,F,W,B,UP", "--line-length", "120", "--target-version", "py311"]
    return output_of([ruff, "check", "--quiet", "--no-cache", "--output-format", "concise", *rules, *files])


def format_tool() -> str | None:
    """clang-format 14 and no other: each version formats a little differently."""
    found = tool("clang-format", "clang_format/data/bin") or shutil.which("clang-format-14")
    return found if found and "version 14." in subprocess.getoutput(f"{found} --version") else None


def formatted(names: list[str]) -> list[str]:
    return [n for n in names if n.endswith((".cpp", ".hpp")) and "/generated/" not in n]


def check_format(names: list[str]) -> list[str] | None:
    clang_format = format_tool()
    if not clang_format:
        return None
    lines = output_of([clang_format, "--dry-run", "--Werror", *formatted(names)])
    return sorted({line.split(":")[0] + ": clang-format would change it" for line in lines if ": error:" in line})


def check_used(names: list[str]) -> list[str]:
    """Each PMPI function that src/host_mpi/used.def names is called."""
    rows = re.findall(r"TELPHER_PMPI\((\w+)\)", (ROOT / "src/host_mpi/used.def").read_text())
    text = "".join((ROOT / n).read_text() for n in names if n.startswith("src/") and n.endswith((".cpp", ".hpp")))
    called = set(re.findall(r"pmpi::(\w+)", text))
    return [f"src/host_mpi/used.def: nothing calls {row}" for row in rows if row not in called]


CHECKS = (("layers", check_layers), ("foreign headers", check_foreign_headers), ("sizes", check_sizes),
          ("licences", check_licences), ("words", check_words), ("links", check_links),
          ("generated files", check_generated), ("used", check_used), ("standard", check_standard),
          ("spelling", check_spelling), ("python", check_python), ("format", check_format))


def main() -> int:
    names = [n for n in tracked() if not n.startswith("results/")]
    if sys.argv[1:] == ["--format"]:
        clang_format = format_tool()
        if not clang_format:
            print("lint: clang-format 14 is not installed")
            return 1
        return subprocess.run([clang_format, "-i", *formatted(names)], cwd=ROOT).returncode
    passed = failed = 0
    for title, check in CHECKS:
        problems = check(names)
        if problems is None:
            print(f"left out  {title}: its tool is not installed")
            continue
        print(f"{'FAILED' if problems else 'ok    '}    {title}")
        for text in problems[:40]:
            print("  " + text)
        passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
