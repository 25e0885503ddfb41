// SPDX-License-Identifier: BSD-3-Clause
#include "base/descriptor_broker.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/abstract_address.hpp"
#include "base/blocked_signals.hpp"
#include "base/log.hpp"
#include "base/shared_memory.hpp"

namespace telpher {
namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t mark = 0x7e19e4fd;

struct request {
  std::uint32_t mark;
  std::uint32_t unused;
  std::uint64_t number;
};
struct reply {
  std::uint32_t mark;
  std::int32_t outcome;
};

abstract_address address_of(std::uint64_t process) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "telpher-fd %u %016llx", static_cast<unsigned>(::getuid()),
                static_cast<unsigned long long>(process));
  return abstract_address(name);
}

/// A descriptor that is closed at the end of its scope. It is not kept for long, so its number does
/// not matter.
struct scoped {
  int number;
  explicit scoped(int n) noexcept : number(n) {}
  scoped(const scoped&) = delete;
  scoped& operator=(const scoped&) = delete;
  ~scoped() {
    if (number >= 0) ::close(number);
  }
};

int new_socket() noexcept {
  return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

bool same_user(int connected) noexcept {
  ucred other{};
  socklen_t bytes = sizeof other;
  return ::getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &other, &bytes) == 0 &&
         other.uid == ::getuid();
}

bool readable(int socket, clock_type::time_point until) noexcept {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - clock_type::now());
    pollfd one{socket, POLLIN, 0};
    const int n = ::poll(&one, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
    if (n > 0) return true;
    if (n == 0 || errno != EINTR) return false;
  }
}

bool send_reply(int peer, status outcome, int file) noexcept {
  reply said{mark, static_cast<std::int32_t>(outcome)};
  iovec part{&said, sizeof said};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  return ::sendmsg(peer, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof said;
}

result<int> receive_reply(int server) noexcept {
  reply said{};
  iovec part{&said, sizeof said};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(server, &message, MSG_CMSG_CLOEXEC);
  int file = -1;
  const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof file))
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
  if (got <= 0) return status::would_block;
  const bool right = got == sizeof said && said.mark == mark;
  if (right && said.outcome == static_cast<int>(status::ok) && file >= 0) return file;
  if (file >= 0) ::close(file);
  return right ? status::not_supported : status::corrupt;
}

// While the server's queue is full, connect() answers EAGAIN. Any other error: nobody listens.
status connect_to(int socket, std::uint64_t process, clock_type::time_point until) noexcept {
  const abstract_address a = address_of(process);
  while (::connect(socket, a.get(), a.bytes()) != 0) {
    if (errno != EAGAIN && errno != EINTR) return status::peer_lost;
    if (clock_type::now() >= until) return status::would_block;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return status::ok;
}

// would_block: the time is over, or the server has closed without a word.
result<int> fetch_once(const offered_descriptor& one, clock_type::time_point until) noexcept {
  const scoped connected(one ? new_socket() : -1);
  if (connected.number < 0) return status::not_supported;
  TELPHER_TRY(connect_to(connected.number, one.process, until));
  if (!same_user(connected.number)) return status::not_supported;
  const request asked{mark, 0, one.number};
  if (::send(connected.number, &asked, sizeof asked, MSG_NOSIGNAL) != sizeof asked)
    return status::would_block;
  return readable(connected.number, until) ? receive_reply(connected.number)
                                           : result<int>(status::would_block);
}

}  // namespace

descriptor_broker& descriptor_broker::instance() noexcept {
  static auto* const one = new descriptor_broker;  // never destroyed: its thread may outlive main
  return *one;
}

// --- the server ---

// With the lock. A program that closes descriptors it did not open may have closed the socket. Then
// its thread ends by itself, and another one begins under another name.
status descriptor_broker::start() noexcept {
  if (server_.joinable() && listener_->socket.get() >= 0) return status::ok;
  if (server_.joinable()) server_.detach();
  const std::uint64_t process = random_bits() | 1;
  const abstract_address a = address_of(process);
  descriptor socket(new_socket());
  const int listening = socket.get();
  if (listening < 0 || ::bind(listening, a.get(), a.bytes()) != 0 ||
      ::listen(listening, SOMAXCONN) != 0) {
    TELPHER_WARN("file descriptors cannot be offered to other processes, no UNIX socket: %m");
    return status::not_supported;
  }
  try {
    listener_ = std::make_shared<const listener>(listener{process, std::move(socket)});
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  return start_thread();
}

status descriptor_broker::start_thread() noexcept {
  const blocked_signals blocked;
  status started = status::ok;
  try {
    server_ = std::thread([this, l = listener_] { serve(*l); });
  } catch (const std::system_error&) {
    TELPHER_WARN("file descriptors cannot be offered to other processes: no thread for it");
    started = status::not_supported;
  }
  return started;
}

// stop() shuts the socket down, which ends the wait.
void descriptor_broker::serve(const listener& l) noexcept {
  for (;;) {
    pollfd one{l.socket.get(), POLLIN, 0};
    if (one.fd < 0) return;
    const int ready = ::poll(&one, 1, -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || (one.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return;
    const int listening = l.socket.get();
    if (listening < 0) return;
    const scoped peer(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (peer.number >= 0) {
      if (same_user(peer.number)) answer(peer.number);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      std::this_thread::sleep_for(request_patience);  // out of descriptors: a peer's wait ends
    }
  }
}

void descriptor_broker::answer(int peer) noexcept {
  request asked{};
  if (!readable(peer, clock_type::now() + request_patience)) return;
  const bool right = ::recv(peer, &asked, sizeof asked, 0) == sizeof asked && asked.mark == mark;
  const std::lock_guard lock(mutex_);
  const auto found = right ? offers_.find(asked.number) : offers_.end();
  const int file = found == offers_.end() ? -1 : found->second.get();
  if (!send_reply(peer, file < 0 ? status::not_supported : status::ok, file))
    TELPHER_DEBUG("a process that asked for a file descriptor is gone: %m");
}

// --- offers ---

result<offered_descriptor> descriptor_broker::offer(int opened) noexcept {
  descriptor file(opened);
  if (file.get() < 0) return status::not_supported;
  const std::lock_guard lock(mutex_);
  TELPHER_TRY(start());
  try {
    offers_.emplace(++numbers_, std::move(file));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  return offered_descriptor{listener_->process, numbers_};
}

void descriptor_broker::withdraw(const offered_descriptor& one) noexcept {
  const std::lock_guard lock(mutex_);
  offers_.erase(one.number);
}

void descriptor_broker::stop() noexcept {
  std::thread ending;
  {
    const std::lock_guard lock(mutex_);
    offers_.clear();
    ending = std::move(server_);
    if (!ending.joinable()) return;
    const int listening = listener_->socket.get();
    if (listening < 0 || ::shutdown(listening, SHUT_RDWR) != 0) return ending.detach();
  }
  ending.join();
  const std::lock_guard lock(mutex_);
  if (!server_.joinable()) listener_ = nullptr;
}

std::size_t descriptor_broker::offers() const noexcept {
  const std::lock_guard lock(mutex_);
  return offers_.size();
}

// --- a peer ---

result<int> descriptor_broker::fetch(const offered_descriptor& one) noexcept {
  const auto until = clock_type::now() + patience;
  for (;;) {
    auto got = fetch_once(one, until);
    if (got.error() != status::would_block) return got;
    if (clock_type::now() < until) continue;
    TELPHER_WARN(
        "the process behind socket '%s' does not send file descriptor %llu within %lld ms: is it "
        "stopped?",
        address_of(one.process).name(), static_cast<unsigned long long>(one.number),
        static_cast<long long>(patience.count()));
    return status::peer_lost;
  }
}

}  // namespace telpher
