// SPDX-License-Identifier: BSD-3-Clause
// Passes open file descriptors to other processes of the same user. Such a descriptor may stand for
// device memory that has no inter-process handle, or for a shared segment whose peer has a PID
// namespace of its own, where /proc/<pid>/fd does not show it.
//
// Protocol. A process that offers descriptors listens at an abstract UNIX socket, whose name has
// the user's number and 64 random bits. A thread of its own serves the socket; it starts with the
// first offer and ends with stop(). Abstract names belong to a network namespace, not to a PID
// namespace. A peer has the name from a message (`offered_descriptor`) and fetches like this:
//
//   peer     connects                      no room in the queue: tries again; nobody listens:
//                                          peer_lost
//   both     look at the other's user      another one: the server closes without a word, the peer
//                                          gives up with not_supported
//   peer     sends request{mark, number,   at once; the server waits `request_patience` for it, and
//            first}                        then closes without a word
//   server   sends reply{mark, status,     with the descriptors (SCM_RIGHTS) that are offered under
//            their number and sizes}       that number, from `first` on and at most 64, or with
//                                          not_supported if there are none; closes
//   peer     closes                        after the reply; without one it begins again, and gives
//                                          up with peer_lost when `patience` is over; if there are
//                                          more descriptors it connects again for them
//
// The server takes one peer after the other and never waits for anything else: it calls neither the
// host MPI nor a device, and holds its lock for no longer than a send that does not block. So two
// processes may fetch from each other, and a process that computes still answers. A peer that is
// stopped between connecting and asking costs the others `request_patience`.
//
// Numbers are never used again, so a late peer cannot get another allocation's descriptor.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace telpher {

/// Names a descriptor to other processes; trivially copyable.
struct offered_descriptor {
  std::uint64_t process = 0;  // the random bits in its socket's name; 0: nothing is offered
  std::uint64_t number = 0;

  explicit operator bool() const noexcept { return process != 0; }
};

/// A descriptor among several that are offered under one number, and what it stands for.
struct offered_file {
  descriptor file;
  std::uint64_t bytes = 0;
};

/// Descriptors that were fetched, in the order of the offer; closed with the object.
class fetched_files {
 public:
  fetched_files() = default;
  fetched_files(fetched_files&& o) noexcept
      : numbers_(std::exchange(o.numbers_, {})), bytes_(std::exchange(o.bytes_, {})) {}
  fetched_files& operator=(fetched_files&&) = delete;
  ~fetched_files();

  std::size_t size() const noexcept { return numbers_.size(); }
  const std::vector<int>& numbers() const noexcept { return numbers_; }
  const std::vector<std::size_t>& bytes() const noexcept { return bytes_; }
  /// Takes the descriptor. Closes it and is false where there is no memory.
  bool add(int number, std::size_t bytes) noexcept;
  /// The first one, which the caller closes.
  int release_first() noexcept { return std::exchange(numbers_.front(), -1); }

 private:
  std::vector<int> numbers_;
  std::vector<std::size_t> bytes_;
};

class descriptor_broker {
 public:
  static constexpr std::chrono::milliseconds request_patience{100};
  static constexpr std::chrono::milliseconds patience{5000};

  static descriptor_broker& instance() noexcept;

  /// Keeps an open descriptor, which it takes, for peers to fetch until it is withdrawn.
  /// not_supported if there is no descriptor, socket or thread to be had.
  result<offered_descriptor> offer(int opened) noexcept;
  /// The same for several under one number.
  result<offered_descriptor> offer(std::vector<offered_file>&& files) noexcept;
  void withdraw(const offered_descriptor& one) noexcept;
  /// Ends the thread and closes the socket and all that is offered. The next offer starts anew. Not
  /// to be called by two threads at once.
  void stop() noexcept;

  /// A descriptor that another process, or this one, offers; the caller closes it. peer_lost: the
  /// process is gone or does not answer; not_supported: it does not offer that, or is another
  /// user's.
  static result<int> fetch(const offered_descriptor& one) noexcept;
  /// All descriptors of the offer, or none of them. not_supported, too, if this process can open no
  /// more.
  static result<fetched_files> fetch_all(const offered_descriptor& one) noexcept;

  /// How many descriptors are offered.
  std::size_t offers() const noexcept;

 private:
  /// Shared with the thread, which outlives it where the program has closed the socket.
  struct listener {
    std::uint64_t process;
    descriptor socket;
  };

  status start() noexcept;
  status start_thread() noexcept;
  void serve(const listener& l) noexcept;
  void answer(int peer) noexcept;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::vector<offered_file>> offers_;  // by number
  std::uint64_t numbers_ = 0;
  std::shared_ptr<const listener> listener_;
  std::thread server_;
};

/// An offer that ends with the object.
class kept_offer {
 public:
  kept_offer() = default;
  explicit kept_offer(const offered_descriptor& one) noexcept : one_(one) {}
  kept_offer(kept_offer&& o) noexcept : one_(std::exchange(o.one_, {})) {}
  kept_offer& operator=(kept_offer&& o) noexcept {
    std::swap(one_, o.one_);
    return *this;
  }
  ~kept_offer() {
    if (one_) descriptor_broker::instance().withdraw(one_);
  }
  const offered_descriptor& name() const noexcept { return one_; }

 private:
  offered_descriptor one_;
};

}  // namespace telpher
