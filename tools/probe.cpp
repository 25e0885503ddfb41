// SPDX-License-Identifier: BSD-3-Clause
// telpher-probe: asks every back end what it sees and prints one JSON object for `telpher info`:
// back ends with their devices, what each pair of devices can do, why back ends are missing, the
// settings in force, and the machine's signature for tuned tables. It opens plug-ins as the library
// does, from ../lib beside its own folder, but knows no MPI.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "base/settings.hpp"
#include "device/registry.hpp"
#include "device/signature.hpp"

namespace {

namespace device = telpher::device;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string hex(const device::device_uuid& uuid) {
  std::string out;
  for (const auto byte : uuid.bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    out += two;
  }
  return out;
}

std::string bus(const device::device_properties& p) {
  if (p.pci_bus < 0) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", static_cast<unsigned>(p.pci_domain),
                static_cast<unsigned>(p.pci_bus), static_cast<unsigned>(p.pci_device));
  return text;
}

std::string device_json(device::backend& b, int number) {
  device::device_properties p{};
  if (failed(b.properties(number, p))) return "{\"error\": \"the back end gives no properties\"}";
  return "{\"name\": " + quoted(p.name) + ", \"uuid\": " + quoted(hex(p.uuid)) +
         ", \"bus\": " + quoted(bus(p)) + ", \"memory\": " + std::to_string(p.memory_bytes) +
         ", \"processors\": " + std::to_string(p.processors) +
         ", \"numa_node\": " + std::to_string(p.numa_node) + "}";
}

std::string pairs_json(device::backend& b, int count) {
  std::string out;
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to) {
      if (from == to) continue;
      out += std::string(out.empty() ? "" : ", ") + "{\"from\": " + std::to_string(from) +
             ", \"to\": " + std::to_string(to) +
             ", \"peer\": " + (b.peer_access(from, to) ? "true" : "false") + ", \"distance\": \"" +
             to_string(b.distance_between(from, to)) + "\"}";
    }
  return "[" + out + "]";
}

std::string backend_json(device::backend& b) {
  const int count = b.device_count();
  std::string devices;
  for (int i = 0; i < count; ++i) devices += (i ? ", " : "") + device_json(b, i);
  return "{\"name\": " + quoted(b.name()) + ", \"devices\": [" + devices +
         "], \"pairs\": " + pairs_json(b, count) + "}";
}

constexpr const char* audiences[] = {"users", "experts", "measured", "tests"};

std::string setting_json(const telpher::setting_row& row) {
  return "{\"name\": " + quoted(row.name) + ", \"value\": " + quoted(row.value) +
         ", \"origin\": " + (row.from_environment ? "\"environment\"" : "\"default\"") +
         ", \"default\": " + quoted(row.default_text) + ", \"type\": " + quoted(row.type) +
         ", \"allowed\": " + quoted(row.allowed) + ", \"folder\": " + quoted(row.folder) +
         ", \"help\": " + quoted(row.help) +
         ", \"for\": " + quoted(audiences[static_cast<std::size_t>(row.who)]) + "}";
}

template <class Range, class Show>
std::string list_json(const Range& range, Show show) {
  std::string out;
  for (const auto& one : range) out += (out.empty() ? "" : ",\n  ") + show(one);
  return "[" + out + "]";
}

// The registry looks for plug-ins beside the library that it is part of; here that is this program.
void point_to_plugins() {
  char path[PATH_MAX];
  const auto length = ::readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return;
  std::string folder(path, static_cast<std::size_t>(length));
  for (int i = 0; i < 2; ++i) folder.resize(folder.rfind('/'));
  ::setenv("TELPHER_PLUGIN_PATH", (folder + "/lib").c_str(), 0);
}

}  // namespace

int main() {
  // Before the plug-in path is put in: the rows tell what the user set.
  const auto rows = telpher::setting_rows();
  point_to_plugins();
  device::discover();
  const auto show_problem = [](const telpher::setting_problem& p) { return quoted(p.text); };
  const auto show_backend = [](device::backend* b) { return backend_json(*b); };
  std::printf(
      "{\"backends\": %s,\n \"absent\": %s,\n \"settings\": %s,\n \"problems\": %s,\n \"machine\": "
      "%s}\n",
      list_json(device::backends(), show_backend).c_str(),
      list_json(device::absent_reasons(), quoted).c_str(), list_json(rows, setting_json).c_str(),
      list_json(telpher::setting_problems(), show_problem).c_str(),
      list_json(device::signature(), quoted).c_str());
  return 0;
}
