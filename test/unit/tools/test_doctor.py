# SPDX-License-Identifier: BSD-3-Clause
"""The doctor's judgement: facts of a healthy job, and one planted fault a test. What can be planted in a real
job is in test_doctor_ranks.py."""

import copy
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import adapters, doctor_checks, doctor_facts  # noqa: E402


def given(number: int) -> dict:
    return {
        "rank": number,
        "host": "node1",
        "pid": 10 + number,
        "telphers": ["/t/lib/libtelpher-mpich.so"],
        "mpis": ["/m/lib/libmpi.so.12"],
        "version": 100,
        "settings": {"TELPHER_BACKEND": "cuda"},
        "slurm": {},
        "pid_space": 1,
        "ipc_space": 1,
        "driver": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build  (user@host)",
    }


def met(number: int) -> dict:
    return {"rank": number, "size": 2, "mpi": "MPICH Version: 5.0.2", "backend": "cuda", "devices": 2, "ring": ""}


HEALTHY = {
    "version": "0.1.0 (0123abc)",
    "home": "/t",
    "libraries": {"mpich": "/t/lib/libtelpher-mpich.so", "cuda": "/t/lib/libtelpher-cuda.so"},
    "visibility": {"vendor": "cuda", "devices": 2, "tokens": ["0", "1"], "variables": {}},
    "plugin_wheels": ["telpher_cuda13-0.1.0.dist-info"],
    "backends": [
        {
            "name": "cuda",
            "devices": [{"bus": "0000:01:00.0", "memory": 80 << 30}, {"bus": "0000:02:00.0", "memory": 80 << 30}],
            "pairs": [
                {"from": 0, "to": 1, "peer": True, "distance": "fabric"},
                {"from": 1, "to": 0, "peer": True, "distance": "fabric"},
            ],
        }
    ],
    "absent": [],
    "settings": [],
    "problems": [],
    "asked": {"ranks": 2, "backend": "auto", "launch": ""},
    "mpi": {"abi": "mpich", "choice": "", "by": "mpicc", "mpi4py": ""},
    "nvidia": {
        "gpus": 2,
        "bars": {"0000:01:00.0": 1 << 37, "0000:02:00.0": 1 << 37},
        "peermem": True,
        "open_driver": True,
        "gdrcopy": True,
        "mig": False,
        "mps": False,
    },
    "system": {"ptrace_scope": "0", "container": False, "shm_free": 1 << 33},
    "nics": {"0000:01:00.0": ("mlx5_0", "same switch")},
    "tables": [{"file": "/shared/other.table", "mpi": "", "problem": "of another machine (cuda 8 x H200)"}],
    "look": {"problem": "", "ranks": [given(0), given(1)], "said": []},
    "job": {"problem": "", "ranks": [met(0), met(1)], "paths": ["ipc_get"], "refused": 0, "said": []},
    "host_alone": {"result": "ends", "says": False},
}


class Judgement(unittest.TestCase):
    def setUp(self):
        self.facts = copy.deepcopy(HEALTHY)
        self.ranks = self.facts["look"]["ranks"]
        self.met = self.facts["job"]["ranks"]

    def expect(self, state: str, pattern: str):
        """The one check that is not in order, which also says what to do."""
        found = [c for c in doctor_checks.judge(self.facts) if c.state != "ok"]
        self.assertEqual(len(found), 1, found)
        self.assertEqual(found[0].state, state, found)
        self.assertRegex(found[0].why + " " + found[0].remedy, pattern)
        self.assertTrue(found[0].remedy)

    def said(self, name: str) -> str:
        return " ".join(c.why for c in doctor_checks.judge(self.facts) if c.name == name)

    def test_healthy(self):
        self.assertEqual({c.state for c in doctor_checks.judge(self.facts)}, {"ok"})
        self.assertEqual(self.said("versions"), "NVIDIA 580.82.07, MPICH Version: 5.0.2")

    def test_what_is_in_order_has_a_row(self):
        for name, pattern in (
            ("BAR", "all of the memory"),
            ("GDRCopy", "loaded"),
            ("MIG", "not split"),
            ("MPS", "no ranks share"),
            ("GPU to network", "nvidia_peermem"),
        ):
            self.assertRegex(self.said(name), pattern)
        self.facts["nvidia"] |= {"mps": True, "peermem": False}
        self.assertRegex(self.said("MPS"), "runs")
        self.assertRegex(self.said("GPU to network"), "dma-buf")

    def test_stale_library(self):
        self.ranks[1]["version"] = 3
        self.expect("bad", "rank 1 loaded version 0.0.3, the command is 0.1.0")

    def test_library_replaced_while_it_runs(self):
        self.ranks[0]["telphers"] = ["/t/lib/libtelpher-mpich.so (deleted)"]
        self.expect("bad", "replaced while it ran")

    def test_library_of_another_installation(self):
        for one in self.ranks:
            one["telphers"] = ["/old/lib/libtelpher-mpich.so"]
        self.expect("bad", "another installation")

    def test_library_missing_in_a_rank(self):
        self.ranks[1]["telphers"] = []
        self.facts["job"] = self.facts["host_alone"] = {}
        self.expect("bad", "not loaded in rank 1")

    def test_two_telphers(self):
        self.ranks[0]["telphers"].append("/old/lib/libtelpher-mpich.so")
        self.facts["job"] = self.facts["host_alone"] = {}
        self.expect("bad", "two Telphers in rank 0")

    def test_plug_ins_beside_the_library_are_no_second_telpher(self):
        self.ranks[0]["telphers"].append("/t/lib/libtelpher-cuda.so")
        self.test_healthy()

    def test_two_mpis(self):
        self.ranks[0]["mpis"].append("/usr/lib/libmpi.so.40")
        self.assertFalse(doctor_checks.may_meet(self.facts))
        self.facts["job"] = self.facts["host_alone"] = {}
        self.expect("bad", "libmpi.so.40")

    def test_launcher_of_another_mpi(self):
        for one in self.met:
            one["size"] = 1
        self.expect("bad", "2 jobs of one rank each")

    def test_abi_without_library(self):
        self.facts["mpi"]["abi"] = "ompi"
        self.expect("bad", "no libtelpher-ompi.so")

    def test_unequal_settings(self):
        self.ranks[1]["settings"]["TELPHER_RAW_LIMIT"] = "1k"
        self.expect("bad", r"TELPHER_RAW_LIMIT is \(unset\) in rank 0, 1k in rank 1")

    def test_unknown_setting(self):
        self.facts["problems"] = ["TELPHER_LOGG is no setting; did you mean TELPHER_LOG?"]
        self.expect("bad", "TELPHER_LOGG")

    def test_missing_plug_in(self):
        self.facts |= {
            "backends": [],
            "absent": ["cuda: cannot open"],
            "libraries": {"mpich": "/t/lib/libtelpher-mpich.so"},
        }
        self.expect("bad", "cuda: cannot open.*telpher.cuda13")

    def test_a_driver_that_is_too_old(self):
        self.facts |= {"backends": [], "absent": ["cuda: CUDA driver version is insufficient for CUDA runtime version"]}
        self.expect("bad", "insufficient.*CUDA 13.*telpher_cuda12")
        self.facts["plugin_wheels"] = ["telpher_cuda12-0.1.0.dist-info"]
        self.expect("bad", "too old for this plug-in$")

    def test_a_back_end_without_a_device(self):
        self.facts["backends"][0] |= {"devices": [], "pairs": []}
        self.expect("bad", "shows no device.*CUDA_VISIBLE_DEVICES")
        self.facts["visibility"]["vendor"] = ""
        self.expect("note", "shows no device")

    def test_two_plug_in_wheels(self):
        self.facts["plugin_wheels"].append("telpher_cuda12-0.1.0.dist-info")
        self.expect("bad", "cuda12.*wrote the same file")

    def test_wrong_bytes(self):
        self.met[1]["ring"] = "device memory arrived with other bytes than were sent"
        self.expect("bad", "other bytes")

    def test_ipc_switched_off(self):
        self.facts["job"]["paths"] = ["staged"]
        for one in self.ranks:
            one["settings"]["TELPHER_IPC"] = "off"
        self.expect("note", "TELPHER_IPC=off.*unset TELPHER_IPC")

    def test_pid_namespaces(self):
        self.facts["job"]["paths"] = ["staged"]
        self.ranks[1]["pid_space"] = 2
        self.expect("bad", "namespaces.*--ipc=host")

    def test_ptrace_scope(self):
        self.facts["job"]["paths"] = ["staged"]
        self.facts["system"]["ptrace_scope"] = "2"
        self.expect("note", "ptrace_scope is 2.*sysctl")

    def test_container(self):
        self.facts["job"]["paths"] = ["staged"]
        self.facts["system"]["container"] = True
        self.expect("note", "in this container")

    def test_slurm_hides_peers(self):
        for one in self.met:
            one["devices"] = 1
        self.ranks[1]["slurm"] = {"SLURM_GPUS_PER_TASK": "1", "SLURM_GPUS_ON_NODE": "2"}
        self.expect("note", "SLURM_GPUS_PER_TASK=1.*--gpu-bind=none")
        self.ranks[1]["slurm"] = {"SLURM_TRES_PER_TASK": "cpu=8,gres/gpu:1"}
        self.expect("note", "SLURM_TRES_PER_TASK=cpu=8,gres/gpu:1 *")
        self.ranks[1]["slurm"]["SLURM_GPU_BIND"] = "closest"
        self.expect("note", r"\(SLURM_GPU_BIND=closest\)")

    def test_slurm_that_hides_nothing(self):
        for one in self.met:
            one["devices"] = 1
        self.facts["visibility"]["devices"] = 1  # there is one
        for harmless in ({"SLURM_GPUS_PER_TASK": "1", "SLURM_GPU_BIND": "none"}, {"SLURM_TRES_PER_TASK": "cpu=8"}):
            self.ranks[0]["slurm"] = harmless
            self.assertEqual([c for c in doctor_checks.judge(self.facts) if c.state != "ok"], [])

    def test_no_mpi(self):
        self.facts["mpi"]["abi"] = ""
        self.facts["look"] = {"problem": "there is no MPI to start them with", "ranks": [], "said": []}
        self.facts["job"] = self.facts["host_alone"] = {}
        self.expect("bad", "no mpi4py, mpicc or mpirun.*pip install")

    def test_a_named_table_of_another_machine(self):
        self.facts["settings"] = [{"name": "table", "value": "/shared/other.table", "origin": "environment"}]
        self.expect("bad", "/shared/other.table is refused: of another machine.*telpher tune")

    def test_a_damaged_table(self):
        self.facts["tables"][0]["problem"] = "damaged, or no table"
        self.expect("bad", "is refused: damaged")

    def test_adapter_at_another_processor(self):
        self.facts["nics"] = {"0000:01:00.0": ("mlx5_0", "another NUMA node")}
        self.expect("note", "0000:01:00.0 to mlx5_0: another NUMA node")

    def test_no_peer_access(self):
        for pair in self.facts["backends"][0]["pairs"]:
            pair["peer"] = False
        self.expect("note", "no direct access between 0-1")

    def test_a_host_mpi_that_promises_too_much(self):
        self.facts["host_alone"] = {"result": "ends", "says": True}
        self.expect("note", "does not move device memory")

    def test_ranks_that_do_not_start(self):
        self.facts["look"] = {"problem": "no answer within 60 s", "ranks": [], "said": ["hello"]}
        self.facts["job"] = {}
        self.expect("bad", "no answer within 60 s: hello")

    def test_ranks_that_do_not_meet(self):
        self.facts["job"] |= {"problem": "the launcher ended with 1", "ranks": [], "said": ["[telpher 0] no", "killed"]}
        self.facts["host_alone"] = {}
        self.expect("bad", r"ended with 1: \[telpher 0\] no")

    def test_ranks_meet_only_with_one_library_each(self):
        self.assertTrue(doctor_checks.may_meet(self.facts))
        self.ranks[1]["telphers"] = []
        self.assertFalse(doctor_checks.may_meet(self.facts))

    def test_little_shared_memory(self):
        self.facts["system"]["shm_free"] = 1 << 20
        self.expect("note", "--shm-size")

    def test_nvidia(self):
        for name, value, pattern in (
            ("gdrcopy", False, "small messages.*gdrdrv"),
            ("mig", True, "are split.*nvidia-smi -mig 0"),
            ("gpus", 1, "without MPS.*nvidia-cuda-mps-control"),
        ):
            self.facts["nvidia"][name] = value
            self.expect("note", pattern)
            self.facts["nvidia"] = copy.deepcopy(HEALTHY["nvidia"])
        self.facts["nvidia"] |= {"peermem": False, "open_driver": False}
        self.expect("note", "modprobe nvidia_peermem")

    def test_ranks_of_two_nodes_share_no_gpu(self):
        self.facts["nvidia"]["gpus"] = 1
        self.ranks[1]["host"] = "node2"
        self.assertRegex(self.said("MPS"), "no ranks share")

    def test_bars(self):
        bars = self.facts["nvidia"]["bars"]
        bars["0000:02:00.0"] = 1 << 28
        self.expect("note", "^0000:02:00.0: 256 MB of 81920 MB .*firmware")
        bars["0000:02:00.0"] = 1 << 36
        self.expect("note", "65536 MB of 81920 MB")
        self.facts["backends"][0]["devices"] = [{}, {}]
        self.assertEqual(self.said("BAR"), "65536 MB; the size of the memory is not known here")
        bars["0000:02:00.0"] = 1 << 28
        self.expect("note", "^0000:02:00.0: 256 MB ")

    def test_unequal_versions_of_the_mpi(self):
        self.met[1]["mpi"] = "MPICH Version: 4.3.0"
        self.expect("bad", "5.0.2 in rank 0, MPICH Version: 4.3.0 in rank 1.*LD_LIBRARY_PATH")

    def test_unequal_drivers(self):
        self.ranks[1] |= {
            "host": "node2",
            "driver": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19",
        }
        self.expect("note", "NVIDIA 580.82.07 on node1; NVIDIA 535.104.05 on node2")
        self.ranks[0]["driver"], self.ranks[1]["driver"] = "6.8.5", ""
        self.expect("note", "amdgpu 6.8.5 on node1; no driver on node2")


class Nvidia(unittest.TestCase):
    def test_what_the_kernel_shows(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in (
                ("proc/driver/nvidia/gpus/0000:3B:00.0/information", ""),
                ("proc/driver/nvidia/version", "Open Kernel Module"),
                (
                    "sys/bus/pci/devices/0000:3b:00.0/resource",
                    "0x10 0x0f 0x0\n0x100000000 0x1ffffffff 0x14220c\n0x0000000000000000 0x0000000000000000 0x0\n",
                ),
                ("dev/gdrdrv", ""),
            ):
                Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, path).write_text(text)
            found = doctor_facts.nvidia(folder + "/")
            self.assertEqual(
                (found["gpus"], found["bars"], found["open_driver"], found["gdrcopy"], found["peermem"]),
                (1, {"0000:3b:00.0": 1 << 32}, True, True, False),
            )
        self.assertEqual(doctor_facts.nvidia("/nowhere/"), {})


class Adapters(unittest.TestCase):
    """By the places of devices below /sys/devices, as on a machine with two processors and switches."""

    GPU = "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0"
    PLACES = {
        "same switch": "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0",
        "same root complex": "pci0000:00/0000:00:02.0/0000:05:00.0",
        "same NUMA node": "pci0000:40/0000:40:01.0/0000:41:00.0",
        "another NUMA node": "pci0000:80/0000:80:01.0/0000:81:00.0",
    }

    def nearest(self, names: list) -> tuple:
        with tempfile.TemporaryDirectory() as folder:
            devices, bus = Path(folder, "sys/devices"), Path(folder, "sys/bus/pci/devices")
            nics = Path(folder, "sys/class/infiniband")
            for one in (bus, nics):
                one.mkdir(parents=True)
            for name, place in [("gpu", self.GPU), *((name, self.PLACES[name]) for name in names)]:
                (devices / place).mkdir(parents=True)
                (devices / place / "numa_node").write_text("1" if name == "another NUMA node" else "0")
                if name == "gpu":
                    (bus / "0000:03:00.0").symlink_to(devices / place)
                else:
                    (nics / name).mkdir()
                    (nics / name / "device").symlink_to(devices / place)
            return adapters.nearest(["0000:03:00.0"], folder + "/")["0000:03:00.0"]

    def test_each_distance(self):
        for name in self.PLACES:
            self.assertEqual(self.nearest([name]), (name, name))

    def test_the_nearest_counts(self):
        self.assertEqual(self.nearest(list(self.PLACES)), ("same switch", "same switch"))

    def test_no_adapter(self):
        self.assertEqual(adapters.nearest(["0000:03:00.0"], "/nowhere/"), {})


unittest.main()
