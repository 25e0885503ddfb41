# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher exec` makes of each launcher's variables: the local rank, hence the device, and whose it is."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import adapters, answers, devices, execute  # noqa: E402

BUILD = os.environ.get("BUILD", "")
with open(os.path.join(os.path.dirname(__file__), "slurm.json")) as data:
    SLURM = json.load(data)["ranks"]  # as it was run

# The variables of the third rank of a node, as each launcher sets them.
LAUNCHERS = {
    "Open MPI 4 and 5": ({"OMPI_COMM_WORLD_RANK": "6", "OMPI_COMM_WORLD_LOCAL_RANK": "2", "PMIX_RANK": "6"}, "ompi"),
    "MPICH": (
        {"PMI_RANK": "6", "PMI_SIZE": "8", "PMI_FD": "9", "MPI_LOCALRANKID": "2", "MPI_LOCALNRANKS": "4"},
        "mpich",
    ),
    "Intel MPI": ({"PMI_RANK": "6", "MPI_LOCALRANKID": "2", "I_MPI_HYDRA_UUID": "1"}, "mpich"),
    "srun --mpi=pmix": (SLURM["srun --mpi=pmix"], ""),
    "srun --mpi=pmi2": (SLURM["srun --mpi=pmi2"], ""),
    "mpirun of MPICH in a job": (SLURM["mpirun of MPICH in a job"], "mpich"),
    "mpirun of Open MPI in a job": (SLURM["mpirun of Open MPI in a job"], "ompi"),
    "flux run": ({"FLUX_TASK_RANK": "6", "FLUX_TASK_LOCAL_ID": "2", "PMI_RANK": "6", "PMI_FD": "9"}, ""),
    "PALS": ({"PALS_RANKID": "6", "PALS_LOCAL_RANKID": "2", "PMI_RANK": "6"}, ""),
    "Cray's PMI": ({"PMI_RANK": "6", "PMI_LOCAL_RANK": "2"}, ""),
    "jsrun": ({"JSM_NAMESPACE_RANK": "6", "JSM_NAMESPACE_LOCAL_RANK": "2"}, ""),
}


class Launchers(unittest.TestCase):
    def test_local_rank_and_family(self):
        for name, (variables, abi) in LAUNCHERS.items():
            with self.subTest(name):
                self.assertEqual(execute.local_rank(variables), 2)
                self.assertEqual(execute.launcher_abi(variables), abi)

    def test_inside_a_slurm_job_the_inner_launcher_counts(self):
        for name, (variables, _) in LAUNCHERS.items():
            with self.subTest(name):
                outer = SLURM["srun --mpi=pmi2"] | {"SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
                self.assertEqual(execute.local_rank(outer | variables), 2)

    def test_how_many_ranks_the_node_has(self):
        for name, variables in SLURM.items():
            self.assertEqual(execute.local_ranks(variables), 3, name)
        for name in execute.LOCAL_SIZE:
            self.assertEqual(execute.local_ranks({"SLURM_STEP_TASKS_PER_NODE": "9", name: "4(x2),3"}), 4, name)
        self.assertEqual(execute.local_ranks({"FLUX_TASK_LOCAL_ID": "2", "FLUX_JOB_SIZE": "8"}), 0)

    def test_the_documentation_names_every_variable(self):
        with open(os.path.join(os.path.dirname(__file__), "../../../docs/use/launchers.md")) as file:
            page = file.read()
        answered = [name for vendor in answers.OF_VENDOR for name in answers.answers(vendor)]
        for name in (*execute.LOCAL_RANK, *execute.LOCAL_SIZE, *answered):
            self.assertIn(f"`{name}`", page)

    def test_without_a_launcher(self):
        self.assertEqual((execute.local_rank({}), execute.launcher_abi({})), (0, ""))

    def test_each_launcher_gives_the_rank_its_device(self):
        saved = devices.all_devices
        devices.all_devices = lambda backend="auto": [
            devices.Device("cuda", str(i), f"0000:0{i}:00.0") for i in range(4)
        ]
        try:
            for name, (variables, _) in LAUNCHERS.items():
                with self.subTest(name):
                    environment = dict(variables)
                    execute.place(environment, "auto", "none", devices)
                    self.assertEqual(environment["CUDA_VISIBLE_DEVICES"].split(",")[0], "2")
                    self.assertEqual(environment["CUDA_DEVICE_ORDER"], "PCI_BUS_ID")
                    self.assertNotIn("MPI4JAX_USE_CUDA_MPI", environment)  # this build has no CUDA plug-in
                    emulated = variables | {"TELPHER_BACKEND": "emu"}
                    execute.place(emulated, "auto", "none", devices)
                    self.assertNotIn("CUDA_VISIBLE_DEVICES", emulated)
        finally:
            devices.all_devices = saved

    def test_streams_and_mps_get_variables_of_cuda(self):
        with tempfile.TemporaryDirectory() as root:
            for variables, queues, loading in (
                ({}, None, None),
                ({"TELPHER_STREAMS": "off"}, None, None),
                ({"TELPHER_STREAMS": "On"}, "32", "EAGER"),
                ({"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mine"}, "8", None),
                ({"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mine", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, "32", None),
                ({"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mine", "MPI_LOCALNRANKS": "4"}, "16", None),
                ({"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mine", "SLURM_STEP_TASKS_PER_NODE": "8(x2),3"}, "8", None),
                ({"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mine", "MPI_LOCALNRANKS": "128"}, "2", None),
                ({"CUDA_MPS_PIPE_DIRECTORY": "/tmp/mine", "MPI_LOCALNRANKS": "4",
                  "TELPHER_STREAMS": "on"}, "16", "EAGER"),
                ({"TELPHER_STREAMS": "on", "CUDA_DEVICE_MAX_CONNECTIONS": "1"}, "1", "EAGER"),
                ({"TELPHER_STREAMS": "on", "CUDA_MODULE_LOADING": "LAZY"}, "32", "LAZY"),
            ):
                with self.subTest(variables):
                    environment = dict(variables)
                    execute.set_stream_variables(environment, root + "/")
                    self.assertEqual(environment.get("CUDA_DEVICE_MAX_CONNECTIONS"), queues)
                    self.assertEqual(environment.get("CUDA_MODULE_LOADING"), loading)
            os.makedirs(root + "/tmp/nvidia-mps/control")
            environment = {}
            execute.set_stream_variables(environment, root + "/")
            self.assertEqual(environment, {"CUDA_DEVICE_MAX_CONNECTIONS": "8"})


class Adapters(unittest.TestCase):
    """Which network adapters a rank's MPI is told to use, by a made-up /sys of two devices, each with a switch."""

    BUSES = ["0000:02:00.0", "0000:82:00.0"]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = self.folder.name + "/"
        for bus, switch in zip(self.BUSES, ("00/01", "80/81"), strict=True):
            self.link(f"bus/pci/devices/{bus}", f"{switch}/{bus}")

    def link(self, name: str, place: str):
        root, switch, bus = place.split("/")
        target = f"{self.root}sys/devices/pci0000:{root}/0000:{root}:{switch}.0/0000:{switch}:00.0/{bus}"
        os.makedirs(target, exist_ok=True)
        os.makedirs(os.path.dirname(f"{self.root}sys/{name}"), exist_ok=True)
        os.symlink(target, f"{self.root}sys/{name}")

    def adapter(self, name: str, place: str, state="4: ACTIVE", rate="400 Gb/sec (4X NDR)"):
        self.link(f"class/infiniband/{name}/device", f"{place}/{name}")
        port = f"{self.root}sys/class/infiniband/{name}/ports/1"
        os.makedirs(port)
        for file, text in (("state", state), ("rate", rate), ("link_layer", "InfiniBand")):
            with open(f"{port}/{file}", "w") as out:
                out.write(text + "\n")

    def told(self, bus: str, **given) -> dict:
        environment = dict(given)
        adapters.use_near(environment, bus, self.BUSES, self.root)
        return environment

    def test_each_device_has_its_own(self):
        self.adapter("mlx5_0", "00/01")
        self.adapter("mlx5_1", "00/01")
        self.adapter("mlx5_2", "80/81")
        self.adapter("mlx5_3", "00/05", rate="100 Gb/sec (4X EDR)")  # storage: at another switch
        self.assertEqual(self.told(self.BUSES[0]), {"UCX_NET_DEVICES": "mlx5_0:1,mlx5_1:1", "I_MPI_MULTIRAIL": "1"})
        self.assertEqual(self.told(self.BUSES[1]), {"UCX_NET_DEVICES": "mlx5_2:1", "I_MPI_MULTIRAIL": "1"})

    def test_what_the_user_has_set_stays(self):
        self.adapter("mlx5_0", "00/01")
        self.adapter("mlx5_2", "80/81")
        own = {"UCX_NET_DEVICES": "all", "I_MPI_MULTIRAIL": "0"}
        self.assertEqual(self.told(self.BUSES[0], **own), own)

    def test_nothing_where_it_is_not_certain(self):
        self.assertEqual(self.told(self.BUSES[0]), {})  # no adapter
        self.adapter("mlx5_0", "00/01")
        self.assertEqual(self.told(self.BUSES[0]), {})  # none near the other device
        self.adapter("mlx5_1", "80/81", state="1: DOWN")
        self.assertEqual(self.told(self.BUSES[0]), {})  # it is down
        self.adapter("mlx5_2", "80/81", rate="100 Gb/sec (4X EDR)")
        self.assertEqual(self.told(self.BUSES[0]), {})  # of another kind: perhaps another network
        self.assertEqual(self.told(""), {})  # a device whose place is not known


class Rank(unittest.TestCase):
    """What a program finds that `telpher exec` starts, under each launcher."""

    SHOW = "import json, os; print(json.dumps(dict(os.environ)))"

    def started(self, variables: dict, *options: str) -> dict:
        command = [os.path.join(BUILD, "bin/telpher"), "exec", *options, "--", sys.executable, "-c", self.SHOW]
        clean = {"PATH": os.environ["PATH"], "TELPHER_BACKEND": "emu"}
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, env=clean | variables)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def test_the_library_is_in_front_and_the_launchers_variables_stay(self):
        for name, (variables, abi) in LAUNCHERS.items():
            with self.subTest(name):
                abi = abi or "ompi"
                found = self.started(variables | {"LD_PRELOAD": "/usr/lib/libtool.so"}, "--mpi", abi)
                self.assertEqual(found["LD_PRELOAD"], f"/usr/lib/libtool.so:{BUILD}/lib/libtelpher-{abi}.so")
                self.assertLessEqual(variables.items(), found.items())

    def test_what_run_has_found_out_is_not_asked_again(self):
        variables, _ = LAUNCHERS["Open MPI 4 and 5"]
        found = self.started(variables | {"TELPHER_LAUNCHED": "mpich"})
        self.assertEqual(found["LD_PRELOAD"], f"{BUILD}/lib/libtelpher-mpich.so")

    def test_children_of_a_rank_are_not_given_it_twice(self):
        once = self.started({}, "--mpi", "mpich")
        self.assertEqual(self.started({"LD_PRELOAD": once["LD_PRELOAD"]}, "--mpi", "mpich")["LD_PRELOAD"],
                         once["LD_PRELOAD"])


class Answers(unittest.TestCase):
    """Programs that look for a variable learn that device pointers may be passed."""

    def given(self, vendor: str, plugins: tuple, **set_before: str) -> dict:
        environment = dict(set_before)
        answers.give(environment, vendor, plugins)
        return environment

    def test_by_vendor(self):
        self.assertEqual(self.given("cuda", ("emu", "cuda"))["JULIA_MPI_HAS_CUDA"], "true")
        self.assertEqual(self.given("hip", ("hip",))["JULIA_MPI_HAS_ROCM"], "true")
        self.assertNotIn("JULIA_MPI_HAS_CUDA", self.given("hip", ("hip",)))
        self.assertEqual(self.given("sycl", ("sycl",))["TPETRA_ASSUME_GPU_AWARE_MPI"], "1")

    def test_none_without_the_plug_in(self):
        self.assertEqual(self.given("cuda", ("emu", "mpich")), {})

    def test_what_the_user_set_stays(self):
        self.assertEqual(self.given("cuda", ("cuda",), MPI4JAX_USE_CUDA_MPI="0")["MPI4JAX_USE_CUDA_MPI"], "0")

    def test_not_for_crays_mpich(self):
        self.assertEqual(self.given("hip", ("hip",))["MPICH_GPU_SUPPORT_ENABLED"], "1")
        saved, answers.CRAY_FOLDER = answers.CRAY_FOLDER, os.path.dirname(__file__)
        try:
            self.assertNotIn("MPICH_GPU_SUPPORT_ENABLED", self.given("hip", ("hip",)))
        finally:
            answers.CRAY_FOLDER = saved


unittest.main()
