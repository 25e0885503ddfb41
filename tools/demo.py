# SPDX-License-Identifier: BSD-3-Clause
"""`make demo`: runs the demonstration program on what is here: a GPU if there is one, else the emulated
device, over every host MPI that it was built for."""
import os
import shlex
import subprocess
import sys
from pathlib import Path

from telpher import devices, host_mpi

BIN = Path(__file__).resolve().parent.parent / "build" / "bin"
LIMIT_S = 600


def main() -> int:
    programs = [BIN / f"telpher-demo-{abi}" for abi in host_mpi.ABIS]
    programs = [p for p in programs if p.is_file()]
    if not programs:
        print("demo: no telpher-demo program was built; the summary above says which host MPIs were left out")
        return 1
    found = devices.all_devices()
    backend = [] if found else ["--backend", "emu"]
    print(f"demo: {len(found)} GPUs ({found[0].vendor})" if found else "demo: no GPU here: the emulated device")
    failed = 0
    for program in programs:
        line = [str(BIN / "telpher"), "run", "-n", "2", *backend, str(program)]
        print("demo: " + shlex.join(os.path.relpath(w) if w.startswith("/") else w for w in line), flush=True)
        try:
            code = subprocess.run(line, timeout=LIMIT_S, stdin=subprocess.DEVNULL).returncode
        except subprocess.TimeoutExpired:
            print(f"demo: no end within {LIMIT_S} s")
            code = 1
        failed += code != 0
    print("demo: everything ran and was right" if not failed else f"demo: {failed} of {len(programs)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
