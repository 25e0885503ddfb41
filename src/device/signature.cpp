// SPDX-License-Identifier: BSD-3-Clause
#include "device/signature.hpp"

#include <map>
#include <set>

#include "device/registry.hpp"
#include "telpher/telpher.h"

namespace telpher::device {
namespace {

// The kinds of links between different devices, such as "fabric pcie"; whether they reach each
// other's memory is part of the kind.
std::string links_of(backend& b, int count) {
  std::set<std::string> kinds;
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to)
      if (from != to)
        kinds.insert(std::string(to_string(b.distance_between(from, to))) +
                     (b.peer_access(from, to) ? "" : " without peer access"));
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : ", ") + kind;
  return text.empty() ? "none" : text;
}

}  // namespace

const char* to_string(distance d) noexcept {
  switch (d) {
    case distance::same:
      return "same";
    case distance::fabric:
      return "fabric";
    case distance::pcie:
      return "pcie";
    case distance::unreachable:
      break;
  }
  return "unreachable";
}

std::vector<std::string> signature() {
  std::vector<std::string> lines = {"telpher " + std::to_string(TELPHER_VERSION_MAJOR) + '.' +
                                    std::to_string(TELPHER_VERSION_MINOR) + '.' +
                                    std::to_string(TELPHER_VERSION_PATCH)};
  for (backend* b : backends()) {
    std::map<std::string, int> names;
    device_properties p{};
    // Asking starts the driver. Until then the number of devices is what /dev suggests.
    if (b->device_count() == 0 || b->properties(0, p) != status::ok) continue;
    const int count = b->device_count();
    for (int d = 0; d < count; ++d)
      names[b->properties(d, p) == status::ok ? p.name : "unknown"] += 1;
    for (const auto& [name, many] : names)
      lines.push_back(std::string(b->name()) + ' ' + std::to_string(many) + " x " + name);
    lines.push_back(std::string(b->name()) + " links " + links_of(*b, count));
  }
  return lines;
}

}  // namespace telpher::device
