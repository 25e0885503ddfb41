// SPDX-License-Identifier: BSD-3-Clause
// Faces by NVSHMEM in the order of a stream, beside the other forms (stream_exchange.cu, compiled with
// -DBENCH_NVSHMEM): a put with a signal into the peer's memory, and a wait for the own signal. Data is
// used where it lands, so the next message must not: messages take two places in turn, each with a
// signal of its own. The values of a cycle of ten repeat, as a graph of ten steps repeats them; a place
// never gets the same value twice in a row, and its next message needs the answer to the last one.
#pragma once
#include <nvshmem.h>
#include <nvshmemx.h>

#include "stream_timing.cuh"

inline void begin_nvshmem() {
  setenv("NVSHMEM_DISABLE_NVLS", "1", 1);
  setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 1);
  setenv("NVSHMEM_SYMMETRIC_SIZE", "256M", 1);
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t how = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (rank == 0) CHECK(nvshmemx_get_uniqueid(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK(nvshmemx_set_attr_uniqueid_args(rank, 2, &id, &how));
  CHECK(nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &how));
}

class shmem_face {
 public:
  explicit shmem_face(std::size_t bytes)
      : bytes_(bytes),
        stride_((bytes + 255) / 256 * 256),
        in_(static_cast<char*>(nvshmem_malloc(2 * stride_))),
        signals_(static_cast<std::uint64_t*>(nvshmem_calloc(2, sizeof(std::uint64_t)))) {}
  ~shmem_face() {
    nvshmem_free(signals_);
    nvshmem_free(in_);
  }
  void send(const char* from) {
    const unsigned n = sent_++;
    nvshmemx_putmem_signal_on_stream(in_ + n % 2 * stride_, from, bytes_, signals_ + n % 2,
                                     n % 10 + 1, NVSHMEM_SIGNAL_SET, peer, stream);
  }
  void receive() {
    const unsigned n = received_++;
    nvshmemx_signal_wait_until_on_stream(signals_ + n % 2, NVSHMEM_CMP_EQ, n % 10 + 1, stream);
  }
  const char* last() const { return in_ + (received_ + 1) % 2 * stride_; }

 private:
  std::size_t bytes_, stride_;
  char* in_;
  std::uint64_t* signals_;
  unsigned sent_ = 0, received_ = 0;
};
