// SPDX-License-Identifier: BSD-3-Clause
// Compression of what goes between nodes in a call of two levels: at a fixed rate only (zfp), so
// that every rank knows the size of every message without being told.
#pragma once

#include <optional>

#include "codec/choice.hpp"
#include "coll/two_level/paths.hpp"

namespace telpher::coll::two_level {

class coding {
 public:
  /// Asks all ranks of the call, where they have voted for compression; collective then.
  static coding agreed(const call_facts& c, const team& t, MPI_Datatype type) noexcept;

  explicit operator bool() const noexcept { return kind_ != codec::element::none; }
  /// For a message of `bytes`; none where it goes as it is.
  codec::plan of(std::int64_t bytes) const noexcept;
  /// The bytes of such a message as it goes.
  std::int64_t travels(std::int64_t bytes) const noexcept;
  /// For values in one row, whether it pays or not.
  codec::plan row(std::int64_t bytes) const noexcept;
  /// Whether a plan pays, or is forced; `crossing`: how much of the bytes leaves the node.
  static bool pays(const codec::plan& p, double crossing) noexcept;

 private:
  codec::element kind_ = codec::element::none;
  codec::choice how_;
};

/// From device memory to host memory and back; complete on return. `error_exponent`: see
/// codec::error_exponent.
status encode(memory_ref to_host, memory_ref from, const codec::plan& p,
              std::optional<int>* error_exponent = nullptr) noexcept;
status decode(memory_ref to, memory_ref from_host, const codec::plan& p) noexcept;

}  // namespace telpher::coll::two_level
