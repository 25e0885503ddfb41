// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/packed_copies.hpp"

#include <new>
#include <utility>

namespace telpher::coll::exchange {
namespace {

/// `one` moves elements between the buffer and the packed bytes.
template <class Move>
status move(const gapped_side& s, const memory::buffer& copy, const Move& one) noexcept {
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
}

status packed_copies::take(const gapped_side& s, memory::buffer& copy) const noexcept {
  if (s.bytes == 0) return status::ok;
  TELPHER_TRY(memory::buffer::device(where_, s.bytes).into(copy));
  // A table of the type's blocks, if the kernels need one.
  return move(s, copy, [&](std::byte* at, std::int64_t count, void* packed) {
    return datatype::plan_unpack(*where_.owner, *s.type, where_.device, packed, nullptr, at, count,
                                 on_)
        .error();
  });
}

status packed_copies::make(arguments& a, device::stream on) noexcept {
  sides_ = a.gapped;
  where_ = a.where;
  on_ = on;
  TELPHER_TRY(memory::pooled_event::acquire(where_).into(done_));
  TELPHER_TRY(take(sides_->input, input_));
  TELPHER_TRY(take(sides_->output, output_));
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

// --- in a stream ---

status packed_copies::pack(device::stream s) const noexcept {
  const auto one_side = [&](const gapped_side& of, const memory::buffer& copy) noexcept {
    if (of.bytes == 0 || !of.reads) return status::ok;
    return move(of, copy, [&](const std::byte* at, std::int64_t count, void* packed) {
      return datatype::pack(*where_.owner, *of.type, at, count, packed, s);
    });
  };
  TELPHER_TRY(one_side(sides_->input, input_));
  return one_side(sides_->output, output_);
}

status packed_copies::unpack(device::stream s) const noexcept {
  const gapped_side& of = sides_->output;
  if (of.bytes == 0) return status::ok;
  return move(of, output_, [&](std::byte* at, std::int64_t count, const void* packed) {
    return datatype::unpack(*where_.owner, *of.type, packed, at, count, s);
  });
}

// --- of a call ---

template <class Work>
status packed_copies::begin(const Work& work) noexcept {
  under_way_ = true;  // also where only a part was begun
  TELPHER_TRY(work());
  return done_.record(on_);
}

status packed_copies::begin_packing() noexcept {
  if (!sides_->input.reads && !sides_->output.reads) return status::ok;
  return begin([this] { return pack(on_); });
}

status packed_copies::begin_unpacking() noexcept {
  if (sides_->output.bytes == 0) return status::ok;
  return begin([this] { return unpack(on_); });
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
