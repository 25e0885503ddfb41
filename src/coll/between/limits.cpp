// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/limits.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "base/settings.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/exchange/selection.hpp"
#include "coll/operation_list.hpp"

namespace telpher::coll::between {
namespace {

constexpr std::uint64_t never = limits::never;

struct row {
  operation what;
  limits by_default;
  const char* measured;  // the file that has it
};
constexpr row rows[] = {
#define TELPHER_BETWEEN(operation_, tried_from, least_bytes, later_from, measured) \
  {operation::operation_, {tried_from, least_bytes, later_from}, measured},
#include "coll/between/ways.def"
#undef TELPHER_BETWEEN
};
static_assert(std::all_of(std::begin(rows), std::end(rows),
                          [](const row& r) {
                            return r.by_default.later_from == never || *r.measured;
                          }),
              "a size that was not measured");

/// "never", or a size.
bool read(std::string_view text, std::uint64_t& least) {
  if (text == "never") return least = never, true;
  std::size_t size = 0;
  if (!is_size(std::string(text), size)) return false;
  return least = std::max<std::size_t>(size, 1), true;
}

bool is_asked_for(operation what) {
  const auto forced = exchange::forced_algorithm(what);
  const algorithm* a = find_algorithm(what, forced);
  return forced == "two_level" || (a && (a->restrictions & restriction::between_nodes) != 0);
}

/// A setting that names an algorithm of one node changes nothing between nodes.
limits found_for(const row& r) {
  if (exchange::is_to_be_staged(r.what)) return {};
  if (is_asked_for(r.what)) return {.least_bytes = 1, .later_from = 1};
  std::uint64_t told = never;
  if (read(listed(config().coll_between, r.what), told))
    return {.least_bytes = told, .later_from = told};
  return r.by_default;
}

std::array<limits, operation_count> all{};

}  // namespace

void take_limits() noexcept {
  for (const row& r : rows) all[static_cast<std::size_t>(r.what)] = found_for(r);
}

const limits& limits_of(operation what) noexcept {
  return all[static_cast<std::size_t>(what)];
}

std::string_view wrong_limit(std::string_view list) {
  return first_wrong(list, [](operation what, std::string_view text) {
    std::uint64_t least = never;
    return read(text, least) && std::any_of(std::begin(rows), std::end(rows),
                                            [&](const row& r) { return r.what == what; });
  });
}

}  // namespace telpher::coll::between
