# SPDX-License-Identifier: BSD-3-Clause
"""As much of an ELF file as it takes to know what it is linked with: its type, its own name and those it needs."""
from __future__ import annotations

import os
import struct

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_SONAME = 1, 5, 14


def is_elf(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def _segments(data: bytes):
    if data[4] != 2 or data[5] != 1:
        return  # only 64-bit little-endian machines have the GPUs in question
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, position, address, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        yield kind, position, address, length


def _strings(path: str, wanted: int) -> list | None:
    """The strings of one kind in the dynamic section; None where there is no such section."""
    with open(path, "rb") as file:
        data = file.read()
    segments = list(_segments(data))
    dynamic = next((s for s in segments if s[0] == PT_DYNAMIC), None)
    if dynamic is None:
        return None
    names, table = [], None
    for at in range(dynamic[1], dynamic[1] + dynamic[3], 16):
        tag, value = struct.unpack_from("<QQ", data, at)
        if tag == wanted:
            names.append(value)
        elif tag == DT_STRTAB:
            table = value
        elif tag == 0:
            break
    for kind, position, address, length in segments:
        if kind == PT_LOAD and table is not None and address <= table < address + length:
            base = table - address + position
            return [data[base + n:data.index(b"\0", base + n)].decode() for n in names]
    return []


def needed(path: str) -> list | None:
    """The libraries a file asks for; None where it is linked statically."""
    return _strings(path, DT_NEEDED)


def soname(path: str) -> str:
    """The name that a library calls itself, whatever its file is called; "" if none."""
    return next(iter(_strings(path, DT_SONAME) or []), "")


def resolved(path: str) -> dict:
    """Every library that the loader would map for a program, name to file ('' where not found)."""
    import subprocess
    try:
        text = subprocess.run(["ldd", path], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    found = {}
    for line in text.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow:
            target = rest.split(" (")[0].strip()
            found[os.path.basename(name)] = "" if target == "not found" else target
    for name in needed(path) or []:
        found.setdefault(name, "")
    return found
