// SPDX-License-Identifier: BSD-3-Clause
// A ring in the order of a stream: each rank fills a buffer, passes it on and adds up what it got,
// all in one stream. The CPU waits once, at the end. With telpher.h's streams it runs on every back
// end; with CUDA or HIP pass a cudaStream_t or hipStream_t.
#include <mpi.h>
#include <telpher/stream.h>
#include <telpher/telpher.h>

#include <cstdio>

int main(int argc, char** argv) {
  int provided = 0, rank = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

  constexpr int count = 1 << 16;
  void *out = nullptr, *in = nullptr, *stream = nullptr;
  unsigned char sum = 0;
  if (telpher_malloc(&out, count, TELPHER_MEMORY_DEVICE) != 0 ||
      telpher_malloc(&in, count, TELPHER_MEMORY_DEVICE) != 0 || telpher_stream_create(&stream) != 0)
    MPI_Abort(MPI_COMM_WORLD, 1);

  telpher_memset_async(out, rank + 1, count, stream);
  telpher_sendrecv_enqueue(out, count, MPI_BYTE, right, 0, in, count, MPI_BYTE, left, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE, stream);
  telpher_allreduce_enqueue(in, out, count, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD, stream);

  telpher_stream_synchronize(stream);
  const bool failed = telpher_stream_status(stream) != MPI_SUCCESS;
  telpher_memcpy(&sum, out, 1);
  const bool right_sum = sum == (ranks * (ranks + 1) / 2) % 256;
  if (rank == 0) std::printf("%s: the sum is %d\n", right_sum && !failed ? "ok" : "WRONG", sum);

  telpher_stream_destroy(stream);
  telpher_free(in);
  telpher_free(out);
  MPI_Finalize();
  return right_sum && !failed ? 0 : 1;
}
