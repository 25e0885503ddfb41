# SPDX-License-Identifier: BSD-3-Clause
"""A build folder of nothing but a plug-in for CUDA, as package.py finds one: the emulated device's library stands in
for it, and a script for the compiler, of which package.py only asks the version."""

import shutil
from pathlib import Path


def cuda_build(emulated: Path, build: Path, release: str, version: str) -> Path:
    for name in ("lib", "share/telpher"):
        (build / name).mkdir(parents=True)
    nvcc = build / "nvcc"
    nvcc.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {release}, V{release}.131'\n")
    nvcc.chmod(0o755)
    (build / "CMakeCache.txt").write_text(f"TELPHER_NVCC:FILEPATH={nvcc}\n")
    (build / "share/telpher/VERSION").write_text(f"{version} 0123abc\n")
    shutil.copy(emulated, build / "lib/libtelpher-cuda.so")
    return build
