// SPDX-License-Identifier: BSD-3-Clause
// Launches that serve any number of matched ends of one device.
#pragma once

#include <algorithm>
#include <span>

#include "path/matched.hpp"

namespace telpher::path {

/// Calls `launch(back end, pieces)` for as many of the ends as a kernel takes, one list after the
/// other.
template <class Pieces, class End, class Launch, class Piece>
status in_lists(std::span<End* const> ends, const Launch& launch, const Piece& piece_of) noexcept {
  while (!ends.empty()) {
    const auto some = ends.first(std::min<std::size_t>(ends.size(), Pieces::capacity));
    Pieces p;
    p.count = static_cast<decltype(p.count)>(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) p.pieces[i] = piece_of(*some[i]);
    TELPHER_TRY(launch(*some[0]->where().owner, p));
    ends = ends.subspan(some.size());
  }
  return status::ok;
}

/// Holds the stream: from this launch on it may wait for the peers of the ends.
template <class End, class Launch>
status holding(std::span<End* const> ends, bool captured, const Launch& launch) noexcept {
  for (End* e : ends) e->hold(captured);
  const status done = launch();
  if (failed(done))
    for (End* e : ends) e->hold_no_more(captured);
  return done;
}

}  // namespace telpher::path
