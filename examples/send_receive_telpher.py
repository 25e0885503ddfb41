# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks: mpi4py with device memory of telpher.h, called through ctypes, so that the same script runs on
every back end, the emulated device included. Telpher must be in the process (telpher run, or LD_PRELOAD).
"""
import ctypes
import sys

from mpi4py import MPI

COUNT = 1 << 18
DEVICE = 3  # TELPHER_MEMORY_DEVICE


class DeviceArray:
    """COUNT int32 in device memory; mpi4py sees the address, the program copies in and out."""

    def __init__(self, telpher):
        self.telpher = telpher
        self.address = ctypes.c_void_p()
        self._check(telpher.telpher_malloc(ctypes.byref(self.address), ctypes.c_size_t(COUNT * 4), DEVICE))

    def _check(self, error):
        if error:
            self.telpher.telpher_error_string.restype = ctypes.c_char_p
            raise RuntimeError(self.telpher.telpher_error_string(error).decode())

    def _copy(self, to, source):
        self._check(self.telpher.telpher_memcpy(to, source, ctypes.c_size_t(COUNT * 4)))

    def write(self, values):
        self._copy(self.address, (ctypes.c_int32 * COUNT)(*values))

    def read(self):
        host = (ctypes.c_int32 * COUNT)()
        self._copy(host, self.address)
        return list(host)

    def for_mpi(self):
        return [MPI.memory.fromaddress(self.address.value, COUNT * 4), COUNT, MPI.INT32_T]


def main():
    comm = MPI.COMM_WORLD
    if comm.Get_size() != 2:
        sys.exit("run this with two ranks")
    telpher = ctypes.CDLL(None)
    if not hasattr(telpher, "telpher_malloc"):
        sys.exit("Telpher is not in this process; start it with telpher run")
    data, total = DeviceArray(telpher), DeviceArray(telpher)
    if comm.Get_rank() == 0:
        data.write(range(COUNT))
        comm.Send(data.for_mpi(), dest=1, tag=123)
    else:
        comm.Recv(data.for_mpi(), source=0, tag=123)
    comm.Allreduce(data.for_mpi(), total.for_mpi(), op=MPI.SUM)
    right = data.read() == list(range(COUNT)) and total.read() == list(range(0, 2 * COUNT, 2))
    right = comm.allreduce(right, op=MPI.LAND)
    if comm.Get_rank() == 0:
        telpher.telpher_backend.restype = ctypes.c_char_p
        print(f"{COUNT} int32 sent, received and summed in device memory ({telpher.telpher_backend().decode()}): "
              f"{'right' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
