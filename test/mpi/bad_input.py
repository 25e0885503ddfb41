#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bad input that only shows from outside a process: settings, the wrong library, a killed rank.

Runs bad_input's program under a launcher with LD_PRELOAD and looks at exit codes, what it says and
the time it took. Prints `ok <case>` or `FAILED <case>: why` and closes with the totals.
"""
import argparse
import os
import secrets
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from run import LAUNCHER_ENV, marked_processes  # noqa: E402

OWN_MARK = "BAD_INPUT_RUN"  # in the environment of each rank: run.py's own is this program's, too
BOUND_S = 60  # a launcher may take this long to end a job with a dead rank
REFUSED = ("MPI_Win_allocate_shared",)


class Driver:
    def __init__(self, options):
        self.options = options
        self.mark = secrets.token_hex(12)
        self.passed = self.failed = 0

    def run(self, arguments, settings, preload, limits=()):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TELPHER_")}
        environment |= LAUNCHER_ENV
        # The launcher itself runs without the library: env, behind the launcher, sets it.
        settings = {"TELPHER_BACKEND": "emu", "TELPHER_NAP": "on", OWN_MARK: self.mark, **settings}
        if preload:
            settings["LD_PRELOAD"] = preload
        assignments = [f"{k}={v}" for k, v in settings.items()]
        program = [self.options.program, *arguments]
        command = [self.options.mpirun, "-n", "2", *limits, "env", *assignments, *program]
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            text, _ = process.communicate(timeout=BOUND_S)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
            return None, text, BOUND_S
        return process.returncode, text, time.monotonic() - began

    def case(self, label, good, text):
        if good:
            self.passed += 1
            print(f"ok {label}", flush=True)
        else:
            self.failed += 1
            tail = " | ".join(text.strip().splitlines()[-6:])
            print(f"FAILED {label}: {tail}", flush=True)

    def setting(self, label, settings, words):
        """The job must name the setting, and every word of the advice, and be right with devices."""
        code, text, _ = self.run(["--device", "right in spite"], settings, self.options.preload)
        said = all(word.lower() in text.lower() for word in words)
        self.case(label, said and code == 0, f"{text}\nexit code {code}")

    def survivors(self):
        """Ranks that are still there some seconds after their jobs have ended."""
        end = time.monotonic() + 5
        while (left := marked_processes(self.mark, OWN_MARK)) and time.monotonic() < end:
            time.sleep(0.1)
        return left

    def no_memory(self):
        """Where no rank can be told by an error, the job ends with the reason and what to do."""
        # The largest file of a process: what the host MPI shares is less than Telpher's segment.
        limits = ["bash", "-c", 'trap "" XFSZ; ulimit -f 500000; exec "$@"', "limited"]
        code, text, seconds = self.run(["right in spite"], {}, self.options.preload, limits)
        said = all(word in text for word in ("cannot size", "TELPHER_STAGING_MEMORY", "TELPHER_ENABLE=off"))
        self.case("no room for the segment ends the job", code not in (None, 0) and said and seconds < BOUND_S / 2,
                  f"{text}\n{seconds:.0f} s")

    def all(self):
        self.setting("unknown setting", {"TELPHER_EGER_LIMIT": "4k"},
                     ["TELPHER_EGER_LIMIT", "TELPHER_EAGER_LIMIT"])
        self.setting("bad choice", {"TELPHER_PATH": "mappd"}, ["TELPHER_PATH", "mappd", "mapped"])
        self.setting("bad number", {"TELPHER_SLOTS": "many"}, ["TELPHER_SLOTS", "many"])
        self.setting("number out of range", {"TELPHER_SLOTS": "3"}, ["TELPHER_SLOTS", "16"])
        self.setting("bad size", {"TELPHER_EAGER_LIMIT": "4x"}, ["TELPHER_EAGER_LIMIT", "4x"])
        self.setting("bad fault list", {"TELPHER_TEST_EMU_FAULTS": "no_such_call:1"},
                     ["no_such_call"])
        for label, faults in (("IPC refused", "ipc_open:1+"), ("IPC refused once", "ipc_open:1"),
                              ("IPC refused later", "ipc_open:3+")):
            code, text, _ = self.run(["--device", "right in spite"], {"TELPHER_TEST_EMU_FAULTS": faults},
                                     self.options.preload)
            self.case(label, code == 0, text)
        code, text, _ = self.run(["--device", "refused"], {}, self.options.preload)
        unnamed = [call for call in REFUSED if call not in text]
        self.case("refused calls are named", code == 0 and not unnamed,
                  f"{text}\nunnamed: {unnamed}")
        if self.options.wrong:
            code, text, _ = self.run(["right in spite"], {}, self.options.wrong)
            said = "telpher" in text.lower() and ("abi" in text.lower() or "libmpi" in text.lower())
            self.case("library of another ABI", code is not None and said
                      and "segmentation" not in text.lower(), text)
        for word, call in (("nobody", "Sendrecv"), ("nobody-in-a-sum", "Allreduce")):
            code, text, seconds = self.run([word], {"TELPHER_WAIT_TIMEOUT": "2s"}, self.options.preload)
            said = "TELPHER_WAIT_TIMEOUT" in text and call in text
            self.case(f"MPI_{call} that waits for a rank which comes no more ends the job",
                      code not in (None, 0) and said and seconds < BOUND_S / 2, f"{text}\n{seconds:.0f} s")
        code, text, seconds = self.run(["stand-still"], {
            "TELPHER_TRANSFER_TIMEOUT": "1s", "TELPHER_TEST_PRETENDED_NODES": "2"}, self.options.preload)
        self.case("a message that stands still ends in an MPI error", code not in (None, 0) and "an MPI error" in text
                  and "TELPHER_TRANSFER_TIMEOUT" in text and seconds < BOUND_S / 2, f"{text}\n{seconds:.0f} s")
        self.no_memory()
        code, text, seconds = self.run(["die"], {}, self.options.preload)
        self.case("killed rank ends the job", code not in (None, 0), f"{text}\n{seconds:.0f} s")
        left = self.survivors()
        self.case("no rank survives its job", not left, f"processes {left}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpirun", required=True, help="the launcher of the program's MPI")
    parser.add_argument("--program", required=True, help="bad_input built for that MPI")
    parser.add_argument("--preload", default="", help="Telpher's library for that MPI; empty: bare")
    parser.add_argument("--wrong", default="", help="Telpher's library for another MPI")
    driver = Driver(parser.parse_args())
    driver.all()
    print(f"{driver.passed} passed, {driver.failed} failed")
    return 1 if driver.failed else 0


if __name__ == "__main__":
    sys.exit(main())
