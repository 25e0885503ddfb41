// SPDX-License-Identifier: BSD-3-Clause
// Processes with and without the library together, as test/mpi/worlds.py starts them: in one
// MPI_COMM_WORLD, or in two that MPI_Comm_spawn made. Each uses device memory where it has some and
// host memory elsewhere; messages, probes, collectives, windows and partitioned calls must be as
// over the host MPI alone, and no message may be there that the program did not send. Says "N
// ranks, M of them with device memory".
//
//   worlds one                    in MPI_COMM_WORLD
//   worlds spawn|spawn_multiple with|without
//                                 as many children as there are ranks, which must (not) have device
//                                 memory
//   worlds connect|join FILE      MPI_Comm_accept and MPI_Comm_connect between the halves of the
//                                 world, or MPI_Comm_join between their first ranks, which find
//                                 each other by the file
#include "on_any_comm.hpp"

#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

using namespace mpi_test;

namespace {

// Where Telpher is not enabled device memory is no concern of its.
const kind own_kind = [] {
  const char* enable = std::getenv("TELPHER_ENABLE");
  const bool off = enable && std::string_view(enable) == "off";
  return !off && kinds().back() == kind::device ? kind::device : kind::host;
}();

int me = 0;
int failures = 0;

void expect(bool good, const char* what, long long got, long long wanted) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "FAILED rank %d: %s: %lld instead of %lld\n", me, what, got, wanted);
}

void expect_none(const std::string& problem) {
  if (problem.empty()) return;
  ++failures;
  std::fprintf(stderr, "FAILED rank %d: %s\n", me, problem.c_str());
}

/// Integers in this process's kind of memory.
class numbers {
 public:
  explicit numbers(std::vector<int> values)
      : count_(values.size()), data_(try_allocate(own_kind, bytes() + 1)) {
    copy(own_kind, data_, values.data(), bytes());
  }
  numbers(std::size_t count, int value) : numbers(std::vector<int>(count, value)) {}
  ~numbers() { release(own_kind, data_); }
  numbers(const numbers&) = delete;
  numbers& operator=(const numbers&) = delete;

  void* at() const { return data_; }
  int count() const { return static_cast<int>(count_); }
  void expect_all(const char* what, int wanted) const {
    for (const int got : values()) expect(got == wanted, what, got, wanted);
  }
  std::vector<int> values() const {
    std::vector<int> host(count_);
    copy(own_kind, host.data(), data_, bytes());
    return host;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(int); }
  std::size_t count_;
  void* data_;
};

// 12 and 120 numbers have as many bytes as tickets.
constexpr std::size_t sizes[] = {1, 12, 120, 5000, 400000};

// --- on a communicator of one group ---

void reductions(MPI_Comm comm, int rank, int ranks) {
  const int sum = ranks * (ranks + 1) / 2;
  for (const std::size_t n : sizes) {
    numbers in(n, rank + 1), out(n, 0);
    MPI_Allreduce(in.at(), out.at(), in.count(), MPI_INT, MPI_SUM, comm);
    out.expect_all("MPI_Allreduce", sum);
    numbers later(n, 0);
    MPI_Request request;
    MPI_Iallreduce(in.at(), later.at(), in.count(), MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    later.expect_all("MPI_Iallreduce", sum);
    MPI_Bcast(in.at(), in.count(), MPI_INT, ranks - 1, comm);
    in.expect_all("MPI_Bcast", ranks);
  }
}

void gathers(MPI_Comm comm, int rank, int ranks) {
  for (const std::size_t n : sizes) {
    numbers in(n, rank), out(n * static_cast<std::size_t>(ranks), -1);
    MPI_Allgather(in.at(), in.count(), MPI_INT, out.at(), in.count(), MPI_INT, comm);
    const std::vector<int> got = out.values();
    for (std::size_t i = 0; i < got.size(); ++i)
      expect(got[i] == static_cast<int>(i / n), "MPI_Allgather", got[i], static_cast<int>(i / n));
  }
}

#if MPI_VERSION >= 4
void persistent(MPI_Comm comm, int ranks) {
  numbers in(100, 1), out(100, 0);
  MPI_Request request;
  MPI_Allreduce_init(in.at(), out.at(), 100, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  out.expect_all("MPI_Allreduce_init", ranks);
  MPI_Request_free(&request);
}
#endif

// Open MPI 5 has partitioned communication only where all ranks of MPI_COMM_WORLD take part.
bool host_has_partitions = true;

// MPICH's ucx netmod loses receives of any source where it carries messages
// (docs/use/limitations.md): there each is probed first.
bool loses_any_source = false;

// Everyone to everyone, received by wildcard, by probe and by name.
void messages(MPI_Comm comm, int rank, int ranks) {
  for (const std::size_t n : sizes) {
    std::vector<MPI_Request> requests;
    numbers out(n, rank);
    for (int to = 0; to < ranks; ++to)
      MPI_Isend(out.at(), out.count(), MPI_INT, to, 5, comm, &requests.emplace_back());
    std::vector<int> seen(static_cast<std::size_t>(ranks), 0);
    for (int i = 0; i < ranks; ++i) {
      numbers in(n, -1);
      MPI_Status status;
      int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
      if (i % 2 == 1 || loses_any_source) {
        MPI_Probe(source, tag, comm, &status);
        source = status.MPI_SOURCE, tag = status.MPI_TAG;
      }
      MPI_Recv(in.at(), in.count(), MPI_INT, source, tag, comm, &status);
      int count = -1;
      MPI_Get_count(&status, MPI_INT, &count);
      expect(count == in.count(), "count of a message", count, in.count());
      expect(status.MPI_TAG == 5, "its tag", status.MPI_TAG, 5);
      in.expect_all("its bytes", status.MPI_SOURCE);
      ++seen[static_cast<std::size_t>(status.MPI_SOURCE)];
    }
    for (const int times : seen) expect(times == 1, "messages of a rank", times, 1);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(comm);  // the next ones are received by wildcard, too
  }
}

void nothing_else(MPI_Comm comm) {
  MPI_Barrier(comm);
  int flag = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
  expect(!flag, "a message that nobody sent, tag", flag ? status.MPI_TAG : 0, 0);
  MPI_Barrier(comm);
}

void everything(MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  nothing_else(comm);
  reductions(comm, rank, ranks);
  gathers(comm, rank, ranks);
#if MPI_VERSION >= 4
  persistent(comm, ranks);
#endif
  messages(comm, rank, ranks);
  expect_none(on_any_comm::all(comm, own_kind, host_has_partitions));
  nothing_else(comm);
}

// The communicator, and others made of it.
void everywhere(MPI_Comm comm) {
  everything(comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm copy, part;
  MPI_Comm_dup(comm, &copy);
  everything(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_split(comm, rank % 2, 0, &part);
  everything(part);
  MPI_Comm_free(&part);
}

// The same of a communicator of two worlds.
void everywhere_of_both(MPI_Comm merged) {
#ifdef MPICH_VERSION
  loses_any_source = true;
#else
  host_has_partitions = false;
#endif
  everywhere(merged);
  loses_any_source = false;
  host_has_partitions = true;
}

// --- between two groups ---

void across(MPI_Comm inter) {
  int rank = 0, theirs = 0, ours = 0;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_size(inter, &ours);
  MPI_Comm_remote_size(inter, &theirs);
  for (const std::size_t n : sizes) {
    numbers out(n, rank), in(n, -1);
    MPI_Request request;
    MPI_Irecv(in.at(), in.count(), MPI_INT, rank, 7, inter, &request);
    MPI_Send(out.at(), out.count(), MPI_INT, rank, 7, inter);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    in.expect_all("a message across", rank);
    numbers ones(n, 1), sum(n, 0);
    MPI_Allreduce(ones.at(), sum.at(), ones.count(), MPI_INT, MPI_SUM, inter);
    sum.expect_all("MPI_Allreduce across", theirs);
  }
  expect(ours == theirs, "size of the other group", theirs, ours);
}

void report(MPI_Comm comm) {
  int mine[2] = {own_kind == kind::device, failures}, all[2] = {}, rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, comm);
  failures = all[1];
  if (rank == 0)
    std::printf("%d ranks, %d of them with device memory, %d failures\n", ranks, all[0], all[1]);
  std::fflush(stdout);
}

void two_worlds(char* program, char* call, std::string_view children) {
  MPI_Comm inter;
  MPI_Comm_get_parent(&inter);
  const bool is_child = inter != MPI_COMM_NULL;
  if (!is_child) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char expected[16] = {};
    children.copy(expected, sizeof expected - 1);
    char* arguments[] = {call, expected, nullptr};
    char** all_arguments[] = {arguments};
    const MPI_Info info = MPI_INFO_NULL;
    if (std::string_view(call) == "spawn")
      MPI_Comm_spawn(program, arguments, ranks, info, 0, MPI_COMM_WORLD, &inter,
                     MPI_ERRCODES_IGNORE);
    else
      MPI_Comm_spawn_multiple(1, &program, all_arguments, &ranks, &info, 0, MPI_COMM_WORLD, &inter,
                              MPI_ERRCODES_IGNORE);
  } else {
    expect((own_kind == kind::device) == (children == "with"), "children with device memory",
           own_kind == kind::device, children == "with");
  }
  everywhere(MPI_COMM_WORLD);
  across(inter);
  MPI_Comm merged;
  MPI_Intercomm_merge(inter, is_child, &merged);
  everywhere_of_both(merged);
  report(merged);
  MPI_Comm_free(&merged);
  everywhere(MPI_COMM_WORLD);
  MPI_Comm_disconnect(&inter);
}

// --- two halves that meet ---

void leave_word(const std::string& file, const std::string& word) {
  std::ofstream(file + ".new") << word << std::flush;
  std::rename((file + ".new").c_str(), file.c_str());
}

std::string read_word(const std::string& file) {
  for (std::string word;; ::usleep(10000))
    if (std::ifstream there(file); there && std::getline(there, word)) return word;
}

MPI_Comm connected(const std::string& file, bool first, MPI_Comm side, bool leader) {
  MPI_Comm inter;
  char port[MPI_MAX_PORT_NAME] = {};
  if (leader && first) {
    MPI_Open_port(MPI_INFO_NULL, port);
    leave_word(file, port);
  } else if (leader) {
    read_word(file).copy(port, sizeof port - 1);
  }
  if (first)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, side, &inter);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, side, &inter);
  if (leader && first) MPI_Close_port(port);
  return inter;
}

// By a TCP connection of this machine.
MPI_Comm joined(const std::string& file, bool first) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const a = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (first) {
    const int listener = fd;
    ::bind(listener, a, size);
    ::listen(listener, 1);
    ::getsockname(listener, a, &size);
    leave_word(file, std::to_string(ntohs(address.sin_port)));
    fd = ::accept(listener, nullptr, nullptr);
    ::close(listener);
  } else {
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(read_word(file))));
    ::connect(fd, a, size);
  }
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_join(fd, &inter);
  ::close(fd);
  return inter;
}

void two_halves(std::string_view call, const std::string& file) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool first = rank < ranks / 2;
  MPI_Comm side;
  MPI_Comm_split(MPI_COMM_WORLD, first, 0, &side);
  MPI_Comm_rank(side, &rank);
  everywhere(side);
  if (call == "connect" || rank == 0) {
    MPI_Comm inter = call == "join" ? joined(file, first) : connected(file, first, side, rank == 0);
    across(inter);
    MPI_Comm merged;
    MPI_Intercomm_merge(inter, !first, &merged);
    everywhere_of_both(merged);
    report(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
  }
  everywhere(side);
  MPI_Comm_free(&side);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  const std::string_view how = argc > 2 ? argv[1] : "";
  if (how == "connect" || how == "join") {
    two_halves(how, argv[2]);
  } else if (argc > 2) {
    two_worlds(argv[0], argv[1], argv[2]);
  } else {
    everywhere(MPI_COMM_WORLD);
    report(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failures ? 1 : 0;
}
