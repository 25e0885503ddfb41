# SPDX-License-Identifier: BSD-3-Clause
"""The steps of bench/gpu_session.py that take many cores for a while: the verifier over all algorithms and numbers
of ranks, and random messages and collectives in millions. Jobs run side by side, the emulated device's too."""
import os
import re
from concurrent.futures import ThreadPoolExecutor

from gpu_jobs import MPI_ENV, ROOT, Session

MOST_RANKS = 257
# Numbers of ranks of one job: the work grows with their square, and more.
RANKS = [(1, 96), (97, 144), (145, 176), (177, 200), (201, 216), (217, 228), (229, 238), (239, 248), (249, MOST_RANKS)]


def operations() -> list[str]:
    text = (ROOT / "src/coll/schedule/operations.def").read_text()
    return re.findall(r"^TELPHER_OPERATION\((\w+)", text, re.M)


def verify(session: Session) -> str:
    """`telpher coll verify` for every algorithm on 1 to 257 ranks."""
    jobs = [[session.build / "bin/telpher-coll", "verify", "--operation", name, "--ranks", f"{first}-{last}"]
            for first, last in reversed(RANKS) for name in operations()]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        done = list(pool.map(lambda line: session.command(line, 400, quiet=True), jobs))
    counts = [re.findall(r"(\d+) passed, (\d+) failed", one.text) for one in done]
    passed, failed = (sum(int(found[-1][i]) for found in counts if found) for i in (0, 1))
    missing = sum(not (one.good and found) for one, found in zip(done, counts, strict=True))
    text = f"1 to {MOST_RANKS} ranks: {passed} rows right, {failed} wrong"
    return text + (f", {missing} jobs FAILED" if missing else "")


def stress(session: Session) -> str:
    """Messages against a model, and mixtures of collectives, each job with a seed of its own."""
    device = session.options.backend
    cores = len(os.sched_getaffinity(0))
    kinds = (("stress", ["--messages", "200000"], 2, 200000),
             ("stress", ["--messages", "100000", "--threads", "4"], 2, 100000),
             ("coll_exchange", ["--messages", "100000", "mixture"], 3, 100000),
             ("coll_deferred", ["--messages", "30000", "mixture"], 3, 30000))
    # On GPUs one job of each MPI; on the emulated device as many as the cores bear.
    jobs = [(device, abi, kind, 1) for kind in kinds for abi in session.abis()]
    jobs += [("emu", abi, kinds[i % len(kinds)], 2 + i) for i in range(cores // 8) for abi in session.abis()]

    def run(job) -> tuple:
        backend, abi, (name, words, ranks, count), seed = job
        line = [session.launcher(abi), "-n", str(ranks), *(["--bind-to", "none"] if abi == "ompi" else []),
                *session.preload(abi, TELPHER_BACKEND=backend),
                session.build / f"test/bin/test_{name}-{abi}", "--device", "--timeout", "600", "--seed", str(seed),
                *words]
        return job, count, session.command(line, 400, MPI_ENV, quiet=True)

    with ThreadPoolExecutor(len(jobs)) as pool:
        done = list(pool.map(run, jobs))
    lines = [[f"{name} {' '.join(words)} seed {seed}", abi, backend, str(ranks), f"{one.seconds:.0f}",
              "ok" if one.good else "FAILED"] for (backend, abi, (name, words, ranks, _), seed), _, one in done]
    session.table("random messages and collectives", ["job", "MPI", "back end", "ranks", "seconds", "result"], lines)
    messages, calls = (sum(count for job, count, one in done if one.good and job[2][0].startswith(part))
                       for part in ("stress", "coll"))
    failed = sum(not one.good for _, _, one in done)
    return f"{messages} messages and {calls} collectives right" + (f", {failed} jobs FAILED" if failed else "")
