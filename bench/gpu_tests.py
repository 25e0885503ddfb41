# SPDX-License-Identifier: BSD-3-Clause
"""The steps of bench/gpu_session.py that build and test. Each gives one line on what came of it."""
import os
import re
import shutil
import subprocess
import sys
import time

import gpu_measure
from gpu_jobs import MPI_ENV, ROOT, Session

KNOWN = ("known/with_cupy", "known/with_torch", "known/with_numba", "known/with_jax", "known/streams_with_torch",
         "streams_telpher")  # of examples
MPI_TESTS = "pt2pt,matching,completion,progress,random,datatypes,threads,lifetime,bad_input,compression,coll_,bench-"
MPI_LIMIT_S = 240
PROGRAM_LIMIT_S = 45


def totals(text: str) -> str:
    """The last 'N passed, N failed' of an output, with the names of what failed."""
    found = re.findall(r"\d+ passed, \d+ failed(?:, \d+ left out)?", text)
    failed = re.findall(r"FAILED\s+(?:[\d.]+ s\s+)?([^:\n]*)", text)
    names = ", ".join(dict.fromkeys(name.strip() for name in failed))
    return (found[-1] if found else "no end") + (f" (FAILED {names[:120]})" if failed else "")


def verdict(good: bool) -> str:
    return "ok" if good else "FAILED"


# --- build ---

def make_runnable(session: Session) -> None:
    """Copying may have cost the programs of a carried folder their mode."""
    for folder in (session.options.mpich, session.options.ucx):
        for path in folder.rglob("bin/*") if folder else []:
            if not os.access(path, os.X_OK):
                path.chmod(0o755)


def architectures() -> str:
    """Those of the GPUs here, such as 90; empty, which is the build's own choice, if they do not tell."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ";".join(sorted(set(re.findall(r"^\d+\.\d+$", done.stdout, re.M)))).replace(".", "")


def build(session: Session) -> str:
    make_runnable(session)
    options = session.options
    line = ["cmake", "-S", ROOT, "-B", session.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            "-DTELPHER_LTO=ON", "-DTELPHER_TESTS=ON", "-DTELPHER_HIP=OFF"]
    if options.backend == "cuda":
        line += ["-DTELPHER_HIP_ON_CUDA=ON"]
        line += ["-DTELPHER_CUDA=ON", "-DTELPHER_CUDA_ARCHITECTURES=" + architectures()]
    prefix = session.ompi_prefix()
    if prefix:
        line += [f"-DTELPHER_OMPI_PREFIX={prefix}", f"-DTELPHER_OMPI_INCLUDE={prefix}/include"]
    else:
        session.say("no Open MPI with mpi.h and libmpi.so was found")
    if options.mpich:
        line.append(f"-DTELPHER_MPICH_PREFIX={options.mpich.resolve()}")
    configured = session.command([*line, *(f"-D{entry}" for entry in options.cmake)], 120)
    # -k 0: what does not compile must not take along what does.
    jobs = len(os.sched_getaffinity(0))
    made = session.command(["cmake", "--build", session.build, "--parallel", jobs, "--", "-k", "0"], 400, quiet=True)
    libraries = sorted(path.name for path in (session.build / "lib").glob("libtelpher-*.so"))
    for warning in re.findall(r".*(?:warning|error):.*", made.text)[:40]:
        session.say("  " + warning)
    return (f"{verdict(configured.good and made.good)}, {made.seconds:.0f} s on {jobs} cores, "
            f"{len(libraries)} libraries: " + " ".join(libraries))


def info(session: Session) -> str:
    if session.options.backend == "cuda":
        session.command(["nvidia-smi"], 60)
        session.command(["nvidia-smi", "topo", "-m"], 60)
    for abi in session.abis():
        session.command([session.launcher(abi), "--version"], 30)
    done = session.command([session.build / "bin/telpher", "info"], 60)
    return f"{verdict(done.good)}, {session.devices} devices, MPIs: {' '.join(session.abis())}"


# --- tests ---

def contract(session: Session) -> str:
    program = session.build / "test/bin/telpher-contract"
    device = session.command([program, "--backend", session.options.backend], 120,
                             {"TELPHER_PLUGIN_PATH": str(session.build / "lib")})
    session.command([program, "--backend", session.options.backend, "--features",
                     session.out / f"{session.options.backend}.json"], 60,
                    {"TELPHER_PLUGIN_PATH": str(session.build / "lib")})
    jobs = str(len(os.sched_getaffinity(0)))
    units = session.command([sys.executable, "test/run.py", session.build, "--ring", "unit", "--jobs", jobs], 150)
    return (f"{session.options.backend} {verdict(device.good)} {totals(device.text)}; "
            f"unit {verdict(units.good)} {totals(units.text)}")


def hip(session: Session) -> str:
    """The HIP back end's sources on NVIDIA's devices: the same tests, and its figures beside CUDA's."""
    if session.options.backend != "cuda":
        return "left out: it needs NVIDIA's devices"
    program = session.build / "test/bin/telpher-contract"
    plugins = {"TELPHER_PLUGIN_PATH": str(session.build / "lib")}
    device = session.command([program, "--backend", "hip"], 120, plugins)
    asked = session.command([program, "--backend", "hip", "--features", session.out / "hip-on-cuda.json"], 60, plugins)
    return (f"contract {verdict(device.good)} {totals(device.text)}; features {verdict(asked.good)}; "
            f"{mpi(session, 'hip', session.abis()[:1])}; {gpu_measure.backends(session, 'cuda', 'hip')}")


def demo(session: Session) -> str:
    results = []
    for abi in session.abis():
        done = session.ranks(abi, [session.build / f"bin/telpher-demo-{abi}"], 90)
        said = re.findall(r"all \d+ checks right", done.text)
        results.append(f"{abi} {verdict(done.good)}" + (f" ({said[0]})" if said else ""))
        if not done.good:
            backtrace(session, abi, [session.build / f"bin/telpher-demo-{abi}"])
    return "; ".join(results) or "FAILED: no program was built"


def backtrace(session: Session, abi: str, program: list) -> None:
    """Runs a failed program once more with the library saying what it does."""
    done = session.ranks(abi, program, 60, quiet=True, TELPHER_LOG="debug", TELPHER_EXPLAIN="on")
    session.say("".join("  | " + line + "\n" for line in done.text.splitlines()[-40:]))


def run_tests(session: Session, more: list, limit: float, backend: str = "", abis: list[str] | None = None) -> str:
    """Tests of test/mpi as test/run.py has them, but for what is about the emulated device."""
    line = [sys.executable, "-u", "test/run.py", session.build, "--ring", "mpi", *more, "--mpi",
            ",".join(abis or session.abis()), "--backend", backend or session.options.backend]
    line += ["--devices", session.devices] if session.options.backend == "cuda" else []
    done = session.command(line, limit)
    right = len(re.findall(r"^ok ", done.text, re.M))  # also where its time was over
    return f"{verdict(done.good)} {totals(done.text)}, {right} right in {done.seconds:.0f} s"


def mpi(session: Session, backend: str = "", abis: list[str] | None = None) -> str:
    return run_tests(session, ["--name", MPI_TESTS, "--jobs", 1], MPI_LIMIT_S, backend, abis)


def ring(session: Session) -> str:
    """All of them. Ranks of one device take turns, so few at a time."""
    jobs = max(2, min(3 * session.devices, len(os.sched_getaffinity(0)) // 4))
    return run_tests(session, ["--jobs", jobs], max(30, session.end - time.monotonic() - 30))


def collectives(session: Session) -> str:
    """One rank a device, and more ranks than devices."""
    numbers = sorted({2, max(2, session.devices), 2 * max(2, session.devices)})
    names = ("coll_data", "coll_reduce", "coll_groups", "coll_deferred", "coll_exchange")
    made = [(name, abi, session.build / f"test/bin/test_{name}-{abi}") for abi in session.abis() for name in names]
    lines, right, runs = [], 0, 0
    for ranks in numbers:
        for name, abi, program in made:
            result = "was not built"
            if program.is_file():
                line = [program, "--device", "--timeout", "30"]
                crowded = {}
                if ranks > session.devices:  # what is small would be staged
                    crowded = {"TELPHER_COLL_TRANSPORT": "stepped"}
                    line += ["coll_stepped"] if name in ("coll_exchange", "coll_deferred") else []
                done = session.ranks(abi, line, PROGRAM_LIMIT_S, ranks=ranks, **crowded)
                result = f"{verdict(done.good)} {totals(done.text)} in {done.seconds:.0f} s"
                right += done.good
            runs += 1
            lines.append([f"{name} {abi} {ranks} ranks", result])
    session.table("collectives of test/mpi", ["program", "result"], lines)
    return f"{right} of {runs} programs ok" + ("" if right == runs else ", FAILED others")


def report(session: Session) -> str:
    """`telpher report` over the first MPI, into the session's folder."""
    line = [session.build / "bin/telpher", "report", "-n", "2", "--set", "quick", "--backend", session.options.backend,
            "-o", session.scratch / "report"]
    done = session.command(line, 200, MPI_ENV)
    if done.good:
        shutil.copytree(session.scratch / "report", session.out / "report", dirs_exist_ok=True)
    return verdict(done.good)


# --- Python ---

def python(session: Session) -> str:
    """mpi4py may be built for one MPI or find one at run time: it is asked, and `telpher run` asks it too."""
    if "ompi" not in session.abis():
        return "left out: no Open MPI"
    ask = ("import mpi4py; print('mpi4py', mpi4py.__version__, mpi4py.get_config()); from mpi4py import MPI; "
           "print(MPI.Get_library_version().splitlines()[0])")
    asked = session.command([*session.mpirun("ompi"), sys.executable, "-c", ask], 60, MPI_ENV)
    found = re.findall(r"Open MPI v\S+|MPICH\s+Version\S*\s*\S+", asked.text)
    results = [f"mpi4py over {found[0].rstrip(',')}" if found else "mpi4py FAILED"]
    settings = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYTHONPATH": str(ROOT / "tools")}
    for name in KNOWN:
        example = [sys.executable, "-m", "mpi4py", ROOT / "examples" / f"{name}.py"]
        preloaded = session.ranks("ompi", example, 90, **settings)
        command = [session.build / "bin/telpher", "run", "-n", "2", "--backend", session.options.backend, *example]
        run = session.command(command, 90, MPI_ENV | settings)
        results.append(f"{name} preload {verdict(preloaded.good)}, telpher run {verdict(run.good)}")
    ordered = session.ranks("ompi", [sys.executable, ROOT / "test/install/ordered.py"], 90, **settings)
    results.append(f"every method of telpher.streams {verdict(ordered.good)}")
    return "; ".join(results)
