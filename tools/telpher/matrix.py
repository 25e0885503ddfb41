# SPDX-License-Identifier: BSD-3-Clause
"""`telpher bench matrix`: latency and bandwidth between every two ranks, by copy engine and by kernel.

One run for each path, because a path is chosen when a program starts; tables on stdout, a heat map as HTML."""
import json
import os
import subprocess
import sys
import tempfile

from . import UserError, libraries, report_page

PATHS = {"ipc_get": "copy engine", "batch": "kernel"}
USAGE = """telpher bench matrix [-n N] [--paths ipc_get,batch] [--html FILE] [--json FILE] [options of bench]
telpher bench --once matrix ...   one run, with TELPHER_PATH as it is
  paths are values of the setting TELPHER_PATH, or auto; -s SMALL,LARGE are the two sizes (8,4m)"""


def take(arguments: list, option: str, default: str) -> tuple:
    """(value, the other arguments)"""
    for i, word in enumerate(arguments):
        if word == option:
            if i + 1 == len(arguments):
                raise UserError(f"{option} needs a value")
            return arguments[i + 1], arguments[:i] + arguments[i + 2:]
        if word.startswith(option + "="):
            return word[len(option) + 1:], arguments[:i] + arguments[i + 1:]
    return default, arguments


def measure(path: str, arguments: list, file: str) -> dict:
    telpher = [sys.executable, "-S", "-E", os.path.join(libraries.home(), "bin", "telpher")]
    command = [*telpher, "bench", "--once", "matrix", *arguments, "--json", file]
    code = subprocess.run(command, env=dict(os.environ) | {"TELPHER_PATH": path}).returncode
    if code != 0:
        raise UserError(f"the run with TELPHER_PATH={path} ended with {code}")
    with open(file) as document:
        return json.load(document)


def main(arguments: list) -> int:
    if "--help" in arguments or "-h" in arguments:
        print(USAGE)
        return 0
    paths, arguments = take(arguments, "--paths", ",".join(PATHS))
    page, arguments = take(arguments, "--html", "")
    output, arguments = take(arguments, "--json", "")
    steps = []
    with tempfile.TemporaryDirectory(prefix="telpher-matrix-") as folder:
        for path in paths.split(","):
            print(f"\n{PATHS.get(path, path)} (TELPHER_PATH={path})", flush=True)
            document = measure(path, arguments, os.path.join(folder, "rows.json"))
            steps.append({"name": f"matrix {path}", "command": f"TELPHER_PATH={path} telpher bench matrix", **document})
    if page:
        with open(page, "w") as out:
            out.write(report_page.matrix_page(steps))
        print(f"heat map: {page}")
    if output:
        rows = [{**row, "mode": step["name"].split()[1]} for step in steps for row in step["rows"]]
        with open(output, "w") as out:
            json.dump({"about": steps[0]["about"], "rows": rows}, out, indent=1)
            out.write("\n")
    return 0
