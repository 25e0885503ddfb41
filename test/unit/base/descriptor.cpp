// SPDX-License-Identifier: BSD-3-Clause
// Kept descriptors: they stay away from the standard streams, and another's descriptor is never
// used.
#include "base/descriptor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/shared_memory.hpp"
#include "check.hpp"

using telpher::descriptor;
using telpher::shared_memory;

namespace {

int make_file() {
  return ::memfd_create("telpher-test", MFD_CLOEXEC);
}

// Runs `body` in a child and returns the child's exit code.
template <class F>
int in_child(F body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int wait_status = 0;
  ::waitpid(pid, &wait_status, 0);
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

}  // namespace

TEST_CASE(kept_descriptors_have_high_numbers) {
  const int opened = make_file();
  const descriptor kept(opened);
  CHECK(kept.get() >= 100);
  CHECK(::fcntl(kept.get(), F_GETFD) & FD_CLOEXEC);
  CHECK_EQ(::fcntl(opened, F_GETFD), -1);
  CHECK(!descriptor(-1));
  CHECK_EQ(descriptor().get(), -1);
}

TEST_CASE(the_standard_streams_stay_closed) {
  CHECK_EQ(in_child([] {
             for (const int stream : {0, 1, 2}) ::close(stream);
             const auto memory = shared_memory::create(4096, "telpher-test");
             if (!memory) return 1;
             for (const int stream : {0, 1, 2})
               if (::fcntl(stream, F_GETFD) != -1) return 2 + stream;
             return shared_memory::open(memory->name()) ? 0 : 5;
           }),
           0);
  // The same if the process may have hardly any descriptors.
  CHECK_EQ(in_child([] {
             for (const int stream : {0, 1, 2}) ::close(stream);
             rlimit few{};
             ::getrlimit(RLIMIT_NOFILE, &few);
             few.rlim_cur = 8;
             ::setrlimit(RLIMIT_NOFILE, &few);
             const descriptor kept(make_file());
             return kept.get() > 2 ? 0 : 1;
           }),
           0);
}

TEST_CASE(a_number_that_is_anothers_now_is_not_used) {
  descriptor kept(make_file());
  const int number = kept.get();
  const int other = make_file();
  REQUIRE(::dup2(other, number) == number);
  CHECK_EQ(kept.get(), -1);
  kept = {};
  CHECK(::fcntl(number, F_GETFD) != -1);  // the other descriptor is still open
  ::close(number);
  ::close(other);
}

TEST_CASE(what_a_process_has_is_looked_at_before_it_is_opened) {
  const int file = make_file();
  REQUIRE(::ftruncate(file, 5000) == 0);
  const int opened = telpher::open_of_process(::getpid(), file, 5000);
  CHECK(opened >= 0);
  ::close(opened);
  CHECK_EQ(telpher::open_of_process(::getpid(), file, 5001), -1);
  int pipe[2];
  REQUIRE(::pipe(pipe) == 0);
  CHECK_EQ(telpher::open_of_process(::getpid(), pipe[0], 0), -1);
  for (const int one : {file, pipe[0], pipe[1]}) ::close(one);
}
