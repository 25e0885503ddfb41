// SPDX-License-Identifier: BSD-3-Clause
#include "figure.hpp"

namespace telpher::bench {

figure common_figure(const timing& t, const plan& p, double parts) {
  const auto us = [&](double seconds) { return seconds / parts * 1e6; };
  figure f;
  f.us = us(t.median);
  f.us_min = us(t.best);
  f.us_fastest_rank = us(t.fastest_rank);
  f.us_slowest_rank = us(t.slowest_rank);
  f.iterations = t.iterations;
  for (std::size_t i = 0; i < t.percentiles.size(); ++i)
    f.percentiles.emplace_back(p.percentiles[i], us(t.percentiles[i]));
  f.path = t.path;
  f.checked = t.checked;
  f.right = t.right;
  return f;
}

}  // namespace telpher::bench
