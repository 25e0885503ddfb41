// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of two ranks, each with a device of its own, in the order of streams: what a hop of a
// ping-pong costs, and a step of a program that runs a kernel and exchanges two faces with the
// other rank, by
//   wait     the stream is waited for, then MPI_Startall and MPI_Waitall
//   enqueue  telpher_startall_enqueue and telpher_waitall_enqueue of persistent requests
//   enqgr    those, in a graph
//   isend    telpher_irecv_enqueue, telpher_isend_enqueue and telpher_waitall_enqueue
//   matched  telpher_startall_enqueue and telpher_waitall_enqueue of requests that telpher_match has
//            matched
//   graph    those, in a graph
//   nccl     ncclSend and ncclRecv of a group, in the stream
//   ncclgr   those, in a graph
//   shmem    NVSHMEM's put with a signal and wait for a signal, in the stream (with -DBENCH_NVSHMEM)
//   shmemgr  those, in a graph
// Medians of rounds in which all take their turn, in microseconds; every form's bytes are checked.
//
//   nvcc -O2 -std=c++20 -arch=native -I include -I MPI/include -o stream_exchange
//     bench/stream_exchange.cu -L MPI/lib -lmpi -lnccl
//   mpirun -n 2 env LD_PRELOAD=.../libtelpher-ABI.so ./stream_exchange [FORM...]
// NVSHMEM (that of PyPI's nvidia-nvshmem-cu13, say): -DBENCH_NVSHMEM -I NVSHMEM/include -L NVSHMEM/lib
//   -l:libnvshmem_host.so.3, and NVSHMEM/lib in LD_LIBRARY_PATH
#include "stream_timing.cuh"
#ifdef BENCH_NVSHMEM
#include "stream_nvshmem.cuh"
#endif

namespace {

__global__ void compute(unsigned long long ns) {
  spin(ns);
}

bool enqueues(const std::string& form) {
  return form == "enqueue" || form == "enqgr";
}

struct face {
  char *out = nullptr, *in = nullptr;
  MPI_Request plain[2], matched[2];  // receive, send
#ifdef BENCH_NVSHMEM
  std::unique_ptr<shmem_face> shmem;
#endif
};

/// Two faces, and all the forms of their exchange.
class exchange {
 public:
  exchange(std::size_t bytes, int faces) : bytes_(bytes), faces_(static_cast<std::size_t>(faces)) {
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      face& f = faces_[i];
      const int n = static_cast<int>(bytes), tag = static_cast<int>(i);
      CHECK(cudaMalloc(&f.out, bytes));
      CHECK(cudaMalloc(&f.in, bytes));
#ifdef BENCH_NVSHMEM
      f.shmem = std::make_unique<shmem_face>(bytes);
#endif
      CHECK(MPI_Recv_init(f.in, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &f.plain[0]));
      CHECK(MPI_Send_init(f.out, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &f.plain[1]));
      CHECK(TELPHER(telpher_matched_recv_init)(f.in, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                                               &f.matched[0]));
      CHECK(TELPHER(telpher_matched_send_init)(f.out, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                                               &f.matched[1]));
    }
    for (const face& f : faces_) {
      plain_.insert(plain_.end(), f.plain, f.plain + 2);
      matched_.insert(matched_.end(), f.matched, f.matched + 2);
    }
    CHECK(TELPHER(telpher_match)(count(), matched_.data()));
  }
  ~exchange() {
    CHECK(cudaStreamSynchronize(stream));
    for (auto* list : {&plain_, &matched_})
      for (MPI_Request& r : *list) MPI_Request_free(&r);
    for (const face& f : faces_) {
      CHECK(cudaFree(f.out));
      CHECK(cudaFree(f.in));
    }
  }

  void by(const std::string& form) {
    if (form == "wait") {
      CHECK(cudaStreamSynchronize(stream));
      CHECK(MPI_Startall(count(), plain_.data()));
      CHECK(MPI_Waitall(count(), plain_.data(), MPI_STATUSES_IGNORE));
    } else if (form == "isend") {
      std::vector<MPI_Request> all(2 * faces_.size());
      for (std::size_t i = 0; i < all.size(); ++i)
        begin(i % faces_.size(), i < faces_.size() ? 0 : 1, &all[i]);
      CHECK(TELPHER(telpher_waitall_enqueue)(count(), all.data(), MPI_STATUSES_IGNORE, stream));
    } else if (enqueues(form) || form == "matched" || form == "graph") {
      auto& list = enqueues(form) ? plain_ : matched_;
      CHECK(TELPHER(telpher_startall_enqueue)(count(), list.data(), stream));
      CHECK(TELPHER(telpher_waitall_enqueue)(count(), list.data(), MPI_STATUSES_IGNORE, stream));
#ifdef BENCH_NVSHMEM
    } else if (form == "shmem" || form == "shmemgr") {
      for (face& f : faces_) f.shmem->send(f.out);
      for (face& f : faces_) f.shmem->receive();
#endif
    } else {
      CHECK(ncclGroupStart());
      for (const face& f : faces_) {
        CHECK(ncclRecv(f.in, bytes_, ncclChar, peer, nccl, stream));
        CHECK(ncclSend(f.out, bytes_, ncclChar, peer, nccl, stream));
      }
      CHECK(ncclGroupEnd());
    }
  }

  /// One end's half of a ping-pong: `which` is 0 for a receive, 1 for a send.
  void half(const std::string& form, int which) {
    face& f = faces_[0];
    if (form == "wait") {
      CHECK(cudaStreamSynchronize(stream));
      CHECK(MPI_Start(&f.plain[which]));
      CHECK(MPI_Wait(&f.plain[which], MPI_STATUS_IGNORE));
    } else if (form == "isend") {
      MPI_Request r;
      begin(0, which, &r);
      CHECK(TELPHER(telpher_wait_enqueue)(&r, MPI_STATUS_IGNORE, stream));
    } else if (enqueues(form) || form == "matched" || form == "graph") {
      MPI_Request* const r = enqueues(form) ? &f.plain[which] : &f.matched[which];
      CHECK(TELPHER(telpher_start_enqueue)(*r, stream));
      CHECK(TELPHER(telpher_wait_enqueue)(r, MPI_STATUS_IGNORE, stream));
#ifdef BENCH_NVSHMEM
    } else if (form == "shmem" || form == "shmemgr") {
      which == 0 ? f.shmem->receive() : f.shmem->send(f.out);
#endif
    } else if (which == 0) {
      CHECK(ncclRecv(f.in, bytes_, ncclChar, peer, nccl, stream));
    } else {
      CHECK(ncclSend(f.out, bytes_, ncclChar, peer, nccl, stream));
    }
  }

  void verify(const std::string& form, int round) {
    for (const face& f : faces_) {
      CHECK(cudaMemset(f.out, (round + 3 * rank) & 0xff, bytes_));
      CHECK(cudaMemset(f.in, 0xee, bytes_));
    }
    CHECK(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    by(form);
    CHECK(cudaStreamSynchronize(stream));
#ifdef BENCH_NVSHMEM
    if (form == "shmem" || form == "shmemgr")
      for (const face& f : faces_)
        CHECK(cudaMemcpy(f.in, f.shmem->last(), bytes_, cudaMemcpyDeviceToDevice));
#endif
    std::vector<char> got(bytes_);
    for (const face& f : faces_) {
      CHECK(cudaMemcpy(got.data(), f.in, bytes_, cudaMemcpyDeviceToHost));
      for (const char c : got)
        if (c != static_cast<char>((round + 3 * peer) & 0xff)) {
          std::fprintf(stderr, "%s: wrong bytes\n", form.c_str());
          MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
  }

 private:
  int count() const { return static_cast<int>(2 * faces_.size()); }
  /// Enqueues one message of a face: `which` is 0 for the receive, 1 for the send.
  void begin(std::size_t i, int which, MPI_Request* r) {
    const face& f = faces_[i];
    const int n = static_cast<int>(bytes_), tag = 1000 + static_cast<int>(i);
    if (which == 0)
      CHECK(TELPHER(telpher_irecv_enqueue)(f.in, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, r, stream));
    else
      CHECK(TELPHER(telpher_isend_enqueue)(f.out, n, MPI_BYTE, peer, tag, MPI_COMM_WORLD, r, stream));
  }

  std::size_t bytes_;
  std::vector<face> faces_;
  std::vector<MPI_Request> plain_, matched_;
};

void hops(std::size_t bytes) {
  exchange one(bytes, 1);
  std::map<std::string, double> us;
  for (const std::string& f : forms) {
    one.verify(f, 1);
    us[f] = time_of(f, 200,
                    [&] {
                      one.half(f, rank == 0 ? 1 : 0);
                      one.half(f, rank == 0 ? 0 : 1);
                    }) /
            2;
    one.verify(f, 2);
  }
  row(size_name(bytes), us);
}

void steps(std::size_t bytes, int kernel_us) {
  exchange two(bytes, 2);
  std::map<std::string, double> us;
  for (const std::string& f : forms) {
    us[f] = time_of(f, 200, [&] {
      compute<<<1, 32, 0, stream>>>(static_cast<unsigned long long>(kernel_us) * 1000);
      two.by(f);
    });
    two.verify(f, 3);
  }
  row(std::to_string(kernel_us) + " us, faces of " + size_name(bytes), us);
}

}  // namespace

int main(int argc, char** argv) {
  begin_pair(argc, argv);
  forms.insert(forms.begin() + 2, {"enqgr", "isend"});
#ifdef BENCH_NVSHMEM
  begin_nvshmem();
  forms.insert(forms.end(), {"shmem", "shmemgr"});
#endif
  keep_forms(argc, argv);
  compute<<<1, 32, 0, stream>>>(1000);
  heading("a hop of a ping-pong, us");
  for (const std::size_t bytes : {8ul, 1024ul, 8192ul, 65536ul, 1048576ul, 4194304ul}) hops(bytes);
  heading("a step, us: a kernel of");
  for (const int kernel_us : {10, 50, 200})
    for (const std::size_t bytes : {8192ul, 65536ul, 1048576ul}) steps(bytes, kernel_us);
#ifdef BENCH_NVSHMEM
  nvshmemx_hostlib_finalize();
#endif
  end();
}
