# SPDX-License-Identifier: BSD-3-Clause
"""The step of bench/gpu_session.py that measures what goes between nodes, on one machine: ranks are split into two
pretended nodes. Ranks that share a GPU run under an MPS of the user's own, which the step starts and stops, since
without it the GPU gives each process its time slices in turn, and nothing could be told from that."""
import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from gpu_coll import Runs, modes_table
from gpu_jobs import Session
from gpu_measure import both_columns, peer_environments, shown, size_table, size_text

OPERATIONS = ("allreduce", "reduce", "bcast", "allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter",
              "reduce_scatter_block")
SIZES = "8,64k,1m,16m"
WIRE_SIZES = "1m,16m"  # of smaller messages the time tells, not the speed
MESSAGES = "8,1k,8k,64k,1m,4m,64m"
BESIDE_WORK = "-s 64m --mode both --stream-work 256m --min-time 0.1 --batches 5"
TIMED = "--min-time 0.04 --batches 7 --validate"
WAYS = ("schedules", "staged", "by hand")
WAYS_OPERATIONS = ("allreduce", "reduce", "bcast", "allgather", "alltoall", "reduce_scatter")
WAYS_SIZES = "256k,1m,4m,16m,64m"
WAYS_TIMED = "--min-time 0.03 --batches 5 --validate"
NODES = {"TELPHER_TEST_PRETENDED_NODES": "2"}
NCCL_SOCKETS = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}
# What makes a host MPI use TCP between ranks of one machine, where it would take shared memory.
TCP = {"ompi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"},
       "mpich": {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"}}
SCHEDULES = NODES | {"TELPHER_COLL_ALGORITHM": ",".join(f"{name}=two_level" for name in OPERATIONS)}


@contextlib.contextmanager
def shared_device(session: Session, ranks: int):
    """MPS for ranks of one GPU, as a daemon of the user's own; yields whether it runs."""
    control = shutil.which("nvidia-cuda-mps-control")
    if session.options.backend != "cuda" or not control or ranks <= session.devices:
        yield False
        return
    with tempfile.TemporaryDirectory(prefix="mps") as folder:  # a short path: it gets sockets
        places = {"CUDA_MPS_PIPE_DIRECTORY": folder + "/p", "CUDA_MPS_LOG_DIRECTORY": folder + "/l"}
        for place in places.values():
            Path(place).mkdir()
        # Not by Session.command, which would end the daemon with the command.
        started = os.spawnvpe(os.P_WAIT, control, [control, "-d"], os.environ | places) == 0
        try:
            if started:
                os.environ.update(places)
            yield started
        finally:
            for name in places if started else ():
                os.environ.pop(name, None)
            if started:
                session.command(["sh", "-c", "echo quit | nvidia-cuda-mps-control"], 20, places, quiet=True)


def devices_of(session: Session, ranks: int) -> str:
    """A device for each rank where there are as many: the ranks of pretended nodes all begin with the first one."""
    return f" --device {':'.join(map(str, range(ranks)))}" if ranks <= session.devices else ""


def host_name(abi: str, wire: dict) -> str:
    return f"{abi} over TCP" if wire else abi


def wire_of(session: Session, runs: Runs, abi: str, wire: dict) -> dict[int, float]:
    """GB/s each way of two ranks' messages in pinned host memory that go both ways at once, by their size."""
    rows = runs.add(session.bench("between wire", "bibw", f"-s {WIRE_SIZES} -w 4 -b P:P --mode telpher {TIMED}",
                                  abi=abi, limit=40, **NODES, **wire))
    return {row["bytes"]: row["gbps"] / 2 for row in rows}


def collectives(session: Session, runs: Runs, abi: str, ranks: int, wire: dict) -> None:
    """With a rank a device NCCL is measured as well, over sockets; of two ranks also the wire by itself."""
    modes = "telpher,nccl" if ranks <= session.devices else "telpher"
    rows = []
    speed = wire_of(session, runs, abi, wire) if ranks == 2 else None
    for operation in OPERATIONS:
        # What the program stages is a call of host memory, which small ones of schedules would take as well.
        for mode, chosen in ((modes, SCHEDULES | NCCL_SOCKETS), ("staged", NODES)):
            line = f"-s {SIZES} --mode {mode} {TIMED}" + devices_of(session, ranks)
            rows += runs.add(session.bench(f"between {ranks}", operation, line, abi=abi, limit=40, ranks=ranks,
                                           **chosen, **wire))
    modes_table(session, f"collectives of {ranks} ranks on 2 pretended nodes over {host_name(abi, wire)}, by "
                "schedules, beside NCCL over sockets and staging by hand", rows, speed)


def overlap(session: Session, runs: Runs, abi: str) -> None:
    """A non-blocking allreduce beside fills of device memory that take as long."""
    lines = []
    for row in runs.add(session.bench("between overlap", "iallreduce", BESIDE_WORK + devices_of(session, 2), abi=abi,
                                      limit=60, **NODES)):
        longer = max(row["us"], row["us_compute"])
        lines.append([row["mode"], *(shown(row[name]) for name in ("us", "us_compute", "us_overlapped")),
                      f"{row['us_overlapped'] / longer:.2f}", row["path"]])
    session.table(f"iallreduce of 64 MB on 2 pretended nodes over {abi}, beside work of the device",
                  ["us", "alone", "work alone", "together", "of the longer", "path"], lines)


def messages(session: Session, runs: Runs, abi: str, wire: dict) -> None:
    columns = {}
    for title, buffers, mode in (("device", "D:D", "both"), ("host", "H:H", "telpher")):
        rows = runs.add(session.bench(f"between messages {buffers}", "latency,bw",
                                      f"-s {MESSAGES} -b {buffers} --mode {mode} {TIMED}" + devices_of(session, 2),
                                      abi=abi, limit=60, **NODES, **wire))
        for test in ("latency", "bw"):
            columns[f"{test} {title}"] = both_columns([row for row in rows if row["test"] == test])
    size_table(session, f"messages between 2 pretended nodes over {host_name(abi, wire)}: latency us, bandwidth GB/s "
               "(ratio to staging by hand)", columns)


def direct(session: Session, runs: Runs) -> None:
    """Over a host MPI that takes device memory itself: its messages without Telpher, then Telpher's path `direct`,
    and the schedules that give it the devices' addresses."""
    library = peer_environments(session)["ucx"]
    line = f"-s {MESSAGES} --mode telpher --alloc malloc {TIMED}" + devices_of(session, 2)
    columns = {}
    for title, settings in (("host MPI", {"peer": library}), ("direct", {"over": library})):
        chosen = {} if "peer" in settings else NODES | {"TELPHER_DIRECT": "on", "TELPHER_PATH": "direct"}
        rows = runs.add(session.bench(f"between {title}", "latency,bw", line, limit=60, **settings, **chosen))
        for test in ("latency", "bw"):
            columns[f"{test} {title}"] = both_columns([row for row in rows if row["test"] == test])
    size_table(session, "messages over Open MPI with UCX on device memory: latency us, bandwidth GB/s", columns)
    rows = runs.add(session.bench("between direct collectives", "allreduce,allgather,alltoall",
                                  f"-s 64k,1m,16m --mode both --alloc malloc {TIMED}" + devices_of(session, 2),
                                  over=library, limit=60, TELPHER_DIRECT="on", **SCHEDULES))
    modes_table(session, "collectives of 2 ranks on 2 pretended nodes, Open MPI with UCX gets device memory", rows)


def ratio_to(us: dict[str, float], ours: str) -> str:
    """The best of the other ways, as far as they were measured, to ours."""
    others = [time for way, time in us.items() if way != ours]
    return shown(min(others) / us[ours]) if others else "-"


def ways_over(session: Session, runs: Runs, host: str, ranks: int, where: str, more: dict) -> None:
    """Each operation by schedules and staged by Telpher, in turn, beside staging by hand."""
    where = f"{ranks} ranks on 2 pretended nodes over {where}"
    line = f"-s {WAYS_SIZES} {WAYS_TIMED}" + (" --alloc malloc" if "over" in more else "") + devices_of(session, ranks)
    lines = []
    with shared_device(session, ranks):
        for operation in WAYS_OPERATIONS:
            found = {}
            for mode, chosen in (("telpher", SCHEDULES), ("both", NODES | {"TELPHER_COLL": "staged"})):
                for row in runs.add(session.bench(f"ways {where}", operation, f"{line} --mode {mode}", abi=host,
                                                  limit=40, ranks=ranks, **chosen, **more)):
                    way = "by hand" if row["mode"] == "staged" else "staged" if mode == "both" else "schedules"
                    found.setdefault(row["bytes"], {})[way] = row["us"]
            lines += [[f"{operation} {size_text(size)}", *(shown(us[way]) if way in us else "-" for way in WAYS),
                       ratio_to(us, "schedules")] for size, us in found.items() if "schedules" in us]
    session.table(f"{where}, us", ["", *WAYS, "the better of these / schedules"], lines)


def ways(session: Session) -> str:
    """What src/coll/between/ways.def says by default, over each host MPI and wire of this machine."""
    runs = Runs()
    for abi in session.abis():
        ways_over(session, runs, abi, 2, host_name(abi, TCP[abi]), TCP[abi])
        ways_over(session, runs, abi, 2, abi, {})
    last = session.abis()[-1]
    ways_over(session, runs, last, 4, last, {})
    if session.options.ucx and session.options.backend == "cuda":
        more = {"over": peer_environments(session)["ucx"], "TELPHER_DIRECT": "on"}
        ways_over(session, runs, "ompi", 2, "ompi, which gets device memory", more)
    return runs.verdict()


def between(session: Session) -> str:
    runs = Runs()
    abi = session.abis()[-1]
    for ranks in (2, 4):
        with shared_device(session, ranks) as mps:
            session.say(f"{ranks} ranks, {session.devices} devices, MPS {'on' if mps else 'off'}")
            collectives(session, runs, abi, ranks, {})
            if ranks == 2:
                messages(session, runs, abi, {})
                overlap(session, runs, abi)
                if session.options.ucx and session.options.backend == "cuda":
                    direct(session, runs)
    return runs.verdict()


def tcp(session: Session) -> str:
    runs = Runs()
    for abi in session.abis():
        messages(session, runs, abi, TCP[abi])
        collectives(session, runs, abi, 2, TCP[abi])
    return runs.verdict()
