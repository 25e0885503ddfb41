// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <mpi.h>

#include <cstdio>

namespace telpher::bench {

progress::progress(std::size_t tests, double every, bool talks)
    : tests_(tests), every_(every), talks_(talks), began_(MPI_Wtime()), said_(began_) {}

void progress::begin_test() {
  ++test_;
  parts_ = 1;
  part_ = 0;
}

void progress::expect_parts(std::size_t parts) {
  parts_ = parts;
}

void progress::end_part() {
  ++part_;
  const double now = MPI_Wtime();
  const bool last = test_ == tests_ && part_ == parts_;
  if (!talks_ || last || now - said_ < every_) return;
  said_ = now;
  const double tests_done =
      static_cast<double>(test_ - 1) + static_cast<double>(part_) / static_cast<double>(parts_);
  const double left = (now - began_) * (static_cast<double>(tests_) / tests_done - 1);
  std::fprintf(stderr,
               "telpher-bench: test %zu of %zu, part %zu of %zu after %.0f s, about %.0f s left\n",
               test_, tests_, part_, parts_, now - began_, left);
}

}  // namespace telpher::bench
