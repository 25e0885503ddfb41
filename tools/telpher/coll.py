# SPDX-License-Identifier: BSD-3-Clause
"""`telpher coll`: schedules of collectives. Passes on to telpher-coll; a machine may be named without its path."""
import os
import sys

from . import UserError, libraries


def machine_file(name: str) -> str:
    if os.path.exists(name):
        return name
    for folder in ("share/telpher/machines", "share/machines"):
        path = os.path.join(libraries.home(), folder, f"{name}.txt")
        if os.path.exists(path):
            return path
    raise UserError(f"no machine {name}: neither a file nor a description in share/machines")


def coll(arguments: list) -> int:
    path = libraries.program("telpher-coll")
    if not path:
        raise UserError(f"telpher-coll is not in {libraries.home()}/bin; build Telpher again")
    if "--help" in arguments or "-h" in arguments:
        arguments = ["--help"]  # one text for all three
    for at, word in enumerate(arguments[:-1]):
        if word == "--machine":
            arguments[at + 1] = machine_file(arguments[at + 1])
    sys.stdout.flush()
    os.execv(path, [path, *arguments])
