# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher doctor` looks at on one node, and how it gets there: ranks may run on other nodes than the command,
which is then on a login node without their GPUs. There the launcher starts `telpher doctor --facts`, and the first rank
of each node answers."""

import base64
import errno
import glob
import json
import os
import socket
import stat
import zlib
from pathlib import Path

from . import adapters, devices, execute, info, libraries

FIRST = '{"node"'  # what an answer begins with


def read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def answers_at(pipe: str) -> bool:
    """Whether a daemon of MPS listens at its `control`, a socket or (older ones) a named pipe. What is left of one that
    is gone looks the same in a listing."""
    try:
        if stat.S_ISFIFO(os.stat(pipe).st_mode):
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))  # ENXIO where nobody reads
            return True
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(1)
            one.connect(pipe)
        return True
    except OSError as error:
        return error.errno in (errno.EPROTOTYPE, errno.EAGAIN)  # of another type, or busy: but it is there


def mps(root: str = "/") -> dict:
    """The folder of MPS that CUDA would look into, "" where none was named and none is there, and whether it runs."""
    named = os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "")
    folder = named or root + "tmp/nvidia-mps"
    control = os.path.join(folder, "control")
    there = named or os.path.exists(control)
    return {"mps_folder": folder if there else "", "mps": answers_at(control)}


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
    } | mps(root)


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


def here(backend: str) -> dict:
    """All that is of this node."""
    facts = info.gather(backend) | {"nvidia": nvidia(), "system": system(), "plugin_wheels": plugin_wheels()}
    facts |= {"cuda_release": libraries.cuda_release(), "rocm_release": libraries.rocm_release()}
    facts["nics"] = adapters.nearest([device.bus for device in devices.all_devices() if device.bus])
    return facts


def answer() -> str:
    """What the first rank of a node prints, in one short line: the launcher may mix long ones. Others print nothing."""
    if execute.local_rank(os.environ) != 0:
        return ""
    packed = zlib.compress(json.dumps(here("")).encode(), 9)
    return json.dumps({"node": socket.gethostname(), "packed": base64.b64encode(packed).decode()})


def answers(out: str) -> dict:
    """Name of each node that has answered: its facts."""
    found = {}
    for line in out.splitlines():
        try:
            said = json.loads(line) if line.startswith(FIRST) else None
            if said:
                found[said["node"]] = json.loads(zlib.decompress(base64.b64decode(said["packed"])))
        except (ValueError, KeyError, zlib.error):
            continue  # mixed with another's: that node counts as one without an answer
    return found


def elsewhere(ranks: list) -> list:
    """The other nodes that ranks run on."""
    return sorted({rank["host"] for rank in ranks} - {socket.gethostname()})
