// SPDX-License-Identifier: BSD-3-Clause
// Everything for a long time: messages of every kind of memory in buffers that come and go, derived
// types made and freed, communicators made, used for collectives and freed, threads, spawned
// processes. After some rounds each rank notes what it holds (descriptors, mappings, memory, and
// what of the emulated device is alive); at the end it must hold no more. `--messages N`: N
// seconds.
#include <algorithm>

#include "emulated.hpp"
#include "forms.hpp"
#include "held_by_process.hpp"

using namespace mpi_test;

namespace {

std::uint64_t identity(const suite& s, int sender, std::uint64_t round) {
  return mix(s.opt.seed + round) + static_cast<std::uint64_t>(sender);
}

kind any_kind(random_numbers& random) {
  return kinds()[random.below(kinds().size())];
}

// --- what a round does; all ranks do the same, in the same order ---

/// Both directions of each pair, in fresh buffers: of a few bytes, about the limits, of megabytes.
void messages(suite& s, std::uint64_t round) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  random_numbers random(mix(s.opt.seed) + round);
  for (int i = 0; i < 8; ++i) {
    const std::size_t limits[] = {40, 3000, 70000, 600000, 3u << 20};
    const std::size_t bytes = random.below(limits[random.below(std::size(limits))]);
    const kind from = any_kind(random), to = any_kind(random);
    s.note("round %llu: %zu bytes, %s to %s", static_cast<unsigned long long>(round), bytes,
           name(from), name(to));
    buffer out(from, bytes), in(to, bytes);
    out.fill(identity(s, s.rank, round));
    in.clear();
    MPI_Request both[2];
    MPI_Irecv(in.data(), as_int(bytes), MPI_BYTE, peer, i, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, i, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    s.expect_none(in.compare(identity(s, peer, round), bytes));
  }
}

/// A type with gaps, made for one message.
void types(suite& s, std::uint64_t round) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  random_numbers random(mix(s.opt.seed) * 3 + round);
  const int rows = 1 + as_int(random.below(400)), row = 1 + as_int(random.below(50));
  const int gap = as_int(random.below(9));
  const std::size_t packed = static_cast<std::size_t>(rows * row);
  const std::size_t spread = static_cast<std::size_t>(rows * (row + gap));
  s.note("round %llu: a type of %d rows", static_cast<unsigned long long>(round), rows);
  MPI_Datatype type;
  MPI_Type_vector(rows, row, row + gap, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  const kind k = any_kind(random);
  buffer out(k, spread), in(k, packed);
  out.fill(identity(s, s.rank, round));
  in.clear();
  MPI_Sendrecv(out.data(), 1, type, peer, 1, in.data(), as_int(packed), MPI_BYTE, peer, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  std::vector<unsigned char> sent(spread), wanted;
  write_pattern(identity(s, peer, round), sent.data(), spread);
  for (int r = 0; r < rows; ++r)
    wanted.insert(wanted.end(), sent.begin() + r * (row + gap),
                  sent.begin() + r * (row + gap) + row);
  s.expect_none(in.compare(wanted.data()));
}

/// A communicator that lives for a few collectives, one of them non-blocking.
void communicators(suite& s, std::uint64_t round) {
  random_numbers random(mix(s.opt.seed) * 5 + round);
  for (int i = 0; i < 3; ++i) {
    MPI_Comm made;
    if (i == 2)
      MPI_Comm_split(MPI_COMM_WORLD, 0, -s.rank, &made);
    else
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
    const std::size_t limits[] = {3, 900, 40000, 300000};
    const int count = 1 + as_int(random.below(limits[random.below(std::size(limits))]));
    const kind k = any_kind(random);
    s.note("round %llu: collectives of %d integers, %s", static_cast<unsigned long long>(round),
           count, name(k));
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(int);
    buffer in(k, bytes), out(k, bytes), all(k, bytes * static_cast<std::size_t>(s.ranks));
    const std::vector<int> ones(static_cast<std::size_t>(count), 1 + s.rank);
    in.write(reinterpret_cast<const unsigned char*>(ones.data()), bytes);
    out.clear();
    all.clear();
    MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, made);
    MPI_Request request;
    MPI_Iallgather(in.data(), count, MPI_INT, all.data(), count, MPI_INT, made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(in.data(), count, MPI_INT, 0, made);
    int place = 0;
    MPI_Comm_rank(made, &place);
    MPI_Comm_free(&made);
    const std::vector<int> sums(static_cast<std::size_t>(count), s.ranks * (s.ranks + 1) / 2);
    s.expect_none(out.compare(reinterpret_cast<const unsigned char*>(sums.data())));
    std::vector<int> gathered;
    for (int r = 0; r < s.ranks; ++r)
      gathered.insert(gathered.end(), static_cast<std::size_t>(count),
                      1 + (i == 2 ? s.ranks - 1 - r : r));
    s.expect_none(all.compare(reinterpret_cast<const unsigned char*>(gathered.data())));
  }
}

/// Threads that end with the round, each with a tag of its own.
void threads(suite& s, std::uint64_t round) {
  const int peer = s.rank ^ 1;
  if (!s.has_threads() || peer >= s.ranks) return;
  s.note("round %llu: threads", static_cast<unsigned long long>(round));
  std::vector<std::thread> running;
  for (int t = 0; t < 3; ++t)
    running.emplace_back([&s, t, peer, round] {
      random_numbers random(mix(s.opt.seed) * 7 + round * 8 + static_cast<std::uint64_t>(t));
      const std::size_t bytes = random.below(90000);
      buffer out(any_kind(random), bytes), in(any_kind(random), bytes);
      out.fill(identity(s, s.rank, round));
      in.clear();
      MPI_Sendrecv(out.data(), as_int(bytes), MPI_BYTE, peer, 100 + t, in.data(), as_int(bytes),
                   MPI_BYTE, peer, 100 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      s.expect_none(in.compare(identity(s, peer, round), bytes));
    });
  for (std::thread& t : running) t.join();
}

/// A child of all ranks, which answers rank 0 and ends.
void spawned(suite& s, std::uint64_t round, const char* program) {
  s.note("round %llu: a spawned process", static_cast<unsigned long long>(round));
  char word[] = "--child";
  char* arguments[] = {word, nullptr};
  MPI_Comm child;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                 MPI_ERRCODES_IGNORE);
  if (s.rank == 0) {
    int number = static_cast<int>(round), answer = 0;
    MPI_Sendrecv(&number, 1, MPI_INT, 0, 1, &answer, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
    s.expect_equal(answer, number + 1, "the answer of a spawned process");
  }
  MPI_Comm_disconnect(&child);
}

int be_child(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  int number = 0;
  MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
  ++number;
  MPI_Send(&number, 1, MPI_INT, 0, 1, parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return 0;
}

// --- what a rank holds ---

struct holding {
  const char* what;
  long allowed;  // more than at the look before
  long now;
};

/// Open MPI's MPI_Comm_spawn keeps some 125 KiB for each, without Telpher too.
constexpr long kept_by_spawn = 160;

std::vector<holding> holdings(long spawns) {
  std::vector<holding> all = {{"descriptors", 0, count_descriptors()},
                              {"mappings", 6, count_lines("/proc/self/maps")},
                              {"KiB resident", 2 * 1024, resident_kib() - spawns * kept_by_spawn}};
  using counter = std::int64_t(const char*);
  // Lanes and pools have as many as were ever in use at once, of which a machine's load decides:
  // one that comes into use late is no leak, which would grow by the hundreds.
  constexpr long late = 4;
  if (auto* count = emulated<counter>("telpher_emu_counter"))
    for (const char* alive :
         {"allocations", "imports", "pinned", "managed", "registered", "streams", "events"})
      all.push_back({alive, late, static_cast<long>(count(alive))});
  return all;
}

void soak(suite& s, const char* program) {
  const double seconds = static_cast<double>(s.opt.messages > 0 ? s.opt.messages : 20);
  const double begin = MPI_Wtime();
  constexpr std::uint64_t cycle = 16;
  // After a third of the time and after two: pools grow now and then, to what was ever in use at
  // once; a leak grows in both of the last thirds.
  std::vector<holding> before, between;
  std::uint64_t round = 0;
  long spawns = 0;
  for (double now = 0; now < seconds || round % cycle != 1;) {
    const std::uint64_t same = round % cycle;  // so that what is kept for later use is the same
    messages(s, same);
    types(s, same);
    communicators(s, same);
    threads(s, same);
    // MPICH's MPI_Comm_spawn keeps memory mapped and fails now and then, without Telpher too.
    if (same == 0 && !s.mpich) {
      spawned(s, round, program);
      ++spawns;
    }
    ++round;
    s.still_alive();
    now = MPI_Wtime() - begin;
    MPI_Bcast(&now, 1, MPI_DOUBLE, 0, s.control);
    // What is made once has been made, at the same place of the cycle as the end.
    if (before.empty() && round % cycle == 1 && now > seconds / 3)
      before = holdings(spawns);
    else if (between.empty() && round % cycle == 1 && now > seconds * 2 / 3)
      between = holdings(spawns);
  }
  MPI_Barrier(s.control);
  const std::vector<holding> after = holdings(spawns);
  s.expect(!between.empty(), "a look after two thirds of the time");
  if (between.empty()) between = after;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (s.rank == 0)
      std::printf("# %s: %ld, then %ld, then %ld\n", before[i].what, before[i].now, between[i].now,
                  after[i].now);
    const auto grew = [](const holding& from, const holding& to) {
      return to.now > from.now + from.allowed;
    };
    if (grew(before[i], between[i]) && grew(between[i], after[i]))
      s.fail("after %llu rounds %ld %s instead of %ld", static_cast<unsigned long long>(round),
             after[i].now, before[i].what, before[i].now);
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--child") return be_child(argc, argv);
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  const char* program = argv[0];
  s.run("soak", [&] { soak(s, program); });
  return s.finish();
}
