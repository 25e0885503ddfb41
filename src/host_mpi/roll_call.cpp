// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/roll_call.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>

#include "base/abstract_address.hpp"
#include "base/log.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {
namespace {

// --- what launchers tell in the environment ---

/// The value of the first of the variables that is set, or -1.
int number_of(std::initializer_list<const char*> variables) noexcept {
  for (const char* name : variables)
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return -1;
}

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? text : "";
}

// PMIx: a namespace is one MPI_COMM_WORLD. The server's folder tells the servers of one node apart.
std::string pmix_job() {
  const std::string space = text_of("PMIX_NAMESPACE");
  return space.empty() ? space : "pmix " + space + ' ' + text_of("PMIX_SERVER_TMPDIR");
}

#ifndef OPEN_MPI
// PMI: the launcher's process on this node created the socket that PMI uses. Spawned jobs may share
// this process, so they are not identified.
std::string pmi_job() {
  if (std::getenv("PMI_SPAWNED")) return {};
  const int socket = number_of({"PMI_FD"});
  ucred maker{};
  socklen_t bytes = sizeof maker;
  if (socket >= 0 && ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &bytes) == 0 &&
      maker.pid > 0)
    return "pmi " + std::to_string(maker.pid);
  const std::string pals = text_of("PALS_APID");
  return pals.empty() ? pals : "pals " + pals;
}
#endif

// --- socket names ---

abstract_address address_of(const std::string& job, int rank) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "telpher %u %016zx %d", static_cast<unsigned>(::getuid()),
                std::hash<std::string>()(job), rank);
  return abstract_address(name);
}

int new_socket() noexcept {
  return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

enum class presence { there, absent, unknown };

presence look_for(const std::string& job, int rank) noexcept {
  const int probe = new_socket();
  if (probe < 0) return presence::unknown;
  const abstract_address a = address_of(job, rank);
  const int code = ::connect(probe, a.get(), a.bytes());
  const int error = code == 0 ? 0 : errno;
  ::close(probe);
  if (error == 0 || error == EAGAIN) return presence::there;
  return error == ECONNREFUSED ? presence::absent : presence::unknown;
}

}  // namespace

void roll_call::announce() noexcept {
  if (socket_ >= 0) return;  // an earlier session has announced
#ifndef OPEN_MPI
  job_ = pmi_job();
#endif
  if (!job_.empty()) {
    rank_ = number_of({"PMI_RANK", "PALS_RANKID"});
    size_ = number_of({"PMI_SIZE"});
    here_ = number_of({"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"});
  } else {
    job_ = pmix_job();
    rank_ = number_of({"PMIX_RANK"});
    size_ = number_of({"OMPI_COMM_WORLD_SIZE"});
    here_ = number_of({"OMPI_COMM_WORLD_LOCAL_SIZE"});
  }
  if (job_.empty() || rank_ < 0 || size_ == 1) return;
  socket_ = new_socket();
  const abstract_address a = address_of(job_, rank_);
  if (socket_ >= 0 && ::bind(socket_, a.get(), a.bytes()) == 0 && ::listen(socket_, 1) == 0) return;
  TELPHER_DEBUG("the ranks of this node cannot be found without messages: %m");
  end();
}

// The rank and the size that the launcher gives are used only if the host MPI confirms them. A job
// may be started by a rank of another job and inherit its variables.
roll_call::answer roll_call::ask(int rank, int size) noexcept {
  if (size == 1) return answer::all;
  if (socket_ < 0 || rank != rank_ || (size_ >= 0 && size_ != size)) return answer::unknown;
  absent_.clear();
  for (int r = 0; r < size; ++r) {
    const presence found = r == rank ? presence::there : look_for(job_, r);
    if (found == presence::unknown) return answer::unknown;
    if (found == presence::absent) absent_.push_back(r);
  }
  if (absent_.empty()) return answer::all;
  const int present = size - static_cast<int>(absent_.size());
  if (here_ == size) return answer::some;
  return here_ > 0 && present < here_ ? answer::some_here : answer::unknown;
}

void roll_call::end() noexcept {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

}  // namespace telpher::host_mpi
