// SPDX-License-Identifier: BSD-3-Clause
// What must hold for a solver: HPCG's own tests (symmetry, known iteration counts), the answer, and
// the residuals of a serial run.
#pragma once

#include "cg/cg.hpp"

namespace apps::cg {

/// A vector of zeros, and the right side whose answer is 1 in every row.
array<double> zeros(const solver& s);
array<double> right_side(solver& s, const geometry& g);

/// Prints a line a check; how many failed. `o` is the outcome of solving for `b` into `x`;
/// `reference` runs the serial solver for the whole grid on every rank.
int check_all(solver& s, const geometry& g, const array<double>& b, const array<double>& x,
              const outcome& o, int iterations, bool reference);

}  // namespace apps::cg
