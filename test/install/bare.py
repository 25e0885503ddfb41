# SPDX-License-Identifier: BSD-3-Clause
"""`make check-bare`: bare.py WHEELS [SUITE...]: installs the core wheel of a folder in a root file system that has
Python and nothing else, runs a first program and the doctor in it on the emulated device, and says how long that took.

Needs root, debootstrap (fetched with apt-get download where it is not installed), and the mirrors of Debian and Ubuntu.
Suites: bookworm, noble. Closes with 'N passed, N failed'."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
MIRRORS = {"bookworm": "http://deb.debian.org/debian", "noble": "http://archive.ubuntu.com/ubuntu"}
COMPONENTS = {"noble": "main,universe"}
PACKAGES = "python3,python3-venv,ca-certificates"
KEPT = ("PIP_", "SSL_", "HTTP", "http", "REQUESTS_")
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
ROOT_S, STEP_S = 1500, 300
# As a user would type it.
STEPS = """
set -e
cd /root
began=$(date +%s)
python3 -m venv env
. env/bin/activate
pip install --quiet /wheels/telpher-*.whl mpi4py mpich
echo "installed after $(($(date +%s) - began)) s"
telpher run -n 2 --backend emu python -m mpi4py /examples/send_receive_telpher.py
telpher doctor --backend emu
echo "all after $(($(date +%s) - began)) s"
"""


def debootstrap(folder: Path) -> tuple:
    """(command, environment)"""
    if shutil.which("debootstrap"):
        return ["debootstrap"], {}
    subprocess.run(["apt-get", "download", "debootstrap"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["dpkg-deb", "-x", next(folder.glob("debootstrap_*.deb")), folder / "tool"], check=True)
    return ["sh", str(folder / "tool/usr/sbin/debootstrap")], {
        "DEBOOTSTRAP_DIR": str(folder / "tool/usr/share/debootstrap")
    }


def make_root(suite: str, root: Path, folder: Path) -> None:
    command, more = debootstrap(folder)
    # The signature is apt's business on a machine that is kept; this root is thrown away.
    line = [*command, "--variant=minbase", "--no-check-gpg", f"--include={PACKAGES}"]
    line += [f"--components={COMPONENTS[suite]}"] if suite in COMPONENTS else []
    answer = subprocess.run(
        [*line, suite, str(root), MIRRORS[suite]], capture_output=True, text=True, env=os.environ | more, timeout=ROOT_S
    )
    if answer.returncode != 0:
        raise RuntimeError(f"debootstrap: {(answer.stderr or answer.stdout).strip()[-500:]}")


def use(root: Path, wheels: Path) -> str:
    for name, source in (("wheels", wheels), ("examples", SOURCE / "examples")):
        shutil.copytree(source, root / name)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copy(BUNDLE, root / BUNDLE.lstrip("/"))  # this network's certificates
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT) and name != "PIP_FIND_LINKS"}
    for kind in ("dev", "proc"):
        subprocess.run(["mount", "--rbind", f"/{kind}", str(root / kind)], check=True)
    answer = subprocess.run(
        ["chroot", str(root), "sh", "-c", STEPS],
        capture_output=True,
        text=True,
        timeout=STEP_S,
        env=kept | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"},
    )
    print(answer.stdout, end="", flush=True)
    if answer.returncode != 0 or " right" not in answer.stdout:
        raise RuntimeError(answer.stderr.strip()[-1500:])
    return answer.stdout


def try_one(suite: str, wheels: Path) -> bool:
    """In a mount namespace of its own: what is mounted ends with it."""
    with tempfile.TemporaryDirectory(prefix="telpher-bare-") as scratch:
        folder = Path(scratch)
        began = time.monotonic()
        try:
            make_root(suite, folder / "root", folder)
            print(f"{suite}: a root with {PACKAGES} after {time.monotonic() - began:.0f} s", flush=True)
            inside = ["unshare", "--mount", sys.executable, __file__, "--inside", str(folder / "root"), str(wheels)]
            code = subprocess.run(inside).returncode
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            print(f"{suite}: {error}", flush=True)
            code = 1
        print(f"{suite}: {'right' if code == 0 else 'FAILED'}", flush=True)
        return code == 0


def main(arguments: list) -> int:
    if arguments[:1] == ["--inside"]:
        try:
            use(Path(arguments[1]), Path(arguments[2]))
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            print(error, flush=True)
            return 1
        return 0
    if os.geteuid() != 0:
        sys.exit("bare: a root file system can be made by root only")
    wheels = Path(arguments[0]).resolve()
    if not list(wheels.glob("telpher-*.whl")):
        sys.exit(f"bare: no telpher-*.whl in {wheels}; make wheels first")
    results = [try_one(suite, wheels) for suite in arguments[1:] or MIRRORS]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
