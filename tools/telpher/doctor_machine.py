# SPDX-License-Identifier: BSD-3-Clause
"""What a check of `telpher doctor` is, and the checks of the machine: who opens whose memory, links, what NVIDIA's
driver offers, network adapters, tuned tables, room in shared memory."""

from collections import Counter, defaultdict
from dataclasses import dataclass

MEGABYTE = 1 << 20
LARGE_BAR = 1 << 30


@dataclass
class Check:
    name: str
    state: str  # ok, note, bad
    why: str
    remedy: str = ""


def ipc(facts: dict) -> list:
    """Whether ranks of one node open each other's memory, and if not, which of the known causes it is."""
    job, ranks = facts["job"], facts["look"]["ranks"]
    hosts = {rank["host"] for rank in ranks}
    if not any(rank["devices"] for rank in job.get("ranks", [])) or len(hosts) == len(ranks):
        return []
    if not job["refused"] and set(job["paths"]) & {"ipc_get", "ipc_put", "ipc_unpack", "batch", "linger"}:
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


def hiding(rank: dict) -> list:
    """What Slurm was asked for that shows a rank its own GPU only. Variables hold what sbatch was asked for, not what
    srun itself was: there the one GPU that the rank was given tells."""
    asked = rank["slurm"]
    if "SLURM_GPU_BIND" in asked:  # it has the last word
        return [] if asked["SLURM_GPU_BIND"] == "none" else [f"SLURM_GPU_BIND={asked['SLURM_GPU_BIND']}"]
    named = [
        f"{name}={asked[name]}"
        for name in ("SLURM_GPUS_PER_TASK", "SLURM_NTASKS_PER_GPU", "SLURM_TRES_PER_TASK")
        if name in asked and (name != "SLURM_TRES_PER_TASK" or "gpu" in asked[name])
    ]
    own = asked.get("SLURM_STEP_GPUS", "")
    if not named and own.isdigit() and asked.get("SLURM_GPUS_ON_NODE", "1") != "1":
        return [f"SLURM_STEP_GPUS={own}"]
    return named


def hidden_peers(facts: dict) -> list:
    """A rank that is shown its own GPU only cannot open the memory of its peers'."""
    ranks = facts["job"].get("ranks", [])
    if len(ranks) < 2 or any(rank["devices"] != 1 for rank in ranks):
        return []
    culprits = sorted({text for rank in facts["look"]["ranks"] for text in hiding(rank)})
    if not culprits and facts["visibility"]["devices"] < 2:
        return []
    return [
        Check(
            "visible devices",
            "note",
            f"each rank sees one device ({', '.join(culprits) or 'by its launcher'})",
            "where messages are staged: srun --gpus-per-node=N --gpu-bind=none, and let telpher exec choose",
        )
    ]


def bar(facts: dict) -> Check:
    """Whether all memory of each GPU is in the window that processors and adapters have of it."""
    memory = {
        device.get("bus"): device.get("memory", 0) for one in facts.get("backends", []) for device in one["devices"]
    }
    sizes = {bus: size for bus, size in facts["nvidia"]["bars"].items() if size}
    small = [
        f"{bus}: {size // MEGABYTE} MB" + (f" of {memory[bus] // MEGABYTE} MB" if memory.get(bus) else "")
        for bus, size in sizes.items()
        if size < (memory.get(bus) or LARGE_BAR)
    ]
    if small:
        return Check("BAR", "note", ", ".join(small), "enable large BARs in the firmware (Resizable BAR, above 4G)")
    if not sizes:
        return Check("BAR", "ok", "not shown by this system")
    if all(memory.get(bus) for bus in sizes):
        return Check("BAR", "ok", "large enough for all of the memory")
    return Check("BAR", "ok", f"{min(sizes.values()) // MEGABYTE} MB; the size of the memory is not known here")


def gdrcopy(facts: dict) -> Check:
    if facts["nvidia"]["gdrcopy"]:
        return Check("GDRCopy", "ok", "its driver is loaded")
    return Check(
        "GDRCopy", "note", "not loaded: small messages cost a driver call", "install gdrcopy and load gdrdrv"
    )


def mig(facts: dict) -> Check:
    if not facts["nvidia"]["mig"]:
        return Check("MIG", "ok", "GPUs are not split")
    return Check(
        "MIG",
        "note",
        "GPUs are split: parts cannot open each other's memory, messages are staged",
        "one rank a GPU: ask the batch system for whole ones, or make them whole with nvidia-smi -mig 0 (as root)",
    )


def mps(facts: dict) -> Check:
    gpus = facts["nvidia"]["gpus"]
    of_node = Counter(rank["host"] for rank in facts["look"]["ranks"])
    if facts["nvidia"]["mps"]:
        return Check("MPS", "ok", "runs: ranks may share GPUs")
    if folder := facts["nvidia"]["mps_folder"]:
        return Check(
            "MPS",
            "note",
            f"no daemon answers in {folder}: ranks that share a GPU take turns, and telpher exec gives each few queues",
            f"nvidia-cuda-mps-control -d; or unset CUDA_MPS_PIPE_DIRECTORY and remove what a daemon left in {folder}",
        )
    if max(of_node.values(), default=0) <= gpus:
        return Check("MPS", "ok", "does not run, and no ranks share a GPU")
    return Check("MPS", "note", "ranks share GPUs without MPS: they take turns", "nvidia-cuda-mps-control -d")


def nvidia(facts: dict) -> list:
    return [one(facts) for one in (bar, gdrcopy, mig, mps)] if facts["nvidia"] else []


def to_network(found: dict, adapters: set) -> Check:
    """Slingshot's driver (cxi) has no use for nvidia_peermem, which is for adapters of InfiniBand's kind."""
    slingshot = all(name.startswith("cxi") for name in adapters)
    if found["peermem"] and not slingshot:
        return Check("GPU to network", "ok", "nvidia_peermem is loaded")
    if found["open_driver"]:
        return Check("GPU to network", "ok", "the open driver exports memory as dma-buf")
    if slingshot:
        return Check(
            "GPU to network",
            "note",
            f"{', '.join(sorted(adapters))}: no dma-buf of the open driver; what else Slingshot's driver can do is not "
            "shown here",
            "NVIDIA's open driver; TELPHER_DIRECT and TELPHER_RDMA need it or what the site has in its place",
        )
    return Check(
        "GPU to network", "note", "neither nvidia_peermem nor the open driver's dma-buf", "modprobe nvidia_peermem"
    )


def network(facts: dict) -> list:
    """Whether the network reads device memory itself, and which adapter is near which GPU."""
    near = facts["nics"]
    if not near:
        return []
    checks = [to_network(facts["nvidia"], {nic for nic, _ in near.values()})] if facts["nvidia"] else []
    by_distance = defaultdict(list)
    for gpu, (nic, distance) in near.items():
        by_distance[distance].append(f"{gpu} to {nic}")
    far = by_distance.pop("another NUMA node", [])
    if far:
        checks.append(
            Check(
                "nearest adapters",
                "note",
                f"{', '.join(far)}: another NUMA node",
                "bytes cross the processors' link; choose the devices of ranks near adapters where you can",
            )
        )
    elif by_distance:
        texts = [f"{', '.join(pairs)}: {distance}" for distance, pairs in by_distance.items()]
        checks.append(Check("nearest adapters", "ok", "; ".join(texts)))
    return checks


def tuned_table(facts: dict) -> list:
    """A table that was named must be one of this machine. Others may lie in the folders, where homes are shared."""
    named = next((row["value"] for row in facts.get("settings", []) if row["name"] == "table"), "auto")
    if named == "off":
        return [Check("tuned table", "ok", "off: built-in choices")]
    fitting = [one for one in facts["tables"] if not one["problem"]]
    damaged = [one for one in facts["tables"] if one["problem"] and not one["problem"].startswith("of another")]
    if named != "auto":
        damaged = [one for one in facts["tables"] if one["problem"]]
    if damaged:
        return [
            Check(
                "tuned table",
                "bad",
                f"{one['file']} is refused: {one['problem']}",
                "telpher tune makes one for this machine; built-in choices are in force",
            )
            for one in damaged
        ]
    text = f"{fitting[0]['file']}, with {fitting[0]['mpi']}" if fitting else "none for this machine: built-in choices"
    return [Check("tuned table", "ok", text)]


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
