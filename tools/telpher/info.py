# SPDX-License-Identifier: BSD-3-Clause
"""`telpher info`: what is here. Device facts and settings come from telpher-probe, which asks the back ends."""
import argparse
import json
import os
import platform
import subprocess

from . import UserError, devices, host_mpi, libraries, tables, visibility

PROBE_S = 60


def probe(backend: str) -> dict:
    """What telpher-probe prints, or {'problem': why there is nothing}."""
    path = libraries.program("telpher-probe")
    if not path:
        return {"problem": f"telpher-probe is not in {libraries.home()}/bin; build Telpher again"}
    environment = dict(os.environ) | ({"TELPHER_BACKEND": backend} if backend else {})
    try:
        answer = subprocess.run([path], capture_output=True, text=True, timeout=PROBE_S, env=environment)
        return json.loads(answer.stdout) if answer.returncode == 0 else {
            "problem": f"telpher-probe ended with {answer.returncode}: {answer.stderr.strip()[-300:]}"}
    except subprocess.TimeoutExpired:
        return {"problem": f"telpher-probe gave no answer within {PROBE_S} s (a vendor's driver that hangs?)"}
    except (OSError, ValueError) as error:
        return {"problem": f"telpher-probe: {error}"}


# What no preloaded library can see.
BYPASSED = ("functions that a program takes by dlopen and dlsym from the MPI library's own handle (ctypes, Julia's "
            "ccall); take them from telpher_symbol of telpher.h")


def host_facts() -> dict:
    model = ""
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"name": platform.node(), "system": f"{platform.system()} {platform.release()}", "cpu": model,
            "cpus": os.cpu_count(), "usable_cpus": len(os.sched_getaffinity(0)),
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}


def visible() -> dict:
    """What the kernel shows and what the variables in force leave of it."""
    there = devices.all_devices(os.environ.get("TELPHER_BACKEND", "auto"))
    left = visibility.allowed(there, os.environ)
    return {"vendor": there[0].vendor if there else "", "devices": len(there), "tokens": [d.token for d in left],
            "variables": visibility.in_force(os.environ)}


def gather(backend: str) -> dict:
    facts = probe(backend)
    return {"version": libraries.describe_version(), "home": libraries.home(), "host": host_facts(),
            "visibility": visible(), "libraries": libraries.present(),
            "mpis": [vars(m) for m in host_mpi.installed()],
            "not_seen": BYPASSED,
            "tables": tables.found(facts.get("machine", [])), **facts}


def gigabytes(count: int) -> str:
    return f"{count / 2 ** 30:.1f} GiB"


def print_backend(backend: dict) -> None:
    print(f"back end  {backend['name']}, {len(backend['devices'])} devices")
    for number, device in enumerate(backend["devices"]):
        place = f", PCI {device['bus']}" if device.get("bus") else ""
        node = f", NUMA node {device['numa_node']}" if device.get("numa_node", -1) >= 0 else ""
        print(f"  {number}: {device.get('name', device.get('error'))}, {gigabytes(device.get('memory', 0))}"
              f", {device.get('processors', '?')} processors{place}{node}")
    kinds: dict[str, list[str]] = {}
    for pair in backend["pairs"]:
        if pair["from"] < pair["to"]:
            what = f"{pair['distance']}, {'direct access' if pair['peer'] else 'no direct access: staged'}"
            kinds.setdefault(what, []).append(f"{pair['from']}-{pair['to']}")
    for what, pairs in kinds.items():
        print(f"  {'all pairs' if len(kinds) == 1 else 'pairs ' + ' '.join(pairs)}: {what}")


def print_visibility(seen: dict) -> None:
    if seen["vendor"]:
        shown = ",".join(seen["tokens"]) or "none"
        print(f"devices   {seen['devices']} in the system for {seen['vendor']}; shown to this process: {shown}")
    if seen["variables"]:
        print("          by " + ", ".join(f"{name}={value}" for name, value in seen["variables"].items()))


def print_tables(facts: dict) -> None:
    """Which of them is in force depends on the program's MPI, whose library knows its release."""
    fitting = [one for one in facts["tables"] if not one["problem"]]
    for one in fitting:
        print(f"table     {one['file']}, in force with {one['mpi']}")
    for one in facts["tables"]:
        if one["problem"]:
            print(f"table     {one['file']} is not for here: {one['problem']}")
    if not fitting:
        print("table     built-in; telpher tune makes one for this machine")


def print_settings(facts: dict, everything: bool) -> None:
    rows = facts.get("settings", [])
    def is_shown(row: dict) -> bool:
        wanted = row["for"] != "tests" if everything else row["for"] == "users"
        return wanted or row["origin"] != "default"

    for row in filter(is_shown, rows):
        print(f"  {row['name']:22} {row['value'] or '(empty)':12} {row['origin']:12} {row['help']}"
              + (f" [{row['allowed']}]" if row["allowed"] else ""))
    left_out = sum(row["for"] != "tests" and not is_shown(row) for row in rows)
    if left_out:
        print(f"  ... and {left_out} for experts, all by default: telpher info --settings --all")


def print_text(facts: dict, settings: bool, everything: bool) -> None:
    host = facts["host"]
    print(f"Telpher   {facts['version']} in {facts['home']}")
    print(f"host      {host['name']}, {host['system']}, {host['cpus']} CPUs ({host['usable_cpus']} usable), "
          f"{gigabytes(host['memory'])}, {host['cpu']}")
    print(f"libraries {', '.join(facts['libraries']) or 'none'}")
    for mpi in facts["mpis"]:
        print(f"host MPI  {host_mpi.HostMpi(**mpi).describe()}")
    if not facts["mpis"]:
        print("host MPI  no mpicc in PATH; telpher run finds the MPI that a program links")
    print(f"not seen  {facts['not_seen']}")
    print_visibility(facts["visibility"])
    for backend in facts.get("backends", []):
        print_backend(backend)
    for reason in facts.get("absent", []):
        print(f"missing   {reason}")
    if "problem" in facts:
        print(f"devices   unknown: {facts['problem']}")
    print_tables(facts)
    for text in facts.get("problems", []):
        print(f"setting   {text}")
    changed = [row for row in facts.get("settings", []) if row["origin"] != "default"]
    if settings:
        print("settings")
        print_settings(facts, everything)
    elif changed:
        print("settings  " + ", ".join(f"{row['name']}={row['value']}" for row in changed) + " (environment)")


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser("telpher info", description=__doc__)
    p.add_argument("--json", action="store_true", help="one JSON object")
    p.add_argument("--settings", action="store_true", help="settings for users, and those that are set")
    p.add_argument("--all", action="store_true", help="every setting but those for tests")
    p.add_argument("--backend", default="", help="ask this back end, e.g. emu")
    return p


def info(arguments: list) -> int:
    options = parser().parse_args(arguments)
    facts = gather(options.backend)
    if options.backend and "problem" in facts:
        raise UserError(facts["problem"])
    if options.json:
        print(json.dumps(facts, indent=1))
    else:
        print_text(facts, options.settings or options.all, options.all)
    return 0
