# SPDX-License-Identifier: BSD-3-Clause
"""Configures and builds one CMake preset with what tools/setup.py found.

    python3 tools/build.py PRESET [--target NAME]... [-D NAME=VALUE]... [--install PREFIX]
    python3 tools/build.py --uninstall PREFIX

Configures only if something changed. The preset `system` takes the machine's own MPIs; without any it
says so and exits with 77.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from telpher import host_mpi

ROOT = Path(__file__).resolve().parent.parent
NOTHING_TO_DO = 77
FOLDERS = ("src", "tools", "bench", "examples", "test")


# Presets that show or repeat the same code (a sanitizer, another compiler): one host MPI is enough.
ONE_MPI = ("demo", "asan", "tsan", "vendors")
# Those and the daily tests go without the library for the standard ABI (make check-standard-abi asks for it).
NO_STANDARD_ABI = (*ONE_MPI, "dev")
# The folders of presets that add to what another has built.
FOLDER_OF = {"vendors": "dev"}
# Presets that hold the vendors that were asked for and no other that happens to be on this machine.
ASKED_VENDORS = ("vendors", "wheels")
# What CMake keeps of another toolkit, found there before.
FOUND_BY_CUDA_ROOT = ("TELPHER_NVCC", "TELPHER_CUDA_INCLUDE", "TELPHER_CUDART")


def mpi_prefixes(preset: str, state: dict) -> dict[str, str]:
    if preset in ONE_MPI:
        return dict(sorted(state["mpi"].items())[:1])  # MPICH where it is there
    if preset != "system":
        return state["mpi"]
    found: dict[str, str] = {}
    for one in host_mpi.installed():
        if one.prefix:
            found.setdefault(one.abi, one.prefix)
    return found


def cuda_root(preset: str, state: dict) -> str:
    """The toolkit that was asked for. An installation holds one CUDA plug-in; the wheel for 12 has its own preset."""
    if preset == "wheels_cuda12":
        return state["cuda12"]
    return state.get("cuda") or (preset == "release" and state.get("cuda12")) or ""


def cache_of(preset: str, state: dict, extra: list[str]) -> list[str]:
    prefixes = mpi_prefixes(preset, state)
    cache = [f"CMAKE_CXX_COMPILER={state['compiler']}", f"CMAKE_MAKE_PROGRAM={state['ninja']}",
             f"TELPHER_MPICH_PREFIX={prefixes.get('mpich', '')}",
             f"TELPHER_OMPI_PREFIX={prefixes.get('ompi', '')}"]
    cache += [f"TELPHER_STANDARD_ABI={'OFF' if preset in NO_STANDARD_ABI else 'ON'}"]
    if state.get("zfp"):
        cache += [f"TELPHER_ZFP_LIBRARY={state['zfp']}"]
    found_by_root = []
    if root := cuda_root(preset, state):
        cache += [f"TELPHER_CUDA_ROOT={root}"]
        found_by_root = [f"-U{name}" for name in FOUND_BY_CUDA_ROOT]
    if state.get("sycl") and preset != "wheels_cuda12":
        cache += ["TELPHER_SYCL=ON", f"TELPHER_SYCL_ROOT={state['sycl']}"]
    if preset in ASKED_VENDORS:
        cache += [f"TELPHER_{name.upper()}={'ON' if state.get(name) else 'OFF'}" for name in ("cuda", "hip", "sycl")]
    return found_by_root + [f"-D{entry}" for entry in cache + extra]


def watched() -> list[str]:
    """What CMake does not watch by itself: the presets, and folders, which are taken in where they exist."""
    folders = (path.relative_to(ROOT) for top in FOLDERS for path in (ROOT / top).rglob("CMakeLists.txt"))
    return [(ROOT / "CMakePresets.json").read_text(), *sorted(map(str, folders))]


def run(command: list[str]) -> int:
    return subprocess.run(command, cwd=ROOT).returncode


def uninstall(prefix: str, cmake: str) -> int:
    script = Path(prefix).absolute() / "share/telpher/uninstall.cmake"
    if not script.is_file():
        print(f"uninstall: no Telpher is installed in {prefix}: there is no {script}; name its PREFIX")
        return 1
    return run([cmake, "-P", str(script)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("preset", nargs="?")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("-D", dest="cache", action="append", default=[])
    parser.add_argument("--install", metavar="PREFIX", help="install what was built")
    parser.add_argument("--uninstall", metavar="PREFIX", help="remove what was installed there, from whatever folder")
    options = parser.parse_args()
    state = json.loads((ROOT / "build/deps/setup.json").read_text())
    if options.uninstall:
        return uninstall(options.uninstall, state["cmake"])
    if not options.preset:
        parser.error("name a preset")
    if options.preset == "system" and not mpi_prefixes("system", state):
        print("build: the machine brings no MPI of its own; this ring has nothing to do")
        return NOTHING_TO_DO
    if options.preset == "release" and state.get("cuda") and state.get("cuda12"):
        print("build: an installation holds one plug-in for CUDA: name either cuda or cuda12 in WITH")
        return 1
    folder = ROOT / "build" / FOLDER_OF.get(options.preset, options.preset)
    configure = [state["cmake"], "--preset", options.preset,
                 *cache_of(options.preset, state, options.cache)]
    mark = folder / "configured.txt"
    wanted = str(configure + watched())
    if not (folder / "build.ninja").is_file() or not mark.is_file() or mark.read_text() != wanted:
        if code := run(configure):
            return code
        mark.write_text(wanted)
    build = [state["cmake"], "--build", str(folder), "--parallel", str(min(os.cpu_count() or 1, 16))]
    if options.target:
        build += ["--target", *options.target]
    code = run(build)
    if code == 0 and options.install:
        return run([state["cmake"], "--install", str(folder), "--prefix", os.path.abspath(options.install)])
    return code


if __name__ == "__main__":
    sys.exit(main())
