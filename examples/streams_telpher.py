# SPDX-License-Identifier: BSD-3-Clause
"""A ring in the order of a stream, by mpi4py: each rank fills an array, passes it on and adds up what it got. The CPU
waits once, at the end. Memory and stream are of telpher.h, called through ctypes, so that the same script runs on every
back end; with CuPy or PyTorch pass their arrays and streams.

    telpher run -n 2 python -m mpi4py streams_telpher.py
"""
import ctypes
import sys

from mpi4py import MPI
from telpher import streams

COUNT = 1 << 16
DEVICE = 3  # TELPHER_MEMORY_DEVICE
telpher = ctypes.CDLL(None)


def check(error):
    if error:
        telpher.telpher_error_string.restype = ctypes.c_char_p
        raise RuntimeError(telpher.telpher_error_string(error).decode())


class DeviceArray:
    """COUNT bytes of device memory, as array libraries show theirs."""

    def __init__(self):
        self.address = ctypes.c_void_p()
        check(telpher.telpher_malloc(ctypes.byref(self.address), ctypes.c_size_t(COUNT), DEVICE))
        self.__cuda_array_interface__ = {"version": 3, "shape": (COUNT,), "typestr": "|u1", "strides": None,
                                         "data": (self.address.value, False)}

    def fill(self, byte, stream):
        check(telpher.telpher_memset_async(self.address, byte, ctypes.c_size_t(COUNT), stream))

    def read(self):
        host = (ctypes.c_uint8 * COUNT)()
        check(telpher.telpher_memcpy(host, self.address, ctypes.c_size_t(COUNT)))
        return bytes(host)


def main():
    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    if not hasattr(telpher, "telpher_malloc"):
        sys.exit("Telpher is not in this process; start it with telpher run")
    stream = ctypes.c_void_p()
    check(telpher.telpher_stream_create(ctypes.byref(stream)))
    given, got = DeviceArray(), DeviceArray()

    ordered = streams.StreamComm(comm, stream)
    given.fill(rank + 1, stream)
    ordered.Sendrecv(given, (rank + 1) % ranks, recvbuf=got, source=(rank - 1) % ranks)
    ordered.Allreduce(got, given, op=MPI.SUM)

    check(telpher.telpher_stream_synchronize(stream))
    total = ranks * (ranks + 1) // 2 % 256
    right = given.read() == bytes([total]) * COUNT and streams.status(stream) == MPI.SUCCESS
    right = comm.allreduce(right, op=MPI.LAND)
    if rank == 0:
        print(f"{COUNT} bytes passed on and summed in the order of a stream: {'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
