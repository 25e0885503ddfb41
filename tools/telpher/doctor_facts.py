# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher doctor` judges: what its ranks' nodes are like (doctor_nodes.py), and what ranks report that are
really started (telpher-rank). No judgement here. Every fact is plain data, so that a test can plant one."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

from . import UserError, doctor_job, doctor_nodes, host_mpi, jobs, libraries, program

LINES_KEPT = 12


def choose_mpi(options) -> dict:
    """The MPI to look at, and who said so."""
    if options.mpi:
        abi = options.mpi if options.mpi in host_mpi.ABIS else host_mpi.abi_of_prefix(options.mpi)
        return {"abi": abi, "choice": options.mpi, "by": "--mpi", "mpi4py": "", "versions": []}
    for python in ("python", "python3"):
        try:
            found = program.identify(python)
            by = {"by": f"{python}'s mpi4py", "mpi4py": found.library, "versions": [f"mpi4py {found.mpi4py}"]}
            return {"abi": found.abi, "choice": ""} | by
        except UserError:
            continue
    for one in host_mpi.installed():
        return {"abi": one.abi, "choice": one.prefix or one.abi, "by": "mpicc", "mpi4py": "", "versions": []}
    mpirun = shutil.which("mpirun")
    abi = host_mpi.flavour_of(mpirun) if mpirun else None
    return {"abi": abi or "", "choice": abi or "", "by": mpirun or "", "mpi4py": "", "versions": []}


def rank_command(options, mpi: dict, test: str) -> list:
    """Each rank runs a test of telpher-rank, or says what its node is like."""
    telpher = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher")]
    rank = libraries.program(f"telpher-rank-{mpi['abi']}")
    if not rank:
        raise UserError(f"no telpher-rank-{mpi['abi']} in {libraries.home()}/bin; build Telpher with that MPI")
    command = [*telpher, "doctor", "--facts"] if test == "facts" else [rank, test]
    if options.launch:
        return [*shlex.split(options.launch), *telpher, "exec", "--mpi", mpi["abi"], "--", *command]
    choice = mpi["choice"] or prefix_of(mpi["mpi4py"]) or mpi["abi"]
    return [*telpher, "run", "-n", str(options.ranks), "--mpi", choice, "--", *command]


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
    nothing = {"ranks": [], "nodes": {}, "paths": [], "refused": 0, "said": []}
    if not mpi["abi"]:
        return nothing | {"problem": "there is no MPI to start them with"}
    environment = dict(os.environ) | more
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
        "nodes": doctor_nodes.answers(out),
        "paths": sorted(set(re.findall(r"\] (\w+): \d+ messages, \d+ bytes", err))),
        "refused": sum(map(int, re.findall(r", (\d+) refused", err))),
        "said": [line.strip("\0 ") for line in said if line.strip("\0 -")][-LINES_KEPT:],
    }


def promise(ranks: list) -> str:
    """What says that the host MPI takes device memory: itself, or a variable."""
    if any(rank["backend"] in rank["host_takes"] for rank in ranks):
        return "its query says that it is GPU-aware"
    for name, words in (("MPICH_GPU_SUPPORT_ENABLED", "^1$"), ("OMPI_MCA_accelerator", "cuda|rocm|ze")):
        if re.search(words, value := os.environ.get(name, "")):
            return f"{name}={value} tells it to be GPU-aware"
    return ""


def host_alone(options, mpi: dict, met: list) -> dict:
    """The host MPI is handed device memory by itself: works, other bytes, or ends (which is the common answer)."""
    answer = start_ranks(options, mpi, "host", TELPHER_STALL_WARNING="1000s")
    texts = {rank.get("ring", "?") for rank in answer["ranks"]}
    result = "ends" if answer["problem"] or not texts else "works" if texts == {""} else "other"
    return {"result": result, "says": promise(met), "text": max(texts, default="")}


def nodes(options, mpi: dict, look: dict, own: dict) -> dict:
    """Of each node with ranks what it is like, where not all of them run on this one; and why others are not there."""
    others = doctor_nodes.elsewhere(look["ranks"])
    if not others:
        return {"nodes": {}, "silent": [], "why_silent": ""}
    answer = start_ranks(options, mpi, "facts")
    found = answer["nodes"] | {host: own for host in {rank["host"] for rank in look["ranks"]} - set(others)}
    silent = sorted(set(others) - set(found))
    return {"nodes": found, "silent": silent, "why_silent": doctor_job.complaint(answer) if silent else ""}


def gather(options) -> dict:
    own = doctor_nodes.here(options.backend)
    backend = options.backend or os.environ.get("TELPHER_BACKEND", "auto")
    facts = own | {"asked": {"ranks": options.ranks, "backend": backend, "launch": options.launch}}
    facts["mpi"] = choose_mpi(options)
    facts["look"] = start_ranks(options, facts["mpi"], "look")
    facts |= nodes(options, facts["mpi"], facts["look"], own)
    facts["job"] = facts["host_alone"] = {}
    if doctor_job.may_meet(facts):
        facts["job"] = start_ranks(options, facts["mpi"], "ring", TELPHER_STATISTICS="on")
        if any(rank["devices"] > 0 for rank in facts["job"]["ranks"]) and not facts["job"]["problem"]:
            facts["host_alone"] = host_alone(options, facts["mpi"], facts["job"]["ranks"])
    return facts
