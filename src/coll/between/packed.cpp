// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/packed.hpp"

#include <algorithm>
#include <new>

#include "coll/between/votes.hpp"

namespace telpher::coll::between {
packed_buffers::packed_buffers(exchange::arguments& a, std::uint64_t bytes,
                               std::uint64_t grain) noexcept
    : reduces_(a.reduce.known) {
  const auto own = static_cast<std::size_t>(a.rank);
  const std::uint64_t result = a.what == operation::reduce_scatter
                                   ? a.common[own] * grain
                                   : bytes * exchange::blocks_of(a).received;
  if (!has_memory_for([&] { make(a, bytes, result); })) made_ = status::out_of_memory;
  const bool good = !failed(made_);
  a.output = good ? output_.content.data() : nullptr;
  a.input = good && !a.in_place ? input_.content.data() : a.output;
  a.input_place = a.output_place = {};
  a.bytes = bytes;
  a.grain = grain;
}

/// `result`: the bytes that the call writes at a rank that gets a result.
void packed_buffers::make(const exchange::arguments& a, std::uint64_t bytes, std::uint64_t result) {
  const std::uint64_t sent = bytes * exchange::blocks_of(a).sent;
  exchange::sides s = exchange::sides_of(a);
  if (s.input.reads) input_.content.resize(sent);
  if (s.output.writes) output_.content.resize(s.output.reads ? std::max(sent, result) : result);
  static_cast<exchange::side&>(input_) = std::move(s.input);
  static_cast<exchange::side&>(output_) = std::move(s.output);
}

status packed_buffers::open(copied& s) {
  if (s.content.empty()) return status::ok;
  const auto found = datatype::layout_of(s.of);
  TELPHER_TRY(found);
  s.layout = *found;
  const exchange::side::part all = s.parts.front();
  // The two sides of the call must mean as many bytes, and a reduction needs an address.
  if (s.layout->size * static_cast<std::uint64_t>(all.count) != s.content.size() ||
      (!s.buffer && reduces_))
    return status::invalid_argument;
  plan where{.segments = {}, .copy_in = s.reads, .copy_out = s.writes};
  where.add(all.at, all.count, s.of);
  const auto image = images_.add(s.buffer, where);
  TELPHER_TRY(image);
  s.image = static_cast<std::byte*>(*image);
  return status::ok;
}

status packed_buffers::load() noexcept {
  TELPHER_TRY(made_);
  try {
    TELPHER_TRY(open(input_));
    TELPHER_TRY(open(output_));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
  TELPHER_TRY(images_.copy_in());
  for (copied* s : {&input_, &output_})
    if (s->reads && s->layout)
      datatype::pack_host(*s->layout, s->image, 0, s->content.size(), s->content.data());
  return status::ok;
}

status packed_buffers::store() noexcept {
  if (!output_.writes || !output_.layout) return status::ok;
  datatype::unpack_host(*output_.layout, output_.content.data(), 0, output_.content.size(),
                        output_.image);
  return images_.copy_out();
}

}  // namespace telpher::coll::between
