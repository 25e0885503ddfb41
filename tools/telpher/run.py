# SPDX-License-Identifier: BSD-3-Clause
"""`telpher run`: starts a program under Telpher with the launcher of the program's own MPI."""
import argparse
import json
import os
import shlex
import sys

from . import UserError, devices, host_mpi, libraries
from .program import Program, identify

EPILOG = """The program's MPI is seen from the libraries it links (for Python, from its mpi4py). Environment variables
TELPHER_* are settings; telpher info --settings lists those for users."""
PASSED_ON = ("LD_LIBRARY_PATH", "MPI4PY_LIBMPI")  # to ranks on other nodes


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("telpher run", description=__doc__, epilog=EPILOG)
    p.add_argument("-n", "-np", "--ranks", type=int, required=True, metavar="N", help="how many ranks to start")
    p.add_argument("--mpi", default="", metavar="mpich|ompi|mpi_abi|PREFIX",
                   help="the program's MPI, or the prefix of the MPI whose mpirun is to be used")
    p.add_argument("--backend", default="", metavar="NAME",
                   help="auto, none, cuda, hip, sycl or emu; several with commas")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                   help="a setting, e.g. --set log=info; may be repeated")
    p.add_argument("--visible", default="auto", choices=["auto", "first", "one", "all"],
                   help="which devices a rank sees; see telpher exec --help")
    p.add_argument("--bind", default="auto", choices=["auto", "none"], help="bind ranks to CPUs near their devices")
    p.add_argument("--mpirun-args", action="append", default=[], metavar="'ARGS'",
                   help="arguments passed on to mpirun; may be repeated")
    p.add_argument("--print", action="store_true", dest="only_print", help="print the command and start nothing")
    p.add_argument("--json", action="store_true", help="with --print: one JSON object, the environment with it")
    p.add_argument("command", nargs=argparse.REMAINDER, metavar="program [arguments]")
    return p


def resolve(choice: str, program: str) -> tuple:
    """(Program, prefix of the MPI to launch with or '')."""
    if not choice:
        return identify(program), ""
    flavour, prefix = choice, ""
    if choice not in host_mpi.ABIS:
        if not os.path.isdir(choice):
            raise UserError(f"--mpi {choice}: neither mpich, ompi or mpi_abi nor a folder")
        flavour, prefix = host_mpi.abi_of_prefix(choice), choice
    try:
        found = identify(program, flavour or "")
    except UserError:
        if not flavour:
            raise UserError(f"--mpi {choice}: no MPI with bin/mpicc or bin/mpirun is there") from None
        return Program(flavour, ""), prefix
    if prefix and found.python:  # the prefix's own library, not another of its ABI
        found.library = host_mpi.library_beside(os.path.join(prefix, "bin", "mpirun"), found.abi) or found.library
    return (found if prefix or found.abi == choice else Program(choice, "")), prefix


def settings_of(options) -> dict:
    found = {}
    for text in options.set:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UserError(f"--set {text}: write NAME=VALUE, e.g. --set log=info")
        found["TELPHER_" + name.upper().removeprefix("TELPHER_")] = value
    if options.backend:
        found["TELPHER_BACKEND"] = options.backend
    return found


def open_mpi_arguments(options, environment: dict, own: list) -> list:
    """What Open MPI needs beyond -n: leave to run as root and to oversubscribe, the variables to pass on,
    and no binding of its own where ranks are bound to their devices."""
    arguments = []
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    crowded = options.ranks > len(os.sched_getaffinity(0))
    if crowded and not {"--map-by", "--oversubscribe", "-H", "--host", "--hostfile"} & set(own):
        arguments += ["--map-by", ":OVERSUBSCRIBE"]
    near_devices = options.bind == "auto" and any(d.numa_node() >= 0 for d in devices.all_devices())
    if (crowded or near_devices) and "--bind-to" not in own:
        arguments += ["--bind-to", "none"]
    for name in sorted(environment):
        if name.startswith("TELPHER_") or name in PASSED_ON:
            arguments += ["-x", name]
    return arguments


def command_line(options, environment: dict) -> list:
    program, prefix = resolve(options.mpi, options.command[0])
    libraries.for_loader(libraries.preload(program.abi))  # fail here, once, and not in every rank
    mpirun = host_mpi.launcher_for(program.abi, program.library, prefix)
    environment["TELPHER_LAUNCHED"] = program.abi
    program.show_to_mpi4py(environment)
    beside = "" if program.library else host_mpi.library_beside(mpirun, program.abi)
    if beside:  # the loader does not find the program's MPI: the launcher's it is
        folders = [os.path.dirname(beside), environment.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    own = [word for text in options.mpirun_args for word in shlex.split(text)]
    added = open_mpi_arguments(options, environment, own) if program.abi == "ompi" else []
    wrapper = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher"), "exec",
               "--visible", options.visible, "--bind", options.bind, "--"]
    return [mpirun, "-n", str(options.ranks), *added, *own, *wrapper, *options.command]


def run(arguments: list) -> int:
    options = parser().parse_args(arguments)
    if options.command[:1] == ["--"]:
        options.command = options.command[1:]
    if not options.command:
        raise UserError("run needs a program to start, e.g. telpher run -n 2 ./app")
    if options.ranks < 1:
        raise UserError(f"-n {options.ranks}: at least one rank is needed")
    if options.json and not options.only_print:
        raise UserError("run --json goes with --print: what a program prints is its own")
    environment = dict(os.environ) | settings_of(options)
    line = command_line(options, environment)
    if options.json:
        own = {name: value for name, value in sorted(environment.items()) if os.environ.get(name) != value}
        print(json.dumps({"command": line, "environment": own}, indent=1))
    elif options.only_print:
        print(shlex.join(line))
    if options.only_print:
        return 0
    sys.stdout.flush()
    os.execve(line[0], line, environment)
    return 0
