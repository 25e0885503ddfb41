# SPDX-License-Identifier: BSD-3-Clause
"""The checks of `telpher doctor` of the ranks: that they are one job, have this library and one MPI, and that messages
of device memory arrive."""

import os
import re
from collections import defaultdict

from . import host_mpi
from .doctor_machine import Check


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
        "TELPHER_PRELOAD",
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
    """Of the driver, of the plug-in's CUDA and of the MPI: one of each in the whole job."""
    drivers, releases, mpis = defaultdict(set), defaultdict(set), defaultdict(list)
    for host, node in (facts["nodes"] or {"here": facts}).items():
        releases[f"plug-in of CUDA {node['cuda_release']}" if node["cuda_release"] else ""].add(host)
    for rank in facts["look"]["ranks"]:
        drivers[driver_text(rank.get("driver", ""))].add(rank["host"])
    for rank in facts["job"].get("ranks", []):
        mpis[version_text(rank)].append(rank["rank"])
    checks = []
    if len(mpis) > 1:
        texts = [f"{text} in {ranks_text(numbers)}" for text, numbers in mpis.items()]
        remedy = "LD_LIBRARY_PATH may differ between nodes: let every rank load the library of the launcher's MPI"
        checks.append(Check("versions", "bad", ", ".join(texts), remedy))
    for kind, remedy in ((drivers, "use nodes with the same driver"), (releases, "install the same on all nodes")):
        if len(kind) > 1:
            texts = [f"{text or 'none'} on {', '.join(sorted(hosts)[:4])}" for text, hosts in kind.items()]
            checks.append(Check("versions", "note", "; ".join(texts), remedy))
    found = [text for text in (*drivers, *releases, *mpis, *facts["mpi"]["versions"]) if text]
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
        said = "as it says" if found["says"] else "though nothing says so"
        return [Check("host MPI", "ok", f"moves device memory by itself as well, {said}")]
    if found["result"] == "other":
        return [
            Check(
                "host MPI",
                "bad",
                f"was handed device memory by itself and did not end, but {found['text']}",
                "never without telpher exec, and not with TELPHER_DIRECT; ask those who built it",
            )
        ]
    if found["says"]:
        return [
            Check(
                "host MPI",
                "note",
                f"{found['says']}, but it does not move device memory",
                "unset MPICH_GPU_SUPPORT_ENABLED or OMPI_MCA_accelerator; with Telpher nothing depends on it",
            )
        ]
    return [Check("host MPI", "ok", "does not move device memory; Telpher does")]
