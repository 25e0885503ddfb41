// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/spawn.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "host_mpi/info_value.hpp"
#include "ticket/blocking_call.hpp"

extern char** environ;

namespace telpher::mpi {
namespace {

constexpr const char* env_program = "/usr/bin/env";

// --- what new processes get ---

// Files that are named by ranks would be written by two jobs.
constexpr const char* files_of_this_job[] = {"TELPHER_TRACE", "TELPHER_LOG_FILE"};

bool is_for_children(std::string_view entry) noexcept {
  if (entry.find('\n') != entry.npos) return false;  // launchers send arguments as lines
  for (const std::string_view name : files_of_this_job)
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return false;
  return entry.starts_with("TELPHER_") || entry.starts_with("MPI4PY_LIBMPI=");
}

/// What children are to preload: the same, or what telpher.preload() of a Python program names,
/// which came too late for this process itself.
const char* preload_of_children() noexcept {
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload && std::strstr(preload, "libtelpher-")) return preload;
  return std::getenv("TELPHER_PRELOAD");
}

/// Options and assignments. Nothing where this library came here in another way, or the user wants
/// none of this.
std::vector<std::string> words_for_env() {
  const char* preload = preload_of_children();
  if (!config().spawn || !preload) return {};
  std::vector<std::string> found;
  for (const char* name : files_of_this_job) {  // children have the launcher's environment as well
    found.emplace_back("-u");
    found.emplace_back(name);
  }
  found.push_back(std::string("LD_PRELOAD=") + preload);
  for (char** e = environ; e && *e; ++e)
    if (is_for_children(*e)) found.emplace_back(*e);
  return found;
}

// --- which command ---

bool runs(const std::string& file) noexcept {
  return ::access(file.c_str(), X_OK) == 0;
}

bool is_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0 && runs(std::string(rest.substr(0, end)) + '/' + name)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

/// The command for env that runs the program that the launcher would run; "" where that is not
/// known here.
std::string command_for_env(const std::string& command, MPI_Info info) {
  std::string folder = ".", searched;
  if (host_mpi::info_value(info, "path", searched) || command.find('=') != command.npos) return "";
  host_mpi::info_value(info, "wdir", folder);
  if (command.starts_with('-')) return "";
  if (command.starts_with('/')) return runs(command) ? command : "";
  const bool here = runs(folder + '/' + command);
  if (command.find('/') != command.npos) return here ? command : "";
  if (is_on_path(command)) return command;
  return here ? "./" + command : "";
}

/// A command and its arguments, as the host MPI is given them.
class child {
 public:
  child(const char* command, char** argv, MPI_Info info) : command_(command), argv_(argv) {
    if (!command) return;
    texts_ = words_for_env();
    const std::string name = texts_.empty() ? "" : command_for_env(command, info);
    if (name.empty() || !runs(env_program)) return;
    texts_.push_back(name);
    for (std::string& t : texts_) pointers_.push_back(t.data());
    for (char** a = argv; a && *a; ++a) pointers_.push_back(*a);  // MPI_ARGV_NULL is null
    pointers_.push_back(nullptr);
    command_ = env_program;
    argv_ = pointers_.data();
    TELPHER_DEBUG("%s is started by env, with this library", command);
  }
  child(child&&) = default;

  char* command() const noexcept { return const_cast<char*>(command_); }
  char** argv() const noexcept { return argv_; }

 private:
  const char* command_;
  char** argv_;
  std::vector<std::string> texts_;  // moving the vector leaves them in place
  std::vector<char*> pointers_;
};

// Only there are commands and infos looked at, and need be valid.
bool at_root(MPI_Comm comm, int root) noexcept {
  int rank = -1;
  return pmpi::Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

}  // namespace

int comm_spawn(const char* command, char** argv, int maxprocs, MPI_Info info, int root,
               MPI_Comm comm, MPI_Comm* intercomm, int* errcodes) noexcept {
  ticket::blocking_call blocked;
  if (!at_root(comm, root))
    return pmpi::Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, errcodes);
  const child one(command, argv, info);
  return pmpi::Comm_spawn(one.command(), one.argv(), maxprocs, info, root, comm, intercomm,
                          errcodes);
}

int comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs,
                        const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* intercomm,
                        int* errcodes) noexcept {
  ticket::blocking_call blocked;
  std::vector<child> children;
  std::vector<char*> names;
  std::vector<char**> arguments;
  for (int i = 0; i < count && commands && infos && at_root(comm, root); ++i) {
    children.emplace_back(commands[i], argvs ? argvs[i] : nullptr, infos[i]);  // MPI_ARGVS_NULL too
    names.push_back(children.back().command());
    arguments.push_back(children.back().argv());
  }
  if (children.empty())
    return pmpi::Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm, intercomm,
                                     errcodes);
  static char* no_arguments[] = {nullptr};
  for (char**& a : arguments)
    if (!a) a = no_arguments;
  return pmpi::Comm_spawn_multiple(count, names.data(), arguments.data(), maxprocs, infos, root,
                                   comm, intercomm, errcodes);
}

}  // namespace telpher::mpi
