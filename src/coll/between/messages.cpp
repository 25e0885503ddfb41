// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/messages.hpp"

#include <algorithm>
#include <new>

#include "base/settings.hpp"
#include "host_mpi/received.hpp"
#include "path/direct.hpp"

namespace telpher::coll::between {
namespace {

constexpr int tag = 0;
constexpr duration_us grow_after{10000};

int as_count(std::uint64_t bytes) {
  return static_cast<int>(bytes);  // blocks are bounded by TELPHER_COLL_BLOCK
}

}  // namespace

messages::messages(room& r, std::optional<device::stream> in) noexcept
    : room_(r), in_stream_(in.value_or(device::stream{})), direct_(!in || path::direct::serves()) {
  if (!in) return;
  auto out = memory::stream(r.where, memory::stream_role::out);
  if (out)
    out_stream_ = *out;
  else
    fail(status::device_error);
}

std::uint64_t messages::next_block(std::uint64_t bytes, std::uint64_t from) noexcept {
  return std::min(bytes - from, config().coll_block);
}

bool messages::test(block& b, MPI_Status* s) noexcept {
  int complete = 0;
  if (pmpi::Test(&b.request, &complete, s) == MPI_SUCCESS) return complete != 0;
  fail(status::host_mpi_error);
  return b.request == MPI_REQUEST_NULL;
}

/// Without memory for a block the slot is free again.
messages::block& messages::append(std::list<block>& to, slot* through) {
  try {
    block& b = to.emplace_back();
    b.through = through;
    return b;
  } catch (const std::bad_alloc&) {
    if (through) through->taken = false;
    throw;
  }
}

// --- out ---

/// False: no slot is free.
bool messages::start_block(message& m) {
  const bool through_slot = !failed(status_) && !direct_;
  slot* through = nullptr;
  if (through_slot) {
    through = room_.out.take();
    if (!through && full_.expired(grow_after)) through = room_.out.grow(room_.where);
    if (!through) return false;
  }
  block& b = append(copying_, through);
  b.of = &m;
  b.at = m.at + m.cut;
  b.bytes = next_block(m.bytes, m.cut);
  m.cut += b.bytes;
  if (!through) return true;
  device::backend& owner = *room_.where.owner;
  auto* to = static_cast<std::byte*>(through->data.data());
  status s = owner.copy(to, b.at, b.bytes, out_stream_);
  if (s == status::ok) s = through->copied.record(out_stream_);
  if (failed(s)) fail(s);
  b.at = to;
  return true;
}

bool messages::cut_blocks(std::uint64_t done) {
  bool moved = false;
  for (message& m : out_) {
    if (m.cut == m.bytes) continue;
    if (m.after > done && !failed(status_)) break;
    while (m.cut < m.bytes) {
      if (!start_block(m)) return moved;
      moved = true;
      full_.moved();
    }
  }
  return moved;
}

// Blocks are sent in the order in which their copies were started.
bool messages::send_copied() noexcept {
  bool moved = false;
  for (; !copying_.empty(); moved = true) {
    block& b = copying_.front();
    if (b.through) {
      const status s = b.through->copied.query();
      if (s == status::would_block) return moved;
      if (failed(s)) fail(s);
    }
    const std::uint64_t bytes = failed(status_) ? 0 : b.bytes;
    if (b.through || bytes == 0) b.of->read += b.bytes;
    if (pmpi::Isend(b.at, as_count(bytes), MPI_BYTE, b.of->peer, tag, room_.wire, &b.request) !=
        MPI_SUCCESS)
      fail(status::host_mpi_error);
    ++b.of->travelling;
    if (!b.through && bytes == 0) b.bytes = 0;
    sent_.splice(sent_.end(), copying_, copying_.begin());
  }
  return moved;
}

bool messages::end_sent() noexcept {
  const std::size_t before = sent_.size();
  for (auto b = sent_.begin(); b != sent_.end();) {
    if (!test(*b, MPI_STATUS_IGNORE)) {
      ++b;
      continue;
    }
    if (b->through)
      b->through->taken = false;
    else
      b->of->read += b->bytes;
    --b->of->travelling;
    b = sent_.erase(b);
  }
  while (!out_.empty() && out_.front().read == out_.front().bytes && out_.front().travelling == 0)
    out_.pop_front();
  return sent_.size() != before;
}

bool messages::reads(const std::byte* at, std::uint64_t bytes) const noexcept {
  return std::any_of(out_.begin(), out_.end(), [&](const message& m) {
    return m.read < m.bytes && at < m.at + m.bytes && m.at < at + bytes;
  });
}

// --- in ---

/// Receives the next block of a message at `at`, or in the slot.
void messages::post_block(coming& m, std::byte* at, slot* through) {
  block& b = append(posted_, through);
  b.at = through ? static_cast<std::byte*>(through->data.data()) : at;
  b.bytes = next_block(m.bytes, m.posted);
  if (pmpi::Irecv(b.at, as_count(b.bytes), MPI_BYTE, m.peer, tag, room_.wire, &b.request) !=
      MPI_SUCCESS)
    fail(status::host_mpi_error);
  m.posted += b.bytes;
}

bool messages::post() {
  bool moved = false;
  for (coming& m : in_)
    for (; m.posted < m.bytes; moved = true) {
      slot* const through = direct_ ? nullptr : room_.in.take();
      if (!through && !m.to) return moved;
      post_block(m, m.to ? m.to + m.posted : nullptr, through);
    }
  return moved;
}

status messages::take(const block& b, std::size_t got, std::byte* to) noexcept {
  if (got != b.bytes) return status::peer_lost;
  if (failed(status_) || !b.through) return status::ok;
  TELPHER_TRY(room_.where.owner->copy(to, b.at, got, in_stream_));
  return b.through->copied.record(in_stream_);
}

status messages::receive(std::byte* to, bool free) {
  coming& m = in_.front();
  if (direct_ && !free) return status::would_block;
  // If this rank has failed, the host MPI may be unable to reach the place.
  while (direct_ && m.posted < m.bytes)
    post_block(m, failed(status_) ? room_.unwanted() : to + m.posted, nullptr);
  while (m.arrived < m.bytes) {
    MPI_Status s;
    if (posted_.empty() || !test(posted_.front(), &s)) return status::would_block;
    const block& b = posted_.front();
    const status taken = take(b, host_mpi::bytes_of(s), to + m.arrived);
    m.arrived += b.bytes;
    if (b.through)
      emptying_.splice(emptying_.end(), posted_, posted_.begin());
    else
      posted_.pop_front();
    if (failed(taken)) fail(taken);
  }
  in_.pop_front();
  return status::ok;
}

bool messages::free_landed() noexcept {
  bool moved = false;
  for (; !emptying_.empty(); emptying_.pop_front(), moved = true) {
    // If taking the block failed, the event is an earlier block's, and has ended.
    if (emptying_.front().through->copied.query() == status::would_block) return moved;
    emptying_.front().through->taken = false;
  }
  return moved;
}

bool messages::advance(std::uint64_t done) {
  bool moved = free_landed();
  moved = post() || moved;
  moved = end_sent() || moved;
  moved = cut_blocks(done) || moved;
  return send_copied() || moved;
}

int messages::awaited() const noexcept {
  if (!in_.empty()) return in_.front().peer;
  return out_.empty() ? -1 : out_.front().peer;
}

}  // namespace telpher::coll::between
