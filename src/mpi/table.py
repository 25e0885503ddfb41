# SPDX-License-Identifier: BSD-3-Clause
"""The functions of api.toml, which explains itself: each in all its forms, with its parameters."""
from dataclasses import dataclass


@dataclass
class Parameter:
    name: str
    kind: str
    direction: str
    array: bool


@dataclass
class Function:
    """One MPI function in one form; `large` is its MPI_Count form."""
    name: str
    file: str
    section: str
    parameters: list
    words: list  # (word, rest) pairs of the row
    form: str = "blocking"
    since: str = "3.1"
    large: bool = False

    @property
    def mpi_name(self):
        return f"MPI_{self.name}"

    @property
    def communicator(self):
        return "comm" if any(p.name == "comm" for p in self.parameters) else "MPI_COMM_SELF"

    @property
    def goes_between(self):
        """A blocking collective that may run by a schedule between nodes, with which staging is compared."""
        return self.form == "blocking" and ("between", "") in self.words

    @property
    def reduces(self):
        return any(p.name == "op" for p in self.parameters)

    def words_of(self, *names):
        return [(word, rest) for word, rest in self.words if word in names]


def parse_parameter(text, kinds):
    direction = "in"
    for prefix in ("out", "inout"):
        if text.startswith(prefix + ":"):
            direction, text = prefix, text[len(prefix) + 1:]
    name, _, kind = text.partition(":")
    array = name.endswith("[]")
    name = name.removesuffix("[]")
    return Parameter(name, kind or kinds[name], direction, array)


def parse_row(name, row, file, section, kinds):
    parameters = [parse_parameter(text, kinds) for text in row[0].split()]
    words = [tuple(text.partition(" ")[::2]) for text in row[1:]]
    function = Function(name, file["name"], section, parameters, words)
    function.since = dict(words).get("since", "3.1")
    return function


def other_forms(function, forms, kinds):
    """The non-blocking and the persistent form of a collective."""
    for form, (file, section) in forms.items():
        if ("only", "blocking") in function.words:
            continue
        persistent = form == "persistent"
        name = f"{function.name}_init" if persistent else f"I{function.name.lower()}"
        added = ["info", "out:request"] if persistent else ["out:request"]
        parameters = function.parameters + [parse_parameter(text, kinds) for text in added]
        yield Function(name, file, section, parameters, function.words, form, "4.0" if persistent else "3.1")


def large_count_twin(function, types):
    if not any(len(types[p.kind]) == 2 for p in function.parameters):
        return None
    return Function(**{**vars(function), "name": function.name + "_c", "since": "4.0", "large": True})


def read(api):
    """All functions, in the order of the table."""
    for file in api["file"]:
        sections = {key: rows for key, rows in file.items() if key[0].isdigit()}
        for section, rows in sections.items():
            for name, row in rows.items():
                function = parse_row(name, row, file, section, api["kinds"])
                for form in (function, *other_forms(function, file.get("forms", {}), api["kinds"])):
                    yield form
                    if twin := large_count_twin(form, api["types"]):
                        yield twin
