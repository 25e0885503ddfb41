# SPDX-License-Identifier: BSD-3-Clause
"""Whether kernel_threads finds a missing barrier: missing_barriers.py PROGRAM, built with ThreadSanitizer.

Runs each case of the program once and once more for each barrier that the case meets, with that barrier
left out, and expects a failure or a report every time. NOT_NEEDED names barriers that are there for a GPU
only, or whose absence has no order to break in these cases.
"""
import pathlib
import re
import subprocess
import sys

KERNELS = pathlib.Path(__file__).parents[3] / "src/kernel"
PROGRAM = sys.argv[1]
CASES = ["copy_batch", "linger", "exchange_stays", "exchange_replays", "zfp_encode_f32_1", "zfp_decode_f32_1",
         "mpc_encode_32", "mpc_decode_32", "mpc_place", "matched_put", "partition_ready",
         "exchange_host", "exchange"]
# That these cases do not break without them proves nothing; the code needs them for the reasons given.
# A site is named by its file, its function and what stands there the how manieth time: lines move.
NOT_NEEDED: dict[str, str] = {
    "exchange.hpp signal_step w.settle 1":
        "a signal follows the writes of all work items, and the moves of these schedules end in a barrier; what it "
        "does more on some GPUs this processor does anyway, whose stores are in order",
    "exchange.hpp meet_step w.settle 1": "as in signal_step: the step before ends in a barrier",
    "exchange.hpp begin_replay w.barrier 1": "for programs without steps: each step of these ends in a barrier",
    "partitions.hpp partitions_wait_body w.barrier 1":
        "all work items have to come there, but nothing is ordered: the end of a round stands for no other memory",
    "mpc.hpp decode w.barrier 5": "between two chunks of a block: the next one begins with other memory",
}


def name_of(site: str) -> str:
    """The name in NOT_NEEDED of a site, FILE:LINE."""
    file, line = site.split(":")
    before = (KERNELS / file).read_text().splitlines()[: int(line)]
    begin = max(k for k, text in enumerate(before) if re.match(r"\w.*\w\(", text))
    function = re.search(r"(\w+)\(", before[begin])[1]
    here = re.search(r"w\.\w+", before[-1])[0]
    return f"{file} {function} {here} {sum(f'{here}(' in text for text in before[begin:])}"


def run(*arguments: str) -> subprocess.CompletedProcess:
    try:
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 124, "", "")  # a hang is found, too


def main() -> int:
    found, missed = set(), set()
    for case in CASES:
        plain = run("--sites", case)
        if plain.returncode != 0:
            print(plain.stdout + plain.stderr)
            return 1
        for site in (line.split()[1] for line in plain.stdout.splitlines() if line.startswith("site ")):
            if site in found:
                continue
            code = run("--omit", site, case).returncode
            (found if code != 0 else missed).add(site)
            print(f"{case}: without {site}: {'found' if code != 0 else 'not found'}", flush=True)
    missed -= found
    unknown = {site for site in missed if name_of(site) not in NOT_NEEDED}
    print(f"{len(found)} missing barriers found, {len(missed)} not;", *(f"{s} ({name_of(s)})" for s in sorted(unknown)))
    return 1 if unknown or not found else 0


sys.exit(main())
