# SPDX-License-Identifier: BSD-3-Clause
"""Where the lines of generated C++ are broken."""
COLUMNS = 100


def break_points(line, opened):
    """Where a line may end, how deep it is nested there (between the branches of a ?: it counts as half
    a bracket more), and the columns of the brackets open there; `opened` are those before the line."""
    opened = list(opened)
    for at, char in enumerate(line):
        if char in "({[":
            opened.append(at + 1)
        elif char in ")}]":
            opened.pop()
        elif char == ",":
            yield at + 1, len(opened), tuple(opened)
        elif line.startswith((" ? ", " : "), at):
            yield at, len(opened) + 0.5, tuple(opened)


def wrap(line, opened=()):
    """Breaks a line that is too long where brackets are nested least, as late as possible."""
    if len(line) <= COLUMNS:
        return [line]
    if ") return " in line:
        condition, result = line.split(") return ")
        return [*wrap(condition + ")"), *wrap("    return " + result)]
    points = [point for point in break_points(line, opened) if point[0] <= COLUMNS and line[:point[0]].strip()]
    best = min(depth for _, depth, _ in points)
    end, _, columns = [point for point in points if point[1] == best][-1]
    column = columns[-1] if columns else len(line) - len(line.lstrip()) + 4
    return [line[:end], *wrap(" " * column + line[end:].lstrip(), columns)]


def braced(head, lines):
    text = wrap(head + " {")
    for line in "\n".join(lines).split("\n"):
        text += wrap("  " + line)
    return [*text, "}"]
