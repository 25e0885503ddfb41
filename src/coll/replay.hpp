// SPDX-License-Identifier: BSD-3-Clause
// A persistent collective that streams and graphs start without the host, once its ranks have
// agreed on that by telpher_match.
#pragma once

#include <memory>

#include "memory/memory.hpp"

namespace telpher::coll {

class replay {
 public:
  replay() = default;
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;
  virtual ~replay() = default;

  /// The device of the program's memory, and of the streams that may start it.
  virtual const memory::place& where() const noexcept = 0;
  /// Starts it in a stream of the program's, which goes on when it is complete. `captured`: a graph
  /// takes the stream's work.
  virtual status start(device::stream s, bool captured) noexcept = 0;
  /// Starts it on these buffers, which later starts use too. Only if it was matched for any
  /// buffers.
  virtual status start_on(const void* input, void* output, device::stream s,
                          bool captured) noexcept = 0;
  /// How many starts are over, modulo 2^32; each replay of a graph is one.
  virtual std::uint32_t ended() const noexcept = 0;
};

/// The agreement of all ranks of a persistent collective on its replay.
class matching {
 public:
  matching() = default;
  matching(const matching&) = delete;
  matching& operator=(const matching&) = delete;
  virtual ~matching() = default;

  /// True once all ranks have come and agreed. Never waits.
  virtual bool advance() noexcept = 0;
  /// Once advance() has said true, to be called once: the replay. Null, at all ranks alike: the
  /// collective stays with the host MPI or the progress engine.
  virtual std::unique_ptr<replay> take() noexcept = 0;
};

}  // namespace telpher::coll
