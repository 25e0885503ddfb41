// SPDX-License-Identifier: BSD-3-Clause
// Windows in kernels of the program's own (telpher/device.h): what is put and got, the order of
// bytes and signals, waits that end, wrong calls, and which windows are refused. One source: a
// plain compiler makes the test for the emulated device, nvcc the one for GPUs.
#include "caught_log.hpp"
#include "emulated.hpp"
#include "kernel_programs.hpp"
#include "stream_calls.hpp"
#include "telpher/window.h"
#include "window.hpp"
#include "window_kernels.hpp"

namespace {

using namespace mpi_test;
using words = std::vector<std::uint64_t>;

constexpr unsigned block_threads = 96;

/// What the log says of windows of device memory where ranks cannot reach each other's; else null.
const char* const obstacle = std::getenv("TEST_OBSTACLE");
const char* const threaded_rank = std::getenv("TEST_THREADED_RANK");  // and no other

int own_level() {
  for (const char* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const char* own = std::getenv(name); own && threaded_rank)
      return std::strcmp(own, threaded_rank) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  return MPI_THREAD_FUNNELED;
}

void expect_ok(suite& s, int code, const char* what) {
  s.expect_equal(code, 0, what);
}

// --- memory ---

/// Words in device memory that are no window's, for what kernels read and what they found out.
class device_words {
 public:
  explicit device_words(std::size_t count)
      : count_(count), memory_(static_cast<std::uint64_t*>(try_allocate(kind::device, count * 8))) {
    write(words(count));
  }
  ~device_words() { release(kind::device, memory_); }
  device_words(const device_words&) = delete;
  device_words& operator=(const device_words&) = delete;
  std::uint64_t* for_kernels() const {
    void* address = nullptr;
    telpher_kernel_address(memory_, &address);
    return static_cast<std::uint64_t*>(address);
  }
  void write(const words& values) { copy(kind::device, memory_, values.data(), count_ * 8); }
  words read() const {
    words values(count_);
    copy(kind::device, values.data(), memory_, count_ * 8);
    return values;
  }
  std::uint64_t* data() const { return memory_; }

 private:
  std::size_t count_;
  std::uint64_t* memory_;
};

/// A window of zeros in device memory, with its handle.
class kernel_window {
 public:
  kernel_window(suite& s, std::size_t count, int unit = 8) : memory(count) {
    MPI_Win_create(memory.data(), static_cast<MPI_Aint>(8 * count), unit, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    expect_ok(s, telpher_win_device(win, &handle), "telpher_win_device");
  }
  ~kernel_window() { MPI_Win_free(&win); }
  kernel_window(const kernel_window&) = delete;
  kernel_window& operator=(const kernel_window&) = delete;

  device_words memory;
  MPI_Win win = MPI_WIN_NULL;
  handle_of handle = nullptr;
};

template <class... P, class... A>
void launch(suite& s, const test_stream& stream, unsigned blocks, void (*kernel)(P...),
            A... arguments) {
  expect_ok(s, telpher_launch(kernel, blocks, block_threads, stream, arguments...), "the launch");
  expect_ok(s, telpher_stream_synchronize(stream), "the kernel");
}

// --- cases ---

void moves(suite& s) {
  const test_stream stream;
  kernel_window w(s, 1024, 1);
  device_words own(1024), good(1);
  auto* const memory = reinterpret_cast<unsigned char*>(own.for_kernels());
  for (const bool by_block : {false, true})
    for (const std::size_t bytes : {0u, 1u, 7u, 16u, 100u, 1000u, 4096u})
      for (const std::int64_t place : {4096, 4097, 4100, 4104, 4111}) {
        if (place > 4096 && bytes == 4096) continue;
        s.note("%zu bytes to %lld, %s", bytes, static_cast<long long>(place),
               by_block ? "block" : "thread");
        std::vector<unsigned char> shown(8192), wanted(8192), got(8192), mine(8192);
        const auto id = [&](int of, int what) {
          return (bytes + static_cast<std::size_t>(place)) * 64 +
                 static_cast<unsigned>(of * 4 + what);
        };
        write_pattern(id(s.rank, 0), shown.data(), 4096);  // what the right rank gets
        write_pattern(id(s.rank, 1), mine.data(), 4096);   // what it is put
        copy(kind::device, w.memory.data(), shown.data(), 8192);
        copy(kind::device, own.data(), mine.data(), 8192);
        MPI_Barrier(MPI_COMM_WORLD);
        launch(s, stream, 1, move_bytes, w.handle, memory, place, bytes, by_block,
               good.for_kernels());
        MPI_Barrier(MPI_COMM_WORLD);
        s.expect_equal(static_cast<long long>(good.read()[0]), 1, "calls that are right");
        wanted = shown;
        write_pattern(id(left(s), 1), wanted.data() + place, bytes);
        copy(kind::device, got.data(), w.memory.data(), 8192);
        s.expect_none(difference(got.data(), wanted.data(), 8192, "the window"));
        write_pattern(id(left(s), 0), mine.data() + 4096, bytes);
        copy(kind::device, got.data(), own.data(), 8192);
        s.expect_none(difference(got.data(), mine.data(), 8192, "what was got"));
        MPI_Barrier(MPI_COMM_WORLD);
      }
}

/// Until the ring has done all rounds; how many launches that took. Rank 0 may begin when the other
/// ranks' first kernels have waited in vain.
int run_ring(suite& s, std::uint64_t rounds, std::uint64_t polls, bool late) {
  const test_stream stream;
  kernel_window w(s, 2 + 2 * message);
  device_words own(message), state(2);
  state.write({1, 0});
  int launches = 0;
  for (words now; now.empty() || now[0] <= rounds; now = state.read(), ++launches) {
    if (s.failing()) break;
    if (late && launches == (s.rank == 0 ? 0 : 1)) MPI_Barrier(s.control);
    launch(s, stream, 1, ring, w.handle, own.for_kernels(), state.for_kernels(), rounds, polls);
  }
  s.expect_equal(static_cast<long long>(state.read()[1]), 0, "words that came after their signal");
  return launches;
}

void order(suite& s) {
  run_ring(s, s.opt.messages > 0 ? static_cast<std::uint64_t>(s.opt.messages) : 2000, 1 << 20,
           false);
}

// A wait of a few polls ends the kernel again and again: each launch goes on where it was left.
void paused(suite& s) {
  const int launches = run_ring(s, 60, 2, true);
  s.expect(s.rank == 0 || launches > 1, "a kernel that ended without its signal");
}

void additions(suite& s) {
  const test_stream stream;
  kernel_window w(s, 8);
  device_words found(2);
  constexpr std::uint64_t times = 50;
  constexpr unsigned blocks = 5;
  const std::uint64_t sum = static_cast<unsigned>(s.ranks) * times * (blocks * (blocks + 1) / 2);
  launch(s, stream, blocks, add_everywhere, w.handle, times);
  launch(s, stream, 1, await, w.handle, sum, std::uint64_t{1} << 30, found.for_kernels());
  s.expect_equal(static_cast<long long>(found.read()[0]), 1, "the wait's result");
  s.expect_equal(static_cast<long long>(found.read()[1]), static_cast<long long>(sum), "the sum");
  launch(s, stream, 1, await, w.handle, sum + 1, std::uint64_t{20}, found.for_kernels());
  s.expect_equal(static_cast<long long>(found.read()[0]), 0, "the result of a wait in vain");
}

// More than queues to other nodes hold, in small and in large pieces. MPI's call completes it.
void floods(suite& s) {
  const test_stream stream;
  constexpr std::size_t count = 30'000, bytes = 8 * count;
  kernel_window w(s, count, 1);
  device_words own(count), got(count), refused(1);
  auto* const memory = reinterpret_cast<unsigned char*>(own.for_kernels());
  auto* const result = reinterpret_cast<unsigned char*>(got.for_kernels());
  std::vector<unsigned char> sent(bytes), wanted(bytes), seen(bytes);
  const auto check = [&](int of, std::size_t piece, const std::uint64_t* where, const char* what) {
    write_pattern(piece + static_cast<std::size_t>(of), wanted.data(), bytes);
    copy(kind::device, seen.data(), where, bytes);
    s.expect_none(difference(seen.data(), wanted.data(), bytes, what));
  };
  MPI_Win_fence(0, w.win);
  for (const std::size_t piece : {1000u, 200'000u}) {
    s.note("pieces of %zu bytes", piece);
    write_pattern(piece + static_cast<std::size_t>(s.rank), sent.data(), bytes);
    copy(kind::device, own.data(), sent.data(), bytes);
    launch(s, stream, 3, put_pieces, w.handle, right(s), memory, bytes, piece,
           refused.for_kernels());
    MPI_Win_fence(0, w.win);
    check(left(s), piece, w.memory.data(), "the window");
    launch(s, stream, 1, get_all, w.handle, left(s), result, bytes, refused.for_kernels());
    check((left(s) + s.ranks - 1) % s.ranks, piece, got.data(), "what was got");
    MPI_Win_fence(0, w.win);
  }
  s.expect_equal(static_cast<long long>(refused.read()[0]), 0, "calls that were refused");
}

int complete_puts(MPI_Win win) {
  MPI_Win_lock_all(0, win);
  const int code = MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
  return code;
}

// The last rank cannot write what rank 0 puts: the calls of rank 0 end, and so do MPI's.
void relay_fails(suite& s) {
  static auto* const set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || !std::getenv("TEST_NODES")) return;
  const test_stream stream;
  constexpr std::size_t bytes = 4000;
  kernel_window w(s, bytes / 8, 1);
  device_words own(bytes / 8), refused(1);
  auto* const memory = reinterpret_cast<unsigned char*>(own.for_kernels());
  const int far = s.ranks - 1;
  if (s.rank == far) set_faults("memcpy:1+");
  MPI_Barrier(s.control);
  if (s.rank == 0) {
    launch(s, stream, 1, put_pieces, w.handle, far, memory, bytes, std::uint64_t{100},
           refused.for_kernels());
    s.expect_class(complete_puts(w.win), MPI_ERR_OTHER, "the call that completes");
    refused.write({0});
    launch(s, stream, 1, get_all, w.handle, far, memory, bytes, refused.for_kernels());
    s.expect_equal(static_cast<long long>(refused.read()[0]), 1, "a get that was refused");
    refused.write({0});
    launch(s, stream, 1, wait_in_vain, w.handle, refused.for_kernels());
    s.expect_equal(static_cast<long long>(refused.read()[0]), 1, "a wait that ended");
  }
  MPI_Barrier(s.control);
  set_faults("");
}

void wrong(suite& s) {
  const test_stream stream;
  kernel_window w(s, 64);
  device_words own(2), refused(1);
  launch(s, stream, 1, wrong_calls, w.handle, own.for_kernels(), refused.for_kernels());
  s.expect_equal(static_cast<long long>(refused.read()[0]), 9, "calls that are refused");
  const words after = w.memory.read();
  s.expect(after == words(64), "a window that wrong calls leave alone");
}

// While a kernel of each rank waits, device memory goes around by MPI; then the signal comes.
void beside(suite& s) {
  const test_stream waiting, stream;
  kernel_window w(s, 8);
  device_words found(2), sent(5000), got(5000);
  const words wanted(5000, static_cast<std::uint64_t>(left(s)));
  sent.write(words(5000, static_cast<std::uint64_t>(s.rank)));
  expect_ok(s,
            telpher_launch(await, 1, block_threads, waiting, w.handle, 1, std::uint64_t{1} << 40,
                           found.for_kernels()),
            "the launch");
  for (int i = 0; i < 20; ++i)
    MPI_Sendrecv(sent.data(), 5000, MPI_UINT64_T, right(s), 0, got.data(), 5000, MPI_UINT64_T,
                 left(s), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  s.expect(got.read() == wanted, "the message");
  launch(s, stream, 1, signal_right, w.handle);
  expect_ok(s, telpher_stream_synchronize(waiting), "the kernel that waits");
  s.expect_equal(static_cast<long long>(found.read()[0]), 1, "the wait's result");
}

// One rank exposes nothing, units differ, the handle stays, and MPI's calls see the same bytes.
void shapes(suite& s) {
  const test_stream stream;
  device_words memory(64), out(1), good(1);
  out.write({42});
  MPI_Win win = MPI_WIN_NULL;
  const bool none = s.rank == s.ranks - 1;
  MPI_Win_create(none ? nullptr : memory.data(), none ? 0 : 512, s.rank + 1, MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  handle_of handle = nullptr, again = nullptr;
  expect_ok(s, telpher_win_device(win, &handle), "telpher_win_device");
  expect_ok(s, telpher_win_device(win, &again), "telpher_win_device again");
  s.expect(handle != nullptr && handle == again, "the same handle");
  MPI_Win_fence(0, win);
  if (s.rank == 0) MPI_Put(out.data(), 1, MPI_UINT64_T, 0, 16, 1, MPI_UINT64_T, win);
  MPI_Win_fence(0, win);
  if (s.rank == 0) launch(s, stream, 1, look, handle, good.for_kernels());
  if (s.rank == 0) s.expect_equal(static_cast<long long>(good.read()[0]), 1, "what MPI_Put put");
  MPI_Win_free(&win);
}

// --- refusals ---

/// `word` stands in the log: the rank that is in the way, and why.
void expect_refusal(suite& s, MPI_Win win, int wanted, const char* word) {
  handle_of handle = reinterpret_cast<handle_of>(&s);
  const caught_log log;
  const int code = telpher_win_device(win, &handle);
  s.note("%s", log.text().c_str());
  s.expect_class(code, wanted, "telpher_win_device");
  s.expect(handle == nullptr, "no handle");
  char named[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, named, &length);
  s.expect(std::strstr(named, "telpher_win_device") != nullptr, "a text that names the call");
  s.expect(log.text().find(word) != std::string::npos, word);
}

void refusals(suite& s) {
  constexpr int unsupported = MPI_ERR_UNSUPPORTED_OPERATION;
  {
    const window host(s, making::create, placing::none, 16);
    expect_refusal(s, host.handle, unsupported, "no rank of the window exposes device memory");
  }
  if (!obstacle) {
    const window mixed(s, making::create, placing::even, 16);
    expect_refusal(s, mixed.handle, unsupported, "rank 1 exposes host memory");
  }
  if (!obstacle) {
    const window dynamic(s, making::dynamic, placing::all, 16);
    expect_refusal(s, dynamic.handle, unsupported, "MPI_Win_create");
  }
  window fine(s, making::allocate, placing::all, 16);
  s.expect_class(telpher_win_device(fine.handle, nullptr), MPI_ERR_ARG, "a null pointer");
  MPI_Win freed = MPI_WIN_NULL;
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  expect_refusal(s, freed, MPI_ERR_WIN, "a null window");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
  MPI_Errhandler_free(&before);
}

// Where ranks cannot reach each other's memory, on all of them.
void unreachable(suite& s) {
  const window w(s, making::create, placing::all, 16);
  const bool can = threaded_rank && std::atoi(threaded_rank) == s.rank;
  expect_refusal(s, w.handle, MPI_ERR_UNSUPPORTED_OPERATION,
                 can ? "its own error says why" : obstacle);
}

bool devices_differ(suite& s) {
  int own = 0, least = 0, most = 0;
  telpher_get_device(&own);
  MPI_Allreduce(&own, &least, 1, MPI_INT, MPI_MIN, s.control);
  MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, s.control);
  return least != most;
}

// A rank that cannot open a peer's memory for its own device: no rank gets a handle. Later all do.
// On one device it is open already, for the window's operations.
void one_cannot(suite& s) {
  static auto* const set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || !devices_differ(s)) return;
  const window w(s, making::create, placing::all, 16);
  if (s.rank == 1) set_faults("memcpy:1+");
  expect_refusal(s, w.handle, MPI_ERR_UNSUPPORTED_OPERATION, "rank 1");
  set_faults("");
  if (s.rank == 1)
    s.expect_class(telpher_win_device(w.handle, nullptr), MPI_ERR_ARG, "a null pointer");
  else
    expect_refusal(s, w.handle, MPI_ERR_UNSUPPORTED_OPERATION, "rank 1");
  handle_of handle = nullptr;
  expect_ok(s, telpher_win_device(w.handle, &handle), "telpher_win_device");
  s.expect(handle != nullptr, "a handle");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, own_level());
  if (!s.makes_windows()) return s.finish();
  if (!begin_kernels(s)) return s.finish();
  s.run("refusals", [&] { refusals(s); });
  if (obstacle) {
    s.run("unreachable", [&] { unreachable(s); });
    return s.finish();
  }
  s.run("moves", [&] { moves(s); });
  s.run("order", [&] { order(s); });
  s.run("paused", [&] { paused(s); });
  s.run("additions", [&] { additions(s); });
  s.run("beside messages", [&] { beside(s); });
  s.run("floods", [&] { floods(s); });
  s.run("relay fails", [&] { relay_fails(s); });
  s.run("wrong calls", [&] { wrong(s); });
  s.run("shapes", [&] { shapes(s); });
  s.run("one cannot", [&] { one_cannot(s); });
  return s.finish();
}
