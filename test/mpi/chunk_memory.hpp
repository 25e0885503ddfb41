// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program maps itself, in chunks, for tests of the emulated device and of CUDA, and
// messages between pairs of ranks in it.
#pragma once

#include <chrono>

#include "cuda_chunks.hpp"
#include "emulated.hpp"
#include "paths.hpp"

namespace mpi_test {

constexpr std::size_t unit = std::size_t{2} << 20;  // of CUDA's granularity

inline bool on_cuda() {
  return std::strcmp(backend_name(), "cuda") == 0;
}

/// Whether there is such memory here; then the device it should lie on.
inline bool look_for_device(int& device) {
  static auto* const classify =
      reinterpret_cast<decltype(telpher_classify)*>(dlsym(RTLD_DEFAULT, "telpher_classify"));
  void* const known = try_allocate(kind::device, 64);
  if (known == nullptr || classify == nullptr) return false;
  telpher_memory found{};
  classify(known, &found, &device);
  release(kind::device, known);
  return on_cuda() || counted("mallocs") >= 0;
}

/// Addresses for so many chunks of a unit each, some of them mapped. Behind them nothing is, so
/// that they do not touch the next segment's.
class segment {
 public:
  segment(int device, std::size_t chunks) : device_(device), bytes_((chunks + 1) * unit) {
    static auto* const reserve = emulated<void*(int, std::size_t)>("telpher_emu_reserve");
    void* const made = on_cuda() ? cuda_driver::reserve_chunks(bytes_) : reserve(device_, bytes_);
    if (made == nullptr) memory_failure("reserving", bytes_, 0);
    data_ = static_cast<unsigned char*>(made);
    mapped_.resize(chunks);
  }
  ~segment() {
    static auto* const unreserve = emulated<int(void*, std::size_t)>("telpher_emu_unreserve");
    for (std::size_t n = 0; n < mapped_.size(); ++n)
      if (mapped_[n]) unmap(n, 1);
    if (!(on_cuda() ? cuda_driver::unreserve_chunks(data_, bytes_) : unreserve(data_, bytes_) != 0))
      memory_failure("giving back", bytes_, 0);
  }
  segment(const segment&) = delete;
  segment& operator=(const segment&) = delete;

  void map(std::size_t first, std::size_t chunks, bool exports = true) {
    static auto* const map_emulated =
        emulated<int(void*, int, std::size_t, std::size_t)>("telpher_emu_map");
    unsigned char* const at = data_ + first * unit;
    if (!(on_cuda() ? cuda_driver::map_chunks(at, device_, exports, chunks * unit, unit)
                    : map_emulated(at, exports, chunks * unit, unit) != 0))
      memory_failure("mapping", chunks * unit, 0);
    for (std::size_t n = first; n < first + chunks; ++n) mapped_[n] = true;
  }
  void unmap(std::size_t first, std::size_t chunks) {
    static auto* const unmap_emulated = emulated<int(void*, std::size_t)>("telpher_emu_unmap");
    unsigned char* const at = data_ + first * unit;
    if (!(on_cuda() ? cuda_driver::unmap_chunks(at, chunks * unit, unit)
                    : unmap_emulated(at, chunks * unit) != 0))
      memory_failure("unmapping", chunks * unit, 0);
    for (std::size_t n = first; n < first + chunks; ++n) mapped_[n] = false;
  }
  /// Other memory at the same addresses.
  void map_anew(std::size_t first, std::size_t chunks) {
    unmap(first, chunks);
    map(first, chunks);
  }

  unsigned char* data() const { return data_; }
  std::size_t chunks() const { return mapped_.size(); }
  void fill(std::uint64_t id, std::size_t at, std::size_t bytes) const {
    std::vector<unsigned char> host(bytes);
    write_pattern(id, host.data(), bytes);
    copy(kind::device, data_ + at, host.data(), bytes);
  }
  std::string compare(std::uint64_t id, std::size_t at, std::size_t bytes) const {
    std::vector<unsigned char> host(bytes), wanted(bytes);
    copy(kind::device, host.data(), data_ + at, bytes);
    write_pattern(id, wanted.data(), bytes);
    return difference(host.data(), wanted.data(), bytes, "bytes");
  }

 private:
  int device_;
  std::size_t bytes_;
  unsigned char* data_ = nullptr;
  std::vector<bool> mapped_;
};

/// A segment that is mapped as a whole.
class chunks : public segment {
 public:
  chunks(int device, bool exports, std::size_t bytes) : segment(device, (bytes + unit - 1) / unit) {
    map(0, segment::chunks(), exports);
  }
};

struct world {
  int device = 0;
  int peer = 0;             // MPI_PROC_NULL: the last of an odd number
  bool descriptors = true;  // as TELPHER_IPC_DESCRIPTORS says
  bool opens = true;        // by no path that needs no memory of the sender's to be open

  explicit world(const suite& s) {
    const char* const setting = std::getenv("TELPHER_IPC_DESCRIPTORS");
    descriptors = setting == nullptr || std::strcmp(setting, "off") != 0;
    const char* const forced = std::getenv("TELPHER_PATH");
    for (const char* path : {"raw", "staged", "ipc_put", "pipelined", "direct", "rdma"})
      opens = opens && !(forced && std::strcmp(forced, path) == 0);
    peer = (s.rank ^ 1) < s.ranks ? s.rank ^ 1 : MPI_PROC_NULL;
  }
  /// Whether peers open chunks here, and can be seen to.
  bool counts() const {
    return counted("ipc_opens") >= 0 && descriptors && opens &&
           std::getenv("TELPHER_TEST_EMU_FAULTS") == nullptr;
  }
};

inline std::uint64_t identity(const suite& s, int sender, std::size_t step) {
  return mix(s.opt.seed) + step * 64 + static_cast<std::uint64_t>(sender);
}

/// Both ways between two ranks, at an offset in the sender's memory.
inline void exchange(suite& s, int peer, const segment& out, std::size_t at, const segment& in,
                     std::size_t bytes, std::size_t step) {
  s.note("message %zu, %zu bytes at %zu", step, bytes, at);
  out.fill(identity(s, s.rank, step), at, bytes);
  MPI_Request request;
  MPI_Irecv(in.data(), as_int(bytes), MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
  MPI_Send(out.data() + at, as_int(bytes), MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  s.expect_none(in.compare(identity(s, peer, step), 0, bytes));
}

/// Exchanges messages in `out` and `in`, which stay open, until `still_open` is false at both ranks
/// of a pair.
template <class StillOpen>
void expect_closed(suite& s, int peer, const segment& out, const segment& in,
                   const StillOpen& still_open) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int both[2] = {1, 0};  // how many have it open still; whether one of the two gives up
  for (std::size_t step = 3; both[0] > 0 && both[1] == 0; ++step) {
    exchange(s, peer, out, 0, in, 100000, step);
    const int own[2] = {still_open(), std::chrono::steady_clock::now() > end};
    int theirs[2] = {};
    MPI_Sendrecv(own, 2, MPI_INT, peer, 3, theirs, 2, MPI_INT, peer, 3, s.control,
                 MPI_STATUS_IGNORE);
    for (int i : {0, 1}) both[i] = own[i] + theirs[i];
  }
  if (both[0] > 0) s.fail("%lld mappings are open still", counted("imports"));
}

}  // namespace mpi_test
