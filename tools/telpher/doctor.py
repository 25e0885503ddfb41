# SPDX-License-Identifier: BSD-3-Clause
"""`telpher doctor`: is everything in order here, and what is to be done if not. Gathers facts (doctor_facts), judges
them (doctor_checks), prints one line a check. The exit code is 0 where nothing is wrong, 1 where something is, 2
where the doctor could not look."""

import argparse
import json

from . import UserError, doctor_checks, doctor_facts, doctor_nodes, host_mpi, libraries

EPILOG = """ok: in order. note: it works, but could be faster or could not be looked at. bad: it does not work, or not
as it was meant. --launch looks at a launcher of yours: telpher doctor --mpi ompi --launch 'srun --mpi=pmix -n 4'."""
COLUMN = 22


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("telpher doctor", description=__doc__, epilog=EPILOG)
    p.add_argument("-n", "--ranks", type=int, default=2, metavar="N", help="how many ranks to start (2)")
    p.add_argument(
        "--mpi",
        default="",
        metavar="mpich|ompi|mpi_abi|PREFIX",
        help="the MPI to look at; else that of python's mpi4py, of mpicc or of mpirun in PATH",
    )
    p.add_argument("--backend", default="", metavar="NAME", help="auto, cuda, hip, sycl or emu")
    p.add_argument("--launch", default="", metavar="'LAUNCHER ARGS'", help="start the ranks by this instead of mpirun")
    p.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="how long ranks may take (60)")
    p.add_argument("--json", action="store_true", help="one JSON object: version, checks, facts")
    p.add_argument("--facts", action="store_true", help="what this node is like, packed, as other nodes tell it")
    return p


def doctor(arguments: list) -> int:
    options = parser().parse_args(arguments)
    if options.facts:
        print(doctor_nodes.answer())
        return 0
    if options.ranks < 1:
        raise UserError(f"-n {options.ranks}: at least one rank is needed")
    if options.mpi and options.mpi not in host_mpi.ABIS and not host_mpi.abi_of_prefix(options.mpi):
        raise UserError(f"--mpi {options.mpi}: neither mpich, ompi or mpi_abi nor the prefix of an MPI")
    facts = doctor_facts.gather(options)
    checks = doctor_checks.judge(facts)
    if options.json:
        print(
            json.dumps(
                {"version": libraries.describe_version(), "checks": [vars(c) for c in checks], "facts": facts}, indent=1
            )
        )
    else:
        for check in checks:
            print(f"{check.state:5} {check.name:{COLUMN}} {check.why}")
            if check.remedy:
                print(f"{'':{COLUMN + 6}} -> {check.remedy}")
    return 1 if any(check.state == "bad" for check in checks) else 0
