// SPDX-License-Identifier: BSD-3-Clause
// Small messages through the CPU's window against the same messages through the driver: the calls
// that the emulated device counted, and every byte. Run with windows (streaming or not) and, for
// the comparison, with the word driver where mapped copies are switched off. With the word staying:
// what the kernel that stays moves, messages between host and device memory, files and collectives.
#include <algorithm>

#include "emulated.hpp"
#include "files.hpp"
#include "suite.hpp"

namespace {

using namespace mpi_test;

constexpr int messages = 50;
constexpr std::size_t sizes[] = {1, 8, 100, 479, 480, 1000, 2048};

long long counter(const char* name) {
  static auto* const read = emulated<long long(const char*)>("telpher_emu_counter");
  return read ? read(name) : -1;
}

struct driver_calls {
  long long work = 0;     // hand something to the device
  long long waiting = 0;  // ask whether it is done

  driver_calls() {
    for (const char* name : {"copies", "fills", "launches", "records"}) work += counter(name);
    for (const char* name : {"queries", "synchronisations"}) waiting += counter(name);
  }
};

struct round_trips {
  suite& s;
  buffer out, in;

  round_trips(suite& all, std::size_t bytes, kind memory = kind::device)
      : s(all), out(memory, bytes), in(memory, bytes) {}

  void one(std::size_t bytes, int tag) {
    const int peer = 1 - s.rank, count = as_int(bytes);
    if (s.rank == 0) {
      MPI_Send(out.data(), count, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
      MPI_Recv(in.data(), count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in.data(), count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out.data(), count, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
    }
  }
};

void count_calls(suite& s, std::size_t bytes, bool by_driver) {
  round_trips trips(s, bytes);
  trips.out.fill(static_cast<std::uint64_t>(s.rank) + 10);
  trips.in.clear();
  trips.one(bytes, 1);  // opens windows, makes streams
  MPI_Barrier(s.control);
  const driver_calls before;
  for (int i = 0; i < messages; ++i) trips.one(bytes, 1);
  const driver_calls after;
  const long long work = after.work - before.work, waiting = after.waiting - before.waiting;
  s.expect_none(trips.in.compare(static_cast<std::uint64_t>(1 - s.rank) + 10, bytes));
  if (s.rank == 0)
    std::printf(
        "%zu bytes, %d messages sent and received: %lld driver calls for work, %lld to wait\n",
        bytes, messages, work, waiting);
  if (by_driver) {
    s.expect(work >= messages, "the driver gets work for each message");
  } else {
    s.expect_equal(work, 0, "driver calls for work");
    s.expect_equal(waiting, 0, "driver calls to wait");
  }
}

/// Between rank 0's memory of a kind and rank 1's device memory.
void count_copies(suite& s, std::size_t bytes, kind memory) {
  round_trips trips(s, bytes, s.rank == 0 ? memory : kind::device);
  trips.in.clear();
  trips.one(bytes, 1);  // goes as bytes: rank 0's first receive is the host MPI's own
  const long long before = counter("copies");
  for (int i = 0; i < messages; ++i) {
    trips.out.fill(static_cast<std::uint64_t>(s.rank + 2 * i));
    const long long own = counter("copies");
    trips.one(bytes, 1);
    s.expect_equal(counter("copies") - own, 0, "copies of the driver");
    s.expect_none(trips.in.compare(static_cast<std::uint64_t>(1 - s.rank + 2 * i), bytes));
  }
  s.expect(s.rank == 0 || counter("copies") > before, "the counter counts the test's own copies");
}

/// Small collectives between nodes, which go through host memory.
void count_copies_of_collectives(suite& s, std::size_t bytes) {
  const auto ranks = static_cast<std::size_t>(s.ranks);
  buffer from(kind::device, bytes), all(kind::device, ranks * bytes);
  std::vector<unsigned char> wanted(ranks * bytes);
  from.clear();
  for (int i = 0; i < messages; ++i) {
    from.fill(static_cast<std::uint64_t>(s.rank + 5 * i));
    all.clear();
    const long long before = counter("copies");
    MPI_Allgather(from.data(), as_int(bytes), MPI_BYTE, all.data(), as_int(bytes), MPI_BYTE,
                  MPI_COMM_WORLD);
    MPI_Bcast(from.data(), as_int(bytes), MPI_BYTE, 1, MPI_COMM_WORLD);
    s.expect_equal(counter("copies") - before, 0, "copies of the driver");
    for (std::size_t r = 0; r < ranks; ++r)
      write_pattern(r + 5 * static_cast<std::uint64_t>(i), &wanted[r * bytes], bytes);
    s.expect_none(all.compare(wanted.data()));
    s.expect_none(from.compare(1 + 5 * static_cast<std::uint64_t>(i), bytes));
  }
}

/// Files of this rank.
void count_copies_of_files(suite& s, std::size_t bytes) {
  buffer data(kind::device, bytes);
  const files::file file(s, MPI_COMM_SELF, files::read_write);
  for (std::uint64_t i = 0; i < messages; ++i) {
    data.clear();
    data.fill(i);
    long long before = counter("copies");
    MPI_File_write_at(file.handle, 0, data.data(), as_int(bytes), MPI_BYTE, MPI_STATUS_IGNORE);
    s.expect_equal(counter("copies") - before, 0, "copies of the driver to write");
    data.clear();
    before = counter("copies");
    MPI_File_read_at(file.handle, 0, data.data(), as_int(bytes), MPI_BYTE, MPI_STATUS_IGNORE);
    s.expect_equal(counter("copies") - before, 0, "copies of the driver to read");
    s.expect_none(data.compare(i, bytes));
  }
}

/// Between two devices of this process: no kernel, because it may reach its own device only.
void self_messages(suite& s) {
  using set_device = int(int);
  auto* const set = memory_functions::find<set_device>("telpher_set_device");
  if (!set || set(1) != 0) return;  // one device
  constexpr std::size_t bytes = 100000, count = 4;
  std::vector<buffer> in, out;
  for (std::size_t i = 0; i < count; ++i) in.emplace_back(kind::device, bytes);
  s.expect_equal(set(0), 0, "telpher_set_device");
  for (std::size_t i = 0; i < count; ++i) {
    out.emplace_back(kind::device, bytes);
    out.back().fill(i);
    in[i].clear();
  }
  MPI_Request requests[2 * count];
  const long long before = counter("launches");
  for (std::size_t i = 0; i < count; ++i) {
    MPI_Irecv(in[i].data(), as_int(bytes), MPI_BYTE, s.rank, as_int(i), MPI_COMM_WORLD,
              &requests[i]);
    MPI_Isend(out[i].data(), as_int(bytes), MPI_BYTE, s.rank, as_int(i), MPI_COMM_WORLD,
              &requests[count + i]);
  }
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
  s.expect_equal(counter("launches") - before, 0, "kernels");
  for (std::size_t i = 0; i < count; ++i) s.expect_none(in[i].compare(i, bytes));
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const auto told = [&](std::string_view word) {
    return std::find(argv + 1, argv + argc, word) != argv + argc;
  };
  const bool by_driver = told("driver"), staying = told("staying");
  if (counter("copies") < 0) {
    std::printf("no emulated device here\n");
    return s.finish();
  }
  for (const std::size_t bytes : sizes)
    if (staying) {
      s.run("staying, files of " + std::to_string(bytes), [&] { count_copies_of_files(s, bytes); });
      if (std::getenv("TELPHER_TEST_PRETENDED_NODES"))
        s.run("staying, collectives of " + std::to_string(bytes),
              [&] { count_copies_of_collectives(s, bytes); });
      for (const kind memory : {kind::host, kind::device})
        s.run(
            (memory == kind::host ? "staying, from the host " : "staying ") + std::to_string(bytes),
            [&] { count_copies(s, bytes, memory); });
    } else {
      s.run((by_driver ? "driver calls " : "mapped ") + std::to_string(bytes) +
                (by_driver ? " driver" : ""),
            [&] { count_calls(s, bytes, by_driver); });
    }
  if (!by_driver && !staying) s.run("self messages", [&] { self_messages(s); });
  return s.finish();
}
