# SPDX-License-Identifier: BSD-3-Clause
"""`telpher exec`: what is done for one rank before its program starts, under any launcher.

Puts libtelpher-<abi>.so into LD_PRELOAD, chooses the rank's device, binds its CPUs near that
device, and becomes the program. It runs once for every rank, so it imports little.
"""
import os
import re
import sys

from . import UserError

HELP = """telpher exec [options] [--] program [arguments]

  --visible auto   (default) put the rank's device first among the visible ones, where this cannot
                   clash with a program that chooses a device by its local rank itself (one device,
                   or three and more); two devices are left as they are
  --visible first  always put it first
  --visible one    show the rank its device only (no direct access to the others)
  --visible all    leave visibility alone
  --bind auto      (default) restrict the rank to the CPUs near its device, unless the launcher bound it, and
                   its MPI to the network adapters there (UCX_NET_DEVICES, I_MPI_MULTIRAIL, unless set)
  --mpi ABI        the program's MPI (mpich, ompi or mpi_abi), where it cannot be seen from the program"""

CHOICES = {"--visible": ("auto", "first", "one", "all"), "--bind": ("auto", "none"),
           "--mpi": ("mpich", "ompi", "mpi_abi")}

# The innermost launcher first: mpirun, flux and jsrun also run inside a Slurm job, whose variables stay.
LOCAL_RANK = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID",
              "PMI_LOCAL_RANK", "FLUX_TASK_LOCAL_ID", "JSM_NAMESPACE_LOCAL_RANK", "SLURM_LOCALID")

# flux does not tell.
LOCAL_SIZE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE",
              "PMI_LOCAL_SIZE", "JSM_NAMESPACE_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE")

MPI_LIBRARIES = ("libmpi.", "libmpi_", "libmpich")


def local_rank(environment) -> int:
    for name in LOCAL_RANK:
        text = environment.get(name, "")
        if text.isdigit():
            return int(text)
    return 0


def local_ranks(environment) -> int:
    """The ranks of this node; 0 if the launcher does not tell. Slurm's value is `4(x2),3`: the first node's counts."""
    for name in LOCAL_SIZE:
        digits = re.match(r"\d*", environment.get(name, "")).group()
        if digits and int(digits):
            return int(digits)
    return 0


def launcher_abi(environment) -> str:
    """The ABI that the launcher of this rank serves; "" where it serves any (srun, flux) or there is none."""
    if "OMPI_COMM_WORLD_LOCAL_RANK" in environment:
        return "ompi"
    return "mpich" if "MPI_LOCALRANKID" in environment else ""


def parse(arguments: list) -> tuple:
    """(options, program and its arguments)."""
    options = {"--visible": "auto", "--bind": "auto", "--mpi": ""}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        if word in ("--help", "-h"):
            print(HELP)
            raise SystemExit(0)
        name, equals, value = word.partition("=")
        if name not in CHOICES:
            raise UserError(f"exec does not know {name}; see telpher exec --help")
        if not equals:
            value = rest.pop(0) if rest else ""
        if value not in CHOICES[name]:
            raise UserError(f"{name} {value or 'without a value'}: it takes one of {', '.join(CHOICES[name])}")
        options[name] = value
    if not rest:
        raise UserError("exec needs a program to start; see telpher exec --help")
    return options, rest


def abi_of(options: dict, program: str) -> str:
    if options["--mpi"]:
        return options["--mpi"]
    known = os.environ.get("TELPHER_LAUNCHED", "")  # telpher run has looked already
    if known in CHOICES["--mpi"]:
        return known
    from .program import identify
    wanted = launcher_abi(os.environ)
    found = identify(program, wanted)
    if wanted and wanted != found.abi.replace("mpi_abi", "mpich"):
        from .host_mpi import FAMILY
        raise UserError(f"this launcher is of {FAMILY[wanted]}, but {program} uses {found.library or found.abi}, of "
                        f"{FAMILY[found.abi]}: every rank would be alone; use the mpirun of its MPI, or telpher run")
    found.show_to_mpi4py(os.environ)
    return found.abi


def place(environment, visible: str, bind: str, devices) -> None:
    """Chooses the rank's device, CPUs and network adapters near that, and tells the program that device pointers may
    be passed."""
    backend = environment.get("TELPHER_BACKEND", "auto")
    if set(backend.split(",")) - {"emu", "none"}:
        chosen = devices.choose(local_rank(environment), visible, environment)
        if not chosen:
            return
        from . import adapters, answers, libraries
        if bind == "auto":
            devices.bind_near(chosen)
            buses = [device.bus for device in devices.all_devices(backend) if device.bus]
            for name in adapters.use_near(environment, chosen.bus, buses):
                say(environment, f"{name}={environment[name]}: adapters near this rank's device")
        answers.give(environment, chosen.vendor, libraries.present())


def say(environment, text: str) -> None:
    if environment.get("TELPHER_LOG", "") in ("info", "debug", "trace"):
        print(f"[telpher exec info] {text}", file=sys.stderr)


def under_mps(environment, root: str = "/") -> bool:
    return "CUDA_MPS_PIPE_DIRECTORY" in environment or os.path.exists(root + "tmp/nvidia-mps/control")


def queues_under_mps(environment) -> int:
    """The clients of one device have some hundred queues together (an H100 gives 96 and refuses 128), and all ranks
    of the node may be its clients."""
    ranks = local_ranks(environment)
    return max(2, min(32, 64 // ranks)) if ranks else 8


def set_stream_variables(environment, root: str = "/") -> None:
    """A device's streams share few queues, under MPS two, and one that waits for a message holds up all of its queue.
    Where streams wait, a kernel that is loaded at its first launch holds up all that comes after it.
    CUDA reads both when it starts, which may be before MPI_Init."""
    mps = under_mps(environment, root)
    streams = environment.get("TELPHER_STREAMS", "").lower() in ("1", "on", "yes", "true", "y")
    if mps or streams:
        environment.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", str(queues_under_mps(environment)) if mps else "32")
    if streams:
        environment.setdefault("CUDA_MODULE_LOADING", "EAGER")


def with_telpher(before: str, library: str) -> str:
    """LD_PRELOAD with Telpher behind profiling tools, which then see the program's calls and reach it through
    PMPI, and in front of an MPI library."""
    entries = before.replace(" ", ":").split(":") if before else []
    if library in entries:
        return before
    mpis = (n for n, entry in enumerate(entries) if os.path.basename(entry).startswith(MPI_LIBRARIES))
    at = next(mpis, len(entries))
    return ":".join([*entries[:at], library, *entries[at:]])


def execute(arguments: list) -> int:
    from . import devices, libraries
    options, command = parse(arguments)
    environment = os.environ
    library = libraries.for_loader(libraries.preload(abi_of(options, command[0])))
    environment["LD_PRELOAD"] = with_telpher(environment.get("LD_PRELOAD", ""), library)
    place(environment, options["--visible"], options["--bind"], devices)
    set_stream_variables(environment)
    sys.stdout.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise UserError(f"cannot start {command[0]}: {error.strerror}") from None
