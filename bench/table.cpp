// SPDX-License-Identifier: BSD-3-Clause
// The table or CSV on stdout and the JSON document, both made from the same rows.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "report.hpp"

namespace telpher::bench {

namespace {

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace

// --- JSON ---

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

namespace {

std::string json_row(const row& r) {
  const figure& f = r.found;
  std::string text;
  const auto field = [&](const char* key, const std::string& value) {
    text += std::string(text.empty() ? "{" : ", ") + '"' + key + "\": " + value;
  };
  field("test", json_text(r.test));
  field("bytes", std::to_string(r.bytes));
  field("kinds", json_text(r.kinds));
  field("mode", json_text(r.mode));
  if (r.from >= 0) field("from", std::to_string(r.from));
  if (r.to >= 0) field("to", std::to_string(r.to));
  field("us", format("%.4f", f.us));
  field("us_min", format("%.4f", f.us_min));
  field("us_fastest_rank", format("%.4f", f.us_fastest_rank));
  field("us_slowest_rank", format("%.4f", f.us_slowest_rank));
  field("iterations", std::to_string(f.iterations));
  field("gbps", format("%.9f", f.gbps));
  if (f.bus_gbps > 0) field("bus_gbps", format("%.9f", f.bus_gbps));
  field("rate", format("%.1f", f.rate));
  if (f.overlap >= 0) {
    field("overlap", format("%.1f", f.overlap));
    field("us_overlapped", format("%.4f", f.us_overlapped));
    field("us_compute", format("%.4f", f.us_compute));
  }
  for (const auto& [percent, us] : f.percentiles)
    field(("us_p" + format("%g", percent)).c_str(), format("%.4f", us));
  field("path", json_text(f.path));
  field("validated", !f.checked ? "null" : f.right ? "true" : "false");
  if (r.limit > 0) field("limit_us", format("%.4f", r.limit * 1e6));
  return text + '}';
}

}  // namespace

void write_json(const std::string& file, const facts& about, const std::vector<row>& rows) {
  std::string text = "{\"about\": {";
  for (const auto& [key, value] : about)
    text += (&key == &about.front().first ? "\n  " : ",\n  ") + json_text(key) + ": " + value;
  text += "},\n\"rows\": [";
  for (const row& r : rows) text += (&r == &rows.front() ? "\n  " : ",\n  ") + json_row(r);
  text += "]}\n";
  std::FILE* out = file == "-" ? stdout : std::fopen(file.c_str(), "w");
  if (!out) fail("cannot write %s: %s", file.c_str(), std::strerror(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if ((out == stdout ? std::fflush(out) : std::fclose(out)) != 0 || !written)
    fail("cannot write %s: %s", file.c_str(), std::strerror(errno));
}

// --- table and CSV ---

namespace {

struct cell {
  int width;
  std::string text;
};

void print(bool csv, const std::vector<cell>& cells) {
  for (const cell& c : cells) {
    const bool first = &c == &cells.front();
    if (csv)
      std::printf("%s%s", first ? "" : ",", c.text.c_str());
    else
      std::printf(first ? "%-*s" : " %*s", c.width, c.text.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

// The figure in the test's unit: microseconds or megabytes per second.
double value(const columns& c, const figure& f) {
  return c.time ? f.us : f.gbps * 1e3;
}
double best(const columns& c, const figure& f) {
  return c.time ? f.us_min : f.gbps * 1e3 * f.us / f.us_min;
}

// Label of the ratio that says how many times better the first mode is than another.
std::string ratio_name(const columns& c, mode other) {
  if (c.modes.size() == 2) return "ratio";
  return std::string(c.csv ? "ratio_" : "/ ") + name(other);
}

std::string caption(const columns& c) {
  std::string text =
      "# " + c.test + ", buffers " + c.kinds + ", median of batches in " + (c.time ? "us" : "MB/s");
  if (c.bus) text += ", bandwidth in GB/s";
  if (c.modes.size() == 2 && c.modes[1] == mode::staged)
    text += "; ratio: how much better than staged by hand";
  else if (c.modes.size() > 1)
    text += "; ratios: how much better " + std::string(name(c.modes[0])) + " is";
  return text;
}

}  // namespace

columns columns_of(test t, const std::string& kinds, const std::vector<mode>& modes) {
  columns c;
  c.test = name(t);
  c.kinds = kinds;
  c.modes = modes;
  c.time = one_at_a_time(t);
  c.rate = t == test::mbw_mr;
  return c;
}

void print_head(const columns& c) {
  if (!c.csv) std::printf("%s\n", caption(c).c_str());
  std::vector<cell> cells = {{10, c.csv ? "bytes" : "# bytes"}};
  for (mode m : c.modes) {
    cells.push_back({12, name(m)});
    cells.push_back({12, std::string(name(m)) + (c.csv ? "_best" : " best")});
  }
  for (std::size_t i = 1; i < c.modes.size(); ++i) cells.push_back({9, ratio_name(c, c.modes[i])});
  if (c.rate) cells.push_back({14, c.csv ? "messages_per_s" : "messages/s"});
  if (c.bus) cells.push_back({9, c.csv ? "algbw" : "alg GB/s"});
  if (c.bus) cells.push_back({9, c.csv ? "busbw" : "bus GB/s"});
  if (c.overlap) cells.push_back({9, c.csv ? "overlap" : "overlap %"});
  if (c.full) {
    cells.push_back({12, c.csv ? "fastest_rank" : "min rank us"});
    cells.push_back({12, c.csv ? "slowest_rank" : "max rank us"});
    cells.push_back({10, "iterations"});
  }
  for (const double p : c.percentiles)
    cells.push_back({11, format("p%g", p) + (c.csv ? "" : " us")});
  if (c.limit) cells.push_back({12, c.csv ? "copy_limit" : "copy limit"});
  cells.push_back({12, "path"});
  cells.push_back({6, "valid"});
  print(c.csv, cells);
}

void print_rows(const columns& c, const std::vector<row>& rows) {
  const row& first = rows.front();
  const figure& f = first.found;
  std::vector<cell> cells = {{10, std::to_string(first.bytes)}};
  bool right = true, checked = false;
  for (const row& r : rows) {
    cells.push_back({12, format("%.2f", value(c, r.found))});
    cells.push_back({12, format("%.2f", best(c, r.found))});
    right = right && r.found.right;
    checked = checked || r.found.checked;
  }
  for (std::size_t i = 1; i < rows.size(); ++i)
    cells.push_back({9, format("%.2f", rows[i].found.us / f.us)});
  if (c.rate) cells.push_back({14, format("%.0f", f.rate)});
  if (c.bus) cells.push_back({9, format("%.3f", f.gbps)});
  if (c.bus) cells.push_back({9, format("%.3f", f.bus_gbps)});
  if (c.overlap) cells.push_back({9, format("%.1f", f.overlap)});
  if (c.full) {
    cells.push_back({12, format("%.2f", f.us_fastest_rank)});
    cells.push_back({12, format("%.2f", f.us_slowest_rank)});
    cells.push_back({10, std::to_string(f.iterations)});
  }
  for (const auto& percentile : f.percentiles)
    cells.push_back({11, format("%.2f", percentile.second)});
  if (c.limit) {
    const double shown =
        c.time ? first.limit * 1e6 : static_cast<double>(first.bytes) / first.limit / 1e6;
    cells.push_back({12, first.limit > 0 ? format("%.2f", shown) : "-"});
  }
  cells.push_back({12, f.path});
  cells.push_back({6, !checked ? "-" : right ? "right" : "WRONG"});
  print(c.csv, cells);
}

}  // namespace telpher::bench
