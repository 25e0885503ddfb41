# SPDX-License-Identifier: BSD-3-Clause
"""The checks of `telpher doctor`: each takes the facts and says ok, note or bad, why, and what to do."""

import os
import re
from collections import defaultdict
from dataclasses import dataclass

from . import host_mpi

MEGABYTE = 1 << 20
LARGE_BAR = 1 << 30


@dataclass
class Check:
    name: str
    state: str  # ok, note, bad
    why: str
    remedy: str = ""


def installation(facts: dict) -> list:
    there = facts["libraries"]
    abis = [abi for abi in host_mpi.ABIS if abi in there]
    if not abis:
        return [Check("installation", "bad", f"no library for any MPI in {facts['home']}", "install Telpher again")]
    checks = [Check("installation", "ok", f"Telpher {facts['version']} in {facts['home']}, for {', '.join(abis)}")]
    if "problem" in facts:
        checks.append(Check("back ends", "bad", facts["problem"], "install Telpher again; telpher info says more"))
    if len(facts["plugin_wheels"]) > 1:
        checks.append(
            Check(
                "plug-in wheels",
                "bad",
                f"{' and '.join(facts['plugin_wheels'])} wrote the same file",
                "uninstall both, then install the one for your driver: pip install 'telpher[cuda13]'",
            )
        )
    return checks


def settings(facts: dict) -> list:
    if facts.get("problems"):
        return [
            Check("settings", "bad", text, "telpher info --settings --all lists them") for text in facts["problems"]
        ]
    changed = [f"{row['name']}={row['value']}" for row in facts.get("settings", []) if row["origin"] != "default"]
    return [Check("settings", "ok", ", ".join(changed) or "all as they come")]


def backends(facts: dict) -> list:
    """Named back ends must be there, and those whose devices the system has."""
    opened = {one["name"]: one for one in facts.get("backends", [])}
    checks = [Check(f"back end {name}", "ok", f"{len(one['devices'])} devices") for name, one in opened.items()]
    wanted = {word for word in facts["asked"]["backend"].split(",") if word not in ("", "auto", "none")}
    wanted |= {facts["visibility"]["vendor"]} - {""} if "auto" in facts["asked"]["backend"] else set()
    extras = {"cuda": "cuda13", "hip": "rocm", "sycl": "sycl"}
    for name in sorted(wanted - set(opened)):
        reason = next((text for text in facts.get("absent", []) if text.startswith(name + ":")), f"{name}: unknown")
        remedy = (
            f"pip install 'telpher[{extras[name]}]', or build with it"
            if name in extras
            else "TELPHER_PLUGIN_PATH names its folder"
        )
        if name in facts["libraries"]:
            remedy = "its driver or runtime is missing or too old for this plug-in"
        checks.append(Check(f"back end {name}", "bad", reason, remedy))
    if not checks:
        checks.append(
            Check(
                "devices",
                "note",
                "no GPU is shown to this process: Telpher passes everything on to the MPI",
                "--backend emu looks at everything else",
            )
        )
    return checks


def mpi(facts: dict) -> list:
    abi = facts["mpi"]["abi"]
    if not abi:
        return [
            Check(
                "MPI",
                "bad",
                "no mpi4py, mpicc or mpirun is here",
                "pip install mpi4py mpich, or name one with --mpi PREFIX",
            )
        ]
    if abi not in facts["libraries"]:
        return [
            Check(
                "MPI",
                "bad",
                f"{host_mpi.FAMILY[abi]} (by {facts['mpi']['by']}), for which there is no libtelpher-{abi}.so",
                "use another MPI, or build Telpher with this one",
            )
        ]
    return [Check("MPI", "ok", f"{host_mpi.FAMILY[abi]} (by {facts['mpi']['by']}): libtelpher-{abi}.so")]


def complaint(job: dict) -> str:
    said = job["said"] or ["nothing was printed"]
    own = [line for line in said if "telpher" in line.lower()]
    return f"{job['problem'] or 'no rank reported'}: {(own or said)[-1].strip()}"


def version_text(rank: dict) -> str:
    """The beginning of what MPI_Get_library_version says, which can be a page."""
    return " ".join(re.split(r"Release|,|\bfor\b", rank["mpi"])[0].split()[:6]).removesuffix(" MPICH")


def launch(facts: dict) -> list:
    """The launcher starts the ranks, and they are one job."""
    look, job, wanted = facts["look"], facts["job"], facts["asked"]["ranks"]
    if not look["ranks"]:
        return [
            Check("launch", "bad", complaint(look), "mend what the line says; telpher run --print shows the command")
        ]
    if not facts["asked"]["launch"] and len(look["ranks"]) != wanted:
        return [
            Check(
                "launch",
                "bad",
                f"{len(look['ranks'])} of {wanted} ranks reported",
                "look at the launcher's own messages",
            )
        ]
    if not job:
        return []  # another check says why they may not meet
    ranks = job["ranks"]
    if len(ranks) > 1 and {rank["size"] for rank in ranks} == {1}:
        return [
            Check(
                "launch",
                "bad",
                f"{len(ranks)} jobs of one rank each: the launcher is not of {version_text(ranks[0])}",
                "use the mpirun of the program's MPI, or srun with the --mpi= that it was built for (pmix, pmi2)",
            )
        ]
    if job["problem"] or not ranks:
        return [Check("launch", "bad", complaint(job), "mend what the line says; TELPHER_LOG=info says more")]
    hosts = {rank["host"] for rank in look["ranks"]}
    return [
        Check(
            "launch",
            "ok",
            f"{len(ranks)} ranks on {len(hosts)} node{'s' * (len(hosts) > 1)}, {version_text(ranks[0])}",
        )
    ]


def ranks_text(numbers: list) -> str:
    return (
        ("rank " if len(numbers) == 1 else "ranks ")
        + ", ".join(map(str, numbers[:8]))
        + (" ..." if len(numbers) > 8 else "")
    )


def cores(rank: dict) -> list:
    return [path for path in rank["telphers"] if _abi_of(path)]


def may_meet(facts: dict) -> bool:
    """Ranks of which one lacks the library, or has two, could wait for each other for ever."""
    ranks = facts["look"]["ranks"]
    return bool(ranks) and all(len(cores(rank)) == 1 for rank in ranks)


def loaded(facts: dict) -> list:
    """libtelpher-<abi>.so in every rank: once, this installation's, of this version, as it is on disk."""
    ranks = facts["look"]["ranks"]
    if not ranks:
        return []
    if none := [rank["rank"] for rank in ranks if not cores(rank)]:
        return [
            Check(
                "library in ranks",
                "bad",
                f"not loaded in {ranks_text(none)}",
                "the launcher lost LD_PRELOAD, or a wrapper took it out: put telpher exec right before the program",
            )
        ]
    if two := [rank for rank in ranks if len(cores(rank)) > 1]:
        numbers = ranks_text([rank["rank"] for rank in two])
        return [
            Check(
                "library in ranks",
                "bad",
                f"two Telphers in {numbers}: {' and '.join(cores(two[0]))}",
                "take one out of LD_PRELOAD, or do not link the program with the other",
            )
        ]
    first = cores(ranks[0])[0]
    if any(path.endswith("(deleted)") for rank in ranks for path in cores(rank)):
        return [Check("library in ranks", "bad", f"{first}: the file was replaced while it ran", "start the job again")]
    own = {os.path.realpath(path) for path in facts["libraries"].values()}
    if os.path.realpath(first) not in own:
        return [
            Check(
                "library in ranks",
                "bad",
                f"{first} is of another installation than this command ({facts['home']})",
                "use that installation's telpher, or take its library out of LD_PRELOAD",
            )
        ]
    return [version_of(facts, ranks) or Check("library in ranks", "ok", f"{first}, once in every rank")]


def _abi_of(path: str) -> str:
    name = os.path.basename(path.removesuffix(" (deleted)"))
    return next((abi for abi in host_mpi.ABIS if name == f"libtelpher-{abi}.so"), "")


def version_of(facts: dict, ranks: list) -> "Check | None":
    numbers = (facts["version"].split()[0].split("-")[0].split(".") + ["0", "0", "0"])[:3]
    if not all(word.isdigit() for word in numbers):
        return None
    wanted = int(numbers[0]) * 10000 + int(numbers[1]) * 100 + int(numbers[2])
    stale = [rank["rank"] for rank in ranks if rank["version"] != wanted]
    if not stale:
        return None
    found = next(rank["version"] for rank in ranks if rank["rank"] in stale)
    return Check(
        "library in ranks",
        "bad",
        f"{ranks_text(stale)} loaded version {found // 10000}.{found // 100 % 100}.{found % 100}, "
        f"the command is {facts['version']}",
        "install Telpher again; the libraries were left from another build",
    )


def one_mpi(facts: dict) -> list:
    for rank in facts["look"]["ranks"]:
        abis = sorted({host_mpi.abi_of_library(path) for path in rank["mpis"]} - {None})
        if len(set(abis) - {"mpi_abi"}) > 1:
            return [
                Check(
                    "one MPI",
                    "bad",
                    f"rank {rank['rank']} has {' and '.join(rank['mpis'])} mapped",
                    "something the program uses was built with the other MPI; LD_LIBRARY_PATH may name it first",
                )
            ]
    return [Check("one MPI", "ok", "in every rank")] if facts["look"]["ranks"] else []


def equal_settings(facts: dict) -> list:
    ranks = facts["look"]["ranks"]
    values = defaultdict(lambda: defaultdict(list))
    names = {name for rank in ranks for name in rank["settings"]} - {
        "TELPHER_HOME",
        "TELPHER_LAUNCHED",
        "TELPHER_STATISTICS",
    }
    for rank in ranks:
        for name in names:
            values[name][rank["settings"].get(name, "(unset)")].append(rank["rank"])
    unequal = [name for name in sorted(names) if len(values[name]) > 1]
    checks = [
        Check(
            "equal settings",
            "bad",
            f"{name} is " + ", ".join(f"{value} in {ranks_text(numbers)}" for value, numbers in values[name].items()),
            "pass it to all ranks: telpher run --set, mpirun -x or -genv, srun --export",
        )
        for name in unequal
    ]
    return checks or ([Check("equal settings", "ok", "the same in every rank")] if ranks else [])


def messages(facts: dict) -> list:
    ranks = facts["job"].get("ranks")
    if not ranks or not any(rank["devices"] for rank in ranks):
        return []
    wrong = [rank for rank in ranks if rank.get("ring")]
    if wrong:
        return [
            Check(
                "device messages", "bad", f"rank {wrong[0]['rank']}: {wrong[0]['ring']}", "TELPHER_LOG=info says more"
            )
        ]
    return [Check("device messages", "ok", f"{len(ranks)} ranks sent device memory round the ring")]


def ipc(facts: dict) -> list:
    """Whether ranks of one node open each other's memory, and if not, which of the known causes it is."""
    job, ranks = facts["job"], facts["look"]["ranks"]
    hosts = {rank["host"] for rank in ranks}
    if not any(rank["devices"] for rank in job.get("ranks", [])) or len(hosts) == len(ranks):
        return []
    if not job["refused"] and set(job["paths"]) & {"ipc_get", "ipc_put", "batch", "linger"}:
        return [Check("direct copies", "ok", "ranks of a node open each other's device memory")]
    chosen = ranks[0]["settings"]
    for name, value in (("TELPHER_IPC", "off"), ("TELPHER_PATH", "staged")):
        if chosen.get(name, "").lower() in (value, "0", "no", "false"):
            return [
                Check(
                    "direct copies",
                    "note",
                    f"{name}={chosen[name]}: messages are staged through host memory",
                    f"unset {name}",
                )
            ]
    if any(
        len({r[kind] for r in ranks if r["host"] == host}) > 1 for kind in ("pid_space", "ipc_space") for host in hosts
    ):
        return [
            Check(
                "direct copies",
                "bad",
                "ranks of one node are in different PID or IPC namespaces",
                "start one container a node, or share them: docker run --ipc=host --pid=host; apptainer does",
            )
        ]
    scope = facts["system"]["ptrace_scope"]
    if scope not in ("", "0"):
        return [
            Check(
                "direct copies",
                "note",
                f"device memory is staged; kernel.yama.ptrace_scope is {scope}",
                "if the log names descriptors: sysctl kernel.yama.ptrace_scope=0, or docker run --cap-add=SYS_PTRACE",
            )
        ]
    where = "in this container " if facts["system"]["container"] else ""
    return [
        Check(
            "direct copies",
            "note",
            f"{where}the devices' memory cannot be opened by other processes: it is staged",
            "docker run --ipc=host, and all GPUs shown to every rank; TELPHER_LOG=info names the refused call",
        )
    ]


def links(facts: dict) -> list:
    checks = []
    for one in facts.get("backends", []):
        without = [f"{p['from']}-{p['to']}" for p in one["pairs"] if not p["peer"] and p["from"] < p["to"]]
        kinds = sorted({p["distance"] for p in one["pairs"] if p["peer"]})
        if without:
            checks.append(
                Check(
                    f"peers {one['name']}",
                    "note",
                    f"no direct access between {', '.join(without[:6])}",
                    "their messages are staged; IOMMU or ACS of the bridge between them may forbid it",
                )
            )
        elif kinds:
            checks.append(Check(f"peers {one['name']}", "ok", f"all pairs reach each other ({', '.join(kinds)})"))
    return checks


def hidden_peers(facts: dict) -> list:
    """Slurm's ways of showing a rank its own GPU only also hide the peers that it could copy to."""
    ranks, slurm = facts["job"].get("ranks", []), facts["system"]["slurm"]
    culprits = [
        f"{name}={slurm[name]}"
        for name in ("SLURM_GPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_GPU_BIND")
        if name in slurm
    ]
    if (
        len(ranks) > 1
        and all(rank["devices"] == 1 for rank in ranks)
        and (culprits or facts["visibility"]["devices"] > 1)
    ):
        return [
            Check(
                "visible devices",
                "note",
                f"each rank sees one device ({', '.join(culprits) or 'by its launcher'})",
                "where messages are staged: srun --gpus-per-node=N --gpu-bind=none, and let telpher exec choose",
            )
        ]
    return []


def nvidia(facts: dict) -> list:
    found = facts["nvidia"]
    if not found:
        return []
    small = [bus for bus, size in found["bars"].items() if 0 < size < LARGE_BAR]
    checks = [
        Check(
            "BAR",
            "note",
            f"{', '.join(small)}: {found['bars'][small[0]] // MEGABYTE} MB",
            "enable large BARs in the firmware",
        )
        if small
        else Check("BAR", "ok", "large enough for all of the memory")
    ]
    if not found["gdrcopy"]:
        checks.append(
            Check("GDRCopy", "note", "not loaded: small messages cost a driver call", "install gdrcopy and load gdrdrv")
        )
    if facts["system"]["nics"] and not (found["peermem"] or found["open_driver"]):
        checks.append(
            Check(
                "GPU to network",
                "note",
                "neither nvidia_peermem nor the open driver's dma-buf",
                "modprobe nvidia_peermem",
            )
        )
    if found["mig"]:
        checks.append(
            Check("MIG", "note", "GPUs are split: parts cannot open each other's memory, messages are staged")
        )
    if not found["mps"] and len(facts["look"]["ranks"]) > found["gpus"]:
        checks.append(
            Check("MPS", "note", "ranks share GPUs without MPS: they take turns", "nvidia-cuda-mps-control -d")
        )
    return checks


def host_alone(facts: dict) -> list:
    found = facts["host_alone"]
    if not found:
        return []
    if found["result"] == "works":
        return [Check("host MPI", "ok", "moves device memory by itself as well")]
    if found["says"]:
        return [
            Check(
                "host MPI",
                "note",
                "is told to be GPU-aware, but does not move device memory",
                "unset MPICH_GPU_SUPPORT_ENABLED or OMPI_MCA_accelerator; Telpher does not need it",
            )
        ]
    return [Check("host MPI", "ok", "does not move device memory; Telpher does")]


def room(facts: dict) -> list:
    free = facts["system"]["shm_free"]
    if free < 64 * MEGABYTE:
        return [
            Check(
                "shared memory",
                "note",
                f"/dev/shm has {free // MEGABYTE} MB free, which the host MPI may need",
                "docker run --shm-size=1g, or --ipc=host",
            )
        ]
    return [Check("shared memory", "ok", f"/dev/shm has {free // MEGABYTE} MB free")]


ALL = (
    installation,
    settings,
    backends,
    mpi,
    launch,
    loaded,
    one_mpi,
    equal_settings,
    messages,
    ipc,
    links,
    hidden_peers,
    nvidia,
    host_alone,
    room,
)


def judge(facts: dict) -> list:
    return [check for one in ALL for check in one(facts)]
