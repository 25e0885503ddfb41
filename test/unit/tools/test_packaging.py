# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for other package managers, and the release's notes, as far as they can be looked at without those."""

import ast
import os
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, os.path.join(ROOT, "tools"))

import package  # noqa: E402
import release  # noqa: E402

PACKAGING = ROOT / "share/packaging"


def cache_entries() -> set:
    """Every setting that the build has."""
    texts = [
        path.read_text()
        for path in [
            ROOT / "CMakeLists.txt",
            *(ROOT / "cmake").glob("*.cmake"),
            *(ROOT / "src").rglob("CMakeLists.txt"),
        ]
    ]
    return {name for text in texts for name in re.findall(r"(?:set|option)\(\s*(TELPHER_\w+)", text)}


class Recipes(unittest.TestCase):
    def test_spack_is_python_and_names_what_the_build_has(self):
        text = (PACKAGING / "spack/packages/telpher/package.py").read_text()
        ast.parse(text)
        known = cache_entries() | {"TELPHER_HOME", "TELPHER_"}
        self.assertLessEqual(set(re.findall(r"TELPHER_\w*", text)), known)

    def test_conda_names_what_the_build_has(self):
        text = (PACKAGING / "conda/meta.yaml").read_text()
        self.assertLessEqual(set(re.findall(r"-D(TELPHER_\w+)", text)), cache_entries())
        self.assertIn(f'version = "{release.version()}"', text)

    def test_what_was_not_run_says_so(self):
        for name in (
            "spack/packages/telpher/package.py",
            "conda/meta.yaml",
            "containers/telpher.def",
            "containers/Dockerfile",
        ):
            self.assertIn("Not run:", (PACKAGING / name).read_text(), name)


class Release(unittest.TestCase):
    TEXT = "# Changes\n\n## 1.2.0 (soon)\n\n- new\n\n## 1.1.0\n\n- old\n"

    def test_notes_are_of_one_version(self):
        self.assertEqual(release.notes(self.TEXT, "1.2.0"), "# Telpher 1.2.0\n\n- new\n")
        self.assertEqual(release.notes(self.TEXT, "1.1.0"), "# Telpher 1.1.0\n\n- old\n")

    def test_a_version_without_notes(self):
        with self.assertRaisesRegex(release.ReleaseError, "no section '## 2.0.0'"):
            release.notes(self.TEXT, "2.0.0")

    def test_this_version_has_notes(self):
        self.assertTrue(release.notes((ROOT / "CHANGELOG.md").read_text(), release.version()))


class Wheels(unittest.TestCase):
    def test_plug_ins_are_not_in_the_core(self):
        files = {
            name: Path(name)
            for name in (
                "bin/telpher",
                "lib/libtelpher-emu.so",
                "lib/libtelpher-hip.so",
                "lib/libtelpher-sycl-reduce.syclbin",
                "share/telpher/telpher/run.py",
            )
        }
        core = package.core_wheel(files, "1.0.0")
        self.assertEqual(sorted(core.files), ["telpher/bin/telpher", "telpher/lib/libtelpher-emu.so", "telpher/run.py"])
        self.assertEqual(core.extras["rocm"], ["telpher-rocm==1.0.0"])
        rocm = package.plugin_wheel("hip", files, "1.0.0", Path())
        self.assertEqual((list(rocm.files), rocm.requires), (["telpher/lib/libtelpher-hip.so"], ["telpher==1.0.0"]))
        self.assertIn(
            "telpher/lib/libtelpher-sycl-reduce.syclbin", package.plugin_wheel("sycl", files, "1.0.0", Path()).files
        )


unittest.main()
