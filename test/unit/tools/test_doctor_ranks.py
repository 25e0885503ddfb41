# SPDX-License-Identifier: BSD-3-Clause
"""`telpher doctor` over a host MPI with faults planted in real jobs: test_doctor_ranks.py ABI PREFIX."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ABI, PREFIX = sys.argv[1], sys.argv[2]
BUILD = os.environ["BUILD"]
TELPHER = os.path.join(BUILD, "bin", "telpher")
MPIRUN = os.path.join(PREFIX, "bin", "mpirun") + (" --oversubscribe --bind-to none" if ABI == "ompi" else "")
LOCAL_RANK = "OMPI_COMM_WORLD_LOCAL_RANK" if ABI == "ompi" else "MPI_LOCALRANKID"


def doctor(*arguments: str, backend: str = "emu", **more: str) -> tuple:
    """(exit code, checks that are not ok)"""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")}
    mpi = [] if "--mpi" in arguments else ["--mpi", PREFIX]
    answer = subprocess.run(
        [TELPHER, "doctor", "--json", *mpi, "--backend", backend, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        env=clean | more,
    )
    if not answer.stdout.startswith("{"):
        raise AssertionError(answer.stdout + answer.stderr)
    return answer.returncode, [c for c in json.loads(answer.stdout)["checks"] if c["state"] != "ok"]


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def wrapper(self, in_rank_1: str) -> str:
        """A launch line of which rank 1 meets a line of shell before telpher exec."""
        path = Path(self.folder.name, f"wrapper{len(os.listdir(self.folder.name))}")
        path.write_text(f'#!/bin/sh\nif [ "${LOCAL_RANK}" = 1 ]; then {in_rank_1}; fi\nexec "$@"\n')
        path.chmod(0o755)
        return f"{MPIRUN} -n 2 {path}"

    def bad(self, result: tuple, pattern: str, state: str = "bad"):
        code, checks = result
        self.assertEqual(code, int(state == "bad"), checks)
        self.assertTrue(any(c["state"] == state for c in checks), checks)
        self.assertRegex(" ".join(f"{c['why']} {c['remedy']}" for c in checks if c["state"] == state), pattern)

    def test_healthy(self):
        code, checks = doctor()
        self.assertEqual((code, [c for c in checks if c["state"] == "bad"]), (0, []))
        self.assertFalse([c for c in checks if c["name"] == "direct copies"], checks)

    def test_not_loaded_in_a_rank(self):
        skip = 'while [ "$1" != -- ]; do shift; done; shift'
        self.bad(doctor("--launch", self.wrapper(skip)), "not loaded in rank 1.*telpher exec")

    def test_unequal_settings(self):
        self.bad(
            doctor("--launch", self.wrapper("export TELPHER_RAW_LIMIT=1k")),
            "TELPHER_RAW_LIMIT is .unset. in rank 0, 1k in rank 1",
        )

    def test_two_telphers(self):
        copied = shutil.copy(os.path.join(BUILD, "lib", f"libtelpher-{ABI}.so"), self.folder.name)
        self.bad(doctor(LD_PRELOAD=copied), "two Telphers in ranks 0, 1")

    def test_wrong_abi(self):
        """The program is of one MPI, the library in front of it of the other."""
        other = "mpich" if ABI == "ompi" else "ompi"
        wrong = os.path.join(BUILD, "lib", f"libtelpher-{other}.so")
        self.bad(doctor("--launch", f"{MPIRUN} -n 2 env LD_PRELOAD={wrong}"), "two Telphers in ranks 0, 1")

    def test_launcher_of_another_mpi(self):
        folder = Path(self.folder.name, "alone")
        folder.write_text('#!/bin/sh\n"$@" & "$@"; wait\n')  # two processes that know nothing of each other
        folder.chmod(0o755)
        self.bad(doctor("--launch", str(folder)), "2 jobs of one rank each.*srun")

    def test_ipc_off(self):
        self.bad(doctor(TELPHER_IPC="off"), "TELPHER_IPC=off", state="note")

    def test_ipc_refused(self):
        self.bad(
            doctor(TELPHER_EMU_FAULTS="ipc_open:1+"), "cannot be opened by other processes|ptrace_scope", state="note"
        )

    def test_missing_plug_in(self):
        self.bad(doctor(backend="cuda"), "cuda: ")

    def test_unknown_setting(self):
        self.bad(doctor(TELPHER_LOGG="info"), "TELPHER_LOGG")

    def test_launcher_that_is_not_there(self):
        self.bad(doctor("--launch", "/nowhere/srun -n 2"), "cannot be started")

    def test_ranks_that_hang_are_ended(self):
        self.bad(doctor("--timeout", "3", "--launch", self.wrapper("exec sleep 1000")), "no answer within 3 s")

    def test_no_such_mpi(self):
        answer = subprocess.run(
            [TELPHER, "doctor", "--mpi", self.folder.name], capture_output=True, text=True, timeout=50
        )
        self.assertEqual((answer.returncode, len(answer.stderr.splitlines())), (2, 1), answer.stderr)


unittest.main(argv=sys.argv[:1])
