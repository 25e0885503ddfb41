// SPDX-License-Identifier: BSD-3-Clause
#include "path/table.hpp"

#include <iterator>

#include "path/copier.hpp"
#include "path/eager.hpp"
#include "path/ipc_put.hpp"
#include "path/staged.hpp"

namespace telpher::path {
namespace {

constexpr record eagerly(kind k, use when, size_range sizes, const char* how,
                         decltype(record::serves) serves, decltype(record::start_send) send,
                         decltype(record::start_receive) receive,
                         decltype(record::send_by_kernel) by_kernel = nullptr) {
  record r{k, eager, when, sizes, how, serves, send, receive};
  r.send_by_kernel = by_kernel;
  return r;
}
/// A row for messages on a node. The last two: the state by which the receiver asks for the
/// sender's part, and that part.
constexpr record near(kind k, unsigned between, use when, const char* how,
                      decltype(record::start_receive) receive, slot_state asks = slot_state::free,
                      decltype(record::answer) answer = nullptr) {
  return {k, between, when, {}, how, nullptr, nullptr, receive, asks, answer};
}

using enum use;
constexpr record table[] = {
    eagerly(kind::mapped, unless_other, mapped_sizes, "by the CPU, where the device has a window",
            mapped_serves, mapped_send, mapped_receive),
    eagerly(kind::raw, always, raw_sizes,
            "between nodes, copied to the host; any size where nothing can be announced",
            raw_serves, raw_send, raw_receive, raw_send_by_kernel),
    near(kind::ipc_put, node, if_forced, "the sender's copy engine, where it is forced",
         ask_for_put, slot_state::put_asked, start_put),
    near(kind::local, process, always, "one copy inside the process", get_local),
    near(kind::ipc_get, node, always, "the receiver's device copies, where it can open the memory",
         get_imported),
    near(kind::staged, process | node, always, "blocks through shared host memory", ask_for_ring,
         slot_state::pipe_asked, feed_ring),
    {kind::direct,
     network,
     unless_other,
     {},
     "by a GPU-aware host MPI, where it was measured to be faster (TELPHER_DIRECT)"},
    {kind::rdma, network, unless_other, rdma_sizes, "one-sided (TELPHER_RDMA)"},
    {kind::pipelined, network, always, {}, "blocks through the host MPI"},
    {kind::batch, by_copier, unless_other, batch_sizes, "one kernel for several messages"},
    {kind::linger, by_copier, unless_other, linger_sizes,
     "a kernel that stays, in a burst (TELPHER_LINGER)"},
};

// For a row that is not forced.
bool usable(const record& r) noexcept {
  return r.when == always || (r.when == unless_other && forced() == kind::none);
}

/// The first matching row for which `take` is true. A forced row is tried first.
template <class Take>
const record* first_of(unsigned between, const Take& take) noexcept {
  if (forced() != kind::none)
    for (const record& r : table)
      if (r.name == forced() && (r.between & between) && take(r)) return &r;
  for (const record& r : table)
    if (r.name != forced() && (r.between & between) && usable(r) && take(r)) return &r;
  return nullptr;
}

}  // namespace

rows all_paths() noexcept {
  return {std::begin(table), std::end(table)};
}

const record* choose_eager(send_end& e) noexcept {
  return first_of(eager, [&](const record& r) { return r.serves(e); });
}

const record* start_receive(receive_end& e) noexcept {
  return first_of(e.between, [&](const record& r) { return r.start_receive(e) == status::ok; });
}

std::unique_ptr<transfer> answer(slot_state asked, const send_end& e) noexcept {
  for (const record& r : table)
    if (r.answer && r.asks == asked) return r.answer(e);
  return nullptr;
}

}  // namespace telpher::path
