# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's buffers, streams and objects as the arguments of telpher/stream.h (streams.py)."""
from __future__ import annotations

import ctypes
import itertools

from mpi4py import MPI

handle_type = ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
# MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are 1 in MPICH's ABI, and null in Open MPI's and the standard's.
NO_STATUS = ctypes.c_void_p(1 if handle_type is ctypes.c_int else None)


def handle(of):
    return handle_type(MPI._handleof(of))


def handles(objects) -> ctypes.Array:
    return (handle_type * len(objects))(*map(MPI._handleof, objects))


def address_of(owned) -> ctypes.c_void_p:
    """Where an object of mpi4py has its handle, or its status."""
    return ctypes.c_void_p(MPI._addressof(owned))


def ints(values) -> ctypes.Array:
    return (ctypes.c_int * len(values))(*values)


def handle_of_stream(stream) -> ctypes.c_void_p:
    """The vendor's handle, which the stream of a library has by one of these names."""
    protocol = getattr(stream, "__cuda_stream__", None)  # CUDA's Python: (version, handle)
    value = (protocol() if callable(protocol) else protocol)[1] if protocol else stream
    for name in ("cuda_stream", "sycl_queue", "ptr", "handle", "value"):  # PyTorch, the same, CuPy, Numba, ctypes
        value = getattr(value, name, value)
    if value is not None and not isinstance(value, int):
        raise TypeError(f"telpher.streams: {stream!r} is no stream: pass one of CuPy, PyTorch, Numba or CUDA's Python, "
                        "its handle as an integer, or None for the default stream")
    return ctypes.c_void_p(value)


def type_of(array) -> MPI.Datatype:
    """Of the elements of an array that says what they are."""
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        if hasattr(array, interface):
            code = getattr(array, interface)["typestr"]
            break
    else:
        try:
            code = memoryview(array).format
        except TypeError:
            code = "an unknown type"
    try:
        return MPI.Datatype.fromcode(code.lstrip("<|=@"))
    except ValueError:
        raise ValueError(f"telpher.streams: MPI has no type for elements of {code}: name one, as [array, count, "
                         "datatype]") from None


class Buffer:
    """One side of a call, as mpi4py takes it: an array, [array, datatype], [array, count, datatype]; MPI.IN_PLACE; None
    where the rank has no such side. `other`: the other side, whose type stands in where this one has none. What is
    not `written` may be an array that cannot be."""

    def __init__(self, given, other: Buffer | None = None, written: bool = False):
        parts = list(given) if isinstance(given, (list, tuple)) else [given]
        array = parts.pop(0)
        named = parts.pop() if parts and isinstance(parts[-1], MPI.Datatype) else None
        self.more = parts
        self.absent = array is None or array is MPI.IN_PLACE
        if self.absent:
            self.type = named or (other.type if other else MPI.BYTE)
            self.at, self.bytes = ctypes.c_void_p(None if array is None else int(MPI.IN_PLACE)), 0
            return
        self.type = named or type_of(array)
        memory = MPI.buffer.frombuffer(array, readonly=not written)
        self.at, self.bytes = ctypes.c_void_p(memory.address), memory.nbytes

    @property
    def datatype(self):
        return handle(self.type)

    def count(self, blocks: int = 1) -> ctypes.c_int:
        """Elements of each of so many blocks: those that were named, or as many as the array has."""
        if self.more:
            return ctypes.c_int(self.more[0])
        extent = self.type.Get_extent()[1]
        if self.bytes % (extent * blocks):
            raise ValueError(f"telpher.streams: {self.bytes} bytes are not {blocks} blocks of elements of {extent} "
                             "bytes: name the count, as [array, count, datatype]")
        return ctypes.c_int(self.bytes // (extent * blocks))

    def laid_out(self, how: str, blocks: int) -> tuple:
        return self.plain(blocks) if how == "plain" else self.blocks(blocks)

    def plain(self, blocks: int = 1) -> tuple:
        return self.at, self.count(blocks), self.datatype

    def blocks(self, ranks: int) -> tuple:
        """Of a v form: [array, counts], [array, counts, displacements], or the two in a tuple; without displacements
        the blocks follow each other."""
        if self.absent:
            return self.at, ints([0] * ranks), ints([0] * ranks), self.datatype
        more = list(self.more[0]) if len(self.more) == 1 and not isinstance(self.more[0][0], int) else self.more
        if not more or len(more[0]) != ranks:
            raise ValueError(f"telpher.streams: name {ranks} counts, one for each rank, as [array, counts, "
                             "displacements, datatype]")
        starts = more[1] if len(more) > 1 else list(itertools.accumulate(more[0], initial=0))[:-1]
        return self.at, ints(more[0]), ints(starts), self.datatype


def sides(sendbuf, recvbuf) -> tuple[Buffer, Buffer]:
    sent = Buffer(sendbuf)
    received = Buffer(recvbuf, sent, written=True)
    return (Buffer(sendbuf, received) if sent.absent else sent), received
