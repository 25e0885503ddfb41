// SPDX-License-Identifier: BSD-3-Clause
// Profiling tools (tool.c) in front of Telpher and behind it: they see the program's calls, once
// each and nothing else, and what they pass on is Telpher's, so that device memory works. One that
// finds MPI behind itself sees nothing from behind Telpher, and does no harm. The words `seen` and
// `unseen` say which is expected; without a tool neither is given.
#include "suite.hpp"

#include <algorithm>
#include <climits>

using namespace mpi_test;

namespace {

constexpr int bytes = 100'000;

template <class F>
F* found(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

struct world {
  suite& s;
  bool seen;    // calls are expected to be seen
  bool unseen;  // there is a tool, which sees none
  long (*calls)(const char*) = found<long(const char*)>("tool_calls");
  void* out = try_allocate(kinds().back(), bytes);
  void* in = try_allocate(kinds().back(), bytes);
  int right = (s.rank + 1) % s.ranks;
  int left = (s.rank + s.ranks - 1) % s.ranks;

  void fill(int round) const {
    std::vector<unsigned char> data(bytes);
    write_pattern(static_cast<std::uint64_t>(1000 * s.rank + round), data.data(), data.size());
    copy(kinds().back(), out, data.data(), data.size());
    copy(kinds().back(), in, std::vector<unsigned char>(bytes).data(), bytes);
  }
  void expect_from(int rank, int round) const {
    std::vector<unsigned char> wanted(bytes), got(bytes);
    write_pattern(static_cast<std::uint64_t>(1000 * rank + round), wanted.data(), wanted.size());
    copy(kinds().back(), got.data(), in, bytes);
    s.expect(wanted == got, "the bytes that came");
  }
  /// What the tool must have counted of a function since `before`.
  void expect_calls(const char* name, long before, long wanted) const {
    if (calls) s.expect_equal(calls(name) - before, seen ? wanted : 0, name);
  }
  long count(const char* name = nullptr) const { return calls ? calls(name) : 0; }
};

void messages(const world& w) {
  w.s.run("messages", [&] {
    w.fill(1);
    const long all = w.count(), sends = w.count("Isend"), receives = w.count("Irecv");
    const long waits = w.count("Wait"), whole_arrays = w.count("Waitall");
    MPI_Request r[2];
    MPI_Irecv(w.in, bytes, MPI_BYTE, w.left, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(w.out, bytes, MPI_BYTE, w.right, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    w.expect_from(w.left, 1);
    w.fill(2);
    MPI_Irecv(w.in, bytes, MPI_BYTE, w.left, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Sendrecv(w.out, bytes, MPI_BYTE, w.right, 2, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    w.expect_from(w.left, 2);
    w.expect_calls("Isend", sends, 1);
    w.expect_calls("Irecv", receives, 2);
    w.expect_calls("Waitall", whole_arrays, 1);
    w.expect_calls("Wait", waits, 1);
    w.expect_calls(nullptr, all, 6);
  });
}

void collectives(const world& w) {
  w.s.run("collectives", [&] {
    const long all = w.count();
    w.fill(3);
    if (w.s.rank == 0) std::swap(const_cast<world&>(w).in, const_cast<world&>(w).out);
    MPI_Bcast(w.in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    w.expect_from(0, 3);
    std::vector<int> ones(bytes / sizeof(int), 1), sums(ones.size());
    copy(kinds().back(), w.out, ones.data(), ones.size() * sizeof(int));
    MPI_Allreduce(w.out, w.in, as_int(ones.size()), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    copy(kinds().back(), sums.data(), w.in, sums.size() * sizeof(int));
    w.s.expect(std::ranges::count(sums, w.s.ranks) == std::ssize(sums), "the sums");
    w.expect_calls(nullptr, all, 2);
  });
}

// A program or a library that takes MPI by its other name.
void by_the_other_name(const world& w) {
  w.s.run("PMPI", [&] {
    const long all = w.count();
    w.fill(4);
    PMPI_Sendrecv(w.out, bytes, MPI_BYTE, w.right, 4, w.in, bytes, MPI_BYTE, w.left, 4,
                  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    w.expect_from(w.left, 4);
    w.fill(5);
    MPI_Request r[2];
    PMPI_Irecv(w.in, bytes, MPI_BYTE, w.left, 5, MPI_COMM_WORLD, &r[0]);
    PMPI_Isend(w.out, bytes, MPI_BYTE, w.right, 5, MPI_COMM_WORLD, &r[1]);
    PMPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    w.expect_from(w.left, 5);
    w.expect_calls(nullptr, all, 0);
  });
}

// Code inside the host MPI is left alone, but for requests of the program that it waits for.
void part_of_the_host_mpi(const world& w) {
  auto* const wait = found<int(MPI_Request*)>("part_wait");
  auto* const receive = found<int(void*, int, int, int, MPI_Comm, MPI_Request*)>("part_receive");
  auto* const outstanding = found<long()>("telpher_outstanding");
  if (!wait || !receive || !outstanding) return;
  w.s.run("part of the host MPI", [&] {
    w.fill(6);
    MPI_Request r[2];
    MPI_Irecv(w.in, bytes, MPI_BYTE, w.left, 6, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(w.out, bytes, MPI_BYTE, w.right, 6, MPI_COMM_WORLD, &r[1]);
    w.s.note("the receive");
    wait(&r[0]);
    w.s.note("the send");
    wait(&r[1]);
    w.s.expect(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "null requests");
    w.expect_from(w.left, 6);
    w.s.note("the end of what is under way");
    while (outstanding() != 0) std::this_thread::yield();  // the sender hears of the end later

    int mine = w.s.rank, got = -1;
    receive(&got, sizeof got, w.left, 7, MPI_COMM_WORLD, &r[0]);
    w.s.expect_equal(outstanding(), 0, "what Telpher knows of the host MPI's own");
    PMPI_Send(&mine, sizeof mine, MPI_BYTE, w.right, 7, MPI_COMM_WORLD);
    wait(&r[0]);
    w.s.expect_equal(got, w.left, "the host MPI's own message");
  });
}

// Functions taken from the MPI library's own handle are not Telpher's; telpher_symbol gives those.
void by_symbol(const world& w) {
  auto* const symbol = found<void*(const char*)>("telpher_symbol");
  if (!symbol) return;
  w.s.run("symbol", [&] {
    Dl_info library{};
    dladdr(dlsym(RTLD_DEFAULT, "MPI_Comm_rank"), &library);
    void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!w.s.expect(handle != nullptr, "the MPI library's handle")) return;
    void* const ours = symbol("MPI_Sendrecv");
    w.s.expect(ours && ours != dlsym(handle, "MPI_Sendrecv"), "MPI_Sendrecv is Telpher's");
    w.s.expect(symbol("MPI_Comm_rank") == dlsym(handle, "MPI_Comm_rank"), "MPI_Comm_rank");
    w.s.expect(symbol("MPI_No_such_function") == nullptr && !symbol(nullptr), "no function");
    w.fill(8);
    reinterpret_cast<decltype(&MPI_Sendrecv)>(ours)(w.out, bytes, MPI_BYTE, w.right, 8, w.in, bytes,
                                                    MPI_BYTE, w.left, 8, MPI_COMM_WORLD,
                                                    MPI_STATUS_IGNORE);
    w.expect_from(w.left, 8);
    dlclose(handle);
  });
}

// Code that took its functions from the MPI library's own handle waits for the program's requests.
void past_telpher(const world& w) {
  if (!found<void*(const char*)>("telpher_symbol")) return;
  Dl_info library{};
  dladdr(dlsym(RTLD_DEFAULT, "MPI_Comm_rank"), &library);
  void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const auto hosts = [&]<class F>(F*, const char* name) {
    return reinterpret_cast<F*>(dlsym(handle, name));
  };
  auto* const wait = hosts(&MPI_Wait, "PMPI_Wait");
  auto* const test = hosts(&MPI_Test, "PMPI_Test");
  auto* const waitall = hosts(&MPI_Waitall, "PMPI_Waitall");
  auto* const waitany = hosts(&MPI_Waitany, "PMPI_Waitany");
  for (const char* how : {"Wait", "Test", "Waitall", "Waitany"})
    w.s.run(std::string("past Telpher, ") + how, [&] {
      w.fill(9);
      MPI_Request r[2];
      MPI_Status status[2];
      MPI_Irecv(w.in, bytes, MPI_BYTE, w.left, 9, MPI_COMM_WORLD, &r[0]);
      MPI_Isend(w.out, bytes, MPI_BYTE, w.right, 9, MPI_COMM_WORLD, &r[1]);
      w.s.note("the messages");
      if (*how == 'T') {
        for (int i = 0, done = 0; i < 2; i += done) test(&r[i], &done, &status[i]);
      } else if (how == std::string_view("Wait")) {
        wait(&r[0], &status[0]);
        wait(&r[1], &status[1]);
      } else if (how == std::string_view("Waitall")) {
        waitall(2, r, status);
      } else {
        for (int i = 0; i < 2; ++i) {
          int at = -1;
          MPI_Status s;
          waitany(2, r, &at, &s);
          if (w.s.expect(at == 0 || at == 1, "an index")) status[at] = s;
        }
      }
      w.s.expect(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "null requests");
      w.s.expect_status(status[0], w.left, 9, bytes);
      w.expect_from(w.left, 9);
      w.fill(10);
      MPI_Request c;
      std::vector<int> ones(bytes / sizeof(int), 1), sums(ones.size());
      copy(kinds().back(), w.out, ones.data(), ones.size() * sizeof(int));
      MPI_Iallreduce(w.out, w.in, as_int(ones.size()), MPI_INT, MPI_SUM, MPI_COMM_WORLD, &c);
      w.s.note("the collective");
      if (*how == 'T')
        for (int done = 0; !done;) test(&c, &done, MPI_STATUS_IGNORE);
      else
        wait(&c, MPI_STATUS_IGNORE);
      copy(kinds().back(), sums.data(), w.in, sums.size() * sizeof(int));
      w.s.expect(std::ranges::count(sums, w.s.ranks) == std::ssize(sums), "the sums");
    });
  if (handle) dlclose(handle);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const auto word = [&](const char* text) { return std::erase(s.opt.words, text) > 0; };
  const bool seen = word("seen"), unseen = word("unseen");
  world w{s, seen, unseen};
  s.run("tool", [&] {
    s.expect_equal(w.calls != nullptr, seen || unseen, "whether there is a tool");
    if (w.calls) s.expect_equal(w.count("Init_thread"), seen, "MPI_Init_thread as the tool saw it");
  });
  messages(w);
  collectives(w);
  by_the_other_name(w);
  part_of_the_host_mpi(w);
  by_symbol(w);
  past_telpher(w);
  release(kinds().back(), w.out);
  release(kinds().back(), w.in);
  return s.finish();
}
