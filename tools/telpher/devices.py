# SPDX-License-Identifier: BSD-3-Clause
"""The devices of this node as the kernel shows them, the choice of one for a rank, and CPUs near it. No
vendor's library is loaded: a rank must be placed before its program, and its runtime, start."""
import glob
import os

from . import visibility


def read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


class Device:
    """One device: the number or identifier its vendor's variable takes, and its PCI address ('' unknown)."""

    def __init__(self, vendor: str, token: str, bus: str, uuid: str = ""):
        self.vendor, self.token, self.bus, self.uuid = vendor, token, bus, uuid

    def known_as(self, token: str) -> "Device":
        return Device(self.vendor, token, self.bus, self.uuid)

    def numa_node(self) -> int:
        text = read(f"/sys/bus/pci/devices/{self.bus}/numa_node") if self.bus else ""
        return int(text) if text.lstrip("-").isdigit() else -1


def may_open(node: str) -> bool:
    """Slurm's ConstrainDevices leaves the nodes of other jobs' devices in place, but its cgroup refuses them."""
    return os.access(node, os.R_OK | os.W_OK)


def _nvidia() -> list:
    """Devices whose node this process may open, in PCI order as CUDA_DEVICE_ORDER=PCI_BUS_ID numbers them."""
    found = []
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        fields = dict(line.split(":", 1) for line in read(path).splitlines() if ":" in line)
        minor = fields.get("Device Minor", "").strip()
        if minor and may_open(f"/dev/nvidia{minor}"):
            bus = os.path.basename(os.path.dirname(path)).lower()
            found.append((bus, fields.get("GPU UUID", "").strip()))
    if not found:  # containers may hide /proc/driver
        found = [("", "") for path in glob.glob("/dev/nvidia[0-9]*")
                 if path[len("/dev/nvidia"):].isdigit() and may_open(path)]
    return [Device("cuda", str(i), bus, uuid) for i, (bus, uuid) in enumerate(found)]


def _amd() -> list:
    found = []
    nodes = glob.glob("/sys/class/kfd/kfd/topology/nodes/*/properties")
    for path in sorted(nodes, key=lambda p: int(p.split("/")[-2])):
        fields = dict(line.split(None, 1) for line in read(path).splitlines() if " " in line)
        minor = fields.get("drm_render_minor", "").strip()
        opens = not minor.isdigit() or int(minor) == 0 or may_open(f"/dev/dri/renderD{minor}")
        if int(fields.get("simd_count", "0")) > 0 and opens:
            place, domain = int(fields.get("location_id", "0")), int(fields.get("domain", "0"))
            bus = f"{domain:04x}:{place >> 8 & 255:02x}:{place >> 3 & 31:02x}.{place & 7}"
            unique = int(fields.get("unique_id", "0"))
            found.append(Device("hip", str(len(found)), bus, f"GPU-{unique:016x}" if unique else ""))
    return found


def _intel() -> list:
    cards = []
    for path in sorted(glob.glob("/sys/class/drm/render*/device")):
        if read(path + "/vendor") == "0x8086" and may_open("/dev/dri/" + path.split("/")[-2]):
            cards.append(os.path.basename(os.path.realpath(path)))
    return [Device("sycl", str(i), bus) for i, bus in enumerate(sorted(cards))]


def all_devices(backend: str = "auto") -> list:
    """The devices of the named back end's vendor, else of the first vendor that has any. The HIP back end
    can also be one for NVIDIA's devices."""
    finders = {"cuda": _nvidia, "hip": lambda: _amd() or _nvidia(), "sycl": _intel}
    named = [finders[name] for name in backend.split(",") if name in finders]
    for find in named or (_nvidia, _amd, _intel):
        if found := find():
            return found
    return []


def order(index: int, count: int, how: str) -> list:
    """The order in which `count` devices are shown to the rank whose device is `index`.

    Programs that choose for themselves take the visible device numbered like their local rank. With three
    or more devices the others are placed so that these choices differ between ranks as well; with two
    there is no such order.
    """
    others = [i for i in range(count) if i != index]
    if how == "one":
        return [index]
    if how == "all" or count < 2 or how == "auto" and count == 2:
        return list(range(count))
    if index == 0 or count == 2:
        return [index, *others]
    own_choice = index % (count - 1) + 1  # a cycle over 1..count-1; device 0 stays with rank 0
    others.remove(own_choice)
    others.insert(index - 1, own_choice)
    return [index, *others]


def choose(rank: int, how: str, environment) -> "Device | None":
    """Sets the vendor's variable and returns the rank's device; None where there is none."""
    devices = visibility.allowed(all_devices(environment.get("TELPHER_BACKEND", "auto")), environment)
    if not devices:
        return None
    index = rank % len(devices)
    if how in ("auto", "first") and devices[0].vendor not in visibility.ORDERED:
        how = "all"
    shown = order(index, len(devices), how)
    if shown != list(range(len(devices))):
        visibility.show([devices[i] for i in shown], environment)
    elif devices[0].vendor == "cuda" and "CUDA_VISIBLE_DEVICES" not in environment:
        environment.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    return devices[index]


def cpu_list(text: str) -> set:
    """The numbers in a list such as 0-3,8."""
    cpus = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdigit():
            cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def bind_near(device: Device) -> None:
    """Restricts this process to the CPUs of the device's node. A mask that already lies within one node was
    set on purpose and stays."""
    node = device.numa_node()
    near = cpu_list(read(f"/sys/devices/system/node/node{node}/cpulist")) if node >= 0 else set()
    mask = os.sched_getaffinity(0)
    nodes = [cpu_list(read(path)) for path in glob.glob("/sys/devices/system/node/node[0-9]*/cpulist")]
    spans_nodes = sum(1 for cpus in nodes if cpus & mask) > 1
    if spans_nodes and near & mask:
        os.sched_setaffinity(0, near & mask)
