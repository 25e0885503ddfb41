// SPDX-License-Identifier: BSD-3-Clause
#include "base/descriptor_broker.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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

constexpr std::size_t most_at_once = 64;  // Linux lets a message carry 253 descriptors

struct request {
  std::uint32_t mark;
  std::uint32_t first;  // of the offer's descriptors
  std::uint64_t number;
};
struct reply {
  std::uint32_t mark;
  std::int32_t outcome;
  std::uint32_t all;   // descriptors that the offer has
  std::uint32_t here;  // that come with this reply
  std::uint64_t bytes[most_at_once];
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

/// A reply with room for its descriptors.
struct letter {
  reply said{};
  iovec part{&said, sizeof said};
  alignas(cmsghdr) char control[CMSG_SPACE(most_at_once * sizeof(int))] = {};
  msghdr message{};
  letter() noexcept {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  letter(const letter&) = delete;
  letter& operator=(const letter&) = delete;
};

// One that the program has closed spoils the whole offer.
bool write_files(const std::vector<offered_file>& files, std::size_t first, letter& l) noexcept {
  const std::size_t here = std::min(files.size() - first, most_at_once);
  cmsghdr* const header = CMSG_FIRSTHDR(&l.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(here * sizeof(int));
  for (std::size_t i = 0; i < here; ++i) {
    const int number = files[first + i].file.get();
    if (number < 0) return false;
    std::memcpy(CMSG_DATA(header) + i * sizeof number, &number, sizeof number);
    l.said.bytes[i] = files[first + i].bytes;
  }
  l.message.msg_controllen = CMSG_SPACE(here * sizeof(int));
  l.said.all = static_cast<std::uint32_t>(files.size());
  l.said.here = static_cast<std::uint32_t>(here);
  return true;
}

bool send_reply(int peer, const std::vector<offered_file>* files, std::size_t first) noexcept {
  letter l;
  l.said.mark = mark;
  const bool good = files && first < files->size() && write_files(*files, first, l);
  if (!good) l.message.msg_controllen = 0;
  l.said.outcome = static_cast<std::int32_t>(good ? status::ok : status::not_supported);
  return ::sendmsg(peer, &l.message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof l.said;
}

// Adds what has come. A process without room for all descriptors gets fewer of them.
status receive_reply(int server, fetched_files& into, std::size_t& all) noexcept {
  letter l;
  const ssize_t got = ::recvmsg(server, &l.message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&l.message) : nullptr;
  std::size_t count = 0;
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
    count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  bool kept = true;
  for (std::size_t i = 0; i < count; ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
    kept = into.add(number, i < most_at_once ? l.said.bytes[i] : 0) && kept;
  }
  if (got <= 0) return status::would_block;
  if (got != sizeof l.said || l.said.mark != mark) return status::corrupt;
  all = l.said.all;
  const bool good = kept && l.said.outcome == static_cast<int>(status::ok) && count > 0 &&
                    count == l.said.here && into.size() <= all;
  return good ? status::ok : status::not_supported;
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

// Adds the descriptors behind those that are there. would_block: the time is over, or the server
// has closed without a word.
status fetch_once(const offered_descriptor& one, clock_type::time_point until, fetched_files& into,
                  std::size_t& all) noexcept {
  const scoped connected(one ? new_socket() : -1);
  if (connected.number < 0) return status::not_supported;
  TELPHER_TRY(connect_to(connected.number, one.process, until));
  if (!same_user(connected.number)) return status::not_supported;
  const request asked{mark, static_cast<std::uint32_t>(into.size()), one.number};
  if (::send(connected.number, &asked, sizeof asked, MSG_NOSIGNAL) != sizeof asked)
    return status::would_block;
  return readable(connected.number, until) ? receive_reply(connected.number, into, all)
                                           : status::would_block;
}

status fetch_some(const offered_descriptor& one, fetched_files& into, std::size_t& all) noexcept {
  const auto until = clock_type::now() + descriptor_broker::patience;
  for (;;) {
    const status s = fetch_once(one, until, into, all);
    if (s != status::would_block) return s;
    if (clock_type::now() < until) continue;
    TELPHER_WARN(
        "the process behind socket '%s' does not send file descriptor %llu within %lld ms: is it "
        "stopped?",
        address_of(one.process).name(), static_cast<unsigned long long>(one.number),
        static_cast<long long>(descriptor_broker::patience.count()));
    return status::peer_lost;
  }
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
  if (!send_reply(peer, found == offers_.end() ? nullptr : &found->second, asked.first))
    TELPHER_DEBUG("a process that asked for a file descriptor is gone: %m");
}

// --- offers ---

result<offered_descriptor> descriptor_broker::offer(int opened) noexcept {
  std::vector<offered_file> one;
  descriptor file(opened);
  try {
    one.push_back({std::move(file), 0});
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  return offer(std::move(one));
}

result<offered_descriptor> descriptor_broker::offer(std::vector<offered_file>&& files) noexcept {
  const auto closed = [](const offered_file& f) { return f.file.get() < 0; };
  if (files.empty() || std::any_of(files.begin(), files.end(), closed))
    return status::not_supported;
  const std::lock_guard lock(mutex_);
  TELPHER_TRY(start());
  try {
    offers_.emplace(++numbers_, std::move(files));
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
  std::size_t all = 0;
  for (const auto& one : offers_) all += one.second.size();
  return all;
}

// --- a peer ---

fetched_files::~fetched_files() {
  for (const int number : numbers_)
    if (number >= 0) ::close(number);
}

bool fetched_files::add(int number, std::size_t bytes) noexcept {
  try {
    bytes_.push_back(bytes);
    numbers_.push_back(number);
  } catch (const std::bad_alloc&) {
    ::close(number);
    return false;
  }
  return true;
}

result<fetched_files> descriptor_broker::fetch_all(const offered_descriptor& one) noexcept {
  fetched_files got;
  std::size_t all = 0;
  do {
    TELPHER_TRY(fetch_some(one, got, all));
  } while (got.size() < all);
  return got;
}

result<int> descriptor_broker::fetch(const offered_descriptor& one) noexcept {
  auto got = fetch_all(one);
  TELPHER_TRY(got);
  return got->size() == 1 ? result<int>(got->release_first()) : status::not_supported;
}

}  // namespace telpher
