// SPDX-License-Identifier: BSD-3-Clause
// Collectives as data, so that every test runs each in all its forms and over all kinds of memory:
// the expected content of both buffers comes from the blocking call on host memory, and is compared
// bit for bit, with what lies round and between the elements.
#pragma once

#include <functional>

#include "paths.hpp"

#if MPI_TEST_HAS_MPI_4
#define MPI_TEST_PERSISTENT(...) __VA_ARGS__
#else
#define MPI_TEST_PERSISTENT(...) nullptr
#endif

/// The three forms of a collective for `collective`: names of the blocking and the non-blocking
/// one, then the arguments, in terms of `s`, `r` and what the place of use has, the communicator
/// last.
#define MPI_TEST_FORMS(blocking_, nonblocking_, ...)                               \
  [=](const void* s, void* r) { (void)s, (void)r, MPI_##blocking_(__VA_ARGS__); }, \
      [=](const void* s, void* r, MPI_Request* q) {                                \
        (void)s, (void)r, MPI_##nonblocking_(__VA_ARGS__, q);                      \
      },                                                                           \
      MPI_TEST_PERSISTENT([=](const void* s, void* r, MPI_Request* q) {            \
        (void)s, (void)r, MPI_##blocking_##_init(__VA_ARGS__, MPI_INFO_NULL, q);   \
      })

namespace mpi_test {

struct collective {
  using blocking_form = std::function<void(const void*, void*)>;
  using requesting_form = std::function<void(const void*, void*, MPI_Request*)>;

  std::string name;
  std::size_t send_bytes, receive_bytes;  // spans of the buffers, gaps included
  blocking_form blocking;
  requesting_form nonblocking;
  requesting_form persistent;
  /// Fills a buffer with valid values; null: any bytes will do.
  std::function<void(unsigned char*, std::size_t, std::uint64_t)> fill;
  /// What gives the expected content; null: the blocking form.
  blocking_form reference = {};
};

/// What Open MPI gets wrong by itself, in host memory and without Telpher
/// (docs/use/limitations.md), is left out there: the blocking form is right.
inline collective blocking_only_on_open_mpi(collective c) {
#if defined(OPEN_MPI)
  c.nonblocking = nullptr;
  c.persistent = nullptr;
#endif
  return c;
}

using bytes = std::vector<unsigned char>;

/// Which kind of memory a rank uses for the buffers of a run.
struct placing {
  const char* name;
  kind send, receive;          // of even ranks
  kind odd_send, odd_receive;  // of odd ranks
};

inline std::vector<placing> placings() {
  constexpr kind h = kind::host, d = kind::device, m = kind::managed;
  if (kinds().back() != d) return {{"host", h, h, h, h}};
  return {{"device", d, d, d, d},
          {"device ranks and host ranks", d, d, h, h},
          {"device to host", d, h, h, d},
          {"managed", m, d, d, m},
          {"host", h, h, h, h}};
}

class collective_test {
 public:
  /// `path`: what runs the blocking form where all buffers are device memory; "": whatever does.
  explicit collective_test(suite& s, std::string path = {}) : s_(s), path_(std::move(path)) {}

  /// All forms, all placings.
  void check(const collective& c) {
    prepare(c);
    const std::vector<placing> all = placings();
    for (const placing& p : all) {
      const bool odd = s_.rank % 2 == 1;
      buffer send(odd ? p.odd_send : p.send, c.send_bytes);
      buffer receive(odd ? p.odd_receive : p.receive, c.receive_bytes);
      s_.note("%s, %s, blocking", c.name.c_str(), p.name);
      load(send, receive);
      c.blocking(send.data(), receive.data());
      if (const std::string ran = last_path(); &p == &all.front() && !path_.empty() && ran != path_)
        s_.fail("%s ran by %s", c.name.c_str(), ran.c_str());
      compare(send, receive);
      if (c.nonblocking) check_nonblocking(c, p, send, receive);
      if (c.persistent) check_persistent(c, p, send, receive);
    }
  }

  /// Several non-blocking calls open at once, on device memory where there is any.
  void check_open_together(const std::vector<collective>& list) {
    std::vector<collective_test> each(list.size(), collective_test(s_));
    std::vector<buffer> sends, receives;
    std::vector<MPI_Request> requests(list.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < list.size(); ++i) {
      each[i].prepare(list[i]);
      sends.emplace_back(kinds().back(), list[i].send_bytes);
      receives.emplace_back(kinds().back(), list[i].receive_bytes);
      each[i].load(sends[i], receives[i]);
    }
    for (std::size_t i = 0; i < list.size(); ++i)
      list[i].nonblocking(sends[i].data(), receives[i].data(), &requests[i]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < list.size(); ++i) {
      s_.note("%s, open with others", list[i].name.c_str());
      each[i].compare(sends[i], receives[i]);
    }
  }

 private:
  void prepare(const collective& c) {
    const std::uint64_t seed = s_.opt.seed * 1000003 + static_cast<std::uint64_t>(s_.rank);
    send_.resize(c.send_bytes);
    receive_.resize(c.receive_bytes);
    const auto fill = c.fill ? c.fill : [](unsigned char* to, std::size_t n, std::uint64_t id) {
      write_pattern(id, to, n);
    };
    fill(send_.data(), send_.size(), seed);
    fill(receive_.data(), receive_.size(), seed + 500);
    expected_ = receive_;
    s_.note("%s, reference", c.name.c_str());
    bytes from = send_;
    (c.reference ? c.reference : c.blocking)(from.data(), expected_.data());
  }

  void load(buffer& send, buffer& receive) {
    send.clear();
    receive.clear();
    send.write(send_.data(), send_.size());
    receive.write(receive_.data(), receive_.size());
  }

  void compare(const buffer& send, const buffer& receive) {
    s_.expect_none(send.compare(send_.data()));
    s_.expect_none(receive.compare(expected_.data()));
  }

  void check_nonblocking(const collective& c, const placing& p, buffer& send, buffer& receive) {
    s_.note("%s, %s, non-blocking", c.name.c_str(), p.name);
    load(send, receive);
    MPI_Request request = MPI_REQUEST_NULL;
    c.nonblocking(send.data(), receive.data(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    compare(send, receive);
  }

  void check_persistent(const collective& c, const placing& p, buffer& send, buffer& receive) {
    MPI_Request request = MPI_REQUEST_NULL;
    s_.note("%s, %s, persistent", c.name.c_str(), p.name);
    c.persistent(send.data(), receive.data(), &request);
    for (int round = 0; round < 2; ++round) {
      load(send, receive);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      compare(send, receive);
    }
    MPI_Request_free(&request);
  }

  suite& s_;
  std::string path_;
  bytes send_, receive_, expected_;
};

}  // namespace mpi_test
