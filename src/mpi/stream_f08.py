# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran interface of telpher/stream.h, made from its prototypes: a module of interfaces alone, whose
functions take what mpi_f08 passes, by address, and the C++ that calls C's functions with it (mpi/f08.hpp)."""
import re
import textwrap
from dataclasses import dataclass

from layout import braced

PROTOTYPE = re.compile(r"^int (telpher_\w+)\(([^;]*)\);", re.M)
PARAMETER = re.compile(r"(const )?(?:struct )?(\w+)\s*(\**) ?(\w+)(\[\])?")
# It asks and has no error of its own: Fortran calls C's function.
ANSWERS = "telpher_stream_status"
HANDLES = {"MPI_Comm": "comm", "MPI_Datatype": "type", "MPI_Op": "op", "MPI_Request": "request"}


@dataclass
class Parameter:
    name: str
    type: str
    stars: str
    const: bool
    array: bool


@dataclass
class Passed:
    """One parameter: its declaration in Fortran, as the C++ function takes it, and what that passes on."""
    fortran: str
    takes: str
    passes: str


def parameters(text):
    for const, kind, stars, name, array in PARAMETER.findall(text):
        yield Parameter(name, kind, stars, bool(const), bool(array))


def passed(p, function):
    """A kind of parameter that is not here ends the generator."""
    array = ", dimension(*)" if p.array else ""
    number = "*count" if p.array else "1"
    if p.name == "stream" and p.stars == "*":
        return Passed("type(c_ptr), value", "void* stream", "stream")
    if p.stars == "**":
        const, direction = ("const ", "out") if p.const else ("", "inout")
        return Passed(f"type(c_ptr), intent({direction})", f"{const}{p.type}** {p.name}", p.name)
    if p.type == "void":
        const, intent = ("const ", ", intent(in)") if p.const else ("", "")
        return Passed(f"type(*), dimension(*){intent}, asynchronous", f"{const}void* {p.name}",
                      f"f08::buffer({p.name})")
    if p.name == "flag":
        return Passed("logical(c_bool), intent(out)", "bool* flag", "f08::flag(flag)")
    if p.type in ("int", "MPI_Aint"):
        kind = "c_int" if p.type == "int" else "c_intptr_t"
        return Passed(f"integer({kind}){array}, intent(in)", f"const {p.type}* {p.name}",
                      p.name if p.array else f"*{p.name}")
    if p.type == "MPI_Status":
        return Passed(f"type(MPI_Status){array}, asynchronous", f"MPI_Status* {p.name}", f"f08::status({p.name})")
    if p.type == "MPI_Request" and (p.array or p.stars):
        const, direction = ("const ", "in") if p.const else ("", "inout" if "wait" in function else "out")
        maker = {"in": "requests", "inout": "own_requests", "out": "new_request"}[direction]
        arguments = p.name if direction == "out" else f"{p.name}, {number}"
        return Passed(f"type(MPI_Request){array}, intent({direction})", f"{const}MPI_Fint* {p.name}",
                      f"f08::{maker}({arguments}).data()")
    handle = HANDLES[p.type]
    value = f"f08::{handle}({p.name})"
    if p.array:
        value = f"f08::types({p.name}, {length(p, function)}).data()"
    return Passed(f"type({p.type}){array}, intent(in)", f"const MPI_Fint* {p.name}", value)


def length(p, function):
    """Of an array of types: how many ranks the call sends to, or receives from."""
    sends = p.name.startswith("send")
    if "neighbor" in function:
        return f"mpi::degrees(f08::comm(comm)).{'out' if sends else 'in'}"
    return "f08::sends(sendbuf, comm)" if sends else "mpi::peers_of(f08::comm(comm))"


def wrapped(line, indent):
    """A line of Fortran, continued where it is too long."""
    lines = textwrap.wrap(line, 116, initial_indent=indent, subsequent_indent=indent + "    ", break_on_hyphens=False)
    return " &\n".join(lines)


def interface(name, members):
    """The declaration for Fortran; parameters of one kind that stand together share a line."""
    names = ", ".join(p.name for p, _ in members)
    if name == ANSWERS:
        head, end = f"integer(c_int) function {name}({names}) bind(C)", "end function"
    else:
        head = f'subroutine {name}({names}, ierror) bind(C, name="{bound(name)}")'
        end = "end subroutine"
    lines = [wrapped(head, "    "), "      import"]
    if buffers := ", ".join(p.name for p, _ in members if p.type == "void" and p.name != "stream"):
        lines += [f"      !DIR$ IGNORE_TKR {buffers}", f"      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {buffers}"]
    groups = []
    for p, kind in members:
        if groups and groups[-1][0] == kind.fortran:
            groups[-1][1].append(p.name)
        else:
            groups.append((kind.fortran, [p.name]))
    if name != ANSWERS:
        groups.append(("integer(c_int), optional, intent(out)", ["ierror"]))
    lines += [f"      {kind} :: {', '.join(names)}" for kind, names in groups]
    return "\n".join([*lines, f"    {end}"])


def bound(name):
    return name.replace("telpher_", "telpher_f08_", 1)


def definition(name, members):
    takes = ", ".join([*(kind.takes for _, kind in members), "int* ierror"])
    passes = ", ".join(kind.passes for _, kind in members)
    body = [f'f08::call("{name}", ierror, [&] {{', f"  return {name}({passes});", "});"]
    return "\n".join(braced(f"void {bound(name)}({takes})", body))


MODULE = '''! SPDX-License-Identifier: BSD-3-Clause
! generated from stream.h by src/mpi/generate.py; do not edit
!
! The calls of telpher/stream.h for programs with mpi_f08: compile this with the program, and link
! libtelpher-<abi>.so. A stream is a type(c_ptr). Buffers are passed by address and must be contiguous.
! docs/use/streams.md, "From Fortran", has an example.
module telpher_f08
  use, intrinsic :: iso_c_binding, only: c_bool, c_int, c_intptr_t, c_ptr
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Status
  implicit none
  private :: c_bool, c_int, c_intptr_t, c_ptr, MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Status

  interface
{interfaces}
  end interface
end module telpher_f08
'''

UNIT = '''// SPDX-License-Identifier: BSD-3-Clause
// generated from stream.h by generate.py; do not edit
// The functions of include/telpher/telpher_f08.f90. Not for the standard ABI: there was no mpi_f08 to try it with.
#ifndef MPI_ABI
#include "mpi/f08.hpp"

using namespace telpher;

extern "C" {{

#pragma GCC visibility push(default)

{definitions}

#pragma GCC visibility pop

}}  // extern "C"
#endif
'''


def outputs(headers, generated):
    """Path and text of the module and of the C++."""
    functions = []
    for name, text in PROTOTYPE.findall((headers / "stream.h").read_text()):
        functions.append((name, [(p, passed(p, name)) for p in parameters(text)]))
    interfaces = "\n\n".join(interface(*f) for f in functions)
    definitions = "\n\n".join(definition(*f) for f in functions if f[0] != ANSWERS)
    return {headers / "telpher_f08.f90": MODULE.format(interfaces=interfaces),
            generated / "streams_f08.cpp": UNIT.format(definitions=definitions)}
