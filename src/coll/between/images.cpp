// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/images.hpp"

#include <algorithm>
#include <utility>

namespace telpher::coll::between {
namespace {

/// Copies of at most so many bytes are waited for: that takes fewer driver calls than an event.
constexpr std::uint64_t waited_for = 64 * 1024;

struct extent {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;

  void include(const std::vector<piece>& pieces, std::uint64_t unit) {
    if (pieces.empty()) return;  // they ascend
    low = std::min(low, pieces.front().offset * unit);
    high = std::max(high, (pieces.back().offset + pieces.back().count) * unit);
  }
};

}  // namespace

images::images(const plan& what, std::uint64_t unit, const program_buffer& input,
               const program_buffer& output) noexcept
    : plan_(what), unit_(unit), shared_(input.at && input.at == output.at) {
  input_.of = input;
  output_.of = output;
  made_ = prepare();
}

images::~images() {
  for (const copying* c : {&in_, &out_})
    if (c->owner) static_cast<void>(c->owner->synchronise(c->stream));
}

status images::prepare() noexcept {
  extent in, out;
  in.include(plan_.reads, unit_);
  (shared_ ? in : out).include(plan_.writes, unit_);
  TELPHER_TRY(input_.make(in.low, in.high));
  return shared_ ? status::ok : output_.make(out.low, out.high);
}

status images::image::make(std::uint64_t low, std::uint64_t high) noexcept {
  host = of.at;
  if (!of.where.on_device() || high <= low) return status::ok;
  TELPHER_TRY(memory::buffer::host(high - low, of.where.owner, true).into(memory));
  memory.filled();
  host = static_cast<std::byte*>(memory.data()) - low;
  return status::ok;
}

std::uint64_t images::bytes_of(const std::vector<piece>& pieces) const noexcept {
  std::uint64_t n = 0;
  for (const piece& p : pieces) n += p.count * unit_;
  return n;
}

status images::move(copying& c, const image& i, const std::vector<piece>& pieces,
                    bool in) noexcept {
  if (!i.memory || pieces.empty()) return status::ok;
  const auto s = memory::stream(i.of.where, c.by);
  TELPHER_TRY(s);
  c.owner = i.of.where.owner;
  c.stream = *s;
  for (const piece& p : pieces) {
    std::byte* const here = i.host + p.offset * unit_;
    std::byte* const there = i.of.at + p.offset * unit_;
    TELPHER_TRY(c.owner->copy(in ? here : there, in ? there : here, p.count * unit_, *s));
  }
  const std::uint64_t bytes = bytes_of(pieces);
  if (bytes <= waited_for) return status::ok;
  TELPHER_TRY(memory::pooled_event::acquire(i.of.where).into(c.end));
  return c.end.record(*s);
}

status images::settle(copying& c, std::uint64_t bytes) noexcept {
  if (!c.owner) return status::ok;
  const status s = bytes <= waited_for ? c.owner->synchronise(c.stream) : c.end.query();
  if (!failed(s)) c.owner = nullptr;
  return s;
}

status images::advance(copying& c, const image& i, const std::vector<piece>& pieces,
                       bool in) noexcept {
  TELPHER_TRY(made_);
  if (!std::exchange(c.begun, true)) TELPHER_TRY(move(c, i, pieces, in));
  return settle(c, bytes_of(pieces));
}

status images::load() noexcept {
  return advance(in_, input_, plan_.reads, true);
}

status images::store() noexcept {
  return advance(out_, shared_ ? input_ : output_, plan_.writes, false);
}

void images::abandon() noexcept {
  for (image* i : {&input_, &output_}) new memory::buffer(std::move(i->memory));
}

}  // namespace telpher::coll::between
