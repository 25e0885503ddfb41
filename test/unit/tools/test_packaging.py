# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for other package managers, as far as they can be looked at without those, and what is in wheels."""

import ast
import os
import re
import runpy
import sys
import tempfile
import types
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "test/install")]

import build  # noqa: E402
import package  # noqa: E402
import release  # noqa: E402
import stand_in  # noqa: E402

BUILD = os.environ["BUILD"]
PACKAGING = ROOT / "share/packaging"
SPACK = PACKAGING / "spack/spack_repo/telpher/packages/telpher/package.py"
NEEDS_ROCM_5 = " 0x0000000000000001 (NEEDED)             Shared library: [libamdhip64.so.5]\n"


def cache_entries() -> set:
    """Every setting that the build has."""
    texts = [
        path.read_text()
        for path in [
            ROOT / "CMakeLists.txt",
            *(ROOT / "cmake").glob("*.cmake"),
            *(ROOT / "src").rglob("CMakeLists.txt"),
        ]
    ]
    return {name for text in texts for name in re.findall(r"(?:set|option)\(\s*(TELPHER_\w+)", text)}


class Value(str):
    """A node or a variant of a Spack spec; `value` of an architecture is a tuple."""

    @property
    def prefix(self) -> str:
        return f"/{self}"

    @property
    def name(self) -> str:
        return str(self)

    @property
    def mpicc(self) -> str:
        return f"/{self}/mpi/2021.17/bin/mpiicx"

    @property
    def value(self) -> tuple:
        return tuple(self.split(","))


class Spec(dict):
    """A concrete spec: its dependencies, its variants, and what is true of it."""

    def __init__(self, mpi: str, *true: str, **variants: str):
        super().__init__(mpi=Value(mpi), cuda=Value("cuda"))
        self.true, self.variants = true, {name: Value(value) for name, value in variants.items()}

    def satisfies(self, text: str) -> bool:
        return text in self.true


def spack_recipe():
    """The class of the recipe, with a Spack that notes what it declares."""
    noted, nothing = [], type("Package", (), {"define": lambda self, name, value: (name, value)})
    spack = types.ModuleType("spack.package")
    for word in ("license", "version", "variant", "depends_on"):
        setattr(spack, word, lambda *words, _word=word, **more: noted.append((_word, *words)))
    systems = {name: types.ModuleType(f"spack_repo.builtin.build_systems.{name}") for name in ("cmake", "cuda", "rocm")}
    systems["cmake"].CMakePackage, systems["cmake"].generator = nothing, lambda *_: None
    systems["cuda"].CudaPackage = type("CudaPackage", (), {})
    systems["rocm"].ROCmPackage = type("ROCmPackage", (), {})
    modules = {"spack": types.ModuleType("spack"), "spack.package": spack, "spack_repo": types.ModuleType("spack_repo")}
    modules |= {module.__name__: module for module in systems.values()}
    for name in ("spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[name] = types.ModuleType(name)
    with unittest.mock.patch.dict(sys.modules, modules):
        return runpy.run_path(str(SPACK))["Telpher"], noted


class Spack(unittest.TestCase):
    def arguments(self, spec: Spec) -> dict:
        recipe = spack_recipe()[0]()
        recipe.spec = spec
        found = dict(recipe.cmake_args())
        self.assertLessEqual(set(found), cache_entries())
        return found

    def test_what_is_built_is_this_repository(self):
        recipe, noted = spack_recipe()
        self.assertEqual(Path(recipe.git), ROOT)
        self.assertIn(("depends_on", "mpi"), noted)

    def test_the_mpi_is_the_one_of_the_spec(self):
        self.assertEqual(self.arguments(Spec("openmpi"))["TELPHER_OMPI_PREFIX"], "/openmpi")
        found = self.arguments(Spec("cray-mpich"))
        self.assertEqual((found["TELPHER_MPICH_PREFIX"], found["TELPHER_CUDA"]), ("/cray-mpich", "OFF"))

    def test_mpis_that_are_made_from_open_mpi(self):
        for name in ("hpcx-mpi", "spectrum-mpi"):
            found = self.arguments(Spec(name))
            self.assertEqual(found["TELPHER_OMPI_PREFIX"], f"/{name}")
            self.assertNotIn("TELPHER_MPICH_PREFIX", found)

    def test_mpis_with_a_folder_of_their_own_in_their_package(self):
        found = self.arguments(Spec("intel-oneapi-mpi"))
        self.assertEqual(found["TELPHER_MPICH_PREFIX"], "/intel-oneapi-mpi/mpi/2021.17")
        self.assertEqual(self.arguments(Spec("nvhpc"))["TELPHER_OMPI_PREFIX"], "/nvhpc/mpi/2021.17")

    def test_variants(self):
        cuda = self.arguments(Spec("mpich", "+cuda", cuda_arch="80,90"))
        self.assertEqual((cuda["TELPHER_CUDA_ROOT"], cuda["TELPHER_CUDA_ARCHITECTURES"]), ("/cuda", ("80", "90")))
        self.assertNotIn("TELPHER_CUDA_ARCHITECTURES", self.arguments(Spec("mpich", "+cuda", cuda_arch="none")))
        self.assertEqual(cuda["TELPHER_LIBFABRIC"], False)  # headers that happen to be there do not count
        self.assertEqual(self.arguments(Spec("mpich", "+libfabric"))["TELPHER_LIBFABRIC"], True)
        rocm = self.arguments(Spec("mpich", "+rocm", amdgpu_target="gfx90a"))
        self.assertEqual((rocm["TELPHER_HIP"], rocm["TELPHER_HIP_ARCHITECTURES"]), ("ON", ("gfx90a",)))

    def test_the_environment_of_a_run(self):
        recipe, environment = spack_recipe()[0](), unittest.mock.Mock()
        recipe.prefix = "/here"
        recipe.setup_run_environment(environment)
        environment.set.assert_called_once_with("TELPHER_HOME", "/here")


class Recipes(unittest.TestCase):

    def test_conda_names_what_the_build_has(self):
        text = (PACKAGING / "conda/recipe.yaml").read_text()
        self.assertLessEqual(set(re.findall(r"-D(TELPHER_\w+)", text)), cache_entries())
        self.assertIn(f'version: "{release.version()}"', text)

    def test_what_was_not_run_says_so(self):
        for name in (SPACK, "containers/telpher.def"):
            self.assertIn("Not run:", (PACKAGING / name).read_text(), name)


class Toolkits(unittest.TestCase):
    def test_cuda_12_is_built_with_where_it_alone_was_asked_for(self):
        state = {"mpi": {}, "compiler": "c++", "ninja": "ninja", "cuda12": "/cuda12"}
        arguments = build.cache_of("release", state, [])
        self.assertIn("-DTELPHER_CUDA_ROOT=/cuda12", arguments)
        self.assertLess(arguments.index("-UTELPHER_NVCC"), arguments.index("-DTELPHER_CUDA_ROOT=/cuda12"))
        self.assertIn("-DTELPHER_CUDA=OFF", build.cache_of("wheels", state, []))
        self.assertEqual(build.cuda_root("wheels", state | {"cuda": "/cuda13"}), "/cuda13")
        self.assertEqual(build.cuda_root("wheels_cuda12", state | {"cuda": "/cuda13"}), "/cuda12")


class Wheels(unittest.TestCase):
    def test_a_plug_in_alone_is_named_by_its_compilers_age(self):
        with tempfile.TemporaryDirectory() as folder:
            emulated = Path(BUILD, "lib/libtelpher-emu.so")
            made = stand_in.cuda_build(emulated, Path(folder, "build"), "12.4", "1.0.0")
            files = package.plugin_alone(made, "cuda", Path(folder, "staged"))
            wheel = package.plugin_wheel("cuda", files, "1.0.0", made)
            self.assertEqual((wheel.name, list(wheel.files)), ("telpher_cuda12", ["telpher/lib/libtelpher-cuda.so"]))
            stripped, whole = wheel.files["telpher/lib/libtelpher-cuda.so"], made / "lib/libtelpher-cuda.so"
            self.assertLess(stripped.stat().st_size, whole.stat().st_size)

    def test_the_sizes_that_are_promised(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "telpher-1.0.0-py3-none-any.whl")
            for size, name, fits in ((5 * 10**6, "telpher", True), (5 * 10**6 + 1, "telpher", False),
                                     (15 * 10**6 + 1, "telpher_cuda13", False), (10**8, "telpher_sycl", True)):
                with open(path, "wb") as file:
                    file.truncate(size)
                if fits:
                    package.within_limit(name, path)
                else:
                    self.assertRaisesRegex(package.PackageError, "is larger than", package.within_limit, name, path)

    def test_the_command_is_for_the_pythons_that_the_wheel_is_for(self):
        oldest = re.search(r'"Requires-Python: >=3\.(\d+)"', (ROOT / "tools/package.py").read_text())
        for path in (ROOT / "tools/telpher").glob("*.py"):
            tree = ast.parse(path.read_text(), feature_version=(3, int(oldest.group(1))))
            words = [word.arg for call in ast.walk(tree) if isinstance(call, ast.Call) for word in call.keywords]
            self.assertNotIn("strict", words, f"{path.name}: zip(strict=) is of Python 3.10")

    def test_an_older_python_is_told_which_one_is_needed(self):
        text = (ROOT / "tools/bin/telpher").read_text()
        ast.parse(text, feature_version=(3, 6))  # of RHEL 8 and SLES 15
        with unittest.mock.patch.object(sys, "version_info", (3, 6, 8)), unittest.mock.patch("sys.stderr") as said:
            with self.assertRaises(SystemExit) as end:
                exec(compile(text, "telpher", "exec"), {"__file__": "telpher"})
        self.assertEqual(end.exception.code, 2)
        self.assertRegex(said.write.call_args.args[0], r"needs Python 3\.9 or newer, and .* is 3\.6")

    def test_what_is_in_the_core_and_where(self):
        files = {
            name: Path(name)
            for name in (
                "bin/telpher",
                "lib/libtelpher-emu.so",
                "lib/libtelpher-hip.so",
                "lib/libtelpher-sycl-reduce.syclbin",
                "share/telpher/telpher/run.py",
                "share/telpher/examples/send_receive_telpher.py",
                "share/bash-completion/completions/telpher",
                "share/zsh/site-functions/_telpher",
            )
        }
        core = package.core_wheel(files, "1.0.0")
        below_environment = [
            "telpher-1.0.0.data/data/share/bash-completion/completions/telpher",
            "telpher-1.0.0.data/data/share/zsh/site-functions/_telpher",
        ]
        inside = ["telpher/bin/telpher", "telpher/lib/libtelpher-emu.so", "telpher/run.py"]
        inside.append("telpher/share/telpher/examples/send_receive_telpher.py")
        self.assertEqual(sorted(core.files), below_environment + inside)
        self.assertEqual(core.extras["rocm"], ["telpher-rocm==1.0.0"])
        with unittest.mock.patch.object(package, "run", lambda command: NEEDS_ROCM_5):
            rocm = package.plugin_wheel("hip", files, "1.0.0", Path())
        self.assertTrue(rocm.summary.endswith("AMD GPUs, ROCm 5"), rocm.summary)
        self.assertEqual((list(rocm.files), rocm.requires), (["telpher/lib/libtelpher-hip.so"], ["telpher==1.0.0"]))
        self.assertIn(
            "telpher/lib/libtelpher-sycl-reduce.syclbin", package.plugin_wheel("sycl", files, "1.0.0", Path()).files
        )


unittest.main()
