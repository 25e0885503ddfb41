#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Folders to take to a machine that can fetch nothing: a GPU-aware UCX and MPICH, as small as they go.

    bench/carry.py [--to .carry] [ucx] [mpich]

From PyPI's libucx-cu13 and mpich, only what a run and a build need, without debugging symbols. Both
work from any folder: `bench/gpu_session.py --ucx .carry/ucx --mpich .carry/mpich`. The layout of the
packages is kept, since their libraries find each other relative to their own place.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import wheels  # noqa: E402

PINS = {"ucx": ["libucx-cu13==1.22.0"], "mpich": ["mpich==5.0.2"]}
KEPT = {
    "ucx": ["libucx/lib/lib*.so.0", "libucx/lib/ucx/lib*.so.0", "libucx/bin/ucx_perftest", "libucx/bin/ucx_info",
            "libucx_cu13.libs/*"],
    "mpich": ["bin/mpirun", "bin/mpiexec.hydra", "bin/hydra_pmi_proxy", "bin/mpicc", "bin/mpicxx",
              "include/mpi.h", "include/mpi_proto.h", "include/mpio.h", "lib/libmpi.so", "lib/libmpi.so.12",
              "lib/mpich/lib*.so.*", "lib/mpich/ucx/libuct_cma.so.0"],
}


def copy_kept(part: str, source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    for pattern in KEPT[part]:
        for path in sorted(source.glob(pattern)):
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
            place.chmod(0o755 if "/bin/" in str(place) or ".so" in place.name else 0o644)


def strip(target: Path) -> None:
    """Symbols that only a debugger reads are two thirds of UCX."""
    tool = shutil.which("strip")
    for path in target.rglob("*"):
        if tool and path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            subprocess.run([tool, "--strip-unneeded", str(path)], check=False)


def size_of(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2 ** 20


def works(part: str, target: Path) -> bool:
    """Starts the copy's own program from where it now lies."""
    command = {"ucx": [target / "libucx/bin/ucx_info", "-v"], "mpich": [target / "bin/mpirun", "-n", "2", "hostname"]}
    env = os.environ | ({"LD_LIBRARY_PATH": str(target / "libucx/lib")} if part == "ucx" else {})
    try:
        done = subprocess.run([str(word) for word in command[part]], capture_output=True, timeout=30, env=env)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="ucx|mpich")
    parser.add_argument("--to", type=Path, default=ROOT / ".carry")
    options = parser.parse_args()
    failed = 0
    for part in options.parts or list(PINS):
        if part not in PINS:
            parser.error(f"there is no part {part}")
        deps = ROOT / "build" / "deps" / "carry"
        try:
            wheels.install(deps / part, PINS[part], deps)
        except wheels.SetupError as error:
            print(f"carry: {error}", file=sys.stderr)
            failed += 1
            continue
        target = options.to / part
        copy_kept(part, deps / part, target)
        strip(target)
        good = works(part, target)
        failed += not good
        print(f"{target}: {size_of(target):.1f} MiB, {'starts' if good else 'DOES NOT START'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
