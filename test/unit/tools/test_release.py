# SPDX-License-Identifier: BSD-3-Clause
"""What `make release` checks and makes, but for the wheels: in a repository that is thrown away."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import release  # noqa: E402

HEADER = "#define TELPHER_VERSION_MAJOR {}\n#define TELPHER_VERSION_MINOR {}\n#define TELPHER_VERSION_PATCH {}\n"


class Notes(unittest.TestCase):
    TEXT = "# Changes\n\n## 1.2.0 (soon)\n\n- new\n\n## 1.1.0\n\n- old\n"

    def test_notes_are_of_one_version(self):
        self.assertEqual(release.notes(self.TEXT, "1.2.0"), "# Telpher 1.2.0\n\n- new\n")
        self.assertEqual(release.notes(self.TEXT, "1.1.0"), "# Telpher 1.1.0\n\n- old\n")

    def test_a_version_without_notes(self):
        with self.assertRaisesRegex(release.ReleaseError, "no section '## 2.0.0'"):
            release.notes(self.TEXT, "2.0.0")

    def test_this_version_has_notes(self):
        self.assertTrue(release.notes((ROOT / "CHANGELOG.md").read_text(), release.version()))


@unittest.skipUnless(shutil.which("git"), "no git here")
class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name, "tree")
        patched = {"ROOT": self.root, "DIST": self.root / "build/dist"}
        self.enterContext(unittest.mock.patch.multiple(release, **patched))
        self.write("CMakeLists.txt", "project(telpher VERSION 1.2.0)\n")
        self.write("include/telpher/telpher.h", HEADER.format(1, 2, 0))
        self.write(".gitignore", "build/\n")
        self.write("build/dist/NOTES.md", "new\n")
        self.write(".gitattributes", (ROOT / ".gitattributes").read_text())
        commit = (ROOT / "cmake/commit.txt").read_text()
        self.write("cmake/commit.txt", commit if "$" in commit else "$Format:%H$\n")  # filled in a source archive
        self.git("init", "--quiet")
        self.commit()

    def write(self, name: str, text: str):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def git(self, *arguments: str):
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
        subprocess.run(["git", "-C", str(self.root), *who, *arguments], check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "one")

    def refused(self, pattern: str):
        with self.assertRaisesRegex(release.ReleaseError, pattern):
            release.check_version(release.version())

    def test_a_version_that_may_be_released(self):
        self.assertEqual(release.version(), "1.2.0")
        release.check_version("1.2.0")
        self.git("tag", "v1.2.0")
        release.check_version("1.2.0")

    def test_a_header_of_another_version(self):
        self.write("include/telpher/telpher.h", HEADER.format(1, 1, 0))
        self.refused("telpher.h says 1.1.0, CMakeLists.txt 1.2.0")

    def test_changes_that_are_not_committed(self):
        self.write("new.txt", "")
        self.refused("not committed")

    def test_a_tag_of_another_commit(self):
        self.git("tag", "v1.2.0")
        self.write("new.txt", "")
        self.commit()
        self.refused("v1.2.0 is another commit")

    def test_the_archive_is_the_commit(self):
        self.write("not_committed.txt", "")
        path = release.source_archive("1.2.0")
        self.assertEqual(path.name, "telpher-1.2.0.tar.gz")
        with tarfile.open(path) as tar:
            files = {one.name: tar.extractfile(one).read().decode() for one in tar if one.isfile()}
        self.assertIn("telpher-1.2.0/include/telpher/telpher.h", files)
        self.assertFalse([name for name in files if "not_committed" in name or "/build/" in name])
        self.assertEqual(files["telpher-1.2.0/cmake/commit.txt"].strip(), release.git("rev-parse", "HEAD"))

    def test_the_same_commit_is_the_same_archive(self):
        first = release.source_archive("1.2.0").read_bytes()
        self.assertEqual(release.source_archive("1.2.0").read_bytes(), first)

    def test_checksums_are_those_of_sha256sum(self):
        release.source_archive("1.2.0")
        text = release.checksums()
        (release.DIST / "SHA256SUMS").write_text(text)
        self.assertEqual(text, release.checksums())  # the file itself is not in it
        self.assertIn(f"{hashlib.sha256(b'new' + bytes([10])).hexdigest()}  NOTES.md\n", text)
        self.assertEqual(len(text.splitlines()), 2)
        if shutil.which("sha256sum"):
            subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=release.DIST, check=True)


unittest.main()
