// SPDX-License-Identifier: BSD-3-Clause
// File descriptors that processes pass to each other: who gets one, who does not, and that nobody
// waits for ever.
#include "base/descriptor_broker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "check.hpp"
#include "check_log.hpp"

using telpher::descriptor_broker;
using telpher::kept_offer;
using telpher::offered_descriptor;
using telpher::status;

namespace {

constexpr double patience_us = 1e3 * static_cast<double>(descriptor_broker::patience.count());

descriptor_broker& broker() {
  return descriptor_broker::instance();
}

/// A file of so many bytes.
int file_of(long bytes) {
  const int made = ::memfd_create("telpher-test", MFD_CLOEXEC);
  return ::ftruncate(made, bytes) == 0 ? made : -1;
}

long size_of(int file) {
  struct stat info {};
  return ::fstat(file, &info) == 0 ? static_cast<long>(info.st_size) : -1;
}

/// The size of the file behind an offer, or minus the status.
long fetched(const offered_descriptor& one) {
  const auto file = descriptor_broker::fetch(one);
  if (!file) return -static_cast<long>(file.error());
  const long bytes = size_of(*file);
  ::close(*file);
  return bytes;
}
constexpr long no(status s) {
  return -static_cast<long>(s);
}

template <class F>
pid_t child(F body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  return pid;
}
int end_of(pid_t pid) {
  int how = 0;
  ::waitpid(pid, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
}

/// A process that offers a file of 4096 bytes until it is killed. It must not inherit this
/// process's server.
struct other_process {
  offered_descriptor offer;
  pid_t pid = -1;
  other_process() {
    broker().stop();
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid = child([&] {
      const auto made = broker().offer(file_of(4096));
      if (!made || ::write(ends[1], &*made, sizeof *made) != sizeof *made) return 1;
      for (;;) ::pause();
    });
    if (::read(ends[0], &offer, sizeof offer) != sizeof offer) offer = {};
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~other_process() { kill(); }
  void kill() {
    if (pid < 0) return;
    ::kill(pid, SIGKILL);
    end_of(pid);
    pid = -1;
  }
};

/// Connects as any program may, past the broker's own peer.
int connected_to(const offered_descriptor& one, unsigned user = ::getuid()) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const int length =
      std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "telpher-fd %u %016llx", user,
                    static_cast<unsigned long long>(one.process));
  const int made = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto bytes = offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length);
  if (::connect(made, reinterpret_cast<sockaddr*>(&name), static_cast<socklen_t>(bytes)) == 0)
    return made;
  ::close(made);
  return -1;
}

}  // namespace

TEST_CASE(another_process_gets_the_descriptor_and_the_same_file) {
  const auto offer = broker().offer(file_of(12345));
  REQUIRE(offer.has_value());
  const kept_offer kept(*offer);
  CHECK_EQ(end_of(child([&] { return fetched(kept.name()) == 12345 ? 0 : 1; })), 0);
  CHECK_EQ(fetched(kept.name()), 12345);  // this process, too
  other_process there;
  const auto file = descriptor_broker::fetch(there.offer);
  REQUIRE(file.has_value());
  CHECK(::fcntl(*file, F_GETFD) & FD_CLOEXEC);
  CHECK_EQ(size_of(*file), 4096);
  there.kill();
  CHECK_EQ(size_of(*file), 4096);  // what was fetched stays open
  ::close(*file);
}

/// Files of 1, 2, ... bytes under one number.
telpher::result<offered_descriptor> offer_several(long count) {
  std::vector<telpher::offered_file> files;
  for (long n = 1; n <= count; ++n)
    files.push_back({telpher::descriptor(file_of(n)), static_cast<std::uint64_t>(n)});
  return broker().offer(std::move(files));
}

/// How many of the files that were made here are open in this process.
int open_files() {
  int found = 0;
  std::error_code none;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
    found += std::filesystem::read_symlink(one.path(), none).string().starts_with("/memfd:telpher");
  return found;
}

TEST_CASE(several_come_in_order_with_their_sizes_and_are_closed) {
  const auto offer = offer_several(200);
  REQUIRE(offer.has_value());
  const kept_offer kept(*offer);
  CHECK_EQ(broker().offers(), 200);
  CHECK_EQ(fetched(kept.name()), no(status::not_supported));  // one was asked for
  const auto before = open_files();
  {
    const auto got = descriptor_broker::fetch_all(kept.name());
    REQUIRE(got.has_value());
    REQUIRE(got->size() == 200);
    for (std::size_t n = 0; n < 200; ++n) {
      CHECK_EQ(got->bytes()[n], n + 1);
      CHECK_EQ(size_of(got->numbers()[n]), static_cast<long>(n + 1));
      CHECK(::fcntl(got->numbers()[n], F_GETFD) & FD_CLOEXEC);
    }
  }
  CHECK_EQ(open_files(), before);
}

TEST_CASE(who_can_open_no_more_gets_none_of_several) {
  const auto offer = offer_several(100);
  REQUIRE(offer.has_value());
  const kept_offer kept(*offer);
  const pid_t poor = child([&] {
    const auto before = open_files();
    const int next = ::dup(0);
    ::close(next);
    const rlimit few{static_cast<rlim_t>(next + 80), static_cast<rlim_t>(next + 80)};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 1;
    const auto got = descriptor_broker::fetch_all(kept.name());
    if (got || got.error() != status::not_supported) return 2;
    return open_files() == before ? 0 : 3;
  });
  CHECK_EQ(end_of(poor), 0);
  CHECK(descriptor_broker::fetch_all(kept.name()).has_value());
}

TEST_CASE(of_several_one_that_the_program_closed_spoils_all) {
  const int closed = file_of(5);
  std::vector<telpher::offered_file> files;
  files.push_back({telpher::descriptor(file_of(4)), 4});
  files.push_back({telpher::descriptor(closed), 5});
  const int moved = files.back().file.get();
  const auto offer = broker().offer(std::move(files));
  REQUIRE(offer.has_value());
  const kept_offer kept(*offer);
  ::syscall(SYS_close, moved);
  CHECK_EQ(descriptor_broker::fetch_all(kept.name()).error(), status::not_supported);
  CHECK_EQ(broker().offer(std::vector<telpher::offered_file>{}).error(), status::not_supported);
}

TEST_CASE(what_is_withdrawn_or_was_never_offered_is_not_sent) {
  auto first = broker().offer(file_of(1));
  REQUIRE(first.has_value());
  const offered_descriptor old = *first;
  { const kept_offer ends(old); }
  CHECK_EQ(broker().offers(), 0);
  CHECK_EQ(fetched(old), no(status::not_supported));
  const auto second = broker().offer(file_of(2));
  REQUIRE(second.has_value());
  const kept_offer kept(*second);
  CHECK(second->number != old.number);
  CHECK_EQ(fetched(old), no(status::not_supported));
  CHECK_EQ(fetched({second->process, 999}), no(status::not_supported));
  CHECK_EQ(fetched({}), no(status::not_supported));
  CHECK_EQ(broker().offer(-1).error(), status::not_supported);
}

TEST_CASE(a_process_that_is_gone_is_noticed_at_once) {
  other_process there;
  REQUIRE(there.offer);
  there.kill();
  const auto begin = telpher::now_ns();
  CHECK_EQ(fetched(there.offer), no(status::peer_lost));
  CHECK(telpher::us_since(begin) < patience_us / 2);
}

TEST_CASE(a_process_that_is_stopped_is_given_up) {
  check::expect_log("does not send file descriptor");
  const other_process there;
  REQUIRE(there.offer);
  ::kill(there.pid, SIGSTOP);
  int how = 0;
  REQUIRE(::waitpid(there.pid, &how, WUNTRACED) == there.pid && WIFSTOPPED(how));
  const auto begin = telpher::now_ns();
  CHECK_EQ(fetched(there.offer), no(status::peer_lost));
  CHECK(telpher::us_since(begin) >= patience_us * 0.9);
  CHECK(telpher::us_since(begin) < patience_us * 3);
  ::kill(there.pid, SIGCONT);
  CHECK_EQ(fetched(there.offer), 4096);
}

TEST_CASE(the_server_ends_and_begins_anew) {
  const auto first = broker().offer(file_of(1));
  REQUIRE(first.has_value());
  broker().stop();
  CHECK_EQ(fetched(*first), no(status::peer_lost));
  const auto second = broker().offer(file_of(2));
  REQUIRE(second.has_value());
  CHECK_EQ(fetched(*second), 2);
  CHECK_EQ(fetched(*first), no(status::peer_lost));
  broker().stop();
  broker().stop();
}

TEST_CASE(bad_requests_get_nothing_and_harm_nobody) {
  const auto offer = broker().offer(file_of(77));
  REQUIRE(offer.has_value());
  const kept_offer kept(*offer);
  const int silent = connected_to(*offer);
  const int leaves = connected_to(*offer);
  const int garbles = connected_to(*offer);
  REQUIRE(silent >= 0 && leaves >= 0 && garbles >= 0);
  ::close(leaves);
  CHECK_EQ(::send(garbles, "give me all", 11, MSG_NOSIGNAL), 11);
  CHECK_EQ(fetched(*offer), 77);
  std::int32_t reply[2] = {};
  CHECK_EQ(::recv(garbles, reply, sizeof reply, 0), 8);
  CHECK_EQ(reply[1], static_cast<int>(status::not_supported));
  char byte;
  CHECK_EQ(::recv(silent, &byte, 1, 0), 0);  // the server has closed
  ::close(silent);
  ::close(garbles);
}

TEST_CASE(another_user_gets_nothing) {
  if (::getuid() != 0) {
    std::puts("# left out: only root can try as another user");
    return;
  }
  const auto offer = broker().offer(file_of(77));
  REQUIRE(offer.has_value());
  const kept_offer kept(*offer);
  const pid_t other = child([&] {
    if (::setuid(65534) != 0) return 2;
    const int made = connected_to(*offer, 0);
    if (made < 0) return 3;
    const std::uint64_t asked[2] = {0x7e19e4fd, offer->number};
    if (::send(made, asked, sizeof asked, MSG_NOSIGNAL) != sizeof asked) return 0;
    char byte;
    return ::recv(made, &byte, 1, 0) <= 0 ? 0 : 4;
  });
  CHECK_EQ(end_of(other), 0);
  CHECK_EQ(fetched(*offer), 77);
}

TEST_CASE(many_processes_ask_at_once) {
  std::vector<kept_offer> kept;
  for (long bytes = 1; bytes <= 20; ++bytes) {
    const auto offer = broker().offer(file_of(bytes));
    REQUIRE(offer.has_value());
    kept.emplace_back(*offer);
  }
  std::vector<pid_t> children;
  for (int n = 0; n < 8; ++n)
    children.push_back(child([&] {
      for (std::size_t i = 0; i < 200; ++i)
        if (fetched(kept[i % kept.size()].name()) != static_cast<long>(i % kept.size() + 1))
          return 1;
      return 0;
    }));
  for (const pid_t one : children) CHECK_EQ(end_of(one), 0);
}

// Some programs close every descriptor that they did not open. By the system call, because that is
// the race which thread sanitizers look for in close().
TEST_CASE(a_program_that_closes_the_socket_loses_its_old_offers_only) {
  const auto first = broker().offer(file_of(1));
  REQUIRE(first.has_value());
  std::vector<int> sockets;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    if (std::filesystem::read_symlink(one.path(), none).string().starts_with("socket:"))
      sockets.push_back(std::atoi(one.path().filename().c_str()));
  }
  for (const int one : sockets)
    if (one > STDERR_FILENO) ::syscall(SYS_close, one);
  CHECK_EQ(fetched(*first), no(status::peer_lost));
  const auto second = broker().offer(file_of(2));
  REQUIRE(second.has_value());
  CHECK_EQ(fetched(*second), 2);
  broker().stop();
}
