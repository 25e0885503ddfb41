# SPDX-License-Identifier: BSD-3-Clause
"""`telpher bench compare a.json b.json`: two measurements row by row; exit code 1 if the second is slower."""
import argparse
import json

from . import UserError

KEY = ("test", "bytes", "kinds", "mode", "from", "to")
SAME = ("machine", "cpu", "ranks", "backend", "device_name", "mpi")


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("telpher bench compare", description=__doc__)
    p.add_argument("before", metavar="a.json")
    p.add_argument("after", metavar="b.json")
    p.add_argument("--threshold", type=float, default=0.1, metavar="PART",
                   help="ratios further than this from 1 are flagged (%(default)s)")
    p.add_argument("--best", action="store_true", help="compare the best batches and not the medians")
    p.add_argument("--mode", default="", help="only rows of this mode, e.g. telpher")
    p.add_argument("--flagged", action="store_true", help="print flagged rows only")
    p.add_argument("--json", action="store_true", help="one JSON object, with all rows")
    return p


def read(path: str) -> dict:
    try:
        with open(path) as file:
            document = json.load(file)
        return {"about": document["about"], "rows": document["rows"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is no result of telpher bench --json: {error}") from None


def keyed(document: dict, mode: str) -> dict:
    """Rows by what they are of; the n-th of equal ones is kept apart."""
    found, seen = {}, {}
    for row in document["rows"]:
        if mode and row["mode"] != mode:
            continue
        key = tuple(row.get(name) for name in KEY)
        seen[key] = seen.get(key, 0) + 1
        found[(*key, seen[key])] = row
    return found


def verdict(ratio: float, threshold: float) -> str:
    return "SLOWER" if ratio > 1 + threshold else "faster" if ratio < 1 / (1 + threshold) else ""


def compare(before: dict, after: dict, options) -> list:
    """(row, time before, time after, ratio, verdict) of rows that both have."""
    field = "us_min" if options.best else "us"
    old, new = keyed(before, options.mode), keyed(after, options.mode)
    lines = []
    for key, row in new.items():
        if key in old and old[key][field] > 0:
            ratio = row[field] / old[key][field]
            lines.append((row, old[key][field], row[field], ratio, verdict(ratio, options.threshold)))
    return lines


def name(row: dict) -> str:
    between = f" {row['from']}>{row['to']}" if "from" in row else ""
    return f"{row['test']}{between} {row['kinds']} {row['mode']}"


def main(arguments: list) -> int:
    options = parser().parse_args(arguments)
    if options.threshold < 0:
        raise UserError(f"--threshold {options.threshold}: a part of 1, such as 0.1")
    before, after = read(options.before), read(options.after)
    lines = compare(before, after, options)
    if not lines:
        raise UserError(f"{options.before} and {options.after} have no row in common")
    counted = {
        "slower": sum(line[4] == "SLOWER" for line in lines),
        "faster": sum(line[4] == "faster" for line in lines),
        "wrong": sum(line[0].get("validated") is False for line in lines),
    }
    pairs = {key: [one["about"].get(key) for one in (before, after)] for key in SAME}
    differs = {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
    if options.json:
        rows = [{**row, "us_before": old, "us_after": new, "ratio": ratio} for row, old, new, ratio, _ in lines]
        print(json.dumps({**counted, "differs": differs, "rows": rows}, indent=1))
    else:
        print_lines(differs, lines, counted, options)
    return 1 if counted["slower"] or counted["wrong"] else 0


def print_lines(differs: dict, lines: list, counted: dict, options) -> None:
    for key, (old, new) in differs.items():
        print(f"# {key} differs: {old} | {new}")
    width = max(len(name(line[0])) for line in lines)
    print(f"# {'row':{width}} {'bytes':>9} {'before us':>12} {'after us':>12} {'ratio':>7}")
    for row, old, new, ratio, flag in lines:
        if flag or not options.flagged:
            print(f"  {name(row):{width}} {row['bytes']:9} {old:12.2f} {new:12.2f} {ratio:7.2f} {flag}".rstrip())
    print(f"{len(lines)} rows: {counted['slower']} slower, {counted['faster']} faster "
          f"by more than {options.threshold:.0%}"
          + (f"; {counted['wrong']} WRONG" if counted["wrong"] else ""))
