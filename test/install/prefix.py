# SPDX-License-Identifier: BSD-3-Clause
"""An installation by CMake that was moved afterwards: the CMake package, pkg-config, the module file, the command, and
what is left after `uninstall`."""

import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import linked
from linked import SETUP, run

BUILD = Path(sys.argv[1]).resolve()
MPICH = SETUP["mpi"]["mpich"]


# As Julia's ccall and ctypes do: functions by the handle of a library that leads to Telpher and then to the MPI.
BY_HANDLE = """
import ctypes, sys
both, telpher, mpi = map(ctypes.CDLL, sys.argv[1:4])
address = lambda function: ctypes.cast(function, ctypes.c_void_p).value
assert address(both.MPI_Send) == address(telpher.MPI_Send) != address(mpi.MPI_Send)
assert address(both.MPI_Comm_set_name) == address(mpi.MPI_Comm_set_name)
world, byte, count, rank = 0x44000000, 0x4c00010d, ctypes.c_int(1 << 16), ctypes.c_int()
both.MPI_Init(None, None)
both.MPI_Comm_rank(world, ctypes.byref(rank))
host, device = (ctypes.c_char * count.value)(*([rank.value + 1] * count.value)), ctypes.c_void_p()
telpher.telpher_malloc(ctypes.byref(device), ctypes.c_size_t(count.value), 3)
telpher.telpher_memcpy(device, host, ctypes.c_size_t(count.value))
if rank.value == 0:
    both.MPI_Send(device, count, byte, 1, 7, world)
else:
    both.MPI_Recv(device, count, byte, 0, 7, world, ctypes.c_void_p(1))
telpher.telpher_memcpy(host, device, ctypes.c_size_t(count.value))
assert set(host.raw) == {1}
both.MPI_Finalize()
print("right")
"""


LMOD_STEPS = """
. "$1" && module use "$2" && env -0 > "$3/before"
module load telpher && env -0 > "$3/loaded"
module unload telpher && env -0 > "$3/unloaded"
"""


class Prefix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.scratch.name)
        first, cls.prefix = cls.folder / "first", cls.folder / "moved"
        run(SETUP["cmake"], "--install", BUILD, "--prefix", first)
        shutil.copytree(first, cls.prefix, symlinks=True)
        run(cls.prefix / "bin/telpher", "--version")  # its modules are compiled beside it
        run(first / "bin/telpher", "--version")
        cls.left = cls.left_after_uninstall(first)

    @staticmethod
    def left_after_uninstall(prefix: Path) -> list:
        run(SETUP["cmake"], "-P", prefix / "share/telpher/uninstall.cmake")
        return [path for path in prefix.rglob("*") if path.is_file() or path.is_dir() and "telpher" in path.parts]

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_nothing_is_left_after_uninstall(self):
        self.assertEqual(self.left, [])

    def test_uninstall_where_it_was_moved_to(self):
        other = self.folder / "a+b (c)"
        shutil.copytree(self.prefix, other, symlinks=True)
        (other / "bin/of_another").write_text("")
        self.assertEqual(self.left_after_uninstall(other), [other / "bin/of_another"])
        self.assertTrue((self.prefix / "bin/telpher").is_file())

    def abis(self) -> dict:
        found = linked.installed(self.prefix / "lib")
        self.assertEqual(set(found), set(linked.hosts()), "an MPI is here for which no library was installed")
        return found

    def test_cmake_package(self):
        abis = self.abis()
        programs = linked.by_cmake(self.prefix, abis, self.folder / "project")
        self.assertEqual(programs.pop("command").resolve(), (self.prefix / "bin/telpher").resolve())
        for abi, program in programs.items():
            with self.subTest(abi):
                linked.runs(abis[abi], program)

    def test_a_component_that_is_not_there(self):
        folder = self.folder / "other"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(other NONE)\n"
            "find_package(telpher REQUIRED COMPONENTS nothing)\n"
        )
        with self.assertRaisesRegex(AssertionError, "no\\s+library\\s+for\\s+nothing"):
            run(SETUP["cmake"], "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    @unittest.skipUnless(shutil.which("pkg-config"), "no pkg-config here")
    def test_pkg_config(self):
        for abi, host in self.abis().items():
            with self.subTest(abi):
                program = self.folder / f"by_pkg_config_{abi}"
                linked.by_pkg_config(self.prefix, abi, host, program)
                linked.runs(host, program)

    def test_functions_by_the_handle_of_a_library(self):
        both, libmpi = self.folder / "libmpi_telpher.so", f"{MPICH}/lib/libmpi.so.12"
        folders = f"-Wl,-rpath,{self.prefix}/lib:{MPICH}/lib"
        line = ["-shared", "-o", both, "-Wl,--no-as-needed", f"-L{self.prefix}/lib", "-ltelpher-mpich", libmpi, folders]
        run(SETUP["compiler"], *line)
        script = self.folder / "by_handle.py"
        script.write_text(BY_HANDLE)
        own = self.prefix / "lib/libtelpher-mpich.so"
        launch = [self.prefix / "bin/telpher", "run", "-n", 2, "--mpi", MPICH, "--backend", "emu"]
        # The launcher may put the lines of two ranks into one.
        self.assertEqual(run(*launch, sys.executable, script, both, own, libmpi).count("right"), 2)

    def test_module_file(self):
        seen = self.loaded_by_lmod(SETUP["lmod"]) if SETUP.get("lmod") else self.read_by_a_stand_in()
        self.assertEqual(seen["PATH"].split(":")[0], str(self.prefix / "bin"))
        self.assertEqual(seen["TELPHER_HOME"], str(self.prefix))
        for name, inside in (
            ("LD_LIBRARY_PATH", "libtelpher-mpich.so"),
            ("LIBRARY_PATH", "libtelpher-mpich.so"),
            ("CPATH", "telpher/telpher.h"),
            ("CPATH", "telpher/telpher_f08.f90"),
            ("PKG_CONFIG_PATH", "telpher-mpich.pc"),
            ("CMAKE_PREFIX_PATH", "lib/cmake/telpher/telpherConfig.cmake"),
        ):
            self.assertTrue(Path(seen[name], inside).is_file(), (name, seen[name]))

    def loaded_by_lmod(self, lmod: str) -> dict:
        """The environment behind `module load telpher`; `module unload` must leave what was there before."""
        folder = self.folder / "lmod"
        folder.mkdir()
        bare = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
        run("bash", "-c", LMOD_STEPS, "bash", lmod, self.prefix / "share/modulefiles", folder, env=bare)

        def kept(step: str) -> dict:
            entries = (entry.partition("=") for entry in (folder / step).read_text().split("\0") if entry)
            return {name: value for name, _, value in entries if not re.match("_|.*LMOD|LOADEDMODULES", name)}

        self.assertEqual(kept("unloaded"), kept("before"))
        return kept("loaded")

    def read_by_a_stand_in(self) -> dict:
        sys.path.insert(0, SETUP["lupa"])
        import lupa

        lua, seen = lupa.LuaRuntime(), {}
        path = next((self.prefix / "share/modulefiles/telpher").glob("*.lua"))
        names = lua.globals()
        names.myFileName = lambda: str(path)
        names.pathJoin = lambda *parts: "/".join(parts)
        names.isDir = os.path.isdir
        names.prepend_path = names.setenv = seen.__setitem__
        names.help = names.whatis = names.conflict = names.LmodError = lambda *_: None
        lua.execute(path.read_text())
        return seen

    def test_the_example_is_there(self):
        self.assertTrue((self.prefix / "share/telpher/examples/send_receive_telpher.py").is_file())

    def test_the_command_is_whole(self):
        shown = run(self.prefix / "bin/telpher", "--version")
        self.assertRegex(shown, r"^\d+\.\d+\.\d+( \([0-9a-f]{12,}(-dirty)?\))?$")
        if linked.in_repository():
            self.assertIn("(", shown, "the commit is missing")
        self.assertEqual(
            json.loads(run(self.prefix / "bin/telpher", "info", "--json", "--backend", "emu"))["home"], str(self.prefix)
        )
        bash = 'source "$0"; COMP_WORDS=(telpher do) COMP_CWORD=1; _telpher; echo "${COMPREPLY[@]}"'
        completion = self.prefix / "share/bash-completion/completions/telpher"
        self.assertEqual(run("bash", "-c", bash, completion).strip(), "doctor")
