// SPDX-License-Identifier: BSD-3-Clause
// The `_c` form of every function that has one, on device memory. Few elements do: what these forms
// have of their own is how their arguments come to the code that all forms share.
#pragma once

#include "suite.hpp"

namespace mpi_test::large_counts {

void messages(suite& s);
void packing(suite& s);
void collectives(suite& s);
void reductions(suite& s);
void neighbours(suite& s);
void windows(suite& s);

}  // namespace mpi_test::large_counts
