# SPDX-License-Identifier: BSD-3-Clause
"""The step of bench/gpu_session.py that runs what is written in CUDA: messages and collectives in the order of streams
beside NCCL and NVSHMEM (stream_exchange.cu, stream_collective.cu), puts beside NVSHMEM's (puts.cu), and a plain kernel
that adds over the link (remote_add.cu). Their own tables go to the log; each checks its results."""
import importlib.util
from pathlib import Path

from gpu_jobs import MPI_ENV, ROOT, Session

COLLECTIVES = ("allreduce", "bcast", "allgather", "alltoall", "reduce_scatter_block")
SIZES = [8, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0", "NVSHMEM_DISABLE_NVLS": "1"}
COMPILE_LIMIT_S, RUN_LIMIT_S = 120, 60


def nvshmem() -> Path | None:
    """The folder of PyPI's NVSHMEM."""
    try:
        found = importlib.util.find_spec("nvidia.nvshmem")
    except ModuleNotFoundError:
        found = None
    return Path(found.submodule_search_locations[0]) if found else None


def compiled(session: Session, name: str, *more: str) -> Path | None:
    program = session.scratch / name
    line = ["nvcc", "-O2", "-std=c++20", "-arch=native", "-o", program, ROOT / f"bench/{name}.cu", *more]
    return program if session.command(line, COMPILE_LIMIT_S, quiet=True).good else None


def with_mpi(session: Session) -> list[str]:
    mpi = session.options.mpich.resolve()
    return ["-I", ROOT / "include", "-I", mpi / "include", "-L", mpi / "lib", "-lmpi", "-lnccl"]


def ran(session: Session, ranks: int, program: Path | None, libraries: list[Path], *arguments: str) -> bool:
    """None: it was not compiled."""
    if not program:
        return False
    front = [session.launcher("mpich"), "-bind-to", "core:4", "-n", ranks]
    settings = session.preload("mpich", TELPHER_TABLE="off", LD_LIBRARY_PATH=":".join(map(str, libraries)))
    return session.command([*front, *settings, program, *arguments], RUN_LIMIT_S, MPI_ENV | NO_MULTICAST).good


def streams(session: Session) -> str:
    if session.options.backend != "cuda" or session.devices < 2 or not session.options.mpich:
        return "left out: it needs two NVIDIA devices and --mpich"
    adding = compiled(session, "remote_add")
    results = {"remote_add": bool(adding) and session.command([adding], RUN_LIMIT_S).good}
    libraries, beside = [session.options.mpich.resolve() / "lib"], []
    if found := nvshmem():
        libraries.append(found / "lib")
        beside = ["-DBENCH_NVSHMEM", "-I", found / "include", "-L", found / "lib", "-l:libnvshmem_host.so.3"]
    exchange = compiled(session, "stream_exchange", *with_mpi(session), *beside)
    results["exchange"] = ran(session, 2, exchange, libraries)
    if found:
        puts = compiled(session, "puts", *with_mpi(session), *beside)
        results["puts"] = ran(session, 2, puts, libraries)
    collective = compiled(session, "stream_collective", *with_mpi(session))
    for ranks in sorted({2, session.devices}):
        for name in COLLECTIVES:
            results[f"{name} of {ranks}"] = ran(session, ranks, collective, libraries, name, *map(str, SIZES))
    failed = [name for name, good in results.items() if not good]
    right = f"{len(results) - len(failed)} of {len(results)} programs ok"
    return right + (f", FAILED {', '.join(failed)}" if failed else "")
