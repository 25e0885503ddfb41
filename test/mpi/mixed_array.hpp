// SPDX-License-Identifier: BSD-3-Clause
// An array of requests in which receives, sends, null and inactive persistent requests take turns,
// over all kinds of memory, and what each must give once a call has reported it.
#pragma once

#include "suite.hpp"

namespace mpi_test {

inline constexpr std::size_t sizes[] = {0, 8, 480, 479, 3000, 70000};
inline constexpr std::size_t slots = 40;

/// The state of one round.
struct mixed_array {
  enum class sort { send, receive, null, inactive };
  struct slot {
    sort what;
    std::size_t bytes;
    std::uint64_t id;
    int tag;
  };

  mixed_array(const suite& s, int peer_rank) : peer(peer_rank) {
    random_numbers random(s.opt.seed);
    for (std::size_t i = 0; i < slots; ++i) {
      static constexpr sort turn[] = {sort::receive, sort::send, sort::receive,
                                      sort::send,    sort::null, sort::inactive};
      const sort what = turn[i % std::size(turn)];
      const std::size_t bytes = sizes[random.below(std::size(sizes))];
      // A receive in slot i belongs to the peer's send in slot i + 1, and a send to the slot
      // before.
      const std::size_t pair = what == sort::send ? i - 1 : i;
      const std::size_t length = what == sort::send ? list[pair].bytes : bytes;
      const int sender = what == sort::send ? s.rank : peer;
      list.push_back({what, length, s.opt.seed + pair * 16 + static_cast<std::uint64_t>(sender),
                      as_int(pair)});
      buffers.emplace_back(kinds()[random.below(kinds().size())], length);
      requests.push_back(MPI_REQUEST_NULL);
    }
  }

  void start() {
    for (std::size_t i = 0; i < slots; ++i) {
      buffer& b = buffers[i];
      const slot& l = list[i];
      b.clear();
      if (l.what == sort::receive)
        MPI_Irecv(b.data(), as_int(l.bytes), MPI_BYTE, peer, l.tag, MPI_COMM_WORLD, &requests[i]);
      if (l.what == sort::inactive)
        MPI_Recv_init(b.data(), as_int(l.bytes), MPI_BYTE, peer, 999, MPI_COMM_WORLD, &requests[i]);
    }
    for (std::size_t i = 0; i < slots; ++i) {
      if (list[i].what != sort::send) continue;
      buffers[i].fill(list[i].id);
      MPI_Isend(buffers[i].data(), as_int(list[i].bytes), MPI_BYTE, peer, list[i].tag,
                MPI_COMM_WORLD, &requests[i]);
    }
  }

  bool active(std::size_t i) const {
    return list[i].what == sort::send || list[i].what == sort::receive;
  }
  std::size_t active_count() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < slots; ++i) n += active(i);
    return n;
  }

  /// Slot i was reported complete.
  void check(suite& s, std::size_t i, const MPI_Status* status, bool freed = true) {
    s.note("slot %zu, %s of %zu bytes, %s", i, list[i].what == sort::send ? "send" : "receive",
           list[i].bytes, name(buffers[i].memory()));
    if (!s.expect(active(i), "an inactive request was reported")) return;
    if (freed) s.expect(requests[i] == MPI_REQUEST_NULL, "the handle becomes null");
    if (list[i].what != sort::receive) return;
    if (status != nullptr) s.expect_status(*status, peer, list[i].tag, list[i].bytes);
    s.expect_none(buffers[i].compare(list[i].id, list[i].bytes));
  }

  /// Of calls that report all slots: inactive ones have the empty status.
  void check_all(suite& s, const MPI_Status* statuses, bool freed = true) {
    for (std::size_t i = 0; i < slots; ++i) {
      if (active(i)) {
        check(s, i, statuses == nullptr ? nullptr : &statuses[i], freed);
      } else if (statuses != nullptr) {
        s.note("slot %zu, inactive", i);
        s.expect_status(statuses[i], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
      }
    }
  }

  void free_inactive() {
    for (std::size_t i = 0; i < slots; ++i)
      if (list[i].what == sort::inactive) MPI_Request_free(&requests[i]);
  }

  int peer;
  std::vector<slot> list;
  std::vector<buffer> buffers;
  std::vector<MPI_Request> requests;
};

}  // namespace mpi_test
