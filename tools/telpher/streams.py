# SPDX-License-Identifier: BSD-3-Clause
"""MPI in the order of a device's streams, for mpi4py 4: what telpher/stream.h is for C (rules: docs/use/streams.md).

    from mpi4py import MPI
    from telpher import streams

    ordered = streams.StreamComm(MPI.COMM_WORLD, stream)
    ordered.Allreduce(gradient, total, op=MPI.SUM)    # returns at once; the stream goes on when the sum is there

Telpher must be in the process (telpher run, telpher exec, telpher.preload()). A stream is one of CuPy, PyTorch, Numba
or CUDA's Python, its handle as an integer, or None for the default stream. Methods have the names of mpi4py's and take
the same buffers. An array must live until the stream has passed the operation, as for every kernel. If its memory comes
from an allocator in the order of the same stream (CuPy's and PyTorch's are), it may be dropped at once; Numba's arrays
and others whose end is a cudaFree may not, because that waits for the device. Errors that a call finds are raised as
MPI.Exception, those that come later are status()'s.
"""
from __future__ import annotations

import ctypes

from mpi4py import MPI

from . import UserError
from .stream_buffers import NO_STATUS, Buffer, address_of, handle, handle_of_stream, handle_type, handles, ints, sides

_library = ctypes.CDLL(None)


def _code_of(name: str, *arguments) -> int:
    function = getattr(_library, "telpher_" + name, None)
    if function is None:
        raise UserError("telpher.streams: Telpher is not in this process: start it with telpher run or telpher exec, "
                        "or call telpher.preload() before anything imports mpi4py.MPI")
    return function(*arguments)


def _call(name: str, *arguments) -> None:
    if code := _code_of(name, *arguments):
        raise MPI.Exception(code)


def _status(wanted):
    return NO_STATUS if wanted is None else address_of(wanted)


class Request(MPI.Request):
    """Of Isend and Irecv; keeps their array."""

    array = None


class StreamComm:
    """A communicator whose calls are enqueued in a stream, as by the functions of telpher/stream.h. `stream` may be a
    function that returns one, such as torch.cuda.current_stream, which is then asked at each call."""

    def __init__(self, comm: MPI.Comm, stream=None):
        self.comm, self.stream = comm, stream

    def _enqueue(self, name: str, *arguments) -> None:
        stream = self.stream() if callable(self.stream) else self.stream
        _call(name + "_enqueue", *arguments, handle_of_stream(stream))

    # --- point to point ---

    def Send(self, buf, dest: int, tag: int = 0) -> None:
        self._enqueue("send", *Buffer(buf).plain(), dest, tag, handle(self.comm))

    def Recv(self, buf, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG, status: MPI.Status | None = None) -> None:
        array = Buffer(buf, written=True)
        self._enqueue("recv", *array.plain(), source, tag, handle(self.comm), _status(status))

    def Sendrecv(self, sendbuf, dest: int, sendtag: int = 0, recvbuf=None, source: int = MPI.ANY_SOURCE,
                 recvtag: int = MPI.ANY_TAG, status: MPI.Status | None = None) -> None:
        sent, received = Buffer(sendbuf), Buffer(recvbuf, written=True)
        self._enqueue("sendrecv", *sent.plain(), dest, sendtag, *received.plain(), source, recvtag, handle(self.comm),
                      _status(status))

    def Isend(self, buf, dest: int, tag: int = 0) -> Request:
        return self._begin("isend", buf, False, dest, tag)

    def Irecv(self, buf, source: int = MPI.ANY_SOURCE, tag: int = MPI.ANY_TAG) -> Request:
        return self._begin("irecv", buf, True, source, tag)

    def _begin(self, name: str, buf, written: bool, peer: int, tag: int) -> Request:
        request = Request()
        request.array = buf
        self._enqueue(name, *Buffer(buf, written=written).plain(), peer, tag, handle(self.comm), address_of(request))
        return request

    # --- requests ---

    def Wait(self, request: MPI.Request, status: MPI.Status | None = None) -> None:
        self._enqueue("wait", address_of(request), _status(status))

    def Waitall(self, requests: list[MPI.Request]) -> None:
        all_of_them = handles(requests)
        try:
            self._enqueue("waitall", len(requests), all_of_them, NO_STATUS)
        finally:  # those of Isend and Irecv are null now
            for i, request in enumerate(requests):
                handle_type.from_address(MPI._addressof(request)).value = all_of_them[i]

    def Start(self, request: MPI.Prequest) -> None:
        self._enqueue("start", handle(request))

    def Startall(self, requests: list[MPI.Prequest]) -> None:
        self._enqueue("startall", len(requests), handles(requests))

    def Pready(self, partition: int, request: MPI.Prequest) -> None:
        self._enqueue("pready", partition, handle(request))

    # --- collectives ---

    def Barrier(self) -> None:
        self._enqueue("barrier", handle(self.comm))

    def Bcast(self, buf, root: int = 0) -> None:
        array = Buffer(buf, written=self.comm.rank != root)
        self._enqueue("bcast", *array.plain(), root, handle(self.comm))

    def _move(self, name: str, sendbuf, sent: tuple, recvbuf, received: tuple, *root: int) -> None:
        """`sent` and `received`: how each side is laid out, and for how many ranks it has blocks."""
        side, other = sides(sendbuf, recvbuf)
        self._enqueue(name, *side.laid_out(*sent), *other.laid_out(*received), *root, handle(self.comm))

    def Gather(self, sendbuf, recvbuf, root: int = 0) -> None:
        self._move("gather", sendbuf, ("plain", 1), recvbuf, ("plain", self.comm.size), root)

    def Gatherv(self, sendbuf, recvbuf, root: int = 0) -> None:
        self._move("gatherv", sendbuf, ("plain", 1), recvbuf, ("blocks", self.comm.size), root)

    def Scatter(self, sendbuf, recvbuf, root: int = 0) -> None:
        self._move("scatter", sendbuf, ("plain", self.comm.size), recvbuf, ("plain", 1), root)

    def Scatterv(self, sendbuf, recvbuf, root: int = 0) -> None:
        self._move("scatterv", sendbuf, ("blocks", self.comm.size), recvbuf, ("plain", 1), root)

    def Allgather(self, sendbuf, recvbuf) -> None:
        self._move("allgather", sendbuf, ("plain", 1), recvbuf, ("plain", self.comm.size))

    def Allgatherv(self, sendbuf, recvbuf) -> None:
        self._move("allgatherv", sendbuf, ("plain", 1), recvbuf, ("blocks", self.comm.size))

    def Alltoall(self, sendbuf, recvbuf) -> None:
        self._move("alltoall", sendbuf, ("plain", self.comm.size), recvbuf, ("plain", self.comm.size))

    def Alltoallv(self, sendbuf, recvbuf) -> None:
        self._move("alltoallv", sendbuf, ("blocks", self.comm.size), recvbuf, ("blocks", self.comm.size))

    def Neighbor_allgather(self, sendbuf, recvbuf) -> None:
        self._move("neighbor_allgather", sendbuf, ("plain", 1), recvbuf, ("plain", self.comm.indegree))

    def Neighbor_allgatherv(self, sendbuf, recvbuf) -> None:
        self._move("neighbor_allgatherv", sendbuf, ("plain", 1), recvbuf, ("blocks", self.comm.indegree))

    def Neighbor_alltoall(self, sendbuf, recvbuf) -> None:
        self._move("neighbor_alltoall", sendbuf, ("plain", self.comm.outdegree), recvbuf, ("plain", self.comm.indegree))

    def Neighbor_alltoallv(self, sendbuf, recvbuf) -> None:
        self._move("neighbor_alltoallv", sendbuf, ("blocks", self.comm.outdegree), recvbuf,
                   ("blocks", self.comm.indegree))

    def _reduce(self, name: str, sendbuf, recvbuf, op: MPI.Op, *root: int) -> None:
        sent, received = sides(sendbuf, recvbuf)
        whole = sent if received.absent else received
        self._enqueue(name, sent.at, received.at, whole.count(), whole.datatype, handle(op), *root, handle(self.comm))

    def Reduce(self, sendbuf, recvbuf, op: MPI.Op = MPI.SUM, root: int = 0) -> None:
        self._reduce("reduce", sendbuf, recvbuf, op, root)

    def Allreduce(self, sendbuf, recvbuf, op: MPI.Op = MPI.SUM) -> None:
        self._reduce("allreduce", sendbuf, recvbuf, op)

    def Scan(self, sendbuf, recvbuf, op: MPI.Op = MPI.SUM) -> None:
        self._reduce("scan", sendbuf, recvbuf, op)

    def Exscan(self, sendbuf, recvbuf, op: MPI.Op = MPI.SUM) -> None:
        self._reduce("exscan", sendbuf, recvbuf, op)

    def Reduce_scatter_block(self, sendbuf, recvbuf, op: MPI.Op = MPI.SUM) -> None:
        sent, received = sides(sendbuf, recvbuf)
        block = received.count(self.comm.size if sent.absent else 1)  # in place it has those of all ranks
        self._enqueue("reduce_scatter_block", sent.at, received.at, block, received.datatype, handle(op),
                      handle(self.comm))

    def Reduce_scatter(self, sendbuf, recvbuf, recvcounts: list[int], op: MPI.Op = MPI.SUM) -> None:
        sent, received = sides(sendbuf, recvbuf)
        if len(recvcounts) != self.comm.size:
            raise ValueError(f"telpher.streams: {len(recvcounts)} counts for {self.comm.size} ranks")
        self._enqueue("reduce_scatter", sent.at, received.at, ints(recvcounts), received.datatype, handle(op),
                      handle(self.comm))


# --- what needs no order ---

def match(requests: list[MPI.Prequest]) -> None:
    """telpher_match: persistent requests become kernels of the streams that start them, where that can be."""
    _call("match", len(requests), handles(requests))


def Matched_send_init(comm: MPI.Comm, buf, dest: int, tag: int = 0) -> MPI.Prequest:
    return _matched("matched_send_init", comm, Buffer(buf), dest, tag)


def Matched_recv_init(comm: MPI.Comm, buf, source: int, tag: int = 0) -> MPI.Prequest:
    return _matched("matched_recv_init", comm, Buffer(buf, written=True), source, tag)


def _matched(name: str, comm: MPI.Comm, array: Buffer, peer: int, tag: int) -> MPI.Prequest:
    request = MPI.Prequest()
    _call(name, *array.plain(), peer, tag, handle(comm), address_of(request))
    return request


def set_stream(comm: MPI.Comm, stream) -> None:
    """Names a stream for a communicator: mpi4py's own calls on it wait for what the stream does to their arrays, so
    the program need not. unset_stream removes the name."""
    _call("stream_set", handle(comm), handle_of_stream(stream))


def unset_stream(comm: MPI.Comm) -> None:
    _call("stream_unset", handle(comm))


def status(stream) -> int:
    """The MPI error code of the stream's first operation that has failed since the last call; MPI.SUCCESS if none."""
    return _code_of("stream_status", handle_of_stream(stream))
