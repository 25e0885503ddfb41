# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher exec` makes of each launcher's variables: the local rank, hence the device, and whose it is."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import devices, execute  # noqa: E402

# The variables of the third rank of a node, as each launcher sets them.
LAUNCHERS = {
    "Open MPI 4 and 5": ({"OMPI_COMM_WORLD_RANK": "6", "OMPI_COMM_WORLD_LOCAL_RANK": "2", "PMIX_RANK": "6"}, "ompi"),
    "MPICH": (
        {"PMI_RANK": "6", "PMI_SIZE": "8", "PMI_FD": "9", "MPI_LOCALRANKID": "2", "MPI_LOCALNRANKS": "4"},
        "mpich",
    ),
    "Intel MPI": ({"PMI_RANK": "6", "MPI_LOCALRANKID": "2", "I_MPI_HYDRA_UUID": "1"}, "mpich"),
    "srun --mpi=pmix": ({"SLURM_PROCID": "6", "SLURM_LOCALID": "2", "PMIX_RANK": "6"}, ""),
    "srun --mpi=pmi2": ({"SLURM_PROCID": "6", "SLURM_LOCALID": "2", "PMI_RANK": "6", "PMI_FD": "9"}, ""),
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
                outer = {"SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
                self.assertEqual(execute.local_rank(outer | variables), 2)

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
                    emulated = variables | {"TELPHER_BACKEND": "emu"}
                    execute.place(emulated, "auto", "none", devices)
                    self.assertNotIn("CUDA_VISIBLE_DEVICES", emulated)
        finally:
            devices.all_devices = saved


class Completion(unittest.TestCase):
    def test_shells_know_every_subcommand_and_option(self):
        from telpher import doctor, main, run

        folder = os.path.join(os.path.dirname(__file__), "../../../share/completion")
        for name in ("telpher.bash", "_telpher"):
            with open(os.path.join(folder, name)) as file:
                text = file.read()
            options = [
                o
                for p in (run.parser(), doctor.parser())
                for a in p._actions
                for o in a.option_strings
                if o.startswith("--")
            ]
            for word in [*main.MODULES, *options]:
                self.assertIn(word, text, name)


unittest.main()
