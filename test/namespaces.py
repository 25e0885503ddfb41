# SPDX-License-Identifier: BSD-3-Clause
"""Several nodes on one machine: network namespaces joined by a bridge, each job part in its own IPC, PID,
UTS and mount namespace with its own /dev/shm, so that nothing but the network is shared.

    with Nodes(2, rate="1gbit") as nodes:
        nodes.run(launch_line("mpich", prefix, nodes, 2) + ["env", ..., program], environment, timeout)

Needs root and a kernel with network namespaces, bridges and veth; `why_not()` says what is missing.
"""
import itertools
import os
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

SUBNET = "10.77.0"


def why_not() -> str:
    """What is missing to make nodes here; empty if nothing."""
    if os.geteuid() != 0:
        return "not root"
    for tool in ("ip", "unshare", "tc"):
        if not shutil.which(tool):
            return f"no `{tool}`"
    try:
        with Nodes(1):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no namespaces here ({error})"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Nodes:
    """`count` nodes whose links are shaped to `rate` (tc's form: 1gbit), if given."""

    made = itertools.count()

    def __init__(self, count: int, rate: str = ""):
        self.rate = rate
        # Interface names have 15 letters at most. A launcher must not meet an old node's name again.
        self.mark = f"t{os.getpid() % 10 ** 6:x}{next(Nodes.made) % 100:02d}"
        self.names = [f"{self.mark}n{i}" for i in range(count)]
        self.switch = f"{self.mark}sw"

    def __enter__(self) -> "Nodes":
        self.folder = Path(tempfile.mkdtemp(prefix="telpher-nodes-"))
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.remove()

    def make(self) -> None:
        hosts = "127.0.0.1 localhost\n" + "".join(
            f"{SUBNET}.{i + 1} {name}\n" for i, name in enumerate(self.names))
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        ip("-n", self.switch, "link", "set", "br0", "up")
        for i, name in enumerate(self.names):
            ip("netns", "add", name)
            etc = Path("/etc/netns") / name
            etc.mkdir(parents=True)
            (etc / "hosts").write_text(hosts)
            ip("link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", name,
               "netns", self.switch)
            ip("-n", self.switch, "link", "set", name, "master", "br0", "up")
            ip("-n", name, "addr", "add", f"{SUBNET}.{i + 1}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
            if self.rate:
                ip("netns", "exec", name, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf",
                   "rate", self.rate, "burst", "256kb", "latency", "50ms")
        self.script("on", "node=$1; shift")
        # What a launcher calls in place of ssh; a proxy outlives nothing of what it started.
        self.script("ssh", textwrap.dedent("""\
            while [[ "$1" == -* ]]; do case "$1" in -p|-l|-o|-i|-F) shift 2;; *) shift;; esac; done
            node=${1##*@}; shift
            set -- bash -c "$*" """))

    def script(self, name: str, head: str) -> None:
        inner = (f'export TMPDIR={self.folder}/$1; mkdir -p "$TMPDIR"; mount -t tmpfs tmpfs /dev/shm; '
                 'hostname "$1"; shift; exec "$@"')
        path = self.folder / name
        path.write_text(f"#!/bin/bash\n{head}\nexec ip netns exec \"$node\" unshare --uts --ipc --mount "
                        f"--pid --fork --kill-child --mount-proc bash -c '{inner}' _ \"$node\" \"$@\"\n")
        path.chmod(0o755)

    def remove(self) -> None:
        for name in [*self.names, self.switch]:
            for pid in self.processes(name):
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    pass
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
            shutil.rmtree(Path("/etc/netns") / name, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def processes(name: str) -> list[int]:
        """Every process of a node."""
        out = subprocess.run(["ip", "netns", "pids", name], check=False, capture_output=True, text=True)
        return [int(pid) for pid in out.stdout.split()]

    def signal(self, node: int, number: int, name: str) -> int:
        """Sends a signal to the processes of a node whose program has this name; how many there were."""
        hit = 0
        for pid in self.processes(self.names[node]):
            try:
                if Path(f"/proc/{pid}/exe").readlink().name == name:
                    os.kill(pid, number)
                    hit += 1
            except OSError:
                continue  # gone meanwhile
        return hit

    def cut(self, node: int) -> None:
        ip("-n", self.names[node], "link", "set", "eth0", "down")

    def launch_line(self, abi: str, mpirun: str, per_node: int) -> list[str]:
        """Everything in front of the program: the launcher, run on the first node."""
        ranks = str(per_node * len(self.names))
        on, ssh = str(self.folder / "on"), str(self.folder / "ssh")
        if abi == "ompi":
            hosts = ",".join(f"{name}:{per_node}" for name in self.names)
            return [on, self.names[0], mpirun, "--prtemca", "plm_ssh_agent", ssh, "--bind-to", "none",
                    "-H", hosts, "--map-by", f"ppr:{per_node}:node", "-n", ranks]
        return [on, self.names[0], mpirun, "-launcher", "ssh", "-launcher-exec", ssh,
                "-hosts", ",".join(self.names), "-ppn", str(per_node), "-n", ranks]
