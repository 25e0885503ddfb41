// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/coding.hpp"

#include "base/settings.hpp"
#include "codec/model.hpp"
#include "path/compression.hpp"

namespace telpher::coll::two_level {
namespace {

bool at_fixed_rate(codec::element e) noexcept {
  return codec::configured().of(e).how == codec::method::zfp;
}

}  // namespace

// The size and the settings are the same at all ranks (paths.cpp compares the settings). Memory and
// types are not: ranks that send floats may do so by types of other forms.
coding coding::agreed(const call_facts& c, MPI_Datatype type) noexcept {
  const bool wanted = at_fixed_rate(codec::element::f32) || at_fixed_rate(codec::element::f64);
  coding own;
  if (!wanted || c.bytes < config().compression_threshold) return own;
  const codec::element kind = path::element_of(type);
  const bool mine = at_fixed_rate(kind) && on_one_device(c);
  own.kind_ =
      static_cast<codec::element>(same_everywhere(c.comm, mine ? static_cast<int>(kind) : 0));
  return own;
}

codec::plan coding::of(std::int64_t bytes) const noexcept {
  if (kind_ == codec::element::none || bytes <= 0) return {};
  const codec::plan p =
      codec::plan_for(codec::configured().of(kind_), kind_, static_cast<std::size_t>(bytes));
  return p && (config().compression_force || codec::pays(p)) ? p : codec::plan{};
}

}  // namespace telpher::coll::two_level
