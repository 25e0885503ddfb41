# SPDX-License-Identifier: BSD-3-Clause
# Spack 1.0 and newer: `spack repo add share/packaging/spack/spack_repo/telpher`, then
# `spack install telpher+cuda cuda_arch=90 ^openmpi`. It builds what the repository has that it lies in.
# Not run: no Spack on the machine that this was written on; test/unit/tools/test_packaging.py asks it for CMake's
# arguments with a stand-in for Spack.
# ruff: noqa: F403, F405
from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

OPEN_MPI = {"openmpi", "hpcx-mpi", "nvhpc", "spectrum-mpi", "fujitsu-mpi"}  # made from Open MPI, with its ABI
BELOW_PREFIX = {"nvhpc", "intel-oneapi-mpi"}  # their MPI has a folder of its own in the package


class Telpher(CMakePackage, CudaPackage, ROCmPackage):
    """Device memory in MPI calls, over any MPI."""

    git = str(Path(__file__).resolve().parents[7])
    license("BSD-3-Clause")

    version("main", branch="main")

    variant("libfabric", default=False, description="one-sided transfers between nodes")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("mpi")
    depends_on("hip", when="+rocm")
    depends_on("libfabric", when="+libfabric")

    generator("ninja")

    def mpi_prefix(self):
        mpi = self.spec["mpi"]
        return str(Path(mpi.mpicc).parents[1]) if mpi.name in BELOW_PREFIX else mpi.prefix

    def cmake_args(self):
        spec = self.spec
        flavour = "OMPI" if spec["mpi"].name in OPEN_MPI else "MPICH"
        args = [
            self.define("TELPHER_TESTS", False),
            self.define("TELPHER_LTO", True),
            self.define(f"TELPHER_{flavour}_PREFIX", self.mpi_prefix()),
            self.define("TELPHER_LIBFABRIC", spec.satisfies("+libfabric")),
            self.define("TELPHER_CUDA", "ON" if spec.satisfies("+cuda") else "OFF"),
            self.define("TELPHER_HIP", "ON" if spec.satisfies("+rocm") else "OFF"),
            self.define("TELPHER_SYCL", "OFF"),
        ]
        if spec.satisfies("+cuda"):
            args.append(self.define("TELPHER_CUDA_ROOT", spec["cuda"].prefix))
            if "none" not in spec.variants["cuda_arch"].value:
                args.append(self.define("TELPHER_CUDA_ARCHITECTURES", spec.variants["cuda_arch"].value))
        if spec.satisfies("+rocm") and "none" not in spec.variants["amdgpu_target"].value:
            args.append(self.define("TELPHER_HIP_ARCHITECTURES", spec.variants["amdgpu_target"].value))
        return args

    def setup_run_environment(self, env):
        env.set("TELPHER_HOME", self.prefix)
