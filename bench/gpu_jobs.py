# SPDX-License-Identifier: BSD-3-Clause
"""How bench/gpu_session.py runs things: every command has a time limit and takes all its processes with it
when it ends, all output goes to one log, and what telpher-bench measured is kept in one list of rows.
"""
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test"))
from run import MARK, kill_marked  # noqa: E402

MPI_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
UCX_ARGUMENTS = ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]


def nccl_environment() -> dict:
    """Where PyPI's NCCL lies, for what opens it by name; empty where the system has one, or there is none."""
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    if "libnccl.so.2" in known:
        return {}
    folders = [Path(folder) / "nvidia/nccl/lib" for folder in sys.path]
    found = [str(folder) for folder in folders if (folder / "libnccl.so.2").exists()]
    return {"LD_LIBRARY_PATH": ":".join([*found[:1], os.environ.get("LD_LIBRARY_PATH", "")])} if found else {}


class OutOfTime(Exception):
    """The session's budget does not allow another command."""


@dataclass
class Outcome:
    code: int
    text: str
    seconds: float

    @property
    def good(self) -> bool:
        return self.code == 0


class Session:
    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.out = options.out.resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.scratch = self.build / "gpu_session"
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.end = time.monotonic() + options.budget
        self.rows: list[dict] = []
        self.tables: list[str] = []
        self._log = open(self.out / "log.txt", "a", encoding="utf-8")
        self._binding: dict[tuple, list[str]] = {}
        self._lock = threading.Lock()
        self.devices = self._count_devices()
        self._nccl = nccl_environment()

    # --- output ---

    def say(self, text: str = "") -> None:
        with self._lock:
            print(text, flush=True)
            self._log.write(text + "\n")
            self._log.flush()

    def table(self, title: str, head: list[str], lines: list[list[str]]) -> None:
        """Prints a table now and once more at the end."""
        widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
        text = [f"# {title}"]
        for line in [head, *lines]:
            text.append("  ".join(word.ljust(w) if i == 0 else word.rjust(w)
                                  for i, (word, w) in enumerate(zip(line, widths, strict=False))))
        self.tables.append("\n".join(text))
        self.say("\n" + self.tables[-1])

    def save(self) -> None:
        (self.out / "results.json").write_text(json.dumps(self.rows, indent=0) + "\n")

    # --- commands ---

    def command(self, words: list, limit: float, env: dict | None = None, quiet: bool = False) -> Outcome:
        """Runs a command in the repository's root; its output is shown (`quiet`: only logged)."""
        left = self.end - time.monotonic()
        if left < 5:
            raise OutOfTime
        limit = min(limit, left)
        line = [str(word) for word in words]
        self.say("$ " + shlex.join(line).replace(str(ROOT) + "/", ""))
        mark = f"gpu-session-{os.getpid()}-{time.monotonic_ns()}"
        started = time.monotonic()
        try:
            process = subprocess.Popen(line, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace",
                                       start_new_session=True, env={**os.environ, **(env or {}), MARK: mark})
        except OSError as error:
            self.say(f"  cannot start: {error}")
            return Outcome(-1, str(error), 0)
        lines: list[str] = []
        reader = threading.Thread(target=self._read, args=(process, lines, quiet), daemon=True)
        reader.start()
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = -1
            self.say(f"  NO END within {limit:.0f} s")
            process.send_signal(signal.SIGTERM)  # mpirun then ends its ranks
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                pass
        kill_marked(mark)
        process.wait()
        reader.join(5)
        seconds = time.monotonic() - started
        if code:
            self.say(f"  exit code {code} after {seconds:.1f} s")
            if quiet:
                self.say("".join("  | " + text for text in lines[-30:]))
        return Outcome(code, "".join(lines), seconds)

    def _read(self, process, lines: list[str], quiet: bool) -> None:
        for text in process.stdout:
            lines.append(text)
            with self._lock:
                if not quiet:
                    print("  " + text, end="", flush=True)
                self._log.write("  " + text)
        self._log.flush()

    # --- what is here ---

    def _count_devices(self) -> int:
        if self.options.backend != "cuda":
            return 2
        try:
            done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return 0
        return sum(line.startswith("GPU ") for line in done.stdout.splitlines())

    def devices_of_ranks(self) -> str:
        return "0:1" if self.devices > 1 else "0:0"

    def ompi_folders(self) -> tuple[str, str]:
        """(folder of mpi.h, folder of libmpi.so) as Open MPI's own compiler wrapper tells them."""
        answers = []
        prefix = self.options.ompi
        wrapper = prefix / "bin" / "mpicc" if prefix else shutil.which("mpicc.openmpi") or "mpicc"
        for what, wanted in (("incdirs", "mpi.h"), ("libdirs", "libmpi.so")):
            try:
                done = subprocess.run([str(wrapper), f"--showme:{what}"], capture_output=True, text=True, timeout=60)
                words = done.stdout.split() if done.returncode == 0 else []
            except (OSError, subprocess.TimeoutExpired):
                words = []
            words += ["/usr/lib/x86_64-linux-gnu/openmpi/" + {"incdirs": "include", "libdirs": "lib"}[what]]
            answers.append(next((w for w in words if (Path(w) / wanted).exists()), ""))
        return answers[0], answers[1]

    def ompi_prefix(self) -> Path | None:
        """A folder with include/ and lib/, whatever the distribution's layout; links to the real ones."""
        include, library = self.ompi_folders()
        if not include or not library:
            return None
        prefix = self.build / "ompi"
        prefix.mkdir(parents=True, exist_ok=True)
        for name, target in (("include", include), ("lib", library)):
            link = prefix / name
            if link.is_symlink():
                link.unlink()
            link.symlink_to(target)
        return prefix

    def abis(self) -> list[str]:
        """The host MPIs that the build has programs for, Open MPI first."""
        known = ("ompi", "mpich") if self.options.mpich else ("ompi",)
        return [abi for abi in known if (self.build / f"bin/telpher-bench-{abi}").is_file()]

    # --- ranks ---

    def launcher(self, abi: str) -> str:
        if abi == "mpich":
            return str(self.options.mpich.resolve() / "bin" / "mpirun")
        if self.options.ompi:
            return str(self.options.ompi.resolve() / "bin" / "mpirun")
        return shutil.which("mpirun.openmpi") or "mpirun"

    def mpirun(self, abi: str, more: list[str] = (), ranks: int = 2) -> list[str]:
        """The launcher's part of a command line for ranks on cores of their own."""
        bare = [self.launcher(abi), "-n", str(ranks), *more]
        if (abi, ranks) not in self._binding:
            core = ["--bind-to", "core"] if abi == "ompi" else ["-bind-to", "core"]
            tried = self.command([*bare, *core, "true"], 30, MPI_ENV, quiet=True)
            self._binding[abi, ranks] = core if tried.good else (["--bind-to", "none"] if abi == "ompi" else [])
        return [*bare, *self._binding[abi, ranks]]

    def preload(self, abi: str, **settings: str) -> list[str]:
        """`env ...` for behind the launcher: the launcher itself runs without the library."""
        chosen = {"TELPHER_BACKEND": self.options.backend, **settings}
        return ["env", f"LD_PRELOAD={self.build}/lib/libtelpher-{abi}.so",
                *(f"{name}={value}" for name, value in chosen.items())]

    def ranks(self, abi: str, program: list, limit: float, quiet: bool = False, ranks: int = 2,
              **settings: str) -> Outcome:
        line = [*self.mpirun(abi, ranks=ranks), *self.preload(abi, **settings), *program]
        return self.command(line, limit, MPI_ENV, quiet)

    def bench(self, label: str, test: str, arguments: str, abi: str = "ompi", peer: dict | None = None,
              over: dict | None = None, limit: float = 90, ranks: int = 2, **settings: str) -> list[dict]:
        """One run of telpher-bench, its rows kept under `label`. `peer`: the environment of a GPU-aware
        MPI that is measured without Telpher, `over`: of one that Telpher runs over."""
        file = self.scratch / "rows.json"
        file.unlink(missing_ok=True)
        if peer is None:
            more = [] if over is None else UCX_ARGUMENTS
            front = [*self.mpirun(abi, more, ranks), *self.preload(abi, **settings, **(over or {}))]
        else:
            front = [*self.mpirun(abi, UCX_ARGUMENTS, ranks), "env", *(f"{k}={v}" for k, v in peer.items())]
        program = [self.build / f"bin/telpher-bench-{abi}", test, *arguments.split(), "--json", file]
        outcome = self.command([*front, *program], limit, MPI_ENV | self._nccl)
        rows = json.loads(file.read_text())["rows"] if file.is_file() else []
        for row in rows:
            row |= {"label": label, "abi": abi, "settings": settings, "exit": outcome.code}
        self.rows += rows
        self.save()
        return rows
