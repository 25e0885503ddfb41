#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes generated/, host_mpi/wrapped.def and docs/coverage.md from api.toml, which explains itself. And see stream_f08.

usage: generate.py [--check]

--check writes nothing; it fails if a file differs from what would be written.
"""
import pathlib
import re
import sys
import tomllib
from dataclasses import dataclass, field

import coverage
import stream_f08
from layout import COLUMNS, braced
from table import read

HERE = pathlib.Path(__file__).resolve().parent
BANNER = "// SPDX-License-Identifier: BSD-3-Clause\n// generated from api.toml by generate.py; do not edit\n"
OWN = "own_"  # before the name of an array: Telpher's copy of it
LOCAL_NAME = {"input": "s", "output": "r", "inout": "r", "broadcast": "b"}


# --- C++ text ----------------------------------------------------------------------------------------


def declare(parameter, types, large):
    kind = types[parameter.kind]
    base = kind[-1] if large else kind[0]
    name, out = parameter.name, parameter.direction != "in"
    if parameter.kind == "BUFFER":
        return f"void* {name}" if out else f"const void* {name}"
    if parameter.kind == "STRING" and not out:
        return f"const char* {name}"
    if parameter.array:
        return f"{base} {name}[]" if out else f"const {base} {name}[]"
    return f"{base}* {name}" if out else f"{base} {name}"


def host_call(function, replaced=None):
    replaced = replaced or {}
    names = (replaced.get(p.name, p.name) for p in function.parameters)
    return f"pmpi::{function.name}({', '.join(names)})"


def noting_call(function):
    """The host MPI's call; what it makes of communicators is noted (entry::noting)."""
    made = [p.name for p in function.parameters if p.kind == "COMMUNICATOR" and p.direction == "out"]
    if not made or any(p.kind == "REQUEST" for p in function.parameters):
        return host_call(function)
    return f"entry::noting({host_call(function)}, {made[0]})"


def staged_buffer(function, word, rest):
    """The statement that gives the host MPI a stand-in for a buffer of a collective."""
    buffer, _, region = rest.partition(" ")
    local = LOCAL_NAME[word]
    for place, test in (("at root ", "call.at_root(root)"), ("at leaf ", "root >= 0"),
                        ("at later ", "sendbuf == MPI_IN_PLACE || local_group::rank(comm) > 0")):
        if region.startswith(place):
            region = f"{test} ? coll::{region.removeprefix(place)} : coll::nothing()"
            return buffer, local, [f"{local} = call.{word}({buffer}, {region});"]
    if word == "broadcast":
        return buffer, local, [
            f"const auto data = coll::{region};",
            f"{local} = call.at_root(root) ? const_cast<void*>(call.input({buffer}, data)) "
            f": call.output({buffer}, root >= 0 ? data : coll::nothing());"
        ]
    return buffer, local, [f"{local} = call.{word}({buffer}, coll::{region});"]


def staged_body(function, request="request"):
    timed = ", time" if function.goes_between else ""
    effect = "coll::effect::" + ("reduces" if function.reduces else "moves")
    lines = [f'coll::host_collective call("{function.mpi_name}", {function.communicator}, {effect}{timed});']
    replaced = {"request": request}
    for word, rest in function.words_of("input", "output", "inout", "broadcast"):
        buffer, local, statements = staged_buffer(function, word, rest)
        replaced[buffer] = local
        constant = "const " if word == "input" else ""
        lines += [*statements[:-1], f"{constant}void* {statements[-1]}"]
    run = {"blocking": "run(", "nonblocking": f"start({request}, ", "persistent": f"init({request}, "}[function.form]
    inner = f"return {host_call(function, replaced)};"
    line = f"return call.{run}[&] {{ {inner} }});"
    if len(line) + 4 <= COLUMNS:
        return [*lines, line]
    return [*lines, f"return call.{run}[&] {{", f"  {inner}", "});"]


def left_to_host(function):
    return [f"if ({test}) return {host_call(function)};" for _, test in function.words_of("host")]


def answered(function):
    """Where what a row calls has done the call itself."""
    tests = (test.replace("NAME", f'"{function.mpi_name}"') for _, test in function.words_of("or"))
    return [f"if (int code = 0; {test}) return code;" for test in tests]


def plain_body(function):
    lines = answered(function)
    for word, rest in function.words:
        if word == "first":
            lines.append(f"{rest};")
        elif word == "blocking":
            lines.append("entry::blocking_call guard;")
    after = [f"if (code == MPI_SUCCESS) {rest};" for _, rest in function.words_of("after")]
    if after:
        return [*lines, f"const int code = {noting_call(function)};", *after, "return code;"]
    return [*lines, f"return {noting_call(function)};"]


def file_body(function, way):
    """Reads or writes a file: through host memory where the buffer is device memory."""
    names = [p.name for p in function.parameters]
    call, buffer = f'"{function.mpi_name}"', "const_cast<void*>(buf)" if way == "write" else "buf"
    guard = ["entry::blocking_call guard;"] if ("blocking", "") in function.words else []
    replaced = {"buf": "b", "status": "s"}
    if "count" not in names:  # the second half of a split collective
        parameters, run = "void* b, MPI_Status* s", f"mpi::files::end({call}, fh, {buffer}, status, std::ref(host))"
    elif "status" not in names:
        parameters = "void* b"
        run = "a.start(request, std::ref(host))" if "request" in names else "a.begin(std::ref(host))"
    else:
        at = ("offset", " at") if "offset" in names else ("std::nullopt", "")
        alone = not guard and "shared" not in function.name
        parameters = f"void* b, MPI_Count n, MPI_Datatype t, MPI_Offset{at[1]}, MPI_Status* s"
        run = f"a.{'in_blocks' if alone else 'whole'}({at[0]}, status, std::ref(host))"
        replaced |= {"count": "n" if function.large else "static_cast<int>(n)", "datatype": "t", "offset": "at"}
    lines = [f"const mpi::files::access a{{{call}, fh, mpi::files::direction::{way}, {buffer}, count, datatype}};",
             f"if (!a.on_device()) return {host_call(function)};"] if "count" in names else []
    return [*guard, *lines, f"const auto host = [&]({parameters}) {{",
            f"  return {host_call(function, replaced)};", "};", f"return {run};"]


def access_body(function, verb):
    """A one-sided operation: the host MPI's own call unless a device has to do with it."""
    names = [p.name for p in function.parameters]
    count = "target_count" if "target_count" in names else "1"
    target_type = "target_datatype" if "target_datatype" in names else "datatype"
    fields = [f'"{function.mpi_name}"', f"rma::verb::{verb}", "win", "target_rank", "target_disp", count, target_type]
    replaced = {"target_disp": "s.displacement"}
    for name in ("origin", "result"):
        if f"{name}_addr" not in names:
            continue
        own = f"{name}_count" in names
        field = "result" if verb == "get" else name
        parts = (f"{name}_addr", f"{name}_count", f"{name}_datatype") if own else (f"{name}_addr", "1", "datatype")
        fields.append(f".{field} = {{{', '.join(parts)}}}")
        replaced[f"{name}_addr"] = f"s.{field}"
    if "compare_addr" in names:
        fields.append(".compare = compare_addr")
        replaced["compare_addr"] = "s.compare"
    fields += [f".{name} = {name}" for name in ("op", "request") if name in names]
    first = [".call = ", ".what = ", ".win = ", ".rank = ", ".displacement = ", ".count = ", ".type = "]
    fields[:7] = [name + value for name, value in zip(first, fields[:7], strict=True)]
    return [f"const rma::access a{{{', '.join(fields)}}};", f"if (a.plain()) return {host_call(function)};",
            "return a.run([&](const rma::stand_ins& s) {", f"  return {host_call(function, replaced)};", "});"]


def body(function):
    for word, rest in function.words_of("always", "call"):
        line = f"return {rest};".replace("NAME", f'"{function.mpi_name}"').replace("HOST", host_call(function))
        return [line] if word == "always" else [bypass(function), *left_to_host(function), *answered(function), line]
    for _, way in function.words_of("file"):
        return [bypass(function), *file_body(function, way)]
    for _, verb in function.words_of("access"):
        return [bypass(function), *access_body(function, verb)]
    staged = function.words_of("input", "output", "inout", "broadcast")
    if not staged:
        return [bypass(function), *plain_body(function)]
    if function.form == "nonblocking" and for_devices(function):
        return [bypass(function), *deferred_body(function, "start_collective")]
    if function.form == "persistent" and for_devices(function):
        return [bypass(function), *before_staging(function), *deferred_body(function, "init_collective")]
    return [bypass(function), *before_staging(function), *staged_body(function)]


def for_devices(function):
    return ("devices", "") in function.words


def described(function, terms="coll::exchange"):
    """The call in the terms of coll::exchange, or of another."""
    names = (p.name for p in function.parameters if p.name not in ("comm", "info", "request"))
    name = function.name.removesuffix("_c").lower()
    name = {"blocking": name, "nonblocking": name[1:], "persistent": name.removesuffix("_init")}[function.form]
    return f"{terms}::{name}({', '.join(names)})"


def by_messages(function):
    """A collective that may run as messages."""
    if ("messages", "") not in function.words:
        return []
    verb = {"blocking": "run", "nonblocking": "start", "persistent": "init"}[function.form]
    request = "" if function.form == "blocking" else "request, "
    return [f'if (int code = 0; mpi::by_messages::{verb}("{function.mpi_name}", comm, '
            f'{described(function, "mpi::by_messages")}, {request}&code)) return code;']


def before_staging(function):
    """A blocking collective may run among the devices; others keep the order of those that may."""
    return [*by_messages(function), *before_host(function)]


def before_host(function):
    if function.form != "blocking":
        return ["entry::keep_order(comm);"]
    if not for_devices(function):
        return []
    arguments = ", ".join([*(p.name for p in function.parameters), "&code"])
    name = function.name.removesuffix("_c").lower()
    if function.communicator != "comm":  # of this rank alone
        call = f"coll::exchange::{name}({arguments})"
    elif function.goes_between:
        call = f'mpi::call_collective("{function.mpi_name}", comm, {described(function)}, &code, &time)'
        return ["coll::stopwatch time;", f"if (int code = 0; {call}) return code;"]
    else:
        call = f'coll::exchange::call_blocking("{function.mpi_name}", comm, {described(function)}, &code)'
    return [f"if (int code = 0; {call}) return code;"]


def deferred_body(function, how):
    """A collective with a request that may run among the devices, or in the host MPI later: then with
    types and arrays of its own. The types of such a reduction are predefined."""
    later = function.form == "nonblocking"
    arrays = [p.name for p in function.parameters if p.array and p.kind != "DATATYPE" and later]
    types = [p.name for p in function.parameters if p.kind == "DATATYPE" and later and not function.reduces]
    own = {"comm": "on", **{name: OWN + name for name in types + arrays}}
    staged = (re.sub(r"\w+", lambda word: own.get(word[0], word[0]), f"  {line}")
              for line in staged_body(function, "made"))
    takes = ", ".join([*(f"MPI_Datatype {OWN}{name}" for name in types),
                       *(f"const auto* {OWN}{name}" for name in arrays), "MPI_Comm on", "MPI_Request* made"])
    kept = ", ".join(["staged", f"coll::exchange::types({', '.join(types)})", *arrays])
    form = f"coll::exchange::with_own({kept})" if types or arrays else "staged"
    return [f"const auto staged = [=]({takes}) {{", *staged, "};",
            f'return mpi::{how}("{function.mpi_name}", comm, {described(function)}, {form}, request);']


def bypass(function):
    return f"if (!entry::active()) return {noting_call(function)};" + settling(function)


# Calls without a buffer after which others may read or write what this rank's devices have used.
EXPOSE = re.compile(r"Win_(fence|post|complete|lock|lock_all|unlock|unlock_all|flush.*|sync)$")


# Calls that leave a message behind which the named stream's work comes first (mpi/send.cpp).
SENDS = re.compile(r"I?[sr]?send(_c)?$", re.I)


# Requests that know their buffer when they start.
STARTED_LATER = re.compile(r"[bsrp]?(send|recv)_init(_c)?$", re.I)


def settling(function):
    """Waits for the device's work on the buffers, where TELPHER_SYNC or a named stream asks for it. Of
    persistent operations the start does so, and MPI_Pready (mpi/requests.cpp, mpi/partitioned.cpp); of
    collectives both do, as a start knows no buffers and waits for devices that were seen."""
    window = function.name.removesuffix("_c") in ("Win_create", "Win_attach")
    buffers = [p.name for p in function.parameters if p.kind == "BUFFER" or window and p.name == "base"]
    if STARTED_LATER.match(function.name) or not buffers and not EXPOSE.match(function.name):
        return ""
    comm = "comm" if any(p.name == "comm" for p in function.parameters) else "MPI_COMM_NULL"
    if SENDS.match(function.name):
        return f"\nif (stream::must_settle()) [[unlikely]] stream::settle_send({comm}, {buffers[0]});"
    return f"\nif (stream::must_settle()) [[unlikely]] stream::settle({comm}, {{{', '.join(buffers)}}});"


def requests_of(function):
    """What a function completes or starts, as the arguments of requests::known; empty if nothing."""
    for p in function.parameters:
        if p.kind == "REQUEST" and p.direction != "out":
            if p.array:
                return f"{function.parameters[0].name}, {p.name}"
            return f"1, {'&' if p.direction == 'in' else ''}{p.name}"
    return ""


def quick_body(function):
    """What comes before all else, where a row says so or the call may be a collective of host memory alone;
    the rest is in another function then."""
    rest = f"return slow_{function.name}({', '.join(p.name for p in function.parameters)});"
    for _, text in function.words_of("quick"):
        test, _, run = text.partition(" => ")
        return [f"if ({test}) [[likely]]", f"  return {run or host_call(function)};", rest]
    among_devices = for_devices(function) and function.communicator == "comm" and not by_messages(function)
    if function.form == "blocking" and among_devices:
        buffers = ", ".join(p.name for p in function.parameters if p.kind == "BUFFER")
        return [f"if (coll::exchange::left_to_host(comm, {{{buffers}}})) [[likely]] {{",
                "  entry::blocking_call guard;", f"  return {host_call(function)};", "}", rest]
    return []


def wrapper(function, types):
    """The body behind a function's two names, by the macros of names.hpp."""
    signature = ", ".join(declare(p, types, function.large) for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    head = f"{function.name}, ({signature}), ({arguments})"
    if requests := requests_of(function):
        head = f"TELPHER_MPI_OF_REQUESTS({head}, ({requests}))"
    else:
        head = f"TELPHER_MPI({head})"
    section = f"// {function.section}"
    if quick := quick_body(function):
        slow = braced(f"[[gnu::noinline]] static int slow_{function.name}({signature})", body(function))
        return "\n".join([section, *slow, *braced(head, quick)])
    return "\n".join([section, *braced(head, body(function))])


# --- files -------------------------------------------------------------------------------------------


@dataclass
class Unit:
    """One generated file."""
    title: str
    include: list
    using: list
    functions: list = field(default_factory=list)


def guarded(functions, types):
    """The wrapper of each, of newer standards between guards that ask whether the host MPI has it."""
    groups = {}
    for function in functions:
        groups.setdefault((function.large, function.since), []).append(function)
    for (large, since), members in sorted(groups.items()):
        text = "\n\n".join(wrapper(f, types) for f in members)
        if since == "3.1":
            yield text
        else:
            why = "large counts, MPI 4.0" if large else f"MPI {since}"
            guard = f"TELPHER_HOST_HAS_{members[0].name}"
            yield f"#if {guard}  // {why}\n\n{text}\n\n#endif  // {guard}"


def render(unit, types):
    always = {"mpi/entry.hpp", "mpi/names.hpp", "stream/settle.hpp"}
    includes = "\n".join(f'#include "{name}"' for name in sorted(always | set(unit.include)))
    using = "\n".join(["using namespace telpher;", *(f"using {name};" for name in unit.using)])
    wrappers = "\n\n".join(guarded(unit.functions, types))
    head = f"{BANNER}// {unit.title},\n// in the sections of MPI 4.0.\n{includes}\n\n{using}\n\n"
    return f'{head}extern "C" {{\n\n{wrappers}\n\n}}  // extern "C"\n'


def outputs(api):
    """Path and text of each file."""
    units, listed = {}, []
    for file in api["file"]:
        names = [file["name"], *(name for name, _ in file.get("forms", {}).values())]
        for name in names:
            units.setdefault(name, Unit(file["title"], file["include"], file.get("using", [])))
    functions = list(read(api))
    for function in functions:
        units[function.file].functions.append(function)
        listed.append(f"TELPHER_PMPI({function.name})\n")
    files = {HERE / "generated" / f"{name}.cpp": render(unit, api["types"]) for name, unit in units.items()}
    files[HERE.parent / "host_mpi" / "wrapped.def"] = (
        BANNER + "// PMPI functions that Telpher wraps. Those it only calls are in used.def.\n\n" + "".join(listed))
    files[coverage.ROOT / "docs" / "coverage.md"] = coverage.render(functions, api)
    return files | stream_f08.outputs(coverage.ROOT / "include" / "telpher", HERE / "generated")


def main(arguments):
    api = tomllib.loads((HERE / "api.toml").read_text())
    files = outputs(api)
    if arguments == ["--check"]:
        drifted = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
        drifted += set((HERE / "generated").glob("*.cpp")) - set(files)
        for path in drifted:
            print(f"{path} differs from what api.toml or stream.h gives; run {HERE / 'generate.py'}")
        return 1 if drifted else 0
    for path in set((HERE / "generated").glob("*.cpp")) - set(files):
        path.unlink()
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
