// SPDX-License-Identifier: BSD-3-Clause
// How far a long run is, on stderr, so that tables stay tables. A run is tests, and a test parts
// (sizes, or pairs of ranks) that are taken to last equally long. Every rank counts, one talks.
#pragma once

#include <cstddef>

namespace telpher::bench {

class progress {
 public:
  /// Says a line at most every so many seconds.
  progress(std::size_t tests, double every, bool talks);
  void begin_test();
  /// Of the test that has begun; 1 if this is not called.
  void expect_parts(std::size_t parts);
  void end_part();

 private:
  std::size_t tests_;
  double every_;
  bool talks_;
  double began_;
  double said_;
  std::size_t test_ = 0;
  std::size_t parts_ = 1;
  std::size_t part_ = 0;
};

}  // namespace telpher::bench
