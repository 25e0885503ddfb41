// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/topology.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"

namespace telpher::device::emu {
namespace {

struct device_range {
  int first = 0;
  int last = -1;
};

bool read(words& in, device_range& r) {
  std::string text;
  if (!in.take(text)) return false;
  const auto dash = text.find('-');
  if (!words(text.substr(0, dash)).take(r.first)) return false;
  r.last = r.first;
  return dash == std::string::npos || words(text.substr(dash + 1)).take(r.last);
}

bool read_speed(words& in, link& l) {
  l.bandwidth_gbps = 0;
  l.latency_us = 0;
  if (!in.take(l.bandwidth_gbps)) return true;  // omitted: keep the defaults
  in.take(l.latency_us);
  return l.bandwidth_gbps >= 0 && l.latency_us >= 0;
}

bool read(words& in, link& l) {
  std::string kind;
  if (!in.take(kind)) return false;
  if (kind == "fabric")
    l.kind = distance::fabric;
  else if (kind == "pcie")
    l.kind = distance::pcie;
  else if (kind == "none")
    l.kind = distance::unreachable;
  else
    return false;
  return read_speed(in, l);
}

bool read(words& in, bool& value) {
  std::string text;
  if (!in.take(text) || (text != "on" && text != "off")) return false;
  value = text == "on";
  return true;
}

// "wc": the CPU copies as it does through a GPU's write-combined BAR; the memory itself is
// ordinary.
bool read_window(words& in, topology& t) {
  std::string text;
  if (!in.take(text) || (text != "on" && text != "off" && text != "wc")) return false;
  t.cpu_window = text != "off";
  t.window_write_combined = text == "wc";
  return true;
}

bool read_graphs(words& in, topology& t) {
  std::string text;
  if (!in.take(text) || (text != "words" && text != "launches")) return false;
  t.graphs_hold_words = text == "words";
  return true;
}

bool within(const device_range& r, const topology& t) {
  return 0 <= r.first && r.first <= r.last && r.last < t.devices;
}

bool set_links(words& in, topology& t) {
  device_range a, b;
  link l;
  if (!read(in, a) || !read(in, b) || !read(in, l)) return false;
  if (!within(a, t) || !within(b, t)) return false;
  for (int i = a.first; i <= a.last; ++i)
    for (int j = b.first; j <= b.last; ++j) t.links[i][j] = t.links[j][i] = l;
  return true;
}

bool set_numa(words& in, topology& t) {
  device_range a;
  int node = -1;
  if (!read(in, a) || !in.take(node) || !within(a, t)) return false;
  std::fill(t.numa + a.first, t.numa + a.last + 1, node);
  return true;
}

bool set_line(const std::string& key, words& in, topology& t) {
  if (key == "devices") return in.take(t.devices) && 1 <= t.devices && t.devices <= device_limit;
  if (key == "name") return in.take_rest(t.device_name);
  if (key == "processors") return in.take(t.processors) && t.processors > 0;
  if (key == "numa") return set_numa(in, t);
  if (key == "bar") return read_window(in, t);
  if (key == "timing") return read(in, t.timing);
  if (key == "together") return read(in, t.together);
  if (key == "queues") return in.take(t.queues) && t.queues >= 0;
  if (key == "graphs") return read_graphs(in, t);
  if (key == "host") return read_speed(in, t.host);
  if (key == "link") return set_links(in, t);
  if (key != "default") return false;
  link l;
  if (!read(in, l)) return false;
  for (auto& row : t.links) std::fill(std::begin(row), std::end(row), l);
  return true;
}

}  // namespace

topology::topology() {
  std::fill(std::begin(numa), std::end(numa), -1);
}

bool topology::parse(const std::string& text, std::string& problem) {
  std::string_view lines = text, line;
  for (int number = 1; take_part(lines, line); ++number) {
    words in(line.substr(0, line.find('#')));
    std::string key, rest;
    if (!in.take(key)) continue;
    if (set_line(key, in, *this) && !in.take_rest(rest)) continue;
    problem = "line " + std::to_string(number) + ": " + std::string(line);
    return false;
  }
  return true;
}

double topology::copy_time_us(int to, int from, std::size_t bytes) const noexcept {
  if (!timing || (to < 0 && from < 0) || to == from) return 0;
  const link& l = to < 0 || from < 0 ? host : links[to][from];
  return l.latency_us +
         (l.bandwidth_gbps > 0 ? static_cast<double>(bytes) / l.bandwidth_gbps / 1e3 : 0);
}

const topology& topology::instance() noexcept {
  static const topology* one = [] {
    auto* made = new topology;
    const std::string& path = config().emu_topology;
    if (path.empty()) return made;
    std::string text, problem = "cannot be read";
    if (read_file(path, text) && made->parse(text, problem)) return made;
    TELPHER_ERROR("topology %s: %s; using 8 devices, all peers", path.c_str(), problem.c_str());
    *made = topology{};
    return made;
  }();
  return *one;
}

}  // namespace telpher::device::emu
