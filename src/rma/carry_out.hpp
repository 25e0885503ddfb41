// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a direct operation, once its target was found: a copy, or an update of the target
// under its exclusion word. As few device operations as can be, because each one that is waited for
// costs the driver 7 to 10 us, which is most of what a small operation takes.
#pragma once

#include <algorithm>
#include <optional>

#include "datatype/move.hpp"
#include "rma/rma.hpp"
#include "rma/words.hpp"

namespace telpher::rma {

/// The layout of a committed type, or null.
const datatype::layout* layout_of(MPI_Datatype type) noexcept;

/// Where elements lie, from the address of the first one.
struct span {
  std::int64_t low, high;
};
inline span span_of(const datatype::layout& l, MPI_Count count) noexcept {
  const std::int64_t last = (count - 1) * l.extent;
  return {std::min<std::int64_t>(0, last) + l.true_lower_bound,
          std::max<std::int64_t>(0, last) + l.true_lower_bound + l.true_extent};
}

/// `origin` and `result` are those that the call reads or writes; they have as many bytes as
/// `target`, which is `far` if it is another rank's. Complete at both ends on return. May throw
/// std::bad_alloc.
status carry_out(const access& a, const words& shared, const datatype::elements& target, bool far,
                 const std::optional<datatype::elements>& origin,
                 const std::optional<datatype::elements>& result);

}  // namespace telpher::rma
