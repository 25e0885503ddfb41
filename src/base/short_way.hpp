// SPDX-License-Identifier: BSD-3-Clause
// What keeps calls in host memory from the short way, on which a wrapper does next to nothing. All
// of it in one word: every call of the program asks for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace telpher::short_way {

enum obstacle : std::uint32_t {
  inactive = 1,  // Telpher has not started, or has nothing to do
  tracing = 2,   // calls are recorded (trace.hpp)
  settling = 4,  // calls wait for streams (stream/settle.hpp)
  threads = 8,   // MPI_THREAD_MULTIPLE: several threads may be in the library
};
inline constinit std::atomic<std::uint32_t> obstacles{inactive};

/// Whether one of these is there.
inline bool any(std::uint32_t of) noexcept {
  return (obstacles.load(std::memory_order_relaxed) & of) != 0;
}
inline void set(obstacle o, bool there) noexcept {
  if (there)
    obstacles.fetch_or(o);
  else
    obstacles.fetch_and(~std::uint32_t{o});
}

/// Open to calls for which it does not matter what other threads do.
inline bool open_to_all_threads() noexcept {
  return !any(inactive | tracing | settling);
}
inline bool open() noexcept {
  return !any(~std::uint32_t{0});
}

}  // namespace telpher::short_way
