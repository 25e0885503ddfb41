// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "cuda_memory.hpp"

extern char** environ;

namespace telpher::bench {

namespace {

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

// --- circumstances ---

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string machine_name() {
  utsname names{};
  ::uname(&names);
  return std::string(names.sysname) + ' ' + names.release + ' ' + names.machine;
}

std::string telpher_settings() {
  std::string out;
  std::vector<std::string> found;
  for (char** entry = environ; *entry; ++entry)
    if (std::strncmp(*entry, "TELPHER_", 8) == 0) found.emplace_back(*entry);
  std::sort(found.begin(), found.end());
  for (const auto& entry : found) {
    const auto equals = entry.find('=');
    out += (out.empty() ? "" : ", ") + json_text(entry.substr(0, equals)) + ": " +
           json_text(entry.substr(equals + 1));
  }
  return '{' + out + '}';
}

}  // namespace

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  // MPICH's goes on for many lines about its build, with tabs; the first one names it.
  std::string first(text, std::min(std::strlen(text), std::strcspn(text, "\n")));
  std::replace(first.begin(), first.end(), '\t', ' ');
  // "MPICH Version:      5.0.2": the gap and the word say nothing.
  if (const auto word = first.find(" Version:"); word != std::string::npos)
    first.erase(word, first.find_first_not_of(' ', word + 9) - word - 1);
  return first;
}

facts collect_facts(MPI_Comm comm, memory_source& source) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int device = source.device();
  std::vector<int> devices(static_cast<std::size_t>(size));
  MPI_Gather(&device, 1, MPI_INT, devices.data(), 1, MPI_INT, 0, comm);
  if (rank != 0) return {};
  std::string list;
  for (int d : devices) list += (list.empty() ? "" : ", ") + std::to_string(d);
  const std::string backend = source.backend();
  const std::string device_name = backend == "cuda" ? cuda_device_name(device) : backend;
  return {{"machine", json_text(machine_name())},
          {"cpu", json_text(cpu_name())},
          {"cores", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))},
          {"ranks", std::to_string(size)},
          {"backend", json_text(backend)},
          {"device_name", json_text(device_name)},
          {"devices", '[' + list + ']'},
          {"staged_copy", json_text(source.copy_call())},
          {"telpher", json_text(telpher_version_text())},
          {"mpi", json_text(mpi_version())},
          {"settings", telpher_settings()}};
}

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

void write_json(const std::string& file, const facts& about, const std::vector<row>& rows) {
  std::string text = "{\"about\": {";
  for (const auto& [key, value] : about)
    text += (&key == &about.front().first ? "\n  " : ",\n  ") + json_text(key) + ": " + value;
  text += "},\n\"rows\": [";
  for (const row& r : rows) {
    const figure& f = r.found;
    text += &r == &rows.front() ? "\n  " : ",\n  ";
    text += "{\"test\": " + json_text(r.test) + ", \"bytes\": " + std::to_string(r.bytes) +
            ", \"kinds\": " + json_text(r.kinds) + ", \"mode\": " + json_text(r.mode) +
            ", \"us\": " + format("%.4f", f.us) + ", \"us_min\": " + format("%.4f", f.us_min) +
            ", \"gbps\": " + format("%.6f", f.gbps) + ", \"rate\": " + format("%.1f", f.rate) +
            ", \"path\": " + json_text(f.path) + ", \"validated\": " +
            (!f.checked ? "null"
             : f.right  ? "true"
                        : "false");
    if (r.limit > 0) text += ", \"limit_us\": " + format("%.4f", r.limit * 1e6);
    text += '}';
  }
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

// The figure in the unit of the test: microseconds for latency, megabytes a second for the others.
double value(test t, const figure& f) {
  return t == test::latency ? f.us : f.gbps * 1e3;
}
double best(test t, const figure& f) {
  return t == test::latency ? f.us_min : f.gbps * 1e3 * f.us / f.us_min;
}

}  // namespace

void print_head(test t, bool csv, const std::vector<mode>& modes, bool limit,
                const std::string& kinds) {
  const bool both = modes.size() == 2;
  const char* unit = t == test::latency ? "us" : "MB/s";
  if (!csv) {
    std::printf("# %s, buffers %s, median of batches in %s", name(t), kinds.c_str(), unit);
    if (both) std::printf("; ratio: how much better than staged by hand");
    std::printf("\n");
  }
  std::vector<cell> cells = {{10, csv ? "bytes" : "# bytes"}};
  for (mode m : modes) {
    cells.push_back({12, name(m)});
    cells.push_back({12, std::string(name(m)) + (csv ? "_best" : " best")});
  }
  if (both) cells.push_back({8, "ratio"});
  if (t == test::mbw_mr) cells.push_back({14, csv ? "messages_per_s" : "messages/s"});
  if (limit) cells.push_back({12, csv ? "copy_limit" : "copy limit"});
  cells.push_back({12, "path"});
  cells.push_back({6, "valid"});
  print(csv, cells);
}

void print_rows(test t, bool csv, const std::vector<row>& rows, bool limit) {
  std::vector<cell> cells = {{10, std::to_string(rows.front().bytes)}};
  bool right = true, checked = false;
  for (const row& r : rows) {
    cells.push_back({12, format("%.2f", value(t, r.found))});
    cells.push_back({12, format("%.2f", best(t, r.found))});
    right = right && r.found.right;
    checked = checked || r.found.checked;
  }
  if (rows.size() == 2) cells.push_back({8, format("%.2f", rows[1].found.us / rows[0].found.us)});
  if (t == test::mbw_mr) cells.push_back({14, format("%.0f", rows[0].found.rate)});
  if (limit) {
    const double seconds = rows[0].limit;
    const double shown =
        t == test::latency ? seconds * 1e6 : static_cast<double>(rows[0].bytes) / seconds / 1e6;
    cells.push_back({12, seconds > 0 ? format("%.2f", shown) : "-"});
  }
  cells.push_back({12, rows[0].found.path});
  cells.push_back({6, !checked ? "-" : right ? "right" : "WRONG"});
  print(csv, cells);
}

}  // namespace telpher::bench
