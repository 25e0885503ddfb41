# SPDX-License-Identifier: BSD-3-Clause
"""The checks of `telpher doctor`: each takes the facts and says ok, note or bad, why, and what to do. Here are those
of the installation and the job; doctor_machine.py has those of the machine."""

import os
import re
from collections import defaultdict

from . import host_mpi
from .doctor_machine import Check, hidden_peers, ipc, links, network, nvidia, room, tuned_table


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


def opened_backend(name: str, devices: int, wanted: bool) -> Check:
    if devices:
        return Check(f"back end {name}", "ok", f"{devices} devices")
    return Check(
        f"back end {name}",
        "bad" if wanted else "note",
        "its driver shows no device to this process",
        "ask the vendor's tool (nvidia-smi, rocminfo, sycl-ls); variables such as CUDA_VISIBLE_DEVICES hide devices",
    )


def backends(facts: dict) -> list:
    """Named back ends must be there with a device, and those whose devices the system has."""
    opened = {one["name"]: one for one in facts.get("backends", [])}
    wanted = {word for word in facts["asked"]["backend"].split(",") if word not in ("", "auto", "none")}
    wanted |= {facts["visibility"]["vendor"]} - {""} if "auto" in facts["asked"]["backend"] else set()
    checks = [opened_backend(name, len(one["devices"]), name in wanted) for name, one in opened.items()]
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
            if name == "cuda" and any("cuda13" in wheel for wheel in facts["plugin_wheels"]):
                remedy += ", which needs one of CUDA 13 (580 or newer); the wheel telpher_cuda12 serves older ones"
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
    if not facts["mpi"]["abi"]:
        return []  # said by another check
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


def families(rank: dict) -> set:
    """Of the MPIs in a rank; one of the standard ABI may stand beside what it is made of."""
    return {host_mpi.abi_of_library(path) for path in rank["mpis"]} - {None, "mpi_abi"}


def may_meet(facts: dict) -> bool:
    """Ranks of which one lacks the library, or has two, could wait for each other for ever; with two MPIs they end."""
    ranks = facts["look"]["ranks"]
    return bool(ranks) and all(len(cores(rank)) == 1 and len(families(rank)) < 2 for rank in ranks)


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
        if len(families(rank)) > 1:
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


def driver_text(line: str) -> str:
    """NVIDIA's driver says a sentence of itself, AMD's its number."""
    number = re.search(r"\b\d{3}\.\d+(\.\d+)?\b", line) if "NVIDIA" in line else None
    return f"NVIDIA {number.group()}" if number else f"amdgpu {line}" if line else ""


def versions(facts: dict) -> list:
    """Of the driver and of the MPI: one of each in the whole job."""
    drivers, mpis = defaultdict(set), defaultdict(list)
    for rank in facts["look"]["ranks"]:
        drivers[driver_text(rank.get("driver", ""))].add(rank["host"])
    for rank in facts["job"].get("ranks", []):
        mpis[version_text(rank)].append(rank["rank"])
    checks = []
    if len(mpis) > 1:
        texts = [f"{text} in {ranks_text(numbers)}" for text, numbers in mpis.items()]
        remedy = "LD_LIBRARY_PATH may differ between nodes: let every rank load the library of the launcher's MPI"
        checks.append(Check("versions", "bad", ", ".join(texts), remedy))
    if len(drivers) > 1:
        texts = [f"{text or 'no driver'} on {', '.join(sorted(hosts)[:4])}" for text, hosts in drivers.items()]
        checks.append(Check("versions", "note", "; ".join(texts), "use nodes with the same driver"))
    found = [text for text in (*drivers, *mpis) if text]
    return checks or ([Check("versions", "ok", ", ".join(found))] if found else [])


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


ALL = (
    installation,
    settings,
    backends,
    mpi,
    launch,
    loaded,
    one_mpi,
    equal_settings,
    versions,
    messages,
    ipc,
    links,
    hidden_peers,
    nvidia,
    network,
    host_alone,
    tuned_table,
    room,
)


def judge(facts: dict) -> list:
    return [check for one in ALL for check in one(facts)]
