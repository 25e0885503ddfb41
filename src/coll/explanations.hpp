// SPDX-License-Identifier: BSD-3-Clause
// What TELPHER_EXPLAIN says of a communicator's collectives. Rank 0 prints it, each line once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "ticket/peers.hpp"

namespace telpher::coll {

class explanations {
 public:
  /// `of`: what is said behind the number of ranks.
  explicit explanations(const char* of = "") noexcept : of_(of) {}

  /// Calls up to the next power of two of `bytes` are alike. Another thread may move a non-blocking
  /// call of the communicator meanwhile.
  void print(const char* call, int ranks, std::uint64_t bytes, const char* text) noexcept {
    char line[480];
    std::snprintf(line, sizeof line, "%s on %d ranks%s, up to %llu bytes: %s", call, ranks, of_,
                  static_cast<unsigned long long>(bytes == 0 ? 0 : std::bit_ceil(bytes)), text);
    static constinit std::mutex guard;
    const std::lock_guard lock(guard);
    if (std::find(printed_.begin(), printed_.end(), line) != printed_.end()) return;
    try {
      printed_.emplace_back(line);
    } catch (const std::bad_alloc&) {  // printed again next time
    }
    std::fprintf(stderr, "[telpher %d] %s\n", ticket::job().rank, line);
  }

 private:
  const char* of_;
  std::vector<std::string> printed_;
};

}  // namespace telpher::coll
