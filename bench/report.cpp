// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <cstdio>
#include <memory>

#include "cuda_memory.hpp"

extern char** environ;

namespace telpher::bench {

namespace {

// --- circumstances ---

std::string cpu_name() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/cpuinfo", "r"),
                                                             std::fclose);
  char line[512];
  while (file && std::fgets(line, sizeof line, file.get()))
    if (const std::string text(line, std::strcspn(line, "\n")); text.starts_with("model name"))
      return text.substr(text.find(':') + 2);
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
  // MPICH's text has many lines about its build, with tabs; the first line names the version.
  std::string first(text, std::min(std::strlen(text), std::strcspn(text, "\n")));
  std::replace(first.begin(), first.end(), '\t', ' ');
  // "MPICH Version:      5.0.2": drop the word and the gap.
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

}  // namespace telpher::bench
