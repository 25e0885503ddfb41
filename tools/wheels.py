# SPDX-License-Identifier: BSD-3-Clause
"""Brings Python packages into folders of the build tree: any pip downloads the wheel, we unpack it.

Unpacking by ourselves gives the same layout on every machine (Debian's pip installs below local/), needs no
virtual environment, and never touches the machine's own Python. A package counts as there once its
folder holds a `.complete` file that names its pins.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

DOWNLOAD_S = 600


class SetupError(Exception):
    """A part that cannot be had; the text names the cause and the remedy."""


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _pip_from_debian(deps: Path) -> list[str] | None:
    """Debian and Ubuntu ship pip as a wheel that runs without being installed, and whose package
    any user may download."""
    folder = deps / "pip"
    wheels = sorted(folder.glob("**/pip-*.whl"))
    if not wheels and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        folder.mkdir(parents=True, exist_ok=True)
        fetch = ["apt-get", "download", "python3-pip-whl"]
        if subprocess.run(fetch, cwd=folder, capture_output=True).returncode != 0 and os.geteuid() == 0:
            subprocess.run(["apt-get", "update"], capture_output=True)
            subprocess.run(fetch, cwd=folder, capture_output=True)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package.name, "."], cwd=folder, capture_output=True)
            package.unlink()
        wheels = sorted(folder.glob("**/pip-*.whl"))
    return [sys.executable, str(wheels[-1] / "pip")] if wheels else None


def _find_pip(deps: Path) -> list[str]:
    own = [sys.executable, "-m", "pip"]
    if _runs([*own, "--version"]):
        return own
    private = deps / "python"
    inside = [str(private / "bin" / "python3"), "-m", "pip"]
    if _runs([*inside, "--version"]):
        return inside
    if _runs([sys.executable, "-m", "venv", str(private)]) and _runs([*inside, "--version"]):
        return inside
    shutil.rmtree(private, ignore_errors=True)
    found = _pip_from_debian(deps)
    if found and _runs([*found, "--version"]):
        return found
    raise SetupError(
        f"{sys.executable} has no pip and cannot make a virtual environment; "
        "install one of Debian's or Ubuntu's packages python3-venv or python3-pip, "
        "or run make with PYTHON= a Python that has pip")


def _target(name: str) -> str | None:
    """Where a member of a wheel goes below the prefix; None for what is not needed."""
    top, _, rest = name.partition("/")
    if not top.endswith(".data"):
        return name
    scheme, _, rest = rest.partition("/")
    folders = {"data": "", "scripts": "bin/", "headers": "include/", "purelib": "", "platlib": ""}
    return folders[scheme] + rest if scheme in folders else None


def _unpack(wheel: Path, prefix: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            target = _target(member.filename)
            if member.is_dir() or not target:
                continue
            path = (prefix / target).resolve()
            if not path.is_relative_to(prefix.resolve()):
                raise SetupError(f"{wheel.name} holds a path outside its folder: {member.filename}")
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, open(path, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            if member.external_attr >> 16 & stat.S_IXUSR or target.startswith("bin/"):
                path.chmod(0o755)


def present(prefix: Path, pins: list[str]) -> bool:
    mark = prefix / ".complete"
    return mark.is_file() and mark.read_text() == " ".join(pins)


def install(prefix: Path, pins: list[str], deps: Path) -> None:
    """Makes `prefix` hold exactly the packages `pins`, or raises SetupError."""
    if present(prefix, pins):
        return
    deps.mkdir(parents=True, exist_ok=True)
    pip = _find_pip(deps)
    print(f"setup: getting {' '.join(pins)}", flush=True)
    with tempfile.TemporaryDirectory(dir=deps) as folder:
        command = [*pip, "download", "--quiet", "--no-deps", "--only-binary=:all:",
                   "--disable-pip-version-check", "--dest", folder, *pins]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_S)
            text, ok = answer.stderr.strip(), answer.returncode == 0
        except subprocess.TimeoutExpired:
            text, ok = f"no answer within {DOWNLOAD_S} s", False
        if not ok:
            last = text.splitlines()[-1] if text else "no reason given"
            raise SetupError(f"pip cannot download {' '.join(pins)}: {last}")
        shutil.rmtree(prefix, ignore_errors=True)
        for wheel in sorted(Path(folder).glob("*.whl")):
            _unpack(wheel, prefix)
    (prefix / ".complete").write_text(" ".join(pins))
