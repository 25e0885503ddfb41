// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/packed_copies.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "datatype/move.hpp"
#include "memory/held_streams.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::exchange {
namespace {

/// `one` moves elements between the buffer and the packed bytes.
template <class Move>
status move(const side& s, const memory::buffer& copy, const Move& one) noexcept {
  if (s.bytes == 0) return status::ok;
  auto* packed = static_cast<std::byte*>(copy.data());
  for (const side::part& p : s.parts) {
    TELPHER_TRY(one(s.address(p.at), p.count, packed));
    packed += s.type->size * static_cast<std::uint64_t>(p.count);
  }
  return status::ok;
}

}  // namespace

packed_copies::~packed_copies() {
  if (under_way_) static_cast<void>(where_.owner->synchronise(on_));
  if (!in_streams_ || is_over()) return;
  memory::held_streams::instance().call_when_free(
      [memory = std::move(memory_), sides = std::move(sides_), at = where_] {
        if (at.owner->synchronise_device(at.device) == status::ok) return;
        new std::pair(memory, sides);  // kernels may still use them
      });
}

/// What is missing: an earlier call may have had another side with gaps.
status packed_copies::take_memory() noexcept {
  const auto take = [this](std::uint64_t bytes, memory::buffer& copy) noexcept {
    return bytes == 0 || copy ? status::ok : memory::buffer::in(where_, bytes).into(copy);
  };
  try {
    if (!memory_) memory_ = std::make_shared<buffers>();
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  const std::uint64_t in = sides_->input.bytes, out = sides_->output.bytes;
  if (sides_->in_place) return take(std::max(in, out), memory_->output);
  TELPHER_TRY(take(in, memory_->input));
  return take(out, memory_->output);
}

/// Puts the copies in the place of the buffers.
void packed_copies::stand_in(arguments& a) const noexcept {
  if (sides_->input.bytes > 0) {
    a.input = input().data();
    a.input_place = memory::classify(a.input, a.input_memory);
  }
  if (sides_->output.bytes > 0) {
    a.output = memory_->output.data();
    a.output_place = memory::classify(a.output, a.output_memory);
  }
}

// --- of gaps ---

status packed_copies::make(arguments& a, device::stream on, std::shared_ptr<buffers> in) noexcept {
  sides_ = a.gapped;
  where_ = a.where;
  on_ = on;
  memory_ = std::move(in);
  TELPHER_TRY(memory::pooled_event::acquire(where_).into(done_));
  TELPHER_TRY(take_memory());
  // A table of the type's blocks, if the kernels need one.
  for (const side* s : {&sides_->input, &sides_->output}) {
    const auto plan = [&](std::byte* at, std::int64_t count, void* packed) {
      return datatype::plan_unpack(*where_.owner, *s->type, where_.device, packed, nullptr, at,
                                   count, on)
          .error();
    };
    TELPHER_TRY(move(*s, s == &sides_->input ? input() : memory_->output, plan));
  }
  stand_in(a);
  return status::ok;
}

status packed_copies::make_on_host(arguments& a) noexcept {
  sides_ = a.gapped;
  TELPHER_TRY(take_memory());
  stand_in(a);
  return status::ok;
}

// --- of gaps: in a stream of the program's ---

status packed_copies::pack_in(device::stream s) const noexcept {
  const side& of = sides_->input;
  return move(of, input(), [&](const std::byte* at, std::int64_t count, void* packed) {
    return datatype::pack(*where_.owner, *of.type, at, count, packed, s);
  });
}

status packed_copies::pack(device::stream s) noexcept {
  in_streams_ = true;
  return pack_in(s);
}

status packed_copies::unpack(device::stream s) const noexcept {
  const side& of = sides_->output;
  return move(of, memory_->output, [&](std::byte* at, std::int64_t count, const void* packed) {
    return datatype::unpack(*where_.owner, *of.type, packed, at, count, s);
  });
}

status packed_copies::mark_end(device::stream s) noexcept {
  TELPHER_TRY(done_.record(s));
  marked_ = true;
  return status::ok;
}

bool packed_copies::is_over() const noexcept {
  return marked_ && done_.query() != status::would_block;
}

// --- of gaps: of a call ---

template <class Work>
status packed_copies::begin(const Work& work) noexcept {
  under_way_ = true;  // also where only a part was begun
  TELPHER_TRY(work());
  return done_.record(on_);
}

status packed_copies::begin_packing() noexcept {
  if (sides_->input.bytes == 0) return status::ok;
  return where_.on_device() ? begin([this] { return pack_in(on_); }) : load();
}

status packed_copies::begin_unpacking() noexcept {
  if (sides_->output.bytes == 0) return status::ok;
  return where_.on_device() ? begin([this] { return unpack(on_); }) : store();
}

status packed_copies::poll() noexcept {
  if (!under_way_) return status::ok;
  const status s = done_.query();
  if (s != status::would_block) under_way_ = false;
  return s;
}

void packed_copies::abandon() noexcept {
  new (std::nothrow) std::shared_ptr<buffers>(std::move(memory_));
}

// --- of all ---

status packed_copies::make_all(arguments& a, const memory::place& where, std::uint64_t longest,
                               bool in_place) noexcept {
  const std::uint64_t block = block_bytes(a, longest);
  try {
    auto all = std::make_shared<sides>(sides_of(a));
    if (a.shifted) {
      const void* const read_from = all->in_place ? a.given_output : a.given_input;
      all->input.buffer = static_cast<std::byte*>(const_cast<void*>(read_from));
      all->output.buffer = static_cast<std::byte*>(a.given_output);
    }
    const elements& read = all->in_place ? a.received : a.sent;
    for (side* s : {&all->input, &all->output}) {
      if (s->parts.empty()) continue;
      const auto type = datatype::layout_of(s->of);
      TELPHER_TRY(type);
      const datatype::layout& l = **type;
      const elements& e = s == &all->input ? read : a.received;
      const bool moves = std::ranges::any_of(s->parts, [](auto& p) { return p.count > 0; });
      if (l.size == 0 || l.size * static_cast<std::uint64_t>(e.count) != block ||
          (moves && !s->address(l.blocks.front().offset)))
        return status::invalid_argument;
      s->pack_as(l);
    }
    all->in_place = in_place;
    sides_ = std::move(all);
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  where_ = where;
  TELPHER_TRY(take_memory());
  stand_in(a);
  return status::ok;
}

namespace {

datatype::side place_of(std::byte* data) noexcept {
  return {memory::classify(data), data};
}

/// Elements in any memory, to the packed bytes or back; of MPI_BOTTOM each block may lie elsewhere.
status move_elements(const side& s, const datatype::elements& e, datatype::side packed,
                     bool in) noexcept {
  if (s.buffer || !datatype::mixes_places(e.type, e.at.data))
    return in ? datatype::gather(e, packed) : datatype::scatter(packed, e);
  for (MPI_Count i = 0; i < e.count; ++i)
    for (const auto& block : e.type.blocks) {
      const datatype::side there = place_of(s.address(i * e.type.extent + block.offset));
      TELPHER_TRY(datatype::copy(in ? packed : there, in ? there : packed, block.bytes));
      packed.data += block.bytes;
    }
  return status::ok;
}

}  // namespace

status packed_copies::move_all(const side& s, const memory::buffer& copy, bool in) const noexcept {
  auto held = ticket::progress().lock();
  return move(s, copy, [&](std::byte* at, std::int64_t count, void* packed) {
    const memory::place there = place_of(at + s.type->blocks.front().offset).where;
    return move_elements(s, {*s.type, count, {there, at}},
                         {where_, static_cast<std::byte*>(packed)}, in);
  });
}

status packed_copies::load() const noexcept {
  return move_all(sides_->input, input(), true);
}

status packed_copies::store() const noexcept {
  return move_all(sides_->output, memory_->output, false);
}

}  // namespace telpher::coll::exchange
