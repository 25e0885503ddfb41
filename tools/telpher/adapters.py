# SPDX-License-Identifier: BSD-3-Clause
"""Network adapters with RDMA as the kernel shows them, how near each is to a device, and what a host MPI must be
told so that a rank uses those near its device."""
import glob
import os

from .devices import read

# Nearest first.
DISTANCES = ("same switch", "same root complex", "same NUMA node", "another NUMA node")


def distance(one: str, other: str) -> str:
    """How far two PCI devices are from each other, by their places below /sys/devices."""
    places = [os.path.realpath(path).rpartition("/devices/")[2].split("/")[:-1] for path in (one, other)]
    common = len(os.path.commonprefix(places))
    if common > 0:
        return DISTANCES[0] if common > 1 else DISTANCES[1]
    nodes = {read(path + "/numa_node") for path in (one, other)} - {"", "-1"}
    return DISTANCES[2] if len(nodes) < 2 else DISTANCES[3]


def _folders(root: str, *kinds: str) -> list:
    return sorted(path for kind in kinds for path in glob.glob(f"{root}sys/class/{kind}/*"))


def nearest(buses: list, root: str = "/") -> dict:
    """PCI address of each device: the adapter that is nearest to it (Slingshot's are cxi's), and how near that is."""
    adapters = {os.path.basename(path): path + "/device" for path in _folders(root, "infiniband", "cxi")}
    found = {}
    for bus in buses if adapters else []:
        device = f"{root}sys/bus/pci/devices/{bus}"
        pairs = ((name, distance(device, path)) for name, path in adapters.items())
        found[bus] = min(pairs, key=lambda pair: DISTANCES.index(pair[1]))
    return found


def active_ports(root: str = "/") -> dict:
    """Adapter:port of each port that is up: (the adapter's folder, what kind of port it is)."""
    found = {}
    for folder in _folders(root, "infiniband"):
        for port in sorted(glob.glob(folder + "/ports/*")):
            if "ACTIVE" in read(port + "/state"):
                kind = (read(port + "/link_layer"), read(port + "/rate"))
                found[f"{os.path.basename(folder)}:{os.path.basename(port)}"] = (folder, kind)
    return found


def own_ports(bus: str, buses: list, root: str = "/") -> list:
    """The ports that a rank whose device is at `bus` had best use, where that can be said for certain: every device
    of the node (`buses`) shares a switch with active ports, all of one kind, and they are not all the same ports.
    Else nothing: a host MPI that may use all ports reaches every peer."""
    ports = active_ports(root)
    near = {
        one: [name for name, (folder, _) in ports.items()
              if distance(f"{root}sys/bus/pci/devices/{one}", folder + "/device") == DISTANCES[0]]
        for one in buses
    }
    used = {name for names in near.values() for name in names}
    kinds = {ports[name][1] for name in used}
    if not near.get(bus) or not all(near.values()) or len(kinds) != 1 or set(near[bus]) == used:
        return []
    return near[bus]


def use_near(environment, bus: str, buses: list, root: str = "/") -> list:
    """Tells UCX (Open MPI, MPICH with UCX) and Intel MPI to use the adapters near the device, unless the user has
    said what to use. Returns the names of the variables that were set."""
    ports = own_ports(bus, buses, root) if bus else []
    if not ports:
        return []
    wanted = {"UCX_NET_DEVICES": ",".join(ports), "I_MPI_MULTIRAIL": "1"}
    new = {name: value for name, value in wanted.items() if name not in environment}
    environment.update(new)
    return sorted(new)
