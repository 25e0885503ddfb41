# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher tune` makes of measured times: the rows and bounds of a table that differ from the built-in ones."""

import math
import statistics
from dataclasses import dataclass, field

BUILT_IN = "built-in"
OPERATIONS = ("allreduce", "reduce", "bcast", "allgather", "alltoall", "reduce_scatter_block", "gather", "scatter")
BLOCK_OF_EACH = ("allgather", "alltoall", "gather", "scatter")  # whose vector is the bench's bytes times the ranks


@dataclass
class Variant:
    """`keep`: the paths of rows that count, by test; without one every row does."""

    name: str
    ranks: int
    tests: tuple
    settings: dict
    keep: tuple = ()
    rounds: list = field(default_factory=list)  # of each: (test, bytes) to microseconds

    def time(self, test: str, size: int) -> "float | None":
        """The median of the rounds; none where a round has no such row."""
        found = [one.get((test, size)) for one in self.rounds]
        return statistics.median(found) if found and None not in found else None


@dataclass
class Trial:
    """A table as a whole beside the built-in choices: for each number of ranks the variants (built-in, with it)."""

    pairs: dict
    margin: float

    def gain(self, ranks: int, test: str, size: int) -> "float | None":
        """Logarithm of how many times as fast the table is."""
        built_in, tuned = (one.time(test, size) for one in self.pairs[ranks])
        return math.log(built_in / tuned) if built_in and tuned else None

    def confirms_row(self, ranks: int, test: str, size: int) -> bool:
        gain = self.gain(ranks, test, size)
        return gain is not None and gain > math.log(1 + self.margin / 2)

    def confirms_bound(self, tests: tuple, sizes: list) -> bool:
        """No test of two ranks is slower on average."""
        gains = [[self.gain(2, test, size) for size in sizes] for test in tests]
        return all(None not in of_test and sum(of_test) >= 0 for of_test in gains)


def fastest(variants: list, test: str, size: int, margin: float) -> str:
    """The name of the variant to take, the built-in one unless another is faster by more than the margin."""
    times = {v.name: v.time(test, size) for v in variants if test in v.tests}
    known = {name: value for name, value in times.items() if value is not None}
    best = min(known, key=known.get, default=BUILT_IN)
    built_in = known.get(BUILT_IN)
    return best if built_in is None or known.get(best, built_in) < built_in * (1 - margin) else BUILT_IN


def choices_of(variants: list, ranks: int, test: str, sizes: list, margin: float, trial: "Trial | None" = None) -> list:
    """Rows of a table, neighbours that say the same put together; the last leaves the rest to the built-in table."""
    rows: list = []
    for size in sizes:
        name = fastest(variants, test, size, margin)
        if trial and not trial.confirms_row(ranks, test, size):
            name = BUILT_IN
        bound = size * (ranks if test in BLOCK_OF_EACH else 1)
        algorithm, transport = ("builtin", "") if name == BUILT_IN else name.split()
        if rows and rows[-1][3:] == (algorithm, transport):
            rows.pop()
        rows.append((test, bound, ranks, algorithm, transport))
    if rows and rows[-1][3] == "builtin":
        rows.pop()
    return [*rows, (test, 0, ranks, "builtin", "")]


def all_choices(variants: list, sizes: list, margin: float, trial: "Trial | None" = None) -> list:
    counts = sorted({v.ranks for v in variants if v.name == BUILT_IN})
    found = []
    for test in OPERATIONS:
        rows = []
        for ranks in counts:
            own = [v for v in variants if v.ranks == ranks and (v.keep or v.name == BUILT_IN)]
            if any(test in v.tests for v in own):
                rows += choices_of(own, ranks, test, sizes, margin, trial)
        found += rows if any(row[3] != "builtin" for row in rows) else []
    return found


def is_taken(size: int, limit: int, lower: bool) -> bool:
    return size >= limit if lower else size <= limit


def between(one: int, other: int, sizes: list, lower: bool) -> list:
    """The sizes that go another way by another bound."""
    return [s for s in sizes if is_taken(s, one, lower) != is_taken(s, other, lower)]


def bound(always: Variant, never: Variant, sizes: list, default: int, lower: bool, margin: float) -> int:
    """The bound with the least times. The default, unless that costs more than the margin on average over the sizes
    for which it matters, and no test less."""
    tests = always.tests
    times = {(t, s): (always.time(t, s), never.time(t, s)) for t in tests for s in sizes}
    known = [s for s in sizes if all(None not in times[t, s] for t in tests)]

    def cost(limit: int, test: str) -> float:
        return sum(math.log(max(times[test, s][0 if is_taken(s, limit, lower) else 1], 1e-3)) for s in known)

    best = min([0, *known], key=lambda limit: sum(cost(limit, test) for test in tests))
    gains = [cost(default, test) - cost(best, test) for test in tests]
    wanted = math.log(1 + margin) * len(tests) * len(between(best, default, known, lower))
    return best if min(gains) >= 0 and sum(gains) > wanted else default
