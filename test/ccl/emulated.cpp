// SPDX-License-Identifier: BSD-3-Clause
// A library of collectives with NCCL's interface for the emulated device, so that the way through a
// vendor's library is tested without a GPU (TELPHER_CCL=<this file>). Ranks pass chunks through
// shared memory, one work after the other in the stream, and meet before and after each chunk.
//
// TEST_CCL_FAULT=<what>:<rank>[:<call>] makes it fail at one rank: `version` when it is opened,
// `join` when ranks join, `call` when its call of that number is issued (others wait for it until
// they abort), `async` while it runs.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "coll/vendor/library.hpp"
#include "device/emu/library_stream.hpp"
#include "kernel/values.hpp"

namespace {

using telpher::coll::vendor::in_progress;
using telpher::coll::vendor::success;
using telpher::coll::vendor::unique_id;
using telpher::device::emu::library_stream;
namespace values = telpher::kernel::values;

constexpr int system_error = 2, remote_error = 6;
constexpr int most_ranks = 16;
constexpr std::size_t slab_bytes = 256 * 1024;

struct shared {
  std::atomic<int> joined, met;
  std::atomic<std::uint32_t> meeting;
  std::atomic<std::uint64_t> left[most_ranks];  // bytes that a rank still has to pass
  unsigned char slab[most_ranks][slab_bytes];
};

// --- faults ---

struct fault {
  std::string what;
  int rank = -1;
  long call = 1;
};

const fault& injected() {
  static const fault one = [] {
    fault f;
    char what[16] = "";
    if (const char* text = std::getenv("TEST_CCL_FAULT"))
      if (std::sscanf(text, "%15[a-z]:%d:%ld", what, &f.rank, &f.call) >= 2) f.what = what;
    return f;
  }();
  return one;
}

bool strikes(const char* what, int rank) {
  return injected().what == what && injected().rank == rank;
}

int launched_as() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  return -1;
}

// --- communicators ---

struct communicator {
  shared* all = nullptr;
  int ranks = 0, rank = 0;
  long calls = 0;
  bool broken = false;
  std::atomic<bool> aborted{false};
  std::atomic<int> running{0};  // works in streams

  unsigned char* slab(int r) const { return all->slab[r]; }
  /// False when the communicator was aborted.
  bool meet() {
    const std::uint32_t now = all->meeting.load();
    if (all->met.fetch_add(1) + 1 == ranks) {
      all->met.store(0);
      all->meeting.store(now + 1);
    }
    while (all->meeting.load() == now) {
      if (aborted.load()) return false;
      ::sched_yield();
    }
    return true;
  }
};

using work = std::function<void(communicator&, library_stream&)>;

int issue(communicator& c, library_stream& stream, work&& w) {
  if (++c.calls == injected().call && strikes("call", c.rank)) return system_error;
  if (c.calls == injected().call && strikes("async", c.rank)) c.broken = true;
  struct task {
    communicator& c;
    library_stream& stream;
    work body;
  };
  c.running.fetch_add(1);
  auto* t = new task{c, stream, std::move(w)};
  const auto run = [](void* self) {
    auto* one = static_cast<task*>(self);
    communicator& of = one->c;
    while (of.broken && !of.aborted.load()) ::sched_yield();
    if (!of.aborted.load()) one->body(of, one->stream);
    delete one;
    of.running.fetch_sub(1);
  };
  return stream.append(stream, run, t) ? success : system_error;
}

// --- reductions; numbers of types and operations as in NCCL ---

std::size_t bytes_of(int type) {
  constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

template <class T>
T combine(int op, T a, T b) {
  switch (op) {
    case 0:
      return static_cast<T>(a + b);
    case 1:
      return static_cast<T>(a * b);
    case 2:
      return std::max(a, b);
    default:
      return std::min(a, b);
  }
}
values::f16 combine(int op, values::f16 a, values::f16 b) {
  return telpher::kernel::round_to_f16(
      combine(op, telpher::kernel::widen(a), telpher::kernel::widen(b)));
}
values::bf16 combine(int op, values::bf16 a, values::bf16 b) {
  return telpher::kernel::round_to_bf16(
      combine(op, telpher::kernel::widen(a), telpher::kernel::widen(b)));
}

template <class T>
void fold(const communicator& c, unsigned char* to, std::size_t bytes, int op) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T result, next;
    std::memcpy(&result, c.slab(0) + at, sizeof(T));
    for (int r = 1; r < c.ranks; ++r) {
      std::memcpy(&next, c.slab(r) + at, sizeof(T));
      result = combine(op, result, next);
    }
    std::memcpy(to + at, &result, sizeof(T));
  }
}

void fold(const communicator& c, unsigned char* to, std::size_t bytes, int type, int op) {
  using function = void (*)(const communicator&, unsigned char*, std::size_t, int);
  constexpr function of[] = {fold<std::int8_t>,   fold<std::uint8_t>, fold<std::int32_t>,
                             fold<std::uint32_t>, fold<std::int64_t>, fold<std::uint64_t>,
                             fold<values::f16>,   fold<float>,        fold<double>,
                             fold<values::bf16>};
  of[type](c, to, bytes, op);
}

// --- data ---

/// Chunk by chunk: this rank's bytes, if it has any, into its slab; then `take(offset, bytes)`.
template <class Take>
void pass(communicator& c, const unsigned char* own, std::size_t bytes, Take&& take) {
  for (std::size_t at = 0; at < bytes; at += slab_bytes) {
    const std::size_t chunk = std::min(slab_bytes, bytes - at);
    if (own) std::memcpy(c.slab(c.rank), own + at, chunk);
    if (!c.meet()) return;
    take(at, chunk);
    if (!c.meet()) return;
  }
}

template <class T>
auto* at(library_stream& s, T* address) {
  using byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
  return static_cast<byte*>(s.bytes_at(const_cast<void*>(static_cast<const void*>(address))));
}

// Sends and receives of a group. Every pair of ranks has its turn, and the others look on.
struct message {
  int peer;
  void* address;
  std::size_t bytes;
};
struct group {
  bool open = false;
  communicator* of = nullptr;
  library_stream* stream = nullptr;
  std::vector<message> sends, receives;
};
thread_local group current;

message* next_of(std::vector<message>& list, int peer) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](auto& m) { return m.peer == peer; });
  return found == list.end() ? nullptr : &*found;
}

void one_pair(communicator& c, library_stream& s, int from, int to, message* sent, message* taken) {
  for (std::size_t done = 0;; done += slab_bytes) {
    if (c.rank == from) {
      const std::size_t left = sent ? sent->bytes - std::min(done, sent->bytes) : 0;
      c.all->left[from].store(left);
      if (left) std::memcpy(c.slab(from), at(s, sent->address) + done, std::min(left, slab_bytes));
    }
    if (!c.meet()) return;
    const std::size_t left = c.all->left[from].load();
    const std::size_t chunk = std::min(left, slab_bytes);
    if (c.rank == to && chunk) std::memcpy(at(s, taken->address) + done, c.slab(from), chunk);
    if (!c.meet() || left <= slab_bytes) return;
  }
}

int add(std::vector<message>& list, message m, void* comm, void* stream) {
  current.of = static_cast<communicator*>(comm);
  current.stream = static_cast<library_stream*>(stream);
  list.push_back(m);
  return success;
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED const char* ncclGetErrorString(int code) {
  return code == system_error ? "injected fault" : code == remote_error ? "a rank failed" : "other";
}

EXPORTED int ncclGetVersion(int* version) {
  *version = 22000;
  return strikes("version", launched_as()) ? system_error : success;
}

// The id is the name under which this process shows its segment, which is gone with it.
EXPORTED int ncclGetUniqueId(unique_id* id) {
  const int descriptor = ::memfd_create("emulated-ccl", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, sizeof(shared)) != 0) return system_error;
  std::snprintf(id->bytes, sizeof id->bytes, "/proc/%d/fd/%d", ::getpid(), descriptor);
  return success;
}

EXPORTED int ncclCommInitRank(void** made, int ranks, unique_id id, int rank) {
  if (ranks > most_ranks || strikes("join", rank)) return system_error;
  const int descriptor = ::open(id.bytes, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return system_error;
  void* at = ::mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (at == MAP_FAILED) return system_error;
  auto* c = new communicator;
  c->all = static_cast<shared*>(at);
  c->ranks = ranks;
  c->rank = rank;
  c->all->joined.fetch_add(1);
  while (c->all->joined.load() != ranks) ::usleep(200);
  *made = c;
  return success;
}

EXPORTED int ncclCommAbort(void* comm) {
  auto* c = static_cast<communicator*>(comm);
  c->aborted.store(true);
  while (c->running.load() != 0) ::sched_yield();
  ::munmap(c->all, sizeof(shared));
  delete c;
  return success;
}

EXPORTED int ncclCommGetAsyncError(void* comm, int* code) {
  *code = static_cast<communicator*>(comm)->broken ? remote_error : success;
  return success;
}

EXPORTED int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int op,
                           void* comm, void* stream) {
  return issue(*static_cast<communicator*>(comm), *static_cast<library_stream*>(stream),
               [=](communicator& c, library_stream& s) {
                 pass(c, at(s, send), count * bytes_of(type),
                      [&](std::size_t offset, std::size_t n) {
                        fold(c, at(s, receive) + offset, n, type, op);
                      });
               });
}

EXPORTED int ncclReduce(const void* send, void* receive, std::size_t count, int type, int op,
                        int root, void* comm, void* stream) {
  return issue(*static_cast<communicator*>(comm), *static_cast<library_stream*>(stream),
               [=](communicator& c, library_stream& s) {
                 pass(c, at(s, send), count * bytes_of(type),
                      [&](std::size_t offset, std::size_t n) {
                        if (c.rank == root) fold(c, at(s, receive) + offset, n, type, op);
                      });
               });
}

EXPORTED int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int op,
                               void* comm, void* stream) {
  return issue(*static_cast<communicator*>(comm), *static_cast<library_stream*>(stream),
               [=](communicator& c, library_stream& s) {
                 const std::size_t block = count * bytes_of(type);
                 for (int r = 0; r < c.ranks; ++r)
                   pass(c, at(s, send) + static_cast<std::size_t>(r) * block, block,
                        [&](std::size_t offset, std::size_t n) {
                          if (r == c.rank) fold(c, at(s, receive) + offset, n, type, op);
                        });
               });
}

EXPORTED int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root,
                           void* comm, void* stream) {
  return issue(*static_cast<communicator*>(comm), *static_cast<library_stream*>(stream),
               [=](communicator& c, library_stream& s) {
                 pass(c, c.rank == root ? at(s, send) : nullptr, count * bytes_of(type),
                      [&](std::size_t offset, std::size_t n) {
                        std::memcpy(at(s, receive) + offset, c.slab(root), n);
                      });
               });
}

EXPORTED int ncclAllGather(const void* send, void* receive, std::size_t count, int type, void* comm,
                           void* stream) {
  return issue(*static_cast<communicator*>(comm), *static_cast<library_stream*>(stream),
               [=](communicator& c, library_stream& s) {
                 const std::size_t block = count * bytes_of(type);
                 pass(c, at(s, send), block, [&](std::size_t offset, std::size_t n) {
                   for (int r = 0; r < c.ranks; ++r)
                     std::memcpy(at(s, receive) + static_cast<std::size_t>(r) * block + offset,
                                 c.slab(r), n);
                 });
               });
}

EXPORTED int ncclSend(const void* from, std::size_t count, int type, int peer, void* comm,
                      void* stream) {
  return add(current.sends, {peer, const_cast<void*>(from), count * bytes_of(type)}, comm, stream);
}

EXPORTED int ncclRecv(void* to, std::size_t count, int type, int peer, void* comm, void* stream) {
  return add(current.receives, {peer, to, count * bytes_of(type)}, comm, stream);
}

EXPORTED int ncclGroupStart() {
  current = {};
  current.open = true;
  return success;
}

EXPORTED int ncclGroupEnd() {
  group g = std::move(current);
  current = {};
  if (!g.of) return success;
  return issue(*g.of, *g.stream, [g](communicator& c, library_stream& s) mutable {
    for (int from = 0; from < c.ranks; ++from)
      for (int to = 0; to < c.ranks; ++to)
        one_pair(c, s, from, to, c.rank == from ? next_of(g.sends, to) : nullptr,
                 c.rank == to ? next_of(g.receives, from) : nullptr);
  });
}
