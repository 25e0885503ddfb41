// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/packed_copies.hpp"

#include <new>
#include <utility>

namespace telpher::coll::exchange {

packed_copies::~packed_copies() {
  if (under_way_) static_cast<void>(where_.owner->synchronise(on_));
}

/// `one` moves elements between the buffer and the packed bytes.
template <class Move>
status packed_copies::move(const gapped_side& s, const memory::buffer& copy,
                           const Move& one) noexcept {
  auto* packed = static_cast<std::byte*>(copy.data());
  under_way_ = true;
  for (const side::part& p : s.parts) {
    TELPHER_TRY(one(*s.type, s.address(p.at), p.count, packed));
    packed += s.type->size * static_cast<std::uint64_t>(p.count);
  }
  return status::ok;
}

status packed_copies::mark() noexcept {
  if (!under_way_) return status::ok;
  if (!done_) TELPHER_TRY(memory::pooled_event::acquire(where_).into(done_));
  return done_.record(on_);
}

status packed_copies::make(arguments& a, device::stream on) noexcept {
  sides_ = a.gapped;
  where_ = a.where;
  on_ = on;
  const auto take = [&](const gapped_side& s, memory::buffer& copy) noexcept -> status {
    if (s.bytes == 0) return status::ok;
    TELPHER_TRY(memory::buffer::device(where_, s.bytes).into(copy));
    if (!s.reads) return status::ok;
    return move(s, copy, [&](const auto& type, std::byte* at, std::int64_t count, void* packed) {
      return datatype::pack(*where_.owner, type, at, count, packed, on_);
    });
  };
  TELPHER_TRY(take(sides_->input, input_));
  TELPHER_TRY(take(sides_->output, output_));
  TELPHER_TRY(mark());
  if (output_) {
    a.output = output_.data();
    a.output_place = memory::classify(a.output, a.output_memory);
  }
  if (input_ || sides_->output.reads) {
    a.input = input_ ? input_.data() : output_.data();
    a.input_place = memory::classify(a.input, a.input_memory);
  }
  return status::ok;
}

status packed_copies::unpack() noexcept {
  const gapped_side& s = sides_->output;
  if (s.bytes == 0) return status::ok;
  TELPHER_TRY(
      move(s, output_, [&](const auto& type, std::byte* at, std::int64_t count, void* packed) {
        return datatype::unpack(*where_.owner, type, packed, at, count, on_);
      }));
  return mark();
}

status packed_copies::poll() noexcept {
  if (!under_way_) return status::ok;
  const status s = done_.query();
  if (s != status::would_block) under_way_ = false;
  return s;
}

void packed_copies::abandon() noexcept {
  for (memory::buffer* b : {&input_, &output_})
    if (*b) static_cast<void>(new (std::nothrow) memory::buffer(std::move(*b)));
}

}  // namespace telpher::coll::exchange
