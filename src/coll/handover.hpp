// SPDX-License-Identifier: BSD-3-Clause
// Whether a host MPI that takes device memory gets the buffers of a collective as they are, or
// images of them in host memory (staging/host_images.hpp). Only of collectives that move data: the
// last bits of a sum may depend on the way, and must not depend on times. Each rank chooses for
// itself, because all of them call the host MPI either way. Blocking calls of an operation and size
// class go both ways in turn at first, then the faster one (path/measured_choice.hpp). Others go as
// the blocking ones were seen to be faster; until that is known they get images.
#pragma once

#include <cstdint>

#include "coll/regions.hpp"
#include "path/measured_choice.hpp"

namespace telpher::coll {

class handover {
 public:
  /// A call in which a buffer, whose part `p` is, has turned out to be device memory.
  handover(const char* call, const plan& p) noexcept;
  /// The host MPI gets the buffers as they are.
  bool as_they_are() const noexcept { return way_ == path::measured_choice::second; }
  /// Of a blocking call, when its outputs are there.
  void end() noexcept;

  /// How many calls it takes to find out which way the host MPI's collectives should go, and in
  /// any case a few. The same at all ranks.
  static int calls_of_each() noexcept;

 private:
  const char* call_;
  std::uint64_t bytes_ = 0;
  path::measured_choice* choice_ = nullptr;  // of a call that is timed
  path::measured_choice::way way_ = path::measured_choice::first;
  std::uint64_t began_ns_ = 0;
};

}  // namespace telpher::coll
