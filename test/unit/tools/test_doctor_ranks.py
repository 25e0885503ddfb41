# SPDX-License-Identifier: BSD-3-Clause
"""`telpher doctor` over a host MPI with faults planted in real jobs, each of which must be a line of its own that says
why and what to do: test_doctor_ranks.py ABI PREFIX."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
sys.path.insert(0, os.path.join(SOURCE, "tools"))

from telpher import host_mpi, tables  # noqa: E402

ABI, PREFIX = sys.argv[1], sys.argv[2]
BUILD = os.environ["BUILD"]
TELPHER = os.path.join(BUILD, "bin", "telpher")
MPIRUN = os.path.join(PREFIX, "bin", "mpirun") + (" --oversubscribe --bind-to none" if ABI == "ompi" else "")
LOCAL_RANK = "OMPI_COMM_WORLD_LOCAL_RANK" if ABI == "ompi" else "MPI_LOCALRANKID"


def no_names() -> str:
    """Why a process cannot be given another host name; "" if it can."""
    try:
        return subprocess.run(["unshare", "--uts", "hostname", "elsewhere"], capture_output=True, text=True).stderr
    except OSError as error:
        return str(error)


NO_NAMES = no_names().strip()


def looked(*arguments: str, backend: str = "emu", **more: str) -> tuple:
    """(exit code, what the doctor says with --json)"""
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
    return answer.returncode, json.loads(answer.stdout)


def doctor(*arguments: str, **more: str) -> tuple:
    """(exit code, checks that are not ok)"""
    code, said = looked(*arguments, **more)
    return code, [c for c in said["checks"] if c["state"] != "ok"]


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

    def bad(self, result: tuple, name: str, pattern: str, state: str = "bad"):
        """The check of that name has found it, and no other check is bad."""
        code, checks = result
        self.assertEqual(code, int(state == "bad"), checks)
        self.assertLessEqual({c["name"] for c in checks if c["state"] == "bad"}, {name}, checks)
        found = [c for c in checks if (c["name"], c["state"]) == (name, state)]
        self.assertEqual(len(found), 1, checks)
        self.assertRegex(f"{found[0]['why']} {found[0]['remedy']}", pattern)
        self.assertTrue(found[0]["remedy"])

    def test_healthy(self):
        code, said = looked()
        self.assertEqual((code, [c for c in said["checks"] if c["state"] == "bad"]), (0, []))
        self.assertFalse([c for c in said["checks"] if c["name"] == "direct copies" and c["state"] != "ok"], said)
        # Neither MPI reads emulated memory: a host MPI that seems to was not asked itself.
        self.assertEqual(said["facts"]["host_alone"]["result"], "ends")
        self.assertEqual([rank["host_takes"] for rank in said["facts"]["job"]["ranks"]], [[], []])

    def test_a_host_mpi_that_says_so_and_delivers_other_bytes(self):
        """A library that telpher-rank takes for a part of the host MPI: the first of those by name is asked."""
        with tempfile.TemporaryDirectory(prefix="a", dir=Path(BUILD).parent) as folder:
            if folder > os.path.realpath(PREFIX):
                self.skipTest(f"{folder} is asked after {PREFIX}")
            shutil.copy(os.path.join(BUILD, "test/lib/libmpi_untrue.so"), folder)
            code, said = looked(LD_PRELOAD=f"{folder}/libmpi_untrue.so")
        found = [c["why"] for c in said["checks"] if c["state"] == "bad"]
        self.assertEqual((code, len(found)), (1, 1), found)
        self.assertRegex(found[0], "by itself and did not end, but device memory arrived with other bytes")
        self.assertEqual([rank["host_takes"] for rank in said["facts"]["job"]["ranks"]], [["cuda"], ["cuda"]])

    @unittest.skipIf(NO_NAMES, f"no host name can be made up: {NO_NAMES}")
    def test_ranks_of_another_node(self):
        """The machine is described by a rank there."""
        launch = f"{MPIRUN} -n 2 unshare --uts sh -c 'hostname elsewhere; exec \"$@\"' sh"
        code, said = looked("--launch", launch)
        self.assertEqual((code, list(said["facts"]["nodes"])), (0, ["elsewhere"]), said)
        self.assertEqual(said["facts"]["nodes"]["elsewhere"]["host"]["name"], "elsewhere")

    @unittest.skipIf(NO_NAMES, f"no host name can be made up: {NO_NAMES}")
    def test_another_node_that_does_not_answer(self):
        inside = 'case "$*" in *--facts*) exit 3; esac; hostname elsewhere; exec "$@"'
        path = Path(self.folder.name, "silent")
        path.write_text(f"#!/bin/sh\nexec unshare --uts sh -c '{inside}' sh \"$@\"\n")
        path.chmod(0o755)
        self.bad(doctor("--launch", f"{MPIRUN} -n 2 {path}"), "nodes", "2 ranks run on elsewhere.*doctor there", "note")

    @unittest.skipIf(ABI == "ompi", "an Open MPI that lacks the accelerator it is told of does not start")
    def test_a_host_mpi_that_promises_too_much(self):
        self.bad(doctor(MPICH_GPU_SUPPORT_ENABLED="1"), "host MPI", "tells it to be GPU-aware", "note")

    def test_not_loaded_in_a_rank(self):
        skip = 'while [ "$1" != -- ]; do shift; done; shift'
        self.bad(doctor("--launch", self.wrapper(skip)), "library in ranks", "not loaded in rank 1.*telpher exec")

    def test_unequal_settings(self):
        self.bad(
            doctor("--launch", self.wrapper("export TELPHER_RAW_LIMIT=1k")),
            "equal settings",
            "TELPHER_RAW_LIMIT is .unset. in rank 0, 1k in rank 1",
        )

    def test_two_telphers(self):
        copied = shutil.copy(os.path.join(BUILD, "lib", f"libtelpher-{ABI}.so"), self.folder.name)
        self.bad(doctor(LD_PRELOAD=copied), "library in ranks", "two Telphers in ranks 0, 1")

    def test_wrong_abi(self):
        """The program is of one MPI, the library in front of it of the other."""
        other = "mpich" if ABI == "ompi" else "ompi"
        wrong = os.path.join(BUILD, "lib", f"libtelpher-{other}.so")
        launch = f"{MPIRUN} -n 2 env LD_PRELOAD={wrong}"
        self.bad(doctor("--launch", launch), "library in ranks", "two Telphers in ranks 0, 1")

    def test_launcher_of_another_mpi(self):
        folder = Path(self.folder.name, "alone")
        # Two processes that know nothing of each other. One after the other: of two that start at once over MPICH
        # 5.0.2 one in six prints nothing, without Telpher too.
        folder.write_text('#!/bin/sh\n"$@" & sleep 1; "$@"; wait\n')
        folder.chmod(0o755)
        self.bad(doctor("--launch", str(folder)), "launch", "2 jobs of one rank each.*srun")

    def test_ipc_off(self):
        self.bad(doctor(TELPHER_IPC="off"), "direct copies", "TELPHER_IPC=off", state="note")

    def test_ipc_refused(self):
        self.bad(
            doctor(TELPHER_TEST_EMU_FAULTS="ipc_open:1+"),
            "direct copies",
            "cannot be opened by other processes|ptrace_scope",
            "note",
        )

    def test_slurm_hides_peers(self):
        one_device = os.path.join(SOURCE, "share/topologies/1gpu-mps.topo")
        self.bad(
            doctor("--launch", self.wrapper("export SLURM_GPUS_PER_TASK=1"), TELPHER_EMU_TOPOLOGY=one_device),
            "visible devices",
            "SLURM_GPUS_PER_TASK=1.*--gpu-bind=none",
            "note",
        )

    def test_two_mpis(self):
        setup = json.loads(Path(BUILD).parent.joinpath("deps/setup.json").read_text())
        other = "mpich" if ABI == "ompi" else "ompi"
        library = os.path.join(setup["mpi"][other], "lib", host_mpi.SONAME[other])
        launch = f"{MPIRUN} -n 2 env LD_PRELOAD={library}"
        self.bad(doctor("--launch", launch), "one MPI", f"{host_mpi.SONAME[other]}.* mapped")

    def test_a_tuned_table_of_another_machine(self):
        path = Path(self.folder.name, "other.table")
        row = ("allreduce", 0, 2, "one_shot", "exchange", "blocking")
        path.write_text(tables.write(["cuda 8 x H200"], [], {}, [row]))
        self.bad(doctor(TELPHER_TABLE=str(path)), "tuned table", "other.table is refused: of another machine")

    def test_a_damaged_tuned_table(self):
        path = Path(self.folder.name, "damaged.table")
        path.write_text("telpher-table 1\nchoice nothing\n")
        self.bad(doctor(TELPHER_TABLE=str(path)), "tuned table", "damaged.table is refused: damaged")

    def test_missing_plug_in(self):
        self.bad(doctor(backend="cuda"), "back end cuda", "cuda: ")

    def test_unknown_setting(self):
        self.bad(doctor(TELPHER_LOGG="info"), "settings", "TELPHER_LOGG")

    def test_launcher_that_is_not_there(self):
        self.bad(doctor("--launch", "/nowhere/srun -n 2"), "launch", "cannot be started")

    def test_ranks_that_hang_are_ended(self):
        launch = self.wrapper("exec sleep 1000")
        self.bad(doctor("--timeout", "3", "--launch", launch), "launch", "no answer within 3 s")

    def test_no_such_mpi(self):
        answer = subprocess.run(
            [TELPHER, "doctor", "--mpi", self.folder.name], capture_output=True, text=True, timeout=50
        )
        self.assertEqual((answer.returncode, len(answer.stderr.splitlines())), (2, 1), answer.stderr)


unittest.main(argv=sys.argv[:1])
