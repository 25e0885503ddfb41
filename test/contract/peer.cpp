// SPDX-License-Identifier: BSD-3-Clause
#define CHECK_NO_MAIN
#include "peer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/descriptor_broker.hpp"

extern char** environ;

namespace contract {
namespace {

std::string backend_name;

/// What the other process holds: an opened allocation, one of its own, and a shared segment.
struct served {
  std::optional<scoped_stream> stream{std::in_place};
  void* opened = nullptr;
  std::unique_ptr<memory> own;
  shared_memory segment;

  peer_answer answer(const peer_request& r) {
    using action = peer_request::action;
    switch (r.what) {
      case action::open: {
        const auto base = subject().ipc_open(r.device, r.handle);
        if (base) opened = *base;
        return {base.error(), false, {}};
      }
      case action::check:
        return {status::ok, read(opened, r.bytes, *stream) == pattern(r.bytes, r.seed), {}};
      case action::write:
        write(opened, pattern(r.bytes, r.seed), *stream);
        return {status::ok, true, {}};
      case action::close:
        return {subject().ipc_close(r.device, opened), false, {}};
      case action::open_chunk:
        return {open_chunk(r), false, {}};
      case action::close_chunk: {
        const std::size_t bytes = r.bytes;
        return {subject().descriptors_close(r.device, opened, {&bytes, 1}), false, {}};
      }
      case action::make: {
        own = std::make_unique<memory>(memory_kind::device, r.bytes, r.device);
        write(own->data(), pattern(r.bytes, r.seed), *stream);
        const auto handle = subject().ipc_export(describe(own->data()));
        return {handle.error(), true, handle.value_or({})};
      }
      case action::drop:
        own.reset();
        return {status::ok, true, {}};
      case action::share: {
        shared_memory_name name;
        std::memcpy(&name, r.handle.bytes, sizeof name);
        auto opened_segment = shared_memory::open(name);
        if (!opened_segment) return {opened_segment.error(), false, {}};
        segment = std::move(*opened_segment);
        opened = segment.data() + segment_data_at;
        return {subject().register_host(segment.data(), segment.size()), false, {}};
      }
      case action::unshare:
        return {subject().unregister_host(segment.data()), false, {}};
      case action::leave_work:
        break;
    }
    return {leave_work(r.device), true, {}};
  }

  status open_chunk(const peer_request& r) {
    offered_descriptor offer;
    std::memcpy(&offer, r.handle.bytes, sizeof offer);
    const auto file = descriptor_broker::fetch(offer);
    if (!file) return file.error();
    const std::size_t bytes = r.bytes;
    const auto base = subject().descriptors_open(r.device, {&*file, 1}, {&bytes, 1});
    ::close(*file);
    if (base) opened = *base;
    stream.emplace(r.device);  // the others cannot reach it there
    return base.error();
  }

  // Starts a copier that would stay for a minute, and releases nothing.
  static status leave_work(int device) {
    static const auto s = subject().create_stream(device);
    const auto control = subject().allocate_pinned(4096);
    if (!s || !control) return status::out_of_memory;
    std::memset(*control, 0, 4096);
    auto* words = static_cast<std::uint32_t*>(*control) + 512;
    const kernel::linger p{static_cast<kernel::linger_command*>(*control),
                           words,
                           words + 16,
                           1,
                           8,
                           std::uint64_t{60'000'000'000}};
    return subject().launch(kernel::id::linger, &p, 1, 32, *s);
  }
};

}  // namespace

void set_peer_backend(const std::string& name) {
  backend_name = name;
}

int serve_peer(int socket) {
  served state;
  peer_request request;
  while (::read(socket, &request, sizeof request) == sizeof request) {
    const peer_answer answer = state.answer(request);
    if (::write(socket, &answer, sizeof answer) != sizeof answer) return 1;
  }
  return 0;
}

peer::peer() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return;
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);  // the other process then sees this end closed
  const std::string number = std::to_string(ends[1]);
  const char* arguments[] = {"/proc/self/exe", "--backend",    backend_name.c_str(),
                             "--peer",         number.c_str(), nullptr};
  ::posix_spawn(&process_, arguments[0], nullptr, nullptr, const_cast<char**>(arguments), environ);
  ::close(ends[1]);
  socket_ = ends[0];
}

peer::~peer() {
  ::close(socket_);
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
}

void peer::kill() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

peer_answer peer::ask(const peer_request& request) {
  peer_answer answer{status::peer_lost, false, {}};
  if (::write(socket_, &request, sizeof request) != sizeof request ||
      ::read(socket_, &answer, sizeof answer) != sizeof answer)
    return {status::peer_lost, false, {}};
  return answer;
}

}  // namespace contract
