# SPDX-License-Identifier: BSD-3-Clause
"""Makes Python wheels of what a build folder has.

    python3 tools/package.py BUILD [--out FOLDER] [--core | --plugin VENDOR]

`telpher` holds the command, the libraries for every ABI that was built, the emulated device, the header and the
CMake package; each vendor's plug-in is a wheel of its own, which `telpher[cuda13]` and its like bring along. A
wheel is an installation (cmake --install) below site-packages/telpher, where the command finds its libraries by
its own place, and each library its plug-ins beside it. Nothing in it is Python of one version, so one wheel
serves all. The platform's tag is what auditwheel finds the libraries to need of a glibc.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from pins import PINS

ROOT = Path(__file__).resolve().parent.parent
MACHINE = f"linux_{os.uname().machine}"
SUMMARY = "Device memory in MPI calls, over any MPI"
OUTSIDE = ("libmpi.so", "libmpi_abi.so", "libamdhip64.so", "libsycl.so")  # the user's own MPI and vendor's runtime
COMPLETIONS = ("share/bash-completion/", "share/zsh/")  # which shells look for below the environment, not in a package
LIMITS_MB = {"telpher": 5, "telpher_cuda12": 15, "telpher_cuda13": 15}


class PackageError(Exception):
    """One line with the cause and the remedy."""


@dataclass
class Wheel:
    """`files`: where each goes below site-packages, or by NAME-VERSION.data/data below the environment, and where it
    is."""

    name: str
    summary: str
    files: dict
    requires: list = field(default_factory=list)
    extras: dict = field(default_factory=dict)
    entry_points: str = ""


def run(command: list, **more) -> str:
    answer = subprocess.run(command, capture_output=True, text=True, **more)
    if answer.returncode != 0:
        last = (answer.stderr.strip() or answer.stdout.strip()).splitlines()[-3:]
        raise PackageError(f"{' '.join(map(str, command[:3]))}: {' '.join(last)}")
    return answer.stdout


def staged(cmake: str, build: Path, folder: Path) -> dict:
    """An installation of the build without debug symbols: path below the prefix to file."""
    run([cmake, "--install", str(build), "--prefix", str(folder), "--strip"])
    return {
        str(path.relative_to(folder)): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def plugin_alone(build: Path, vendor: str, folder: Path) -> dict:
    """As `staged`, of a build that has nothing but one plug-in."""
    folder.mkdir()
    library = folder / f"libtelpher-{vendor}.so"
    run(["strip", "--strip-unneeded", "-o", str(library), str(build / "lib" / library.name)])
    return {f"lib/{library.name}": library, "share/telpher/VERSION": build / "share/telpher/VERSION"}


def plugin_of(name: str) -> str:
    found = re.match(r"lib/libtelpher-(cuda|hip|sycl)[-.]", name)
    return found.group(1) if found else ""


def cuda_major(build: Path) -> str:
    """Of the compiler that the build used: the static CUDA runtime of a plug-in needs a driver of that age."""
    cache = (build / "CMakeCache.txt").read_text()
    nvcc = re.search(r"^TELPHER_NVCC:\w+=(.+)$", cache, re.M)
    return re.search(r"release (\d+)", run([nvcc.group(1), "--version"])).group(1)


def rocm_major(library: Path) -> str:
    """Of the HIP runtime that the plug-in needs: one of another major version has another name, and does not do."""
    found = re.search(r"\(NEEDED\).*\[libamdhip64\.so\.(\d+)\]", run(["readelf", "-d", str(library)]))
    if not found:
        raise PackageError(f"{library.name} names no version of libamdhip64.so; for which ROCm is it?")
    return found.group(1)


def sycl_runtime() -> list[str]:
    """The one that the plug-in is built with, whose library no other major version has."""
    pinned = next(one for one in PINS["sycl"] if one.startswith("intel-sycl-rt=="))
    major = int(pinned.split("==")[1].split(".")[0])
    return [f"intel-sycl-rt>={major},<{major + 1}"]


def plugin_wheel(vendor: str, files: dict, version: str, build: Path) -> Wheel:
    exact = [f"telpher=={version}"]
    placed = {"telpher/" + name: path for name, path in files.items() if plugin_of(name) == vendor}
    if vendor == "cuda":
        major = cuda_major(build)
        return Wheel(f"telpher_cuda{major}", f"Telpher's plug-in for NVIDIA GPUs, CUDA {major}", placed, exact)
    if vendor == "hip":
        major = rocm_major(files["lib/libtelpher-hip.so"])
        return Wheel("telpher_rocm", f"Telpher's plug-in for AMD GPUs, ROCm {major}", placed, exact)
    return Wheel("telpher_sycl", "Telpher's plug-in for SYCL (Intel GPUs)", placed, [*exact, *sycl_runtime()])


def core_wheel(files: dict, version: str) -> Wheel:
    placed = {}
    for name, path in files.items():
        if plugin_of(name):
            continue
        module = name.removeprefix("share/telpher/telpher/")
        folder = f"telpher-{version}.data/data" if name.startswith(COMPLETIONS) else "telpher"
        placed[f"{folder}/{module}"] = path
    extras = {extra: [f"telpher-{extra}=={version}"] for extra in ("cuda12", "cuda13", "rocm", "sycl")}
    points = "[console_scripts]\ntelpher = telpher.__main__:command\n\n[cmake.prefix]\ntelpher = telpher\n"
    return Wheel("telpher", SUMMARY, placed, [], extras, points)


def metadata(wheel: Wheel, version: str) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {wheel.name.replace('_', '-')}",
        f"Version: {version}",
        f"Summary: {wheel.summary}",
        "License: BSD-3-Clause",
        "License-File: LICENSE",
        "Requires-Python: >=3.9",
        "Classifier: Operating System :: POSIX :: Linux",
        "Description-Content-Type: text/markdown",
    ]
    lines += [f"Requires-Dist: {one}" for one in wheel.requires]
    for extra, needs in wheel.extras.items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {one} ; extra == '{extra}'" for one in needs)]
    return "\n".join(lines) + "\n\n" + (ROOT / "README.md").read_text()


def write(wheel: Wheel, version: str, platform: str, out: Path) -> Path:
    """The wheel file; the same input makes the same bytes."""
    info = f"{wheel.name}-{version}.dist-info"
    tag = f"py3-none-{platform}"
    path = out / f"{wheel.name}-{version}-{tag}.whl"
    stamp = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")))[:6]
    texts = {
        "METADATA": metadata(wheel, version),
        "licenses/LICENSE": (ROOT / "LICENSE").read_text(),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: telpher\nRoot-Is-Purelib: false\nTag: {tag}\n",
    }
    if wheel.entry_points:
        texts["entry_points.txt"] = wheel.entry_points
    record = []
    with zipfile.ZipFile(path, "w") as archive:

        def add(name: str, data: bytes, executable: bool) -> None:
            entry = zipfile.ZipInfo(name, stamp)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)  # an entry does not take the archive's
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            record.append(f"{name},sha256={digest},{len(data)}")

        for name, file in wheel.files.items():
            add(name, file.read_bytes(), os.access(file, os.X_OK) and not name.endswith((".py", ".so")))
        for name, text in texts.items():
            add(f"{info}/{name}", text.encode(), False)
        add(f"{info}/RECORD", ("\n".join([*record, f"{info}/RECORD,,"]) + "\n").encode(), False)
    return path


def platform_of(path: Path, auditwheel: Path) -> str:
    """The oldest manylinux whose glibc has every symbol that the wheel's libraries ask for."""
    environment = dict(os.environ) | {"PYTHONPATH": str(auditwheel)}
    command = [sys.executable, "-m", "auditwheel", "show", "--json", "--ldpaths", str(path.parent), str(path)]
    # No folder to look into: what the MPI of this machine needs is not the wheel's need.
    shown = json.loads(run(command, env=environment))
    foreign = [name for name in shown["external_libs"] if not name.startswith(OUTSIDE)]
    if foreign or not shown["sym_tag"].startswith("manylinux"):
        raise PackageError(f"{path.name} is not for other machines: it needs {', '.join(foreign) or shown['sym_tag']}")
    return shown["sym_tag"]


def look_at_search_path(library: Path) -> None:
    """The loader takes an empty entry for the current directory."""
    found = re.search(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", run(["readelf", "-d", str(library)]))
    for folder in found.group(1).split(":") if found else []:
        if not folder.startswith("$ORIGIN"):
            raise PackageError(f"{library.name} looks for libraries in '{folder}'; only $ORIGIN is at a user's")


def within_limit(name: str, path: Path) -> None:
    """What is promised of the sizes, also of the wheels that tests make: the core of their build has 4.7 MB."""
    limit = LIMITS_MB.get(name)
    if limit and path.stat().st_size > limit * 1e6:
        raise PackageError(f"{path.name} is larger than {limit} MB; what is in it that need not be?")


def make(build: Path, out: Path, core_only: bool, plugin: str) -> None:
    state = json.loads((ROOT / "build/deps/setup.json").read_text())
    if not state.get("auditwheel"):
        raise PackageError("no auditwheel; run python3 tools/setup.py --with wheels first")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "prefix")
        files = plugin_alone(build, plugin, place) if plugin else staged(state["cmake"], build, place)
        version = files["share/telpher/VERSION"].read_text().split()[0]
        wheels = [] if plugin else [core_wheel(files, version)]
        vendors = set() if core_only else set(map(plugin_of, files)) - {""}
        wheels += [plugin_wheel(vendor, files, version, build) for vendor in sorted(vendors)]
        for wheel in wheels:
            for file in wheel.files.values():
                if file.suffix == ".so":
                    look_at_search_path(file)
            platform = platform_of(write(wheel, version, MACHINE, Path(folder)), Path(state["auditwheel"]))
            for old in out.glob(f"{wheel.name}-*.whl"):
                old.unlink()
            path = write(wheel, version, platform, out)
            print(f"{path.name}  {path.stat().st_size:,} bytes")
            within_limit(wheel.name, path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--out", type=Path, help="BUILD/dist if not given")
    parser.add_argument("--core", action="store_true", help="no plug-ins: for tests")
    parser.add_argument("--plugin", default="", metavar="VENDOR", help="only this plug-in, of a build that has no more")
    options = parser.parse_args()
    try:
        make(options.build, options.out or options.build / "dist", options.core, options.plugin)
    except PackageError as error:
        print(f"package: {error}", file=sys.stderr)
        sys.exit(1)
