# SPDX-License-Identifier: BSD-3-Clause
"""The vendors' plug-in wheels of `make check-plugins`, installed as a user does: telpher[cuda13] and telpher[rocm] in
virtual environments of nothing else, from the wheels of this build alone. The command must find each plug-in, and the
library must load it, or refuse it because this machine lacks the vendor's driver, runtime or device."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DIST = Path(sys.argv[1], "dist").resolve()
# Back end: the extra that brings it, and the distributions that pip lists then.
PLUGINS = {"cuda": ("cuda13", "telpher-cuda13"), "hip": ("rocm", "telpher-rocm")}
LIMIT_S = 100


class Plugins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.roots = {}
        for name, (extra, _) in PLUGINS.items():
            root = cls.roots[name] = Path(cls.scratch.name, name)
            subprocess.run([sys.executable, "-m", "venv", str(root)], check=True)
            pip = cls.run_in(name, "pip", "install", "--quiet", "--no-index", "--find-links", str(DIST),
                             f"telpher[{extra}]")
            if pip.returncode != 0:
                raise RuntimeError(f"pip install telpher[{extra}]: {pip.stderr}")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_in(cls, name: str, program: str, *arguments: str, **more: str) -> subprocess.CompletedProcess:
        root = cls.roots[name]
        kept = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "TMPDIR"))}
        return subprocess.run([str(root / "bin" / program), *arguments], capture_output=True, text=True,
                              timeout=LIMIT_S, cwd=root,
                              env=kept | {"PATH": f"{root}/bin:/usr/bin:/bin", "HOME": str(root)} | more)

    def told(self, name: str, backend: str, **more: str) -> dict:
        answer = self.run_in(name, "telpher", "info", "--json", "--backend", backend, **more)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def test_pip_brings_the_plug_in_of_this_version(self):
        for name, (_, distribution) in PLUGINS.items():
            listed = json.loads(self.run_in(name, "pip", "list", "--format=json").stdout)
            versions = {one["name"].replace("_", "-"): one["version"] for one in listed}
            self.assertEqual(versions[distribution], versions["telpher"])

    def test_the_command_finds_it_beside_the_library(self):
        for name in PLUGINS:
            there = self.told(name, name)["libraries"]
            self.assertEqual(Path(there[name]), Path(there["emu"]).with_name(f"libtelpher-{name}.so"))
            self.assertTrue(Path(there[name]).is_relative_to(self.roots[name]))

    def test_it_is_used_or_the_doctor_says_why_not(self):
        for name in PLUGINS:
            answer = self.run_in(name, "telpher", "doctor", "--json", "--backend", name)
            checks = [one for one in json.loads(answer.stdout)["checks"] if one["name"] == f"back end {name}"]
            self.assertEqual(len(checks), 1, answer.stdout)
            print(f"{name}: {checks[0]}", flush=True)
            if checks[0]["state"] != "ok":
                self.assertIn("driver", checks[0]["why"] + checks[0]["remedy"])
                self.assertNotIn("pip install", checks[0]["remedy"])  # it is there

    def test_the_library_loads_it(self):
        """Where the system has no device of the vendor, the library does not even open the plug-in. By a name that is
        no vendor's it does: what is missing then is the driver, and no symbol and no interface."""
        for name in PLUGINS:
            there = Path(self.told(name, name)["libraries"][name])
            folder = self.roots[name] / "foreign"
            folder.mkdir()
            shutil.copy(there, folder / "libtelpher-foreign.so")
            told = self.told(name, "foreign", TELPHER_PLUGIN_PATH=str(folder))
            said = [text for text in told["absent"] if text.startswith("foreign:")]
            opened = [one["name"] for one in told["backends"]]
            self.assertTrue(opened == [name] or said and said[0].endswith("found no driver"), told)
