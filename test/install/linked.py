# SPDX-License-Identifier: BSD-3-Clause
"""The example as a user's own program, which links Telpher in front of an MPI of every ABI: by the CMake package, and
by pkg-config. It is run under the MPI's own launcher, so nothing is preloaded."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
SETUP = json.loads((SOURCE / "build/deps/setup.json").read_text())
EXAMPLE = SOURCE / "examples/send_receive_telpher.cpp"
BEGINNING = """
cmake_minimum_required(VERSION 3.25)
project(user CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(telpher 0.1 REQUIRED COMPONENTS {abis})
file(WRITE ${{CMAKE_BINARY_DIR}}/command "${{TELPHER_COMMAND}}")
"""
PROGRAM = """
add_executable(user_{abi} {example})
target_compile_definitions(user_{abi} PRIVATE {macros})
target_include_directories(user_{abi} PRIVATE {prefix}/include)
target_link_libraries(user_{abi} PRIVATE telpher::{abi} {prefix}/lib/{library})
"""


@dataclass
class Host:
    """An MPI to link with."""

    prefix: str
    library: str
    macros: str
    launch: tuple

    @property
    def flags(self) -> list:
        macros, folder = [f"-D{macro}" for macro in self.macros.split()], f"{self.prefix}/lib"
        return [*macros, f"-I{self.prefix}/include", f"{folder}/{self.library}", f"-Wl,-rpath,{folder}"]


def in_repository() -> bool:
    """Whether git tells a commit of the sources."""
    line = ["git", "-C", str(SOURCE), "rev-parse", "HEAD"]
    return bool(shutil.which("git")) and subprocess.run(line, capture_output=True).returncode == 0


def hosts() -> dict:
    mpis, found = SETUP["mpi"], {}
    if "mpich" in mpis:
        found["mpich"] = Host(mpis["mpich"], "libmpi.so", "MPICH_SKIP_MPICXX", ())
        if Path(mpis["mpich"], "lib/libmpi_abi.so").exists():
            found["mpi_abi"] = Host(mpis["mpich"], "libmpi_abi.so", "MPICH_SKIP_MPICXX MPI_ABI", ())
    if "ompi" in mpis:
        found["ompi"] = Host(mpis["ompi"], "libmpi.so", "OMPI_SKIP_MPICXX", ("--oversubscribe", "--bind-to", "none"))
    return found


def run(*command, **more) -> str:
    answer = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=200, **more)
    if answer.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {answer.stdout[-2000:]}{answer.stderr[-2000:]}")
    return answer.stdout


def installed(folder: Path) -> dict:
    """The MPIs for which a folder has a library."""
    return {abi: host for abi, host in hosts().items() if (folder / f"libtelpher-{abi}.so").exists()}


def by_cmake(prefix: Path, abis: dict, folder: Path) -> dict:
    """The program of each ABI, by one project that finds the package below `prefix`; and the command it finds."""
    folder.mkdir()
    text = BEGINNING.format(abis=" ".join(abis))
    for abi, host in abis.items():
        text += PROGRAM.format(abi=abi, example=EXAMPLE, **vars(host))
    (folder / "CMakeLists.txt").write_text(text)
    line = [SETUP["cmake"], "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(*line, f"-DCMAKE_MAKE_PROGRAM={SETUP['ninja']}", f"-DCMAKE_CXX_COMPILER={SETUP['compiler']}")
    run(SETUP["cmake"], "--build", folder / "build")
    programs = {abi: folder / f"build/user_{abi}" for abi in abis}
    return programs | {"command": Path((folder / "build/command").read_text())}


def by_pkg_config(prefix: Path, abi: str, host: Host, program: Path) -> None:
    environment = os.environ | {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    words = run("pkg-config", "--cflags", "--libs", f"telpher-{abi}", env=environment).split()
    run(SETUP["compiler"], "-std=c++20", EXAMPLE, "-o", program, *words, *host.flags)


def runs(host: Host, program: Path) -> None:
    leave = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = os.environ | leave | {"TELPHER_BACKEND": "emu"}
    said = run(f"{host.prefix}/bin/mpirun", *host.launch, "-n", 2, program, env=environment)
    if ": right" not in said:
        raise AssertionError(f"{program}: {said}")
