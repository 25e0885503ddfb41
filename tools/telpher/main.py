# SPDX-License-Identifier: BSD-3-Clause
"""Which subcommand was asked for. Each module is imported only when its subcommand runs."""
import sys

from . import UserError

USAGE = """telpher run -n N [options] program [arguments]    start a program under Telpher
telpher exec [options] program [arguments]        the wrapper for one rank, for any launcher
telpher info [--json] [--settings]                devices, back ends, host MPIs, settings
telpher bench [-n N] test [options]               measure; arguments go to the bench program
telpher coll list|verify|simulate                 the collectives' algorithms, without a GPU
'telpher SUBCOMMAND --help' says more."""


def main(arguments: list) -> int:
    name = arguments[0] if arguments else "--help"
    rest = arguments[1:]
    try:
        if name == "exec":
            from .execute import execute
            return execute(rest)
        if name == "run":
            from .run import run
            return run(rest)
        if name == "info":
            from .info import info
            return info(rest)
        if name == "bench":
            from .bench import bench
            return bench(rest)
        if name == "coll":
            from .coll import coll
            return coll(rest)
        if name in ("--help", "-h", "help"):
            print(USAGE)
            return 0
        if name == "--version":
            from .libraries import version
            print(version())
            return 0
        raise UserError(f"no subcommand {name}; there are run, exec, info, bench and coll")
    except UserError as error:
        print(f"telpher: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
