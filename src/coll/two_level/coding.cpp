// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/coding.hpp"

#include "base/settings.hpp"
#include "codec/codec.hpp"
#include "codec/model.hpp"
#include "path/compressed.hpp"
#include "path/compression.hpp"

namespace telpher::coll::two_level {

// The size and what the vote has settled are the same at all ranks. Memory and types are not: ranks
// that send floats may do so by types of other forms.
coding coding::agreed(const call_facts& c, const team& t, MPI_Datatype type) noexcept {
  const auto at_fixed_rate = [&](codec::element e) {
    return e != codec::element::none && t.compression.of(e).how == codec::method::zfp;
  };
  coding own;
  const bool wanted = at_fixed_rate(codec::element::f32) || at_fixed_rate(codec::element::f64);
  if (!wanted || c.bytes < config().compression_threshold) return own;
  const codec::element kind = path::element_of(type);
  const bool mine = at_fixed_rate(kind) && on_one_device(c);
  own.kind_ =
      static_cast<codec::element>(same_everywhere(c.comm, mine ? static_cast<int>(kind) : 0));
  own.how_ = t.compression.of(own.kind_);
  return own;
}

bool coding::pays(const codec::plan& p, double crossing) noexcept {
  return p && (config().compression_force || codec::pays(p, crossing));
}

codec::plan coding::of(std::int64_t bytes) const noexcept {
  if (!*this || bytes <= 0) return {};
  const codec::plan p = codec::plan_for(how_, kind_, static_cast<std::size_t>(bytes));
  return pays(p, 1) ? p : codec::plan{};
}

std::int64_t coding::travels(std::int64_t bytes) const noexcept {
  const codec::plan p = of(bytes);
  return p ? static_cast<std::int64_t>(codec::most_bytes(p)) : bytes;
}

codec::plan coding::row(std::int64_t bytes) const noexcept {
  codec::choice one = how_;
  one.row = one.column = 0;
  return *this && bytes > 0 ? codec::plan_for(one, kind_, static_cast<std::size_t>(bytes))
                            : codec::plan{};
}

status encode(memory_ref to_host, memory_ref from, const codec::plan& p,
              std::optional<int>* error_exponent) noexcept {
  auto coded = path::compress({from.where, from.at, codec::plain_bytes(p)}, p);
  TELPHER_TRY(coded);
  if (error_exponent) *error_exponent = coded->error_exponent;
  return memory::copy_and_wait(from.where, to_host.at, coded->data.data(), coded->bytes);
}

status decode(memory_ref to, memory_ref from_host, const codec::plan& p) noexcept {
  const std::size_t bytes = codec::most_bytes(p);
  auto coded = memory::buffer::device(to.where, bytes);
  TELPHER_TRY(coded);
  TELPHER_TRY(memory::copy_and_wait(to.where, coded->data(), from_host.at, bytes));
  auto s = memory::stream(to.where, memory::lane::kernel);
  TELPHER_TRY(s);
  TELPHER_TRY(codec::decode(*to.where.owner, *s, p, coded->data(), bytes, to.at));
  return to.where.owner->synchronise(*s);
}

}  // namespace telpher::coll::two_level
