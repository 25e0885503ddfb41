# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher tune --forms nodes` measures, and makes of it: from which size on collectives between nodes go by
schedules (the setting coll_between). Every operation is measured both ways, sums too: a table is the same at each
start, so a program's results do not change from one to the next."""

import dataclasses

from .tune_choices import BLOCK_OF_EACH, NODES, Variant, bound

# Those of src/coll/between/ways.def whose length all ranks know.
OPERATIONS = ("allreduce", "reduce", "bcast", "allgather", "allgatherv", "alltoall", "reduce_scatter",
              "reduce_scatter_block")
SCHEDULES, STAGED = "schedules between nodes", "staged between nodes"
NEVER = 1 << 62


def variants_of(ranks: int, tests: tuple) -> list:
    """Rows of calls that did not go between nodes do not count."""
    asked = ",".join(f"{test}=two_level" for test in tests)
    return [Variant(SCHEDULES, ranks, tests, {"coll_algorithm": asked}, ("coll_levels",), form=NODES),
            Variant(STAGED, ranks, tests, {"coll": "staged"}, form=NODES)] if tests else []


def limits(variants: list, sizes: list, margin: float) -> dict:
    """By operation the bytes of the longest vector; NEVER. Nothing of those that did not go between nodes."""
    pair = [v for v in variants if v.form == NODES]
    found = {}
    for test in pair[0].tests if pair else ():
        schedules, staged = (dataclasses.replace(v, tests=(test,)) for v in pair)
        known = [size for size in sizes if schedules.time(test, size) and staged.time(test, size)]
        if not known:
            continue
        least = bound(schedules, staged, known, NEVER, True, margin)
        factor = pair[0].ranks if test in BLOCK_OF_EACH else 1
        found[test] = NEVER if least == NEVER else max(least, known[0]) * factor
    return found


def setting(found: dict) -> str:
    return ",".join(f"{test}={'never' if least == NEVER else least}" for test, least in found.items())
