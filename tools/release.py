# SPDX-License-Identifier: BSD-3-Clause
"""`make release`: build/dist gets the source archive of the commit, the wheels of that very archive, notes from
CHANGELOG.md and SHA256SUMS. Refuses a tree with changes, and a version whose tag is another commit.

    python3 tools/release.py [--notes-only] [--with cuda]...
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "build" / "dist"


class ReleaseError(Exception):
    """One line with the cause and the remedy."""


def git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True).stdout.strip()


def version() -> str:
    return re.search(r"project\(telpher VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def notes(text: str, of: str) -> str:
    """The part of CHANGELOG.md that is about one version."""
    found = re.search(rf"^## {re.escape(of)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if not found or not found.group(1).strip():
        raise ReleaseError(f"CHANGELOG.md has no section '## {of}', or nothing in it")
    return f"# Telpher {of}\n\n{found.group(1).strip()}\n"


def check_version(of: str) -> None:
    header = (ROOT / "include/telpher/telpher.h").read_text()
    said = ".".join(
        re.search(rf"TELPHER_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH")
    )
    if said != of:
        raise ReleaseError(f"telpher.h says {said}, CMakeLists.txt {of}; make them equal")
    if git("status", "--porcelain"):
        raise ReleaseError("there are changes that are not committed; commit or stash them")
    tagged = git("rev-parse", "--quiet", "--verify", f"v{of}^{{commit}}")
    if tagged and tagged != git("rev-parse", "HEAD"):
        raise ReleaseError(f"the tag v{of} is another commit; raise the version in CMakeLists.txt and telpher.h")


def source_archive(of: str) -> Path:
    path = DIST / f"telpher-{of}.tar.gz"
    with open(path, "wb") as file:
        subprocess.run(
            ["git", "-C", str(ROOT), "archive", "--format=tar.gz", f"--prefix=telpher-{of}/", "HEAD"],
            stdout=file,
            check=True,
        )
    return path


def wheels_of(archive: Path, of: str, parts: list) -> None:
    """Built from the archive, not from the tree: what is not in it is missed here and not at the user's. The parts that
    `make setup` has fetched are shared."""
    deps = ROOT / "build/deps"
    deps.mkdir(parents=True, exist_ok=True)
    state = deps / "setup.json"
    before = state.read_bytes() if state.is_file() else None
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(folder)
        tree = Path(folder, f"telpher-{of}")
        (tree / "build").mkdir()
        (tree / "build/deps").symlink_to(deps)
        command = ["make", "-C", str(tree), "--no-print-directory", "wheels", f"WITH={' '.join(parts)}"]
        try:
            code = subprocess.run(
                command, env={**os.environ, "SOURCE_DATE_EPOCH": git("log", "-1", "--format=%ct")}
            ).returncode
        finally:  # it names the parts by the place of that tree, which goes
            state.write_bytes(before) if before else state.unlink(missing_ok=True)
        if code:
            raise ReleaseError("the wheels could not be made from the source archive; see above")
        for wheel in (tree / "build/wheels/dist").glob("*.whl"):
            shutil.copy(wheel, DIST)


def checksums() -> str:
    names = sorted(path.name for path in DIST.iterdir() if path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256((DIST / name).read_bytes()).hexdigest()}  {name}\n" for name in names)


def release(options) -> None:
    of = version()
    text = notes((ROOT / "CHANGELOG.md").read_text(), of)
    if options.notes_only:
        print(text, end="")
        return
    check_version(of)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    (DIST / "NOTES.md").write_text(text)
    wheels_of(source_archive(of), of, options.parts)
    (DIST / "SHA256SUMS").write_text(checksums())
    for path in sorted(DIST.iterdir()):
        print(f"{path.name}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes-only", action="store_true", help="print the notes and make nothing")
    parser.add_argument("--with", dest="parts", action="append", default=[], choices=["cuda", "cuda12", "hip", "sycl"])
    try:
        release(parser.parse_args())
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        sys.exit(1)
