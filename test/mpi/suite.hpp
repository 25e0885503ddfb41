// SPDX-License-Identifier: BSD-3-Clause
// The frame of the multi-rank tests: options, cases whose result is agreed by all ranks and printed
// once by rank 0 (`ok <case>` or `FAILED <case>: rank N: why`), and a watchdog that turns a hang
// into a failure which names what each rank was doing. MPI errors that a case does not expect end
// the job with the case's name.
#pragma once

#include <mpi.h>

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "behind.hpp"
#include "memory.hpp"
#include "mpi_4.hpp"
#include "naps.hpp"
#include "stacks.hpp"

namespace mpi_test {

inline int as_int(std::size_t n) {
  return static_cast<int>(n);
}

struct options {
  std::uint64_t seed = 1;
  long messages = 0;  // 0: the program's own default
  int threads = 1;
  int timeout = 45;                // seconds a case may take; less than the runner's own limit
  bool full = false;               // no thinning of large combinations
  bool device = false;             // having no device memory is a failure
  std::vector<std::string> words;  // cases to run (parts of their names); empty: all
};

inline options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool valued = i + 1 < argc;
    if (word == "--full")
      o.full = true;
    else if (word == "--device")
      o.device = true;
    else if (word == "--seed" && valued)
      o.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--messages" && valued)
      o.messages = std::atol(argv[++i]);
    else if (word == "--threads" && valued)
      o.threads = std::atoi(argv[++i]);
    else if (word == "--timeout" && valued)
      o.timeout = std::atoi(argv[++i]);
    else
      o.words.emplace_back(word);
  }
  return o;
}

class suite {
 public:
  suite(int* argc, char*** argv, int ranks_needed, int level = MPI_THREAD_FUNNELED) {
    current() = this;
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    opt = parse(*argc, *argv);
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    mpich = std::strstr(version, "MPICH") != nullptr;
    std::sscanf(version, "Open MPI v%d", &open_mpi);
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(&suite::unexpected_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    announce((*argv)[0]);
    if (ranks < ranks_needed) give_up("too few ranks", ranks_needed);
    if (opt.device && kinds().back() != kind::device) give_up("no device memory", 0);
    watchdog_ = std::thread([this] { watch(); });
  }
  suite(const suite&) = delete;
  suite& operator=(const suite&) = delete;

  /// Runs one case on all ranks and prints its result.
  template <class Body>
  void run(const std::string& label, Body&& body) {
    if (!wanted(label)) return;
    begin(label);
    body();
    end(label);
  }

  /// Records a failure of the running case on this rank; any thread may call it.
  [[gnu::format(printf, 2, 3)]] void fail(const char* format, ...) {
    const std::lock_guard lock(mutex_);
    if (failures_++ > 0) return;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(why_, sizeof why_, format, arguments);
    va_end(arguments);
  }

  /// Whether the running case has failed at this rank.
  bool failing() {
    const std::lock_guard lock(mutex_);
    return failures_ > 0;
  }

  /// What this rank is about to do; printed when the watchdog bites, and by context().
  [[gnu::format(printf, 2, 3)]] void note(const char* format, ...) {
    const std::lock_guard lock(mutex_);
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(state_, sizeof state_, format, arguments);
    va_end(arguments);
  }

  /// For long cases: the time allowed begins anew.
  void still_alive() {
    const std::lock_guard lock(mutex_);
    deadline_ = clock::now() + std::chrono::seconds(opt.timeout);
  }

  bool expect(bool good, const char* what) {
    if (!good) fail("%s (%s)", what, note_copy().c_str());
    return good;
  }
  void expect_equal(long long got, long long wanted, const char* what) {
    if (got != wanted)
      fail("%s is %lld instead of %lld (%s)", what, got, wanted, note_copy().c_str());
  }
  /// For results of buffer::compare.
  void expect_none(const std::string& problem) {
    if (!problem.empty()) fail("%s (%s)", problem.c_str(), note_copy().c_str());
  }
  void expect_status(const MPI_Status& status, int source, int tag, std::size_t bytes) {
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect_equal(status.MPI_SOURCE, source, "status source");
    expect_equal(status.MPI_TAG, tag, "status tag");
    expect_equal(count, static_cast<long long>(bytes), "status count");
    int elements = -1;
    MPI_Get_elements(&status, MPI_BYTE, &elements);
    expect_equal(elements, count, "status elements");
  }
  void expect_class(int code, int wanted, const char* what) {
    int found = code;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
    expect_equal(found, wanted, what);
  }

  /// A barrier of two ranks.
  void meet(int peer) {
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, peer, 1, nullptr, 0, MPI_BYTE, peer, 1, control,
                 MPI_STATUS_IGNORE);
  }

  /// False, and said, where the host MPI makes no window even of its own host memory: some builds
  /// of Open MPI 4.1 have no component for the machine. There one-sided communication has nothing
  /// to be tested with.
  bool makes_windows() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    static int memory[4];
    MPI_Win window = MPI_WIN_NULL;
    const int code = host_function("PMPI_Win_create", PMPI_Win_create)(
        memory, sizeof memory, 1, MPI_INFO_NULL, comm, &window);
    if (code == MPI_SUCCESS) host_function("PMPI_Win_free", PMPI_Win_free)(&window);
    MPI_Comm_free(&comm);
    return code == MPI_SUCCESS || left_out("windows", open_mpi == 4);
  }

  /// False, and said, where the host MPI does not provide MPI_THREAD_MULTIPLE, which the program
  /// has asked for.
  bool has_threads() {
    return provided == MPI_THREAD_MULTIPLE ||
           left_out("MPI_THREAD_MULTIPLE", !mpich && open_mpi < 5);
  }

  /// Prints the totals, ends MPI and gives the exit code: 77 if no case ran.
  int finish() {
    fail_for_unknown_words();
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    watchdog_.join();
    if (rank == 0) std::printf("%d passed, %d failed\n", passed_, failed_);
    std::fflush(stdout);
    MPI_Comm_free(&control);
    MPI_Finalize();
    if (passed_ + failed_ == 0) return 77;
    return failed_ == 0 ? 0 : 1;
  }

  int rank = 0;
  int ranks = 0;
  int provided = 0;
  bool mpich = false;  // for the few deviations of a host MPI that are known
  int open_mpi = 0;    // Open MPI's first number; 0: another MPI
  options opt;
  MPI_Comm control =
      MPI_COMM_NULL;  // for the frame's and the cases' own agreement, host memory only

 private:
  using clock = std::chrono::steady_clock;

  static suite*& current() {
    static suite* one = nullptr;
    return one;
  }

  /// False. A failure, unless the host MPI is one that is known to lack it.
  bool left_out(const char* what, bool known) {
    if (!told_.insert(what).second) return false;
    if (!known) ++failed_;
    if (rank == 0)
      std::printf("%s the host MPI: it has no %s\n", known ? "# left out, for" : "FAILED", what);
    return false;
  }

  static void unexpected_error(MPI_Comm*, int* code, ...) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(*code, text, &length);
    suite* s = current();
    std::printf("FAILED %s: rank %d: MPI error: %s (%s)\n", s->label_.c_str(), s->rank, text,
                s->note_copy().c_str());
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  void announce(const char* program) {
    if (rank != 0) return;
    const char* slash = std::strrchr(program, '/');
    std::printf("# %s: %d ranks, seed %llu, %s, memory", slash ? slash + 1 : program, ranks,
                static_cast<unsigned long long>(opt.seed), backend_name());
    for (kind k : kinds()) std::printf(" %s", name(k));
    std::printf("\n");
    std::fflush(stdout);
  }

  void give_up(const char* why, int needed) {
    if (rank == 0) std::printf("FAILED start: %s (%d needed)\n", why, needed);
    std::fflush(stdout);
    MPI_Barrier(control);
    MPI_Finalize();
    std::_Exit(2);
  }

  bool wanted(const std::string& label) {
    bool named = opt.words.empty();
    for (const std::string& word : opt.words)
      if (label.find(word) != std::string::npos) {
        named = true;
        known_.insert(word);
      }
    return named;
  }

  // A test of a case that is not there would pass for ever. Some cases are for the emulated device
  // only.
  void fail_for_unknown_words() {
    if (std::string_view(backend_name()) != "emu") return;
    for (const std::string& word : opt.words) {
      if (known_.contains(word)) continue;
      ++failed_;
      if (rank == 0) std::printf("FAILED %s: no case has that name\n", word.c_str());
    }
  }

  std::string note_copy() {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  void begin(const std::string& label) {
    const std::lock_guard lock(mutex_);
    label_ = label;
    state_[0] = why_[0] = '\0';
    failures_ = 0;
    deadline_ = clock::now() + std::chrono::seconds(opt.timeout);
    running_ = true;
  }

  void end(const std::string& label) {
    note("the end of the case");
    struct {
      int failures, rank;
    } mine{failures_, rank}, worst{0, 0};
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, control);
    MPI_Bcast(why_, sizeof why_, MPI_CHAR, worst.rank, control);
    const std::lock_guard lock(mutex_);
    running_ = false;
    (worst.failures == 0 ? passed_ : failed_) += 1;
    if (rank != 0) return;
    if (worst.failures == 0)
      std::printf("ok %s\n", label.c_str());
    else
      std::printf("FAILED %s: rank %d: %s; %d in all there\n", label.c_str(), worst.rank, why_,
                  worst.failures);
    std::fflush(stdout);
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!closing_) {
      wake_.wait_for(lock, std::chrono::milliseconds(500));
      if (closing_ || !running_ || clock::now() < deadline_) continue;
      std::printf("FAILED %s: rank %d: no end after %d s, at: %s\n", label_.c_str(), rank,
                  opt.timeout, state_);
      print_states();
      std::fflush(stdout);
      write_stacks();
      std::this_thread::sleep_for(std::chrono::seconds(3));  // the other ranks' turn to say so
      std::_Exit(4);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread watchdog_;
  std::string label_ = "start";
  std::set<std::string> known_;  // words of the options that cases have
  std::set<std::string> told_;   // what the host MPI lacks
  char why_[320] = "";
  char state_[200] = "";
  int failures_ = 0;
  int passed_ = 0;
  int failed_ = 0;
  bool running_ = false;
  bool closing_ = false;
  clock::time_point deadline_;
};

}  // namespace mpi_test
