# SPDX-License-Identifier: BSD-3-Clause
"""The checks of `telpher doctor`: each takes the facts and says ok, note or bad, why, and what to do. Here are those
of the installation; doctor_job.py has those of the ranks, doctor_machine.py those of the machine."""

from collections import defaultdict

from . import host_mpi
from .doctor_job import equal_settings, host_alone, launch, loaded, messages, one_mpi, versions
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
                "uninstall both, then install the one for your driver: telpher_cuda13 from 580 on, else telpher_cuda12",
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


WHEELS = {"cuda": "telpher_cuda", "hip": "telpher_rocm", "sycl": "telpher_sycl"}


def remedy_of_absent(name: str, facts: dict) -> str:
    """Of a back end that was wanted: its plug-in is not there, or cannot be used."""
    if name not in WHEELS:
        return "TELPHER_PLUGIN_PATH names its folder"
    if name not in facts["libraries"]:
        return f"install its wheel ({WHEELS[name]}*.whl) beside telpher's, or build with it: make install WITH={name}"
    remedy = "its driver or runtime is missing or too old for this plug-in"
    if name == "cuda" and any("cuda13" in wheel for wheel in facts["plugin_wheels"]):
        remedy += ", which needs one of CUDA 13 (580 or newer); the wheel telpher_cuda12 serves older ones"
    if name == "hip" and facts["rocm_release"]:
        remedy += f", which needs ROCm {facts['rocm_release']}; for another ROCm build with it: make install WITH=hip"
    return remedy


def backends(facts: dict) -> list:
    """Named back ends must be there with a device, and those whose devices the system has."""
    opened = {one["name"]: one for one in facts.get("backends", [])}
    wanted = {word for word in facts["asked"]["backend"].split(",") if word not in ("", "auto", "none")}
    wanted |= {facts["visibility"]["vendor"]} - {""} if "auto" in facts["asked"]["backend"] else set()
    checks = [opened_backend(name, len(one["devices"]), name in wanted) for name, one in opened.items()]
    for name in sorted(wanted - set(opened)):
        reason = next((text for text in facts.get("absent", []) if text.startswith(name + ":")), f"{name}: unknown")
        checks.append(Check(f"back end {name}", "bad", reason, remedy_of_absent(name, facts)))
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


def unseen_nodes(facts: dict) -> list:
    """Nodes with ranks that nothing is known of."""
    silent, ranks = facts["silent"], facts["look"]["ranks"]
    if not silent:
        return []
    count = sum(rank["host"] in silent for rank in ranks)
    seen = ", ".join(sorted(facts["nodes"])) or "the node of this command"
    return [
        Check(
            "nodes",
            "note",
            f"what is said of machines is of {seen} only: {count} ranks run on {', '.join(silent[:4])}, which did not "
            f"answer ({facts['why_silent']})",
            "run telpher doctor there",
        )
    ]


ALL = (
    installation,
    settings,
    backends,
    mpi,
    launch,
    unseen_nodes,
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
OF_A_NODE = (installation, settings, backends, ipc, links, hidden_peers, nvidia, network, tuned_table, room)


def on_nodes(one, facts: dict) -> list:
    """A check of each node with its own facts; what is the same on all of them is said once."""
    said = defaultdict(list)
    for host, own in sorted(facts["nodes"].items()):
        ranks = [rank for rank in facts["look"]["ranks"] if rank["host"] == host]
        for check in one(facts | own | {"look": facts["look"] | {"ranks": ranks}}):
            said[tuple(vars(check).values())].append(host)
    checks = []
    for (name, state, why, remedy), hosts in said.items():
        where = "" if len(hosts) == len(facts["nodes"]) else f"on {', '.join(hosts[:4])}{' ...' * (len(hosts) > 4)}: "
        checks.append(Check(name, state, where + why, remedy))
    return checks


def judge(facts: dict) -> list:
    by_node = OF_A_NODE if facts["nodes"] else ()
    return [check for one in ALL for check in (on_nodes(one, facts) if one in by_node else one(facts))]
