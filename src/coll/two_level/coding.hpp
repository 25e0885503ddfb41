// SPDX-License-Identifier: BSD-3-Clause
// Compression of what goes between nodes in a call of two levels: at a fixed rate only (zfp), so
// that every rank knows the size of every message without being told.
#pragma once

#include "codec/plan.hpp"
#include "coll/two_level/paths.hpp"

namespace telpher::coll::two_level {

class coding {
 public:
  /// Asks all ranks of the call, where the settings want compression; collective then.
  static coding agreed(const call_facts& c, MPI_Datatype type) noexcept;

  /// For a message of `bytes`; none where it goes as it is.
  codec::plan of(std::int64_t bytes) const noexcept;

 private:
  codec::element kind_ = codec::element::none;
};

}  // namespace telpher::coll::two_level
