// SPDX-License-Identifier: BSD-3-Clause
#include "cg/checks.hpp"

#include <cfloat>
#include <cmath>
#include <cstdio>

namespace apps::cg {
namespace {

constexpr double tolerance = 1e-9;  // of the counts that are compared

array<double> device_vector(const solver& s, const std::vector<double>& host) {
  array<double> made(s.length(), TELPHER_MEMORY_DEVICE);
  check(telpher_memset(made.data(), 0, s.length() * sizeof(double)), "telpher_memset");
  made.fill_from(host.data(), host.size());
  return made;
}

template <class F>
std::vector<double> each_row(const geometry& g, F value) {
  std::vector<double> all(static_cast<std::size_t>(g.rows()));
  for (int z = 0; z < g.n[2]; ++z)
    for (int y = 0; y < g.n[1]; ++y)
      for (int x = 0; x < g.n[0]; ++x)
        all[static_cast<std::size_t>(g.number(x, y, z))] = value(g.global(x, y, z));
  return all;
}

double scattered(std::int64_t row, std::uint64_t seed) {
  std::uint64_t h = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u + seed;
  h ^= h >> 31;
  h *= 0xbf58476d1ce4e5b9u;
  h ^= h >> 29;
  return static_cast<double>(h >> 11) / 9007199254740992.0;
}

bool say(bool good, const char* format, double first, double second) {
  if (world_rank() == 0) {
    std::printf("%s  ", good ? "right" : "WRONG");
    std::printf(format, first, second);
    std::printf("\n");
  }
  return good;
}

/// x'Ay = y'Ax and the same for the preconditioner, as near as rounding lets them be.
int check_symmetry(solver& s, const geometry& g) {
  auto x = device_vector(s, each_row(g, [](auto row) { return scattered(row, 1); }));
  auto y = device_vector(s, each_row(g, [](auto row) { return scattered(row, 2); }));
  auto ax = device_vector(s, {}), ay = device_vector(s, {});
  const double scale = 2.0 * 52.0 * std::sqrt(s.dot(x, x)) * std::sqrt(s.dot(y, y)) * DBL_EPSILON;
  s.apply(x, ax);
  s.apply(y, ay);
  const double matrix = std::fabs(s.dot(x, ay) - s.dot(y, ax)) / scale;
  s.precondition(x, ax);
  s.precondition(y, ay);
  const double multigrid = std::fabs(s.dot(x, ay) - s.dot(y, ax)) / scale;
  return !say(matrix <= 1 && multigrid <= 1,
              "symmetry: departures %.3g (matrix) and %.3g (multigrid), at most 1", matrix,
              multigrid);
}

/// With a diagonal of millions, and different in nine rows only, an unpreconditioned solver needs
/// 12 iterations at most and a preconditioned one 2.
int check_known_counts(solver& s, const geometry& g, const array<double>& b) {
  const auto factors = each_row(
      g, [](std::int64_t row) { return row < 9 ? static_cast<double>(row + 2) * 1e6 : 1e6; });
  std::vector<double> scaled = b.to_host();
  for (std::size_t i = 0; i < factors.size(); ++i) scaled[i] *= factors[i];
  const auto right = device_vector(s, scaled);
  s.scale_diagonal(&factors);
  int counts[2];
  for (const bool precondition : {false, true}) {
    auto x = device_vector(s, {});
    counts[precondition] = s.solve(right, x, {50, 1e-12, precondition}).iterations;
  }
  s.scale_diagonal(nullptr);
  return !say(counts[0] <= 12 && counts[1] <= 2,
              "known counts: %.0f iterations alone, at most 12; %.0f preconditioned, at most 2",
              counts[0], counts[1]);
}

int iterations_to(const outcome& o, double wanted) {
  for (std::size_t i = 0; i < o.residuals.size(); ++i)
    if (o.residuals[i] <= wanted) return static_cast<int>(i);
  return -1;
}

/// Residual by residual against a serial run in the same order of rows, and what the order costs.
int check_convergence(solver& s, const geometry& g, const outcome& mine, int iterations) {
  const limits l{iterations, 0, true};
  const outcome same = serial_solve(g, s.levels(), ordering::by_colour, l);
  const outcome natural = serial_solve(g, s.levels(), ordering::natural, l);
  double apart = 0;
  for (std::size_t i = 0; i < same.residuals.size(); ++i) {
    const double difference = std::fabs(same.residuals[i] - mine.residuals[i]);
    apart = std::max(apart, difference / (same.residuals[i] + 1e-7));
  }
  const int here = iterations_to(mine, tolerance), there = iterations_to(same, tolerance);
  const bool good =
      say(apart < 1e-6 && here == there && mine.iterations == same.iterations,
          "residuals: %.3g from those of a serial run in the same order (relative)%.0s", apart, 0);
  if (world_rank() == 0)
    std::printf(
        "iterations to a residual of %g: %d here, %d serial by colours, %d serial in natural "
        "order\n",
        tolerance, here, there, iterations_to(natural, tolerance));
  return !good;
}

/// The answer is 1 in every row.
int check_answer(const geometry& g, const array<double>& x, const outcome& o) {
  double worst = 0;
  const auto host = x.to_host();
  for (std::size_t i = 0; i < static_cast<std::size_t>(g.rows()); ++i)
    worst = std::max(worst, std::fabs(host[i] - 1.0));
  worst = largest(worst);
  return !say(worst <= 1e3 * o.residuals.back() + 1e-9,
              "answer: at most %.3g from 1, residual %.3g", worst, o.residuals.back());
}

}  // namespace

array<double> right_side(solver& s, const geometry& g) {
  const std::vector<double> ones(static_cast<std::size_t>(g.rows()), 1.0);
  auto x = device_vector(s, ones), b = device_vector(s, {});
  s.apply(x, b);
  return b;
}

array<double> zeros(const solver& s) {
  return device_vector(s, {});
}

int check_all(solver& s, const geometry& g, const array<double>& b, const array<double>& x,
              const outcome& o, int iterations, bool reference) {
  int failed = check_symmetry(s, g) + check_known_counts(s, g, b) + check_answer(g, x, o);
  if (reference) failed += check_convergence(s, g, o, iterations);
  return failed;
}

}  // namespace apps::cg
