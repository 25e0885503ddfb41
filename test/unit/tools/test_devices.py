# SPDX-License-Identifier: BSD-3-Clause
"""The choice of a rank's device and what it does to the visible list."""
import fnmatch
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import UserError, devices, execute, visibility  # noqa: E402


class Order(unittest.TestCase):
    def test_every_order_shows_every_device_once_with_the_own_one_first(self):
        for count in range(3, 17):
            for index in range(count):
                shown = devices.order(index, count, "auto")
                self.assertEqual(shown[0], index)
                self.assertEqual(sorted(shown), list(range(count)))

    def test_programs_that_choose_by_local_rank_get_different_devices(self):
        for count in range(3, 17):
            chosen = {devices.order(rank, count, "auto")[rank] for rank in range(count)}
            self.assertEqual(len(chosen), count)

    def test_one_and_two_devices(self):
        self.assertEqual(devices.order(0, 1, "auto"), [0])
        self.assertEqual(devices.order(1, 2, "auto"), [0, 1])
        self.assertEqual(devices.order(1, 2, "first"), [1, 0])

    def test_one_and_all(self):
        self.assertEqual(devices.order(3, 8, "one"), [3])
        self.assertEqual(devices.order(3, 4, "all"), [0, 1, 2, 3])


class Visible(unittest.TestCase):
    def setUp(self):
        self.saved = devices.all_devices
        devices.all_devices = lambda backend: [devices.Device("cuda", str(i), "", f"GPU-{i}") for i in range(4)]

    def tearDown(self):
        devices.all_devices = self.saved

    def test_what_the_batch_system_set_is_kept(self):
        environment = {"CUDA_VISIBLE_DEVICES": "3,1,2"}
        self.assertEqual(devices.choose(1, "first", environment).token, "1")
        self.assertEqual(sorted(environment["CUDA_VISIBLE_DEVICES"].split(",")), ["1", "2", "3"])
        self.assertEqual(environment["CUDA_VISIBLE_DEVICES"][0], "1")

    def test_identifiers_are_kept_as_they_are(self):
        environment = {"CUDA_VISIBLE_DEVICES": "GPU-2,MIG-x/1/0"}
        self.assertEqual(devices.choose(1, "one", environment).token, "MIG-x/1/0")
        self.assertEqual(environment["CUDA_VISIBLE_DEVICES"], "MIG-x/1/0")

    def test_nothing_visible_stays_nothing(self):
        environment = {"CUDA_VISIBLE_DEVICES": ""}
        self.assertIsNone(devices.choose(0, "auto", environment))
        self.assertEqual(environment, {"CUDA_VISIBLE_DEVICES": ""})

    def test_more_ranks_than_devices(self):
        self.assertEqual(devices.choose(5, "auto", {}).token, "1")


def made(vendor, count):
    return [devices.Device(vendor, str(i), f"0000:0{i}:00.0", f"GPU-{i}abc") for i in range(count)]


def tokens(vendor, count, **environment):
    """(what each shown device is called, its place among all)."""
    shown = visibility.allowed(made(vendor, count), environment)
    return [d.token for d in shown], [int(d.bus[6]) for d in shown if d.bus]


class Rules(unittest.TestCase):
    def test_cuda_lists_end_at_what_names_nothing(self):
        self.assertEqual(tokens("cuda", 4), (["0", "1", "2", "3"], [0, 1, 2, 3]))
        self.assertEqual(tokens("cuda", 4, CUDA_VISIBLE_DEVICES="2,0"), (["2", "0"], [2, 0]))
        self.assertEqual(tokens("cuda", 4, CUDA_VISIBLE_DEVICES="1,7,2"), (["1"], [1]))
        self.assertEqual(tokens("cuda", 4, CUDA_VISIBLE_DEVICES="1,-1,2"), (["1"], [1]))
        self.assertEqual(tokens("cuda", 4, CUDA_VISIBLE_DEVICES="GPU-3,GPU-1ab"), (["GPU-3", "GPU-1ab"], [3, 1]))
        self.assertEqual(tokens("cuda", 4, CUDA_VISIBLE_DEVICES="GPU-"), ([], []))  # four devices begin so

    def test_hip_counts_within_what_rocr_left(self):
        self.assertEqual(tokens("hip", 8, ROCR_VISIBLE_DEVICES="4,5,6"), (["0", "1", "2"], [4, 5, 6]))
        self.assertEqual(tokens("hip", 8, ROCR_VISIBLE_DEVICES="4,5,6", HIP_VISIBLE_DEVICES="2,0"),
                         (["2", "0"], [6, 4]))
        self.assertEqual(tokens("hip", 8, ROCR_VISIBLE_DEVICES="GPU-7,1"), (["0", "1"], [7, 1]))
        self.assertEqual(tokens("hip", 8, CUDA_VISIBLE_DEVICES="3"), (["3"], [3]))
        self.assertEqual(tokens("hip", 8, CUDA_VISIBLE_DEVICES="3", HIP_VISIBLE_DEVICES="1"), (["1"], [1]))
        self.assertEqual(tokens("hip", 8, ROCR_VISIBLE_DEVICES=""), ([], []))

    def test_sycl_counts_within_the_mask_and_leaves_other_backends_alone(self):
        self.assertEqual(tokens("sycl", 4, ZE_AFFINITY_MASK="2,3.1"), (["2", "3.1"], [2, 3]))
        self.assertEqual(tokens("sycl", 4, ZE_AFFINITY_MASK="2,3", ONEAPI_DEVICE_SELECTOR="level_zero:1"),
                         (["3"], [3]))
        for everything in ("*:gpu", "level_zero:gpu", "level_zero:*", "opencl:cpu;level_zero:gpu"):
            self.assertEqual(tokens("sycl", 2, ONEAPI_DEVICE_SELECTOR=everything)[1], [0, 1])
        self.assertEqual(tokens("sycl", 2, ONEAPI_DEVICE_SELECTOR="opencl:cpu"), ([], []))

    def choose(self, vendor, rank, how, environment):
        saved = devices.all_devices
        devices.all_devices = lambda backend: made(vendor, 4)
        try:
            return devices.choose(rank, how, environment)
        finally:
            devices.all_devices = saved

    def test_a_choice_is_made_within_what_is_set(self):
        environment = {"ROCR_VISIBLE_DEVICES": "2,3"}
        self.assertEqual(self.choose("hip", 1, "one", environment).bus, "0000:03:00.0")
        self.assertEqual(environment, {"ROCR_VISIBLE_DEVICES": "2,3", "HIP_VISIBLE_DEVICES": "1"})
        environment = {"ONEAPI_DEVICE_SELECTOR": "level_zero:1,3"}
        self.assertEqual(self.choose("sycl", 1, "one", environment).bus, "0000:03:00.0")
        self.assertEqual(environment, {"ZE_AFFINITY_MASK": "3", "ONEAPI_DEVICE_SELECTOR": "level_zero:gpu"})
        environment = {"CUDA_VISIBLE_DEVICES": "3,2"}
        self.assertEqual(self.choose("cuda", 0, "one", environment).bus, "0000:03:00.0")
        self.assertEqual(environment, {"CUDA_VISIBLE_DEVICES": "3"})

    def test_sycl_has_no_order_to_change(self):
        environment = {}
        self.assertEqual(self.choose("sycl", 2, "first", environment).bus, "0000:02:00.0")
        self.assertEqual(environment, {})

    def test_what_is_set_is_told(self):
        self.assertEqual(visibility.in_force({"HIP_VISIBLE_DEVICES": "1", "HOME": "x"}), {"HIP_VISIBLE_DEVICES": "1"})


class Refused(unittest.TestCase):
    """Slurm's cgroup leaves all nodes in place and opens those of the job."""

    def found(self, find, files: dict, opened: str) -> list:
        with mock.patch.object(devices.glob, "glob", lambda pattern: fnmatch.filter(files, pattern)), \
             mock.patch.object(devices, "read", lambda path: files.get(path, "")), \
             mock.patch.object(devices.os, "access", lambda path, how: path == opened):
            return [(d.token, d.bus) for d in find()]

    def test_nvidia(self):
        files = {f"/proc/driver/nvidia/gpus/0000:0{i}:00.0/information": f"Device Minor: {i}" for i in range(3)}
        self.assertEqual(self.found(devices._nvidia, files, "/dev/nvidia2"), [("0", "0000:02:00.0")])
        files = {f"/dev/nvidia{i}": "" for i in range(3)}
        self.assertEqual(self.found(devices._nvidia, files, "/dev/nvidia2"), [("0", "")])

    def test_amd(self):
        files = {f"/sys/class/kfd/kfd/topology/nodes/{i}/properties":
                 f"simd_count 8\nlocation_id {i << 8}\ndrm_render_minor {128 + i}" for i in range(3)}
        self.assertEqual(self.found(devices._amd, files, "/dev/dri/renderD129"), [("0", "0000:01:00.0")])

    def test_intel(self):
        files = {f"/sys/class/drm/renderD{128 + i}/device{end}": "0x8086" for i in range(3) for end in ("", "/vendor")}
        self.assertEqual(len(self.found(devices._intel, files, "/dev/dri/renderD130")), 1)


class Parts(unittest.TestCase):
    def test_cpu_lists(self):
        self.assertEqual(devices.cpu_list("0-3,8,10-11"), {0, 1, 2, 3, 8, 10, 11})
        self.assertEqual(devices.cpu_list(""), set())

    def test_local_rank_of_every_launcher(self):
        self.assertEqual(execute.local_rank({}), 0)
        for name in execute.LOCAL_RANK:
            self.assertEqual(execute.local_rank({name: "6"}), 6)

    def test_exec_arguments(self):
        options, command = execute.parse(["--visible=one", "--bind", "none", "./app", "--visible", "x"])
        self.assertEqual((options["--visible"], options["--bind"]), ("one", "none"))
        self.assertEqual(command, ["./app", "--visible", "x"])
        self.assertEqual(execute.parse(["--", "-odd-name"])[1], ["-odd-name"])
        for bad in ([], ["--visible"], ["--visible", "two", "app"], ["--nope", "app"]):
            self.assertRaises(UserError, execute.parse, bad)


unittest.main()
