# SPDX-License-Identifier: BSD-3-Clause
"""The choice of a rank's device and what it does to the visible list."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import UserError, devices, execute  # noqa: E402


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
        devices.all_devices = lambda: [devices.Device("cuda", str(i), "", f"GPU-{i}") for i in range(4)]

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
