# SPDX-License-Identifier: BSD-3-Clause
"""The doctor's judgement: facts of a healthy job, and one planted fault a test. What can be planted in a real
job is in test_doctor_ranks.py, what the doctor reads of a machine in test_doctor_nodes.py."""

import copy
import json
import os
import sys
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from healthy_job import HEALTHY, given  # noqa: E402
from telpher import doctor_checks, doctor_facts, doctor_job  # noqa: E402


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
        versions = "NVIDIA 580.82.07, plug-in of CUDA 13.0, MPICH Version: 5.0.2, mpi4py 4.1.2"
        self.assertEqual(self.said("versions"), versions)

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
        self.assertFalse(doctor_job.may_meet(self.facts))
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
        self.expect("bad", r"cuda: cannot open.*telpher_cuda\*\.whl.*make install WITH=cuda$")

    def test_a_driver_that_is_too_old(self):
        self.facts |= {"backends": [], "absent": ["cuda: CUDA driver version is insufficient for CUDA runtime version"]}
        self.expect("bad", "insufficient.*CUDA 13.*telpher_cuda12")
        self.facts["plugin_wheels"] = ["telpher_cuda12-0.1.0.dist-info"]
        self.expect("bad", "too old for this plug-in$")

    def test_a_rocm_that_the_plug_in_is_not_for(self):
        self.facts |= {"backends": [], "absent": ["hip: libamdhip64.so.5: cannot open shared object file"]}
        self.facts |= {"rocm_release": "5", "libraries": self.facts["libraries"] | {"hip": "/t/lib/libtelpher-hip.so"}}
        self.facts["asked"]["backend"], self.facts["visibility"]["vendor"] = "hip", ""
        self.expect("bad", "cannot open.*needs ROCm 5; for another ROCm .* make install WITH=hip$")

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

    def test_slurm_as_it_was_run(self):
        for one in self.met:
            one["devices"] = 1
        with open(os.path.join(os.path.dirname(__file__), "slurm.json")) as file:
            seen = json.load(file)["gpus"]
        self.facts["visibility"]["devices"] = 1
        for words, variables in seen.items():
            self.ranks[1]["slurm"] = variables
            if "none" in words or "per-node=2" in words and "single" not in words:
                self.test_healthy()
            else:
                self.expect("note", r"sees one device \(SLURM_")

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
        for text in ("its query says that it is GPU-aware", "MPICH_GPU_SUPPORT_ENABLED=1 tells it to be GPU-aware"):
            self.facts["host_alone"] = {"result": "ends", "says": text}
            self.expect("note", f"{text}, but it does not move device memory")

    def test_a_host_mpi_that_delivers_other_bytes(self):
        wrong = "device memory arrived with other bytes than were sent"
        self.facts["host_alone"] = {"result": "other", "says": "", "text": wrong}
        self.expect("bad", f"by itself and did not end, but {wrong}")

    def test_a_host_mpi_that_is_gpu_aware(self):
        self.facts["host_alone"] = {"result": "works", "says": "its query says that it is GPU-aware"}
        self.assertEqual(self.said("host MPI"), "moves device memory by itself as well, as it says")
        self.facts["host_alone"]["says"] = ""
        self.assertRegex(self.said("host MPI"), "though nothing says so")

    def test_what_promises_that_a_host_mpi_is_gpu_aware(self):
        with unittest.mock.patch.dict(os.environ, {"MPICH_GPU_SUPPORT_ENABLED": "0"}):
            self.assertEqual(doctor_facts.promise(self.met), "")
            os.environ["OMPI_MCA_accelerator"] = "rocm"
            self.assertRegex(doctor_facts.promise(self.met), "^OMPI_MCA_accelerator=rocm tells")
            self.met[1]["host_takes"] = ["sycl"]
            self.assertRegex(doctor_facts.promise(self.met), "^OMPI_MCA_accelerator=rocm tells")
            self.met[1]["host_takes"] = ["cuda"]
            self.assertRegex(doctor_facts.promise(self.met), "^its query says")

    def test_ranks_that_do_not_start(self):
        self.facts["look"] = {"problem": "no answer within 60 s", "ranks": [], "said": ["hello"]}
        self.facts["job"] = {}
        self.expect("bad", "no answer within 60 s: hello")

    def test_ranks_that_do_not_meet(self):
        self.facts["job"] |= {"problem": "the launcher ended with 1", "ranks": [], "said": ["[telpher 0] no", "killed"]}
        self.facts["host_alone"] = {}
        self.expect("bad", r"ended with 1: \[telpher 0\] no")

    def test_ranks_meet_only_with_one_library_each(self):
        self.assertTrue(doctor_job.may_meet(self.facts))
        self.ranks[1]["telphers"] = []
        self.assertFalse(doctor_job.may_meet(self.facts))

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

    def test_an_mps_that_does_not_answer(self):
        self.facts["nvidia"]["mps_folder"] = "/tmp/nvidia-mps"
        self.expect("note", "^no daemon answers in /tmp/nvidia-mps: .*remove what a daemon left")

    def test_slingshot(self):
        self.facts["nics"] = {"0000:01:00.0": ("cxi0", "same switch")}
        self.assertRegex(self.said("GPU to network"), "dma-buf")
        self.facts["nvidia"]["open_driver"] = False
        self.expect("note", "^cxi0: no dma-buf")
        self.facts["nics"]["0000:02:00.0"] = ("mlx5_0", "same switch")
        self.assertRegex(self.said("GPU to network"), "nvidia_peermem is loaded")

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
        self.expect("note", "amdgpu 6.8.5 on node1; none on node2")


class Nodes(unittest.TestCase):
    """Ranks that run on two nodes, of which the command's is none."""

    def setUp(self):
        self.facts = copy.deepcopy(HEALTHY) | {"nvidia": {}, "backends": []}
        for rank, host in zip(self.facts["look"]["ranks"], ("node1", "node2"), strict=True):
            rank["host"] = host
        parts = ("libraries", "home", "version", "backends", "nvidia", "system", "nics", "tables", "plugin_wheels")
        own = {name: HEALTHY[name] for name in (*parts, "cuda_release")}
        self.facts["nodes"] = {host: copy.deepcopy(own) for host in ("node1", "node2")}

    def expect(self, state: str, pattern: str):
        found = [c for c in doctor_checks.judge(self.facts) if c.state != "ok"]
        self.assertEqual([c.state for c in found], [state], found)
        self.assertRegex(f"{found[0].why} {found[0].remedy}", pattern)

    def test_their_machines_are_judged_and_said_once(self):
        checks = doctor_checks.judge(self.facts)
        self.assertEqual({c.state for c in checks}, {"ok"}, checks)
        self.assertEqual([c.why for c in checks if c.name == "GDRCopy"], ["its driver is loaded"])

    def test_a_fault_of_one_names_it(self):
        self.facts["nodes"]["node2"]["nvidia"]["gdrcopy"] = False
        self.expect("note", "^on node2: not loaded")
        self.facts["nodes"]["node1"]["nvidia"]["gdrcopy"] = False
        self.expect("note", "^not loaded")

    def test_ranks_share_the_gpus_of_their_own_node(self):
        self.facts["nodes"]["node1"]["nvidia"]["gpus"] = 1
        self.assertEqual({c.state for c in doctor_checks.judge(self.facts)}, {"ok"})
        self.facts["look"]["ranks"].append(given(2))
        self.facts["asked"]["ranks"] = 3
        self.expect("note", "^on node1: ranks share GPUs without MPS")

    def test_plug_ins_of_two_releases(self):
        self.facts["nodes"]["node2"]["cuda_release"] = "12.4"
        self.expect("note", "^plug-in of CUDA 13.0 on node1; plug-in of CUDA 12.4 on node2")

    def test_a_node_that_does_not_answer(self):
        del self.facts["nodes"]["node2"]
        self.facts |= {"silent": ["node2"], "why_silent": "the launcher ended with 1: no python3"}
        self.expect("note", r"of node1 only: 1 ranks run on node2.*no python3.*run telpher doctor there")


unittest.main()
