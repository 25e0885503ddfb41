// SPDX-License-Identifier: BSD-3-Clause
// NCCL's functions from the list that Telpher uses itself, with a separate library handle and
// stream.
#include "nccl.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "memory.hpp"

namespace telpher::bench {

namespace {

struct unique_id {
  char bytes[128];
};
using handle = void*;
using stream = void*;

struct functions {
#define TELPHER_CCL_CALL(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "coll/vendor/interface.def"
#undef TELPHER_CCL_CALL
  const char* (*error_string)(int) = nullptr;
  int (*stream_create)(stream*, unsigned) = nullptr;
  int (*stream_synchronize)(stream) = nullptr;
  std::string problem;

  functions() {
    void* library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || !driver) {
      problem = library ? "no CUDA driver" : "no libnccl.so.2 (LD_LIBRARY_PATH)";
      return;
    }
    find(library, "ncclGetErrorString", error_string);
    find(driver, "cuStreamCreate", stream_create);
    find(driver, "cuStreamSynchronize", stream_synchronize);
#define TELPHER_CCL_CALL(name, symbol, ...) find(library, symbol, name);
#include "coll/vendor/interface.def"
#undef TELPHER_CCL_CALL
  }

 private:
  template <class F>
  void find(void* library, const char* symbol, F*& f) {
    f = reinterpret_cast<F*>(::dlsym(library, symbol));
    if (!f) problem = std::string("too old: it has no ") + symbol;
  }
};

const functions& library() {
  static const functions found;
  return found;
}

void check(int error, const char* call) {
  if (error) fail("%s: %s", call, library().error_string(error));
}

int type_of(const element& e) {
  return e.type == MPI_DOUBLE ? 8 : e.type == MPI_FLOAT ? 7 : e.type == MPI_INT ? 2 : 0;
}
int operation_of(MPI_Op op) {
  return op == MPI_MAX ? 2 : op == MPI_MIN ? 3 : 0;
}

class opened final : public nccl {
 public:
  opened(MPI_Comm comm, int rank, int size) : rank_(rank), size_(size) {
    unique_id id{};
    if (rank == 0) check(library().get_unique_id(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
    check(library().init_rank(&comm_, size, id, rank), "ncclCommInitRank");
    constexpr unsigned not_blocked_by_the_default_stream = 1;
    if (library().stream_create(&stream_, not_blocked_by_the_default_stream) != 0)
      fail("cuStreamCreate failed");
  }
  ~opened() override { library().abort(comm_); }

  bool supports(const collective& which) const override {
    for (const char* one : {"bcast", "gather", "scatter", "allgather", "alltoall", "reduce",
                            "allreduce", "reduce_scatter", "reduce_scatter_block"})
      if (std::strcmp(which.name, one) == 0) return true;
    return false;
  }

  void run(const data_plan& p, const arguments& a) override {
    const auto count = static_cast<std::size_t>(a.count);
    const int type = type_of(p.type), op = operation_of(p.op);
    const std::string name = p.which->name;
    int error = 0;
    if (name == "bcast")
      error = library().broadcast(a.receive, a.receive, count, type, a.root, comm_, stream_);
    else if (name == "allgather")
      error = library().all_gather(a.send, a.receive, count, type, comm_, stream_);
    else if (name == "reduce")
      error = library().reduce(a.send, a.receive, count, type, op, a.root, comm_, stream_);
    else if (name == "allreduce")
      error = library().all_reduce(a.send, a.receive, count, type, op, comm_, stream_);
    else if (name.starts_with("reduce_scatter"))
      error = library().reduce_scatter(a.send, a.receive, count, type, op, comm_, stream_);
    else
      error = exchange_blocks(p, a, count, type);
    check(error, "NCCL");
    if (library().stream_synchronize(stream_) != 0) fail("cuStreamSynchronize failed");
  }

 private:
  int exchange_blocks(const data_plan& p, const arguments& a, std::size_t count, int type) {
    const auto* from = static_cast<const std::byte*>(a.send);
    auto* to = static_cast<std::byte*>(a.receive);
    const bool to_all = p.which->send == collective::blocks::each_rank;
    const bool from_all = p.which->receive == collective::blocks::each_rank;
    check(library().group_start(), "ncclGroupStart");
    for (int r = 0; r < size_; ++r) {
      const auto block = static_cast<std::size_t>(r) * p.block_bytes;
      if (from && (to_all || r == a.root))
        check(library().send(from + (to_all ? block : 0), count, type, r, comm_, stream_),
              "ncclSend");
      if (to && (from_all || r == a.root))
        check(library().receive(to + (from_all ? block : 0), count, type, r, comm_, stream_),
              "ncclRecv");
    }
    return library().group_end();
  }

  int rank_, size_;
  handle comm_ = nullptr;
  stream stream_ = nullptr;
};

// NCCL refuses two ranks on one device.
bool devices_differ(MPI_Comm comm, int size, int device) {
  struct place {
    char host[64];
    int device;
  } own{};
  ::gethostname(own.host, sizeof own.host - 1);
  own.device = device;
  std::vector<place> all(static_cast<std::size_t>(size));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm);
  return std::count_if(all.begin(), all.end(),
                       [&](const place& p) { return std::memcmp(&p, &own, sizeof own) == 0; }) == 1;
}

}  // namespace

std::unique_ptr<nccl> open_nccl(MPI_Comm comm, const std::string& backend, int device,
                                std::string& why) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int ready[3] = {backend == "cuda", 0, 0};
  if (ready[0]) ready[1] = library().problem.empty();
  ready[2] = devices_differ(comm, size, device);
  MPI_Allreduce(MPI_IN_PLACE, ready, 3, MPI_INT, MPI_LAND, comm);
  if (!ready[0])
    why = "no CUDA device on some rank";
  else if (!ready[1])
    why = library().problem.empty() ? "a rank cannot open it" : library().problem;
  else if (!ready[2])
    why = "ranks share a device";
  if (!why.empty()) return nullptr;
  return std::make_unique<opened>(comm, rank, size);
}

}  // namespace telpher::bench
