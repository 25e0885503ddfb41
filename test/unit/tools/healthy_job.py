# SPDX-License-Identifier: BSD-3-Clause
"""The facts of a healthy job, as the doctor gathers them."""


def given(number: int) -> dict:
    return {
        "rank": number,
        "host": "node1",
        "pid": 10 + number,
        "telphers": ["/t/lib/libtelpher-mpich.so"],
        "mpis": ["/m/lib/libmpi.so.12"],
        "version": 100,
        "settings": {"TELPHER_BACKEND": "cuda"},
        "slurm": {},
        "pid_space": 1,
        "ipc_space": 1,
        "driver": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build  (user@host)",
    }


def met(number: int) -> dict:
    said = {"mpi": "MPICH Version: 5.0.2", "backend": "cuda", "devices": 2, "host_takes": [], "ring": ""}
    return {"rank": number, "size": 2} | said


HEALTHY = {
    "version": "0.1.0 (0123abc)",
    "home": "/t",
    "libraries": {"mpich": "/t/lib/libtelpher-mpich.so", "cuda": "/t/lib/libtelpher-cuda.so"},
    "visibility": {"vendor": "cuda", "devices": 2, "tokens": ["0", "1"], "variables": {}},
    "plugin_wheels": ["telpher_cuda13-0.1.0.dist-info"],
    "cuda_release": "13.0",
    "rocm_release": "",
    "backends": [
        {
            "name": "cuda",
            "devices": [{"bus": "0000:01:00.0", "memory": 80 << 30}, {"bus": "0000:02:00.0", "memory": 80 << 30}],
            "pairs": [
                {"from": 0, "to": 1, "peer": True, "distance": "fabric"},
                {"from": 1, "to": 0, "peer": True, "distance": "fabric"},
            ],
        }
    ],
    "absent": [],
    "settings": [],
    "problems": [],
    "asked": {"ranks": 2, "backend": "auto", "launch": ""},
    "mpi": {"abi": "mpich", "choice": "", "by": "python's mpi4py", "mpi4py": "", "versions": ["mpi4py 4.1.2"]},
    "nvidia": {
        "gpus": 2,
        "bars": {"0000:01:00.0": 1 << 37, "0000:02:00.0": 1 << 37},
        "peermem": True,
        "open_driver": True,
        "gdrcopy": True,
        "mig": False,
        "mps_folder": "",
        "mps": False,
    },
    "system": {"ptrace_scope": "0", "container": False, "shm_free": 1 << 33},
    "nics": {"0000:01:00.0": ("mlx5_0", "same switch")},
    "tables": [{"file": "/shared/other.table", "mpi": "", "problem": "of another machine (cuda 8 x H200)"}],
    "nodes": {},
    "silent": [],
    "look": {"problem": "", "ranks": [given(0), given(1)], "said": []},
    "job": {"problem": "", "ranks": [met(0), met(1)], "paths": ["ipc_get"], "refused": 0, "said": []},
    "host_alone": {"result": "ends", "says": ""},
}
