// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/packed.hpp"

#include <algorithm>
#include <new>

#include "coll/between/votes.hpp"
#include "coll/exchange/call_problem.hpp"

namespace telpher::coll::between {
namespace {

struct blocks {
  std::uint64_t sent, received;  // of each side: a block for each rank, or one
};

blocks blocks_of(const exchange::arguments& a) {
  const auto all = static_cast<std::uint64_t>(a.ranks);
  switch (a.what) {
    case operation::alltoall:
      return {all, all};
    case operation::allgather:
      return {1, all};
    case operation::reduce_scatter_block:
      return {all, 1};
    default:
      return {1, 1};
  }
}

}  // namespace

packed_buffers::packed_buffers(exchange::arguments& a, std::uint64_t bytes,
                               std::uint64_t grain) noexcept
    : reduces_(a.reduce.known) {
  const auto own = static_cast<std::size_t>(a.rank);
  const std::uint64_t result =
      a.what == operation::reduce_scatter ? a.common[own] * grain : bytes * blocks_of(a).received;
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
  const blocks n = blocks_of(a);
  const auto side_of = [](const void* at, exchange::elements e, std::uint64_t times) {
    return side{const_cast<void*>(at), e.count * static_cast<std::int64_t>(times), e.of};
  };
  if (a.in_place) {
    output_ = side_of(a.output, a.received, std::max(n.sent, n.received));
    output_.content.resize(std::max(bytes * n.sent, result));
    output_.reads = output_.writes = true;
  } else if (exchange::reads_input(a)) {
    input_ = side_of(a.input, a.sent, n.sent);
    input_.content.resize(bytes * n.sent);
    input_.reads = true;
  }
  if (!a.in_place && exchange::writes_output(a)) {
    output_ = side_of(a.output, a.received, n.received);
    if (a.what == operation::reduce_scatter)
      output_.count = static_cast<std::int64_t>(a.common[static_cast<std::size_t>(a.rank)]);
    output_.content.resize(result);
    output_.writes = true;
  }
}

status packed_buffers::open(side& s) noexcept {
  if (s.content.empty()) return status::ok;
  const auto found = datatype::layout_of(s.of);
  TELPHER_TRY(found);
  s.layout = *found;
  // The two sides of the call must mean as many bytes, and a reduction needs an address.
  if (s.layout->size * static_cast<std::uint64_t>(s.count) != s.content.size() ||
      (!s.at && reduces_))
    return status::invalid_argument;
  plan where{.segments = {}, .copy_in = s.reads, .copy_out = s.writes};
  where.add(0, s.count, s.of);
  const auto image = images_.add(s.at, where);
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
  for (side* s : {&input_, &output_})
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
