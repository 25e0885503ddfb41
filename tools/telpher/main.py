# SPDX-License-Identifier: BSD-3-Clause
"""Which subcommand was asked for. Each module is imported only when its subcommand runs."""
import importlib
import json
import sys

from . import UserError

USAGE = """telpher run -n N [options] program [arguments]    start a program under Telpher
telpher exec [options] program [arguments]        the wrapper for one rank, for any launcher
telpher info [--json] [--settings [--all]]        devices, back ends, host MPIs, settings
telpher doctor [--json] [-n N] [options]          is everything in order here, and what to do if not
telpher bench [-n N] test [options]               measure; arguments go to the bench program
telpher coll list|verify|simulate [--json]        the collectives' algorithms, without a GPU
telpher bench matrix | compare a.json b.json      every pair of ranks; two measurements against each other
telpher tune [-n N,N] [options]                   measure what is fastest here, write a table that is then used
telpher report [-n N] [-o FOLDER]                 measure a set of benchmarks, write one HTML page and PNGs
telpher trace -n N program [arguments]            a timeline of messages and collectives
telpher --version [--json]                        version and commit
'telpher SUBCOMMAND --help' says more."""

# The module of a subcommand has a function of its own name that takes the arguments.
MODULES = {"run": "run", "exec": "execute", "info": "info", "doctor": "doctor", "bench": "bench", "coll": "coll",
           "report": "report", "tune": "tune", "trace": "trace"}


def main(arguments: list) -> int:
    name = arguments[0] if arguments else "--help"
    try:
        if name in MODULES:
            module = importlib.import_module("." + MODULES[name], __package__)
            return getattr(module, MODULES[name])(arguments[1:])
        if name in ("--help", "-h", "help"):
            print(USAGE)
            return 0
        if name == "--version":
            from . import libraries
            parts = {"version": libraries.version(), "commit": libraries.commit()}
            print(json.dumps(parts) if arguments[1:] == ["--json"] else libraries.describe_version())
            return 0
        raise UserError(f"no subcommand {name}; there are {', '.join(MODULES)}")
    except UserError as error:
        print(f"telpher: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
