# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher doctor` judges: this installation, this machine as its kernel shows it, and what ranks report that
are really started (telpher-rank). No judgement here. Every fact is plain data, so that a test can plant one."""

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from . import UserError, adapters, devices, doctor_checks, execute, host_mpi, info, jobs, libraries, program

LINES_KEPT = 12


def read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def choose_mpi(options) -> dict:
    """The MPI to look at, and who said so."""
    if options.mpi:
        abi = options.mpi if options.mpi in host_mpi.ABIS else host_mpi.abi_of_prefix(options.mpi)
        return {"abi": abi, "choice": options.mpi, "by": "--mpi", "mpi4py": ""}
    for python in ("python", "python3"):
        try:
            found = program.identify(python)
            return {"abi": found.abi, "choice": "", "by": f"{python}'s mpi4py", "mpi4py": found.library}
        except UserError:
            continue
    for one in host_mpi.installed():
        return {"abi": one.abi, "choice": one.prefix or one.abi, "by": "mpicc", "mpi4py": ""}
    mpirun = shutil.which("mpirun")
    abi = host_mpi.flavour_of(mpirun) if mpirun else None
    return {"abi": abi or "", "choice": abi or "", "by": mpirun or "", "mpi4py": ""}


def rank_command(options, mpi: dict, test: str) -> list:
    telpher = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher")]
    rank = libraries.program(f"telpher-rank-{mpi['abi']}")
    if not rank:
        raise UserError(f"no telpher-rank-{mpi['abi']} in {libraries.home()}/bin; build Telpher with that MPI")
    if options.launch:
        return [*shlex.split(options.launch), *telpher, "exec", "--mpi", mpi["abi"], "--", rank, test]
    choice = mpi["choice"] or prefix_of(mpi["mpi4py"]) or mpi["abi"]
    return [*telpher, "run", "-n", str(options.ranks), "--mpi", choice, "--", rank, test]


def prefix_of(library: str) -> str:
    mpirun = host_mpi.launcher_beside(library) if library else None
    return os.path.dirname(os.path.dirname(mpirun)) if mpirun else ""


def reports(out: str) -> list:
    found = []
    for line in out.splitlines():
        try:
            found += [json.loads(line)] if line.startswith('{"rank"') else []
        except ValueError:
            continue  # two ranks wrote into one line; the count will be wrong, and is judged
    return found


def start_ranks(options, mpi: dict, test: str, **more: str) -> dict:
    """What each rank says of itself, and the end of what was printed beside."""
    nothing = {"ranks": [], "paths": [], "refused": 0, "said": []}
    if not mpi["abi"]:
        return nothing | {"problem": "there is no MPI to start them with"}
    environment = dict(os.environ) | {"TELPHER_STATISTICS": "on"} | more
    if options.backend:
        environment["TELPHER_BACKEND"] = options.backend
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    try:
        job = jobs.run(rank_command(options, mpi, test), env=environment, timeout=options.timeout)
        out, err = job.stdout, job.stderr
        problem = "" if job.returncode == 0 else f"the launcher ended with {job.returncode}"
    except subprocess.TimeoutExpired as late:
        out, err = late.stdout, late.stderr
        problem = f"no answer within {options.timeout} s"
    except UserError as error:
        return nothing | {"problem": str(error)}
    except OSError as error:
        return nothing | {"problem": f"{options.launch or 'the launcher'} cannot be started: {error.strerror}"}
    said = [line for line in err.splitlines() if "messages," not in line and "ipc cache:" not in line]
    return {
        "problem": problem,
        "ranks": sorted(reports(out), key=lambda rank: rank["rank"]),
        "paths": sorted(set(re.findall(r"\] (\w+): \d+ messages, \d+ bytes", err))),
        "refused": sum(map(int, re.findall(r", (\d+) refused", err))),
        "said": [line.strip("\0 ") for line in said if line.strip("\0 -")][-LINES_KEPT:],
    }


def host_alone(options, mpi: dict) -> dict:
    """The host MPI is handed device memory by itself: works, other, or ends (which is the common answer)."""
    answer = start_ranks(options, mpi, "host", TELPHER_STALL_WARNING="1000s")
    texts = {rank.get("ring", "?") for rank in answer["ranks"]}
    result = "ends" if answer["problem"] or not texts else "works" if texts == {""} else "other"
    return {
        "result": result,
        "says": bool(re.search(r"cuda|rocm|ze", os.environ.get("OMPI_MCA_accelerator", "")))
        or os.environ.get("MPICH_GPU_SUPPORT_ENABLED") == "1",
    }


def nvidia(root: str = "/") -> dict:
    """What NVIDIA's kernel drivers show; empty where there are none."""
    gpus = sorted(glob.glob(root + "proc/driver/nvidia/gpus/*"))
    if not gpus:
        return {}
    bars = {}
    for gpu in gpus:
        bus = os.path.basename(gpu).lower()
        ranges = [line.split() for line in read(f"{root}sys/bus/pci/devices/{bus}/resource").splitlines()]
        sizes = [int(r[1], 16) - int(r[0], 16) + 1 for r in ranges if len(r) == 3 and int(r[1], 16)]
        bars[bus] = max(sizes, default=0)
    return {
        "gpus": len(gpus),
        "bars": bars,
        "peermem": os.path.isdir(root + "sys/module/nvidia_peermem"),
        "open_driver": "Open Kernel Module" in read(root + "proc/driver/nvidia/version"),
        "gdrcopy": os.path.exists(root + "dev/gdrdrv"),
        "mig": bool(glob.glob(root + "proc/driver/nvidia/capabilities/gpu*/mig/gi*")),
        "mps": execute.under_mps(os.environ, root),
    }


def system(root: str = "/") -> dict:
    statistics = os.statvfs(root + "dev/shm") if os.path.isdir(root + "dev/shm") else None
    container = (
        os.path.exists(root + ".dockerenv") or os.path.isdir(root + ".singularity.d") or "container" in os.environ
    )
    return {
        "ptrace_scope": read(root + "proc/sys/kernel/yama/ptrace_scope"),
        "container": container,
        "shm_free": statistics.f_bavail * statistics.f_frsize if statistics else 0,
    }


def plugin_wheels() -> list:
    """The plug-ins for CUDA that pip has put into this folder: they are for one, and there is room for one."""
    beside = os.path.dirname(libraries.home())
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(beside, "telpher_cuda1*.dist-info")))


def gather(options) -> dict:
    facts = info.gather(options.backend)
    facts["asked"] = {
        "ranks": options.ranks,
        "backend": options.backend or os.environ.get("TELPHER_BACKEND", "auto"),
        "launch": options.launch,
    }
    facts |= {"mpi": choose_mpi(options), "nvidia": nvidia(), "system": system(), "plugin_wheels": plugin_wheels()}
    facts["nics"] = adapters.nearest([device.bus for device in devices.all_devices() if device.bus])
    facts["look"] = start_ranks(options, facts["mpi"], "look")
    facts["job"] = facts["host_alone"] = {}
    if doctor_checks.may_meet(facts):
        facts["job"] = start_ranks(options, facts["mpi"], "ring")
        if any(rank["devices"] > 0 for rank in facts["job"]["ranks"]) and not facts["job"]["problem"]:
            facts["host_alone"] = host_alone(options, facts["mpi"])
    return facts
