// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/topology.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/log.hpp"
#include "base/settings.hpp"

namespace telpher::device::emu {
namespace {

struct device_range {
  int first = 0;
  int last = -1;
};

bool read(std::istream& words, device_range& r) {
  std::string text;
  if (!(words >> text)) return false;
  const auto dash = text.find('-');
  std::istringstream first(text.substr(0, dash));
  if (!(first >> r.first) || !first.eof()) return false;
  r.last = r.first;
  if (dash == std::string::npos) return true;
  std::istringstream last(text.substr(dash + 1));
  return last >> r.last && last.eof();
}

bool read_speed(std::istream& words, link& l) {
  l.bandwidth_gbps = 0;
  l.latency_us = 0;
  if (!(words >> l.bandwidth_gbps)) {
    words.clear();
    return true;  // omitted: keep the defaults
  }
  if (!(words >> l.latency_us)) words.clear();
  return l.bandwidth_gbps >= 0 && l.latency_us >= 0;
}

bool read(std::istream& words, link& l) {
  std::string kind;
  if (!(words >> kind)) return false;
  if (kind == "fabric")
    l.kind = distance::fabric;
  else if (kind == "pcie")
    l.kind = distance::pcie;
  else if (kind == "none")
    l.kind = distance::unreachable;
  else
    return false;
  return read_speed(words, l);
}

bool read(std::istream& words, bool& value) {
  std::string text;
  if (!(words >> text) || (text != "on" && text != "off")) return false;
  value = text == "on";
  return true;
}

// "wc": the CPU copies as it does through a GPU's write-combined BAR; the memory itself is
// ordinary.
bool read_window(std::istream& words, topology& t) {
  std::string text;
  if (!(words >> text) || (text != "on" && text != "off" && text != "wc")) return false;
  t.cpu_window = text != "off";
  t.window_write_combined = text == "wc";
  return true;
}

bool within(const device_range& r, const topology& t) {
  return 0 <= r.first && r.first <= r.last && r.last < t.devices;
}

bool set_links(std::istream& words, topology& t) {
  device_range a, b;
  link l;
  if (!read(words, a) || !read(words, b) || !read(words, l)) return false;
  if (!within(a, t) || !within(b, t)) return false;
  for (int i = a.first; i <= a.last; ++i)
    for (int j = b.first; j <= b.last; ++j) t.links[i][j] = t.links[j][i] = l;
  return true;
}

bool set_numa(std::istream& words, topology& t) {
  device_range a;
  int node = -1;
  if (!read(words, a) || !(words >> node) || !within(a, t)) return false;
  std::fill(t.numa + a.first, t.numa + a.last + 1, node);
  return true;
}

bool set_line(const std::string& key, std::istream& words, topology& t) {
  if (key == "devices") return words >> t.devices && 1 <= t.devices && t.devices <= device_limit;
  if (key == "name") return static_cast<bool>(std::getline(words >> std::ws, t.device_name));
  if (key == "processors") return words >> t.processors && t.processors > 0;
  if (key == "numa") return set_numa(words, t);
  if (key == "bar") return read_window(words, t);
  if (key == "timing") return read(words, t.timing);
  if (key == "together") return read(words, t.together);
  if (key == "queues") return words >> t.queues && t.queues >= 0;
  if (key == "host") return read_speed(words, t.host);
  if (key == "link") return set_links(words, t);
  if (key != "default") return false;
  link l;
  if (!read(words, l)) return false;
  for (auto& row : t.links) std::fill(std::begin(row), std::end(row), l);
  return true;
}

}  // namespace

topology::topology() {
  std::fill(std::begin(numa), std::end(numa), -1);
}

bool topology::parse(const std::string& text, std::string& problem) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string key;
    if (!(words >> key)) continue;
    std::string rest;
    if (set_line(key, words, *this) && !(words >> rest)) continue;
    problem = "line " + std::to_string(number) + ": " + line;
    return false;
  }
  return true;
}

const topology& topology::instance() noexcept {
  static const topology* one = [] {
    auto* made = new topology;
    const std::string& path = config().emu_topology;
    if (path.empty()) return made;
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::string problem = "cannot be read";
    if (file && made->parse(text.str(), problem)) return made;
    TELPHER_ERROR("topology %s: %s; using 8 devices, all peers", path.c_str(), problem.c_str());
    *made = topology{};
    return made;
  }();
  return *one;
}

}  // namespace telpher::device::emu
