# SPDX-License-Identifier: BSD-3-Clause
"""What `telpher tune` makes of measured times: the rows and bounds of a table that differ from the built-in ones."""

import itertools
import math
import statistics
from dataclasses import dataclass, field

BUILT_IN = "built-in"
# Those of src/coll/exchange/selection.def.
OPERATIONS = ("allreduce", "reduce", "bcast", "allgather", "allgatherv", "alltoall", "alltoallv",
              "reduce_scatter_block", "reduce_scatter", "gather", "gatherv", "scatter", "scatterv", "scan", "exscan")
# Whose vector is the bench's bytes times the ranks.
BLOCK_OF_EACH = ("allgather", "allgatherv", "alltoall", "alltoallv", "gather", "gatherv", "scatter", "scatterv")
BLOCKING, ENQUEUED, MATCHED = "blocking", "enqueued", "matched"
NODES = "nodes"  # between nodes: a setting, and no rows (tune_nodes.py)
FORMS = (ENQUEUED, MATCHED, BLOCKING)  # in the order of a table's rows: the narrower come first
STREAMED = ("allreduce", "bcast", "allgather", "alltoall", "reduce_scatter_block", "scan")  # of what kernels repeat
CONDITIONAL = ("lines", "stepped", "vendor")  # what not every call and machine can take


@dataclass
class Variant:
    """`keep`: the paths of rows that count, by test; without one every row does."""

    name: str
    ranks: int
    tests: tuple
    settings: dict
    keep: tuple = ()
    rounds: list = field(default_factory=list)  # of each: (test, bytes) to microseconds
    form: str = BLOCKING
    runs: int = 0  # that succeeded
    failure: str = ""  # what the last one that did not said

    def time(self, test: str, size: int) -> "float | None":
        """The median of the rounds; none where a round has no such row."""
        found = [one.get((test, size)) for one in self.rounds]
        return statistics.median(found) if found and None not in found else None


@dataclass
class Trial:
    """A table as a whole beside the built-in choices: for each number of ranks and form the variants (built-in, with
    it)."""

    pairs: dict
    margin: float

    def gain(self, ranks: int, test: str, size: int, form: str = BLOCKING) -> "float | None":
        """Logarithm of how many times as fast the table is."""
        built_in, tuned = (one.time(test, size) for one in self.pairs[ranks, form])
        return math.log(built_in / tuned) if built_in and tuned else None

    def confirms_row(self, ranks: int, test: str, size: int, form: str = BLOCKING) -> bool:
        gain = self.gain(ranks, test, size, form)
        return gain is not None and gain > math.log(1 + self.margin / 2)

    def confirms_bound(self, tests: tuple, sizes: list) -> bool:
        """No test of two ranks is slower on average."""
        gains = [[self.gain(2, test, size) for size in sizes] for test in tests]
        return all(None not in of_test and sum(of_test) >= 0 for of_test in gains)


def fastest(variants: list, test: str, size: int, margin: float, stay: str = BUILT_IN) -> str:
    """The name of the variant to take: `stay` unless another is faster by more than the margin; "" if none ran."""
    times = {v.name: v.time(test, size) for v in variants if test in v.tests}
    known = {name: value for name, value in times.items() if value is not None}
    best = min(known, key=known.get, default=BUILT_IN if stay == BUILT_IN else "")
    return best if stay not in known or known[best] < known[stay] * (1 - margin) else stay


@dataclass
class Column:
    """What decides the rows of one operation, number of ranks and form. `whole`: without the built-in choices."""

    variants: list
    ranks: int
    test: str
    sizes: list
    margin: float
    form: str = BLOCKING
    whole: bool = False
    trial: "Trial | None" = None

    def names(self, variants: list) -> list:
        """The variant of each size."""
        found, stay = [], "" if self.whole else BUILT_IN
        for size in self.sizes:
            name = fastest(variants, self.test, size, self.margin, stay)
            if self.trial and not self.trial.confirms_row(self.ranks, self.test, size, self.form):
                name = BUILT_IN
            found.append(name)
            stay = name if self.whole else BUILT_IN
        return found

    def row(self, size: int, name: str) -> tuple:
        bound = size * (self.ranks if self.test in BLOCK_OF_EACH else 1)
        algorithm, transport = ("builtin", "") if name == BUILT_IN else name.split()
        return self.test, bound, self.ranks, algorithm, transport, self.form

    def rows(self) -> list:
        """Neighbours that say the same are put together. After those that not every call can take come rows for
        the same sizes that all can."""
        always = [v for v in self.variants if v.name.split()[-1] not in CONDITIONAL]
        names, others = self.names(self.variants), self.names(always) if self.whole else [BUILT_IN] * len(self.sizes)
        found: list = []

        def add(size: int, name: str) -> None:
            row = self.row(size, name)
            if found and found[-1][3:] == row[3:]:
                found.pop()
            found.append(row)

        known = [(size, names[i], others[i]) for i, size in enumerate(self.sizes) if names[i]]
        for name, group in itertools.groupby(known, key=lambda one: one[1]):
            group = list(group)
            add(group[-1][0], name)
            if name.split()[-1] in CONDITIONAL:
                for size, _, other in group:
                    if other:
                        add(size, other)
        return found

    def complete(self) -> list:
        """With the rows for sizes above those that were measured: the last ones go on, or the built-in table does."""
        found = self.rows()
        if self.whole:
            last = max((row[1] for row in found), default=0)
            return [(row[0], 0 if row[1] == last else row[1], *row[2:]) for row in found]
        while found and found[-1][3] == "builtin":
            found.pop()
        return [*found, (self.test, 0, self.ranks, "builtin", "", self.form)]


def columns_of(variants: list, ranks: int, test: str, sizes: list, margin: float, whole: bool,
               trial: "Trial | None") -> list:
    """The columns of an operation on so many ranks. Rows of blocking calls serve the other forms too, unless rows of
    their own come first; so the forms that were not measured have a column without variants."""
    found = []
    for form in FORMS:
        own = [v for v in variants if v.ranks == ranks and v.form == form and test in v.tests
               and (v.keep or v.name == BUILT_IN and not whole)]
        found.append(Column(own, ranks, test, sizes, margin, form, whole, trial if own else None))
    return found if any(column.variants for column in found) else []


def all_choices(variants: list, sizes: list, margin: float, trial: "Trial | None" = None, whole: bool = False) -> list:
    counts = sorted({v.ranks for v in variants if v.keep or v.name == BUILT_IN})
    found = []
    for test in OPERATIONS:
        rows = [row for ranks in counts for column in columns_of(variants, ranks, test, sizes, margin, whole, trial)
                for row in column.complete()]
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
