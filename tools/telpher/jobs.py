# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a command starts: a launcher and its ranks, which end when the command gives them up."""

import os
import signal
import subprocess

GRACE_S = 5  # for a launcher to end its ranks


def run(command: list, timeout: "float | None" = None, **how) -> subprocess.CompletedProcess:
    """As subprocess.run with captured text, but what is given up, by the time or by an interruption, is ended with all
    that it has started; a TimeoutExpired has what was printed until then."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    job = subprocess.Popen(command, text=True, errors="replace", start_new_session=True, **how)
    try:
        out, err = job.communicate(timeout=timeout)
    except BaseException as reason:
        out, err = ended(job)
        if isinstance(reason, subprocess.TimeoutExpired):
            raise subprocess.TimeoutExpired(command, timeout, out, err) from None
        raise
    return subprocess.CompletedProcess(command, job.returncode, out, err)


def ended(job) -> tuple:
    """The output of a job, all of which ends now."""
    for kind in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(job.pid, kind)
            return job.communicate(timeout=GRACE_S)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    return job.communicate()


def interrupt_on_terminate() -> None:
    """A batch system's SIGTERM ends a command as Ctrl-C does."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
