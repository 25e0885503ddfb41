# SPDX-License-Identifier: BSD-3-Clause
"""What the doctor reads of a node, by made-up files of the kernel and of drivers."""

import os
import socket
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import adapters, doctor_nodes, libraries  # noqa: E402


class Answer(unittest.TestCase):
    def test_what_a_node_answers(self):
        with unittest.mock.patch.object(doctor_nodes, "here", lambda backend: {"system": {"shm_free": 7}}):
            with unittest.mock.patch.dict(os.environ, {"MPI_LOCALRANKID": "0"}):
                line = doctor_nodes.answer()
            with unittest.mock.patch.dict(os.environ, {"MPI_LOCALRANKID": "1"}):
                self.assertEqual(doctor_nodes.answer(), "")
        told = doctor_nodes.answers(f"hello\n{line}\n{line[: len(line) // 2]}\n")
        self.assertEqual(told, {socket.gethostname(): {"system": {"shm_free": 7}}})


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
            found = doctor_nodes.nvidia(folder + "/")
            self.assertEqual(
                (found["gpus"], found["bars"], found["open_driver"], found["gdrcopy"], found["peermem"]),
                (1, {"0000:3b:00.0": 1 << 32}, True, True, False),
            )
        self.assertEqual(doctor_nodes.nvidia("/nowhere/"), {})


class CudaRelease(unittest.TestCase):
    def test_of_the_plug_in(self):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "libtelpher-cuda.so")
            for text, release in ((b"\0telpher_plugin_runtime CUDA 12040\0", "12.4"), (b"an older plug-in", "")):
                library.write_bytes(b"\x7fELF" + text)
                with unittest.mock.patch.object(libraries, "present", lambda: {"cuda": str(library)}):
                    self.assertEqual(libraries.cuda_release(), release)
        with unittest.mock.patch.object(libraries, "present", dict):
            self.assertEqual(libraries.cuda_release(), "")


class Mps(unittest.TestCase):
    """A daemon listens at its socket or pipe, which stays behind where one was killed."""

    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)
        self.folder = Path(self.root.name, "tmp/nvidia-mps")
        self.folder.mkdir(parents=True)

    def found(self, **named: str) -> tuple:
        with unittest.mock.patch.dict(os.environ, named):
            if not named:
                os.environ.pop("CUDA_MPS_PIPE_DIRECTORY", "")
            found = doctor_nodes.mps(self.root.name + "/")
            return found["mps_folder"], found["mps"]

    def test_none(self):
        self.assertEqual(self.found(), ("", False))
        self.assertEqual(self.found(CUDA_MPS_PIPE_DIRECTORY="/nowhere"), ("/nowhere", False))

    def test_a_socket(self):
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            with self.subTest(kind), socket.socket(socket.AF_UNIX, kind) as daemon:
                daemon.bind(str(self.folder / "control"))
                daemon.listen()
                self.assertEqual(self.found(), (str(self.folder), True))
                daemon.close()
                self.assertEqual(self.found(), (str(self.folder), False))
                (self.folder / "control").unlink()

    def test_a_pipe(self):
        pipe = self.folder / "control"
        os.mkfifo(pipe)
        self.assertEqual(self.found(), (str(self.folder), False))
        with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)):
            self.assertEqual(self.found(CUDA_MPS_PIPE_DIRECTORY=str(self.folder)), (str(self.folder), True))


class Adapters(unittest.TestCase):
    """By the places of devices below /sys/devices, as on a machine with two processors and switches."""

    GPU = "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0"
    PLACES = {
        "same switch": "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0",
        "same root complex": "pci0000:00/0000:00:02.0/0000:05:00.0",
        "same NUMA node": "pci0000:40/0000:40:01.0/0000:41:00.0",
        "another NUMA node": "pci0000:80/0000:80:01.0/0000:81:00.0",
    }

    def nearest(self, names: list, kind: str = "infiniband") -> tuple:
        with tempfile.TemporaryDirectory() as folder:
            devices, bus = Path(folder, "sys/devices"), Path(folder, "sys/bus/pci/devices")
            nics = Path(folder, "sys/class", kind)
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
            self.assertEqual(self.nearest([name], "cxi"), (name, name))

    def test_the_nearest_counts(self):
        self.assertEqual(self.nearest(list(self.PLACES)), ("same switch", "same switch"))

    def test_no_adapter(self):
        self.assertEqual(adapters.nearest(["0000:03:00.0"], "/nowhere/"), {})


unittest.main()
