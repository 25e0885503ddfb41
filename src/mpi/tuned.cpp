// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/tuned.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "base/library.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/tuning.hpp"
#include "coll/exchange/selection.hpp"
#include "device/registry.hpp"
#include "device/signature.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::tuned {
namespace {

// Of "Open MPI v5.0.11, package: ..." and "MPICH Version:      5.0.2\n..." what names the release.
std::string mpi_release() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  pmpi::Get_library_version(text, &length);
  const std::string_view all(text, static_cast<std::size_t>(length));
  words first(all.substr(0, all.find_first_of(",\n")));
  std::string release, word;
  while (first.take(word)) release += (release.empty() ? "" : " ") + word;
  return release;
}

bool is_folder(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

/// The user's own tables, then those of the installation.
std::vector<std::string> folders() {
  std::vector<std::string> all;
  const char* configuration = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (configuration && *configuration)
    all.push_back(std::string(configuration) + "/telpher/tables");
  else if (home && *home)
    all.push_back(std::string(home) + "/.config/telpher/tables");
  static const char here = 0;
  const std::string own = folder_of(&here);
  for (const char* up : {"/..", "/../.."}) all.push_back(own + up + "/share/telpher/tables");
  std::erase_if(all, [](const std::string& one) { return !is_folder(one); });
  return all;
}

/// The first fact that differs.
std::string difference(const std::vector<std::string>& table, const std::vector<std::string>& own) {
  for (std::size_t i = 0; i < table.size() || i < own.size(); ++i) {
    const std::string there = i < table.size() ? table[i] : "nothing";
    const std::string here = i < own.size() ? own[i] : "nothing";
    if (there != here)
      return "it is of another machine: '" + there + "' there, '" + here + "' here";
  }
  return "";
}

/// Why a table cannot be used, or "".
std::string take(const std::string& file, const std::vector<std::string>& own) {
  std::string text, why;
  if (!read_file(file, text)) return "it cannot be read, or is too long for a table";
  tuning::table t;
  if (!tuning::parse(text, t, why)) return why;
  if (why = difference(t.machine, own); !why.empty()) return why;
  if (!coll::exchange::take_tuned(t.choices, why)) return why;
  t.file = file;
  tuning::put_in_force(std::move(t));
  return "";
}

void look_for_one() {
  const auto& wanted = config().table;
  if (wanted == "off" || wanted.text().empty()) return;
  std::vector<std::string> places;
  if (wanted == "auto" && (places = folders()).empty()) return;  // devices are not asked
  device::discover();
  const auto own = machine();
  if (own.size() <= 2) return;  // no device
  std::string file = wanted.text();
  if (wanted == "auto") {
    file.clear();
    for (const std::string& folder : places)
      if (const std::string one = folder + '/' + tuning::file_of(own);
          file.empty() && ::access(one.c_str(), R_OK) == 0)
        file = one;
    if (file.empty()) return;
  }
  const std::string why = take(file, own);
  if (!why.empty())
    TELPHER_ERROR(
        "TELPHER_TABLE: the table %s is not used: %s; make one with telpher tune, or set "
        "TELPHER_TABLE=off",
        file.c_str(), why.c_str());
}

}  // namespace

std::vector<std::string> machine() {
  auto lines = device::signature();
  lines.push_back("mpi " + mpi_release());
  return lines;
}

void load() noexcept {
  tuning::drop();  // of a session before this one
  if (!config().enable) return;
  try {
    look_for_one();
  } catch (const std::bad_alloc&) {
    TELPHER_WARN("no memory for a tuned table: the built-in choices are used");
  }
}

}  // namespace telpher::tuned
