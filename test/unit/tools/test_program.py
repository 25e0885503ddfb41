# SPDX-License-Identifier: BSD-3-Clause
"""How a program's MPI is found, and what is said where it cannot be."""
import os
import shutil
import stat
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tools"))

from telpher import UserError, elf, host_mpi, libraries, program, run  # noqa: E402

HELLO = os.path.join(os.environ.get("BUILD", ""), "test", "bin", "hello-")


def script(folder: str, text: str) -> str:
    path = os.path.join(folder, "script")
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, stat.S_IRWXU)
    return path


class Sonames(unittest.TestCase):
    def test_known_names(self):
        for name, abi in (("libmpi.so.12", "mpich"), ("/usr/lib/libmpich.so.12", "mpich"), ("libmpi.so.40", "ompi"),
                          ("libmpi_abi.so.1", "mpi_abi"), ("libmpi_cray.so.12", "mpich"),
                          ("libmpi_gnu_91.so.12", "mpich")):
            self.assertEqual(host_mpi.abi_of_library(name), abi)

    def test_other_names(self):
        for name in ("libmpifort.so.12", "libmpi_mpifh.so.40", "libmpi_cxx.so.40", "libc.so.6", "libmpi.so.1"):
            self.assertIsNone(host_mpi.abi_of_library(name))


    def test_a_library_under_another_name(self):
        """Intel's wheel has libmpi.so as a file of its own."""
        for abi in host_mpi.ABIS:
            path = HELLO + abi
            if os.path.exists(path):
                with tempfile.TemporaryDirectory() as folder:
                    renamed = shutil.copy(program.identify(path).library, os.path.join(folder, "libmpi.so"))
                    self.assertEqual(host_mpi.abi_of_library(renamed), abi)


class Loader(unittest.TestCase):
    def test_paths_that_ld_preload_cannot_name(self):
        self.assertEqual(libraries.for_loader("/opt/x/libtelpher-ompi.so"), "/opt/x/libtelpher-ompi.so")
        for folder in ("/opt/a b", "/opt/a:b"):
            self.assertRaisesRegex(UserError, "LD_PRELOAD.*another folder", libraries.for_loader, folder + "/lib.so")

    def test_a_library_in_a_folder_with_blanks_is_seen(self):
        with tempfile.TemporaryDirectory(suffix=" a b") as folder:
            os.mkdir(os.path.join(folder, "mpi4py"))
            library = shutil.copy(elf.resolved("/bin/sh")["libc.so.6"], os.path.join(folder, "libmpi.so.40"))
            for name, text in (("__init__", "__version__ = '4'"), ("MPI", f"import ctypes\nctypes.CDLL({library!r})")):
                with open(os.path.join(folder, "mpi4py", name + ".py"), "w") as file:
                    file.write("class rc: pass\n" + text + "\n")
            with mock.patch.dict(os.environ, PYTHONPATH=folder):
                found = program.identify(sys.executable)
            self.assertEqual((found.abi, found.library), ("ompi", library))


class Programs(unittest.TestCase):
    def test_linked_programs(self):
        for abi in host_mpi.ABIS:
            path = HELLO + abi
            if os.path.exists(path):
                found = program.identify(path)
                self.assertEqual(found.abi, abi)
                self.assertTrue(os.path.isfile(found.library))
                self.assertTrue(os.access(host_mpi.launcher_for(abi, found.library), os.X_OK))

    def test_a_program_without_mpi(self):
        self.assertIn("libc.so.6", elf.needed("/bin/sh"))
        with self.assertRaisesRegex(UserError, "links no MPI library.*--mpi"):
            program.identify("/bin/sh")

    def test_no_program(self):
        with self.assertRaisesRegex(UserError, "no program ./nothing-here"):
            program.identify("./nothing-here")

    def test_not_executable(self):
        with tempfile.TemporaryDirectory() as folder:
            path = script(folder, "#!/bin/sh\n")
            os.chmod(path, stat.S_IRUSR)
            with self.assertRaisesRegex(UserError, "not executable"):
                program.identify(path)

    def test_a_program_that_may_not_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = script(folder, "#!/bin/sh\n")
            with mock.patch.object(elf, "open", create=True, side_effect=PermissionError(13, "Permission denied")):
                with self.assertRaisesRegex(UserError, r"cannot be read \(Permission denied\).*--mpi"):
                    program.identify(path)
                self.assertEqual(run.resolve("ompi", path), (program.Program("ompi", ""), ""))

    def test_names_of_python(self):
        for name in ("python", "python3", "python3.13", "python3.13t", "python3.14td", "python3-dbg", "pypy3.11"):
            self.assertEqual(bool(program.PYTHON.match(name)), "-" not in name, name)

    def test_scripts(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(UserError, "a script of bash.*--mpi"):
                program.identify(script(folder, "#!/bin/bash\nexec app\n"))
            with self.assertRaisesRegex(UserError, "neither an ELF program nor a script"):
                program.identify(script(folder, "hello\n"))

    def test_python_without_mpi4py(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "mpi4py"))
            with open(os.path.join(folder, "mpi4py", "__init__.py"), "w") as file:
                file.write("raise ImportError('not here')\n")
            saved = os.environ.get("PYTHONPATH")
            os.environ["PYTHONPATH"] = folder
            try:
                with self.assertRaisesRegex(UserError, "cannot import mpi4py.*not here"):
                    program.identify(script(folder, f"#!{sys.executable}\n"))
            finally:
                os.environ.pop("PYTHONPATH")
                if saved is not None:
                    os.environ["PYTHONPATH"] = saved


unittest.main()
