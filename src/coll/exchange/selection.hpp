// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm runs a call, by which transport, on which buffers: by the table of selection.def
// and the settings. All ranks choose from the same facts, so all choose the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "coll/algorithms/catalogue.hpp"
#include "path/path.hpp"

namespace telpher::coll::exchange {

enum class transport : std::uint8_t { packed, exchange, stepped, vendor };

/// What all ranks know besides the problem.
struct facts {
  std::uint64_t unit = 1;   // bytes of an element
  bool may_wait = true;     // kernels for peers, at all ranks
  bool exportable = false;  // every buffer of every rank could be mapped
  bool library = false;     // the vendor's library does such calls, and may be tried

  bool operator==(const facts&) const = default;
};

struct choice {
  const algorithm* what = nullptr;  // none where the vendor's library runs the call
  transport by = transport::exchange;
  bool mapped = false;
  int blocks = 1;
  std::shared_ptr<const schedule> plan;

  explicit operator bool() const noexcept { return what || by == transport::vendor; }
};

/// What TELPHER_COLL_ALGORITHM names for an operation, or "".
std::string_view forced_algorithm(operation what) noexcept;

path::kind kind_of(transport t) noexcept;

/// Whether peers reach the program's buffers however small they are: one copy is all there is to
/// do.
bool maps_small(operation what) noexcept;

/// Bytes of the longest vector of any rank.
std::uint64_t volume(const problem& p, std::uint64_t unit) noexcept;

/// The choice for rank `me`; none if nothing fits. Sets `p.mapped` to what was chosen.
choice choose(problem& p, const facts& f, int me) noexcept;

/// Remembers its last answer: calls in a loop are alike.
class chooser {
 public:
  choice choose(problem& p, const facts& f, int me) noexcept;

 private:
  problem asked_;
  facts facts_;
  bool mapped_ = false;  // what was made of asked_.mapped
  choice last_;
};

}  // namespace telpher::coll::exchange
