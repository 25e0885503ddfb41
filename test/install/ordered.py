# SPDX-License-Identifier: BSD-3-Clause
"""Every method of telpher.streams on arrays of device memory, two ranks or more: what comes is compared with what a
model in Python says. Prints a line "... is right" a rank (wheels.py looks for them)."""
import ctypes
import itertools
import unittest

from mpi4py import MPI
from telpher import streams

library = ctypes.CDLL(None)
world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
everyone = range(ranks)
BLOCK = 1000  # elements


def value(of: int, i: int) -> int:
    return of * 7919 + i % 9973


def block(of: int, to: int = 0, count: int = BLOCK) -> list[int]:
    return [value(of, i) + to for i in range(count)]


def joined(blocks) -> list[int]:
    return list(itertools.chain(*blocks))


def summed(of, over=everyone) -> list[int]:
    return [sum(values) for values in zip(*(of(r) for r in over), strict=True)]


class Array:
    """32-bit integers in device memory, as array libraries show theirs."""

    def __init__(self, values: list[int]):
        self.count = len(values)
        self.host = (ctypes.c_int32 * self.count)(*values)
        self.address = ctypes.c_void_p()
        self.bytes = ctypes.c_size_t(4 * self.count)
        assert library.telpher_malloc(ctypes.byref(self.address), self.bytes, 3) == 0
        assert library.telpher_memcpy(self.address, self.host, self.bytes) == 0
        self.__cuda_array_interface__ = {"version": 3, "shape": (self.count,), "typestr": "<i4",
                                         "data": (self.address.value, False)}

    def read(self) -> list[int]:
        assert library.telpher_memcpy(self.host, self.address, self.bytes) == 0
        return list(self.host)

    def __del__(self):
        library.telpher_free(self.address)


def empty(blocks: int = 1) -> Array:
    return Array([-1] * BLOCK * blocks)


class Stream:
    """As CuPy has one."""

    def __init__(self):
        handle = ctypes.c_void_p()
        assert library.telpher_stream_create(ctypes.byref(handle)) == 0
        self.ptr = handle.value


class Ordered(unittest.TestCase):
    def setUp(self):
        self.stream = Stream()
        self.comm = streams.StreamComm(world, self.stream)

    def done(self):
        self.assertEqual(library.telpher_stream_synchronize(ctypes.c_void_p(self.stream.ptr)), 0)
        self.assertEqual(streams.status(self.stream), MPI.SUCCESS)

    def gives(self, array: Array, values: list[int]):
        self.done()
        self.assertEqual(array.read(), values)
        world.Barrier()

    # --- point to point ---

    def test_send_and_recv(self):
        array = Array(block(0)) if rank == 0 else empty()
        status = MPI.Status()
        for peer in range(1, ranks if rank == 0 else 0):
            self.comm.Send(array, peer, 5)
        if rank > 0:
            self.comm.Recv([array, MPI.INT32_T], source=0, tag=5, status=status)
        self.gives(array, block(0))
        if rank > 0:
            self.assertEqual((status.Get_source(), status.Get_tag(), status.Get_count(MPI.INT32_T)), (0, 5, BLOCK))

    def test_sendrecv(self):
        out, array = Array(block(rank)), empty()
        self.comm.Sendrecv(out, (rank + 1) % ranks, recvbuf=array, source=(rank - 1) % ranks)
        self.gives(array, block((rank - 1) % ranks))

    def test_isend_and_irecv(self):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        out, array = Array(block(rank)), empty()
        requests = [self.comm.Irecv(array, left), self.comm.Isend([out, BLOCK, MPI.INT], right)]
        self.comm.Waitall(requests)
        self.assertTrue(all(request == MPI.REQUEST_NULL for request in requests))
        self.gives(array, block(left))
        request = self.comm.Irecv(array, right)
        again = Array(block(rank, 3))
        self.comm.Send(again, left)
        self.comm.Wait(request)
        self.assertEqual(request, MPI.REQUEST_NULL)
        self.gives(array, block(right, 3))

    def test_a_request_that_the_cpu_waits_for(self):
        array = empty()
        request = self.comm.Irecv(array, (rank - 1) % ranks, 9)
        world.Send(Array(block(rank)), (rank + 1) % ranks, 9)
        request.Wait()
        self.gives(array, block((rank - 1) % ranks))

    def test_persistent_and_matched(self):
        left, right = (rank - 1) % ranks, (rank + 1) % ranks
        out, array = Array(block(rank)), empty()
        plain = [world.Recv_init(array, left, 1), world.Send_init(out, right, 1)]
        matched = [streams.Matched_recv_init(world, array, left, 2), streams.Matched_send_init(world, out, right, 2)]
        streams.match(matched)
        for requests in (plain, matched):
            for _ in range(3):
                self.comm.Startall(requests)
                self.comm.Waitall(requests)
            self.gives(array, block(left))
            library.telpher_memset(array.address, 0, array.bytes)
            for request in requests:
                self.comm.Start(request)
            for request in requests:
                self.comm.Wait(request)
            self.gives(array, block(left))
            for request in requests:
                request.Free()

    # --- collectives ---

    def test_barrier_and_bcast(self):
        array = Array(block(1)) if rank == 1 else empty()
        self.comm.Barrier()
        self.comm.Bcast(array, root=1)
        self.gives(array, block(1))

    def test_gather_and_scatter(self):
        whole = joined(block(r) for r in everyone)
        array = empty(ranks) if rank == 0 else None
        out = Array(block(rank))
        self.comm.Gather(out, array, root=0)
        back = empty()
        self.comm.Scatter(array, back, root=0)
        self.gives(back, block(rank))
        if rank == 0:
            self.assertEqual(array.read(), whole)

    def test_gatherv_and_scatterv(self):
        counts = [BLOCK - 10 * r for r in everyone]
        whole = joined(block(r, count=counts[r]) for r in everyone)
        array = Array([-1] * sum(counts)) if rank == 0 else None
        there = [array, counts, MPI.INT] if rank == 0 else None
        out = Array(block(rank, count=counts[rank]))
        self.comm.Gatherv(out, there, root=0)
        back = Array([-1] * counts[rank])
        starts = list(itertools.accumulate(counts, initial=0))[:-1]
        self.comm.Scatterv([array, (counts, starts), MPI.INT] if rank == 0 else None, back, root=0)
        self.gives(back, block(rank, count=counts[rank]))
        if rank == 0:
            self.assertEqual(array.read(), whole)

    def test_allgather(self):
        out, array = Array(block(rank)), empty(ranks)
        self.comm.Allgather(out, array)
        self.gives(array, joined(block(r) for r in everyone))
        place = Array(joined(block(r) if r == rank else [-1] * BLOCK for r in everyone))
        self.comm.Allgather(MPI.IN_PLACE, place)
        self.gives(place, joined(block(r) for r in everyone))

    def test_allgatherv(self):
        counts = [BLOCK - 10 * r for r in everyone]
        out, array = Array(block(rank, count=counts[rank])), Array([-1] * sum(counts))
        self.comm.Allgatherv(out, [array, counts])
        self.gives(array, joined(block(r, count=counts[r]) for r in everyone))

    def test_alltoall(self):
        out, array = Array(joined(block(rank, to) for to in everyone)), empty(ranks)
        self.comm.Alltoall(out, array)
        self.gives(array, joined(block(r, rank) for r in everyone))
        array = empty(ranks)
        self.comm.Alltoallv([out, [BLOCK] * ranks], [array, [BLOCK] * ranks])
        self.gives(array, joined(block(r, rank) for r in everyone))

    def test_sums(self):
        out, total = Array(block(rank)), summed(block)
        array = empty()
        self.comm.Allreduce(out, array)
        self.gives(array, total)
        place = Array(block(rank))
        self.comm.Allreduce(MPI.IN_PLACE, place, op=MPI.SUM)
        self.gives(place, total)
        at_root = empty() if rank == 0 else None
        self.comm.Reduce(out, at_root, root=0)
        self.done()
        if rank == 0:
            self.assertEqual(at_root.read(), total)
        self.comm.Allreduce(out, array, op=MPI.MAX)
        self.gives(array, [max(values) for values in zip(*(block(r) for r in everyone), strict=True)])

    def test_scans(self):
        out, array = Array(block(rank)), empty()
        self.comm.Scan(out, array)
        self.gives(array, summed(block, range(rank + 1)))
        self.comm.Exscan(out, array)
        self.done()
        if rank > 0:
            self.assertEqual(array.read(), summed(block, range(rank)))

    def test_reduce_scatter(self):
        def whole(r):
            return joined(block(r, to) for to in everyone)
        mine = summed(whole)[rank * BLOCK:][:BLOCK]
        out, array = Array(whole(rank)), empty()
        self.comm.Reduce_scatter_block(out, array)
        self.gives(array, mine)
        again = Array(whole(rank))
        self.comm.Reduce_scatter(again, array, [BLOCK] * ranks)
        self.gives(array, mine)
        place = Array(whole(rank))
        self.comm.Reduce_scatter_block(MPI.IN_PLACE, place)
        self.done()
        self.assertEqual(place.read()[:BLOCK], mine)

    def test_neighbours(self):
        ring = world.Create_cart([ranks], periods=[True])
        neighbours = [(rank - 1) % ranks, (rank + 1) % ranks]
        self.comm = streams.StreamComm(ring, self.stream)
        out, array = Array(block(rank)), empty(2)
        self.comm.Neighbor_allgather(out, array)
        self.gives(array, joined(block(r) for r in neighbours))
        again = Array(block(rank, 2))
        self.comm.Neighbor_allgatherv(again, [array, [BLOCK, BLOCK]])
        self.gives(array, joined(block(r, 2) for r in neighbours))
        both = Array(joined(block(rank, side) for side in range(2)))
        self.comm.Neighbor_alltoall(both, array)
        self.gives(array, joined([block(neighbours[0], 1), block(neighbours[1], 0)]))
        self.comm.Neighbor_alltoallv([both, [BLOCK, BLOCK]], [array, [BLOCK, BLOCK]])
        self.gives(array, joined([block(neighbours[0], 1), block(neighbours[1], 0)]))
        ring.Free()

    # --- the rest ---

    def test_a_stream_that_is_asked_for_at_each_call(self):
        self.comm = streams.StreamComm(world, lambda: self.stream)
        out, array = Array(block(rank)), empty()
        self.comm.Allreduce(out, array)
        self.gives(array, summed(block))

    def test_a_named_stream(self):
        dup = world.Dup()
        streams.set_stream(dup, self.stream)
        out, array = empty(), empty()
        library.telpher_memset_async(out.address, rank + 1, out.bytes, ctypes.c_void_p(self.stream.ptr))
        dup.Sendrecv(out, (rank + 1) % ranks, recvbuf=array, source=(rank - 1) % ranks)
        byte = (rank - 1) % ranks + 1
        self.gives(array, [byte * 0x01010101] * BLOCK)
        streams.unset_stream(dup)
        dup.Free()

    def test_what_is_wrong_is_said(self):
        array = empty()
        with self.assertRaisesRegex(TypeError, "is no stream"):
            streams.StreamComm(world, "a word").Barrier()
        with self.assertRaisesRegex(ValueError, "name the count"):
            self.comm.Scatter(Array([1] * (ranks * BLOCK + 1)), array)
        with self.assertRaisesRegex(ValueError, "one for each rank"):
            self.comm.Allgatherv(array, [empty(ranks), [BLOCK]])
        strange = empty()
        strange.__cuda_array_interface__["typestr"] = "|V4"
        with self.assertRaisesRegex(ValueError, "name one"):
            self.comm.Send(strange, 0)
        fixed = empty()
        fixed.__cuda_array_interface__["data"] = (fixed.address.value, True)
        with self.assertRaises(BufferError):
            self.comm.Recv(fixed)
        self.comm.Wait(self.comm.Isend(fixed, MPI.PROC_NULL))  # may be read
        request = world.Irecv(array, rank, 77)
        with self.assertRaises(MPI.Exception):  # none of the stream's requests
            self.comm.Wait(request)
        request.Cancel()
        request.Wait()
        self.comm.Send(array, ranks + 5)
        self.assertEqual(library.telpher_stream_synchronize(ctypes.c_void_p(self.stream.ptr)), 0)
        self.assertEqual(MPI.Get_error_class(streams.status(self.stream)), MPI.ERR_RANK)


if __name__ == "__main__":
    outcome = unittest.TextTestRunner(verbosity=0).run(unittest.defaultTestLoader.loadTestsFromTestCase(Ordered))
    if not outcome.wasSuccessful():
        world.Abort(1)
    print("rank", rank, "of", ranks, "is right", flush=True)
