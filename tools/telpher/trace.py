# SPDX-License-Identifier: BSD-3-Clause
"""`telpher trace`: runs a program with a trace of its messages and collectives, and merges the ranks' files
into one timeline for Perfetto (ui.perfetto.dev) or chrome://tracing."""
import argparse
import glob
import json
import os
import sys
import tempfile

from . import UserError, jobs, libraries, run, trace_report
from .trace_merge import merge, read_rank

EPILOG = """Other options before the program are those of telpher run, e.g. --backend emu. `telpher trace merge` takes
the files that a run with TELPHER_TRACE=trace-%r.jsonl left."""


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("telpher trace", description=__doc__, epilog=EPILOG, allow_abbrev=False,
                                usage="telpher trace -n N [-o FILE] [options of run] program [arguments]\n"
                                      "       telpher trace merge [-o FILE] rank-files...")
    p.add_argument("-o", "--output", default="telpher-trace.json", metavar="FILE", help="the timeline (%(default)s)")
    p.add_argument("--summary", metavar="FILE", help="also write the summary as JSON")
    p.add_argument("--json", action="store_true", help="print the summary as one JSON object; the program's output and "
                                                       "all else goes to stderr")
    p.add_argument("--keep", metavar="FOLDER", help="keep the ranks' files there")
    return p


def split(arguments: list) -> tuple:
    """(options of trace; those of run, and the program, whose own options may have the same names)"""
    of_trace, of_run = parser()._option_string_actions, run.parser()._option_string_actions
    known = of_run | of_trace
    own, rest, at = [], [], 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "--":
        name, joined, _ = arguments[at].partition("=")
        if name not in known:  # as -n2
            name, joined = name[:2], name[2:]
        takes_value = name in known and known[name].nargs is None
        end = at + (2 if takes_value and not joined else 1)
        (own if name in of_trace else rest).extend(arguments[at:end])
        at = end
    return own, [*rest, *arguments[at:]]


def missing(ranks: list) -> list:
    """The ranks of the job without a file."""
    return sorted(set(range(max(rank.head["size"] for rank in ranks))) - {rank.number for rank in ranks})


def write(files: list, options) -> int:
    """How many ranks left nothing."""
    if not files:
        raise UserError("no rank wrote a trace: the program called no MPI_Init or was killed before a rank had "
                        "recorded 64 KB, the ranks cannot write here (--keep names a folder that nodes share), or none "
                        "has a device (telpher info; --backend emu takes emulated ones)")
    ranks = [read_rank(path) for path in files]
    timeline = merge(ranks)
    with open(options.output, "w") as out:
        json.dump(timeline.document(), out, separators=(",", ":"))
        out.write("\n")
    summary = trace_report.summary(timeline)
    if options.summary:
        with open(options.summary, "w") as out:
            json.dump(summary, out, indent=1)
            out.write("\n")
    print(json.dumps(summary, indent=1) if options.json else trace_report.text(summary))
    print(f"{options.output}: open it at ui.perfetto.dev or chrome://tracing",
          file=sys.stderr if options.json else sys.stdout)
    if lost := missing(ranks):
        print(f"telpher: nothing of rank{'s' * (len(lost) > 1)} {', '.join(map(str, lost))}, which was killed early or "
              "could not write here; where ranks run on several nodes, name a folder that these share with --keep",
              file=sys.stderr)
    return len(lost)


def traced_run(options, rest: list, folder: str) -> int:
    telpher = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher")]
    environment = dict(os.environ) | {"TELPHER_TRACE": os.path.join(folder, "rank-%r.jsonl")}
    out = sys.stderr if options.json else None
    try:
        code = jobs.run([*telpher, "run", *rest], env=environment, stdout=out, stderr=None).returncode
    except KeyboardInterrupt:
        code = 130
    if code != 0:
        print(f"telpher: the program ended with {code}; what was recorded until then follows", file=sys.stderr)
    files = glob.glob(os.path.join(folder, "rank-*.jsonl"))
    lost = write(sorted(path for path in files if os.path.getsize(path)), options)
    return code or min(lost, 1)


def trace(arguments: list) -> int:
    if arguments[:1] == ["merge"]:
        options, files = parser().parse_known_args(arguments[1:])
        write(files, options)
        return 0
    own, rest = split(arguments)
    options = parser().parse_args(own)
    if not rest:
        raise UserError("trace needs a program, e.g. telpher trace -n 2 ./app")
    jobs.interrupt_on_terminate()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        for old in glob.glob(os.path.join(options.keep, "rank-*.jsonl")):
            os.unlink(old)
        return traced_run(options, rest, os.path.abspath(options.keep))
    with tempfile.TemporaryDirectory(prefix="telpher-trace-") as folder:
        return traced_run(options, rest, folder)
