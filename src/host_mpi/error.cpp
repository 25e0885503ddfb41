// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/error.hpp"

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/log.hpp"

namespace telpher::host_mpi {
namespace {

int error_class(status s) noexcept {
  switch (s) {
    case status::truncated:
      return MPI_ERR_TRUNCATE;
    case status::invalid_argument:
      return MPI_ERR_ARG;
    case status::out_of_memory:
      return MPI_ERR_NO_MEM;
    case status::not_supported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
      return MPI_ERR_OTHER;
  }
}

std::mutex guard;

// --- communicators that were freed ---

// The number of frees so far, and for each freed handle the number of its last free. The host MPI
// reuses handles, so there are few different ones.
std::atomic<std::uint64_t> frees{0};
std::unordered_map<MPI_Comm, std::uint64_t>& freed_at() {
  static auto* one = new std::unordered_map<MPI_Comm, std::uint64_t>;
  return *one;
}

// --- codes with a text ---

// An error code of the class with the text "<call>: <why>"; each is made once. If the host MPI
// makes no more codes, the class itself is the code.
int code_with_text(int error_class, const std::string& text) noexcept {
  static auto& made = *new std::map<std::pair<int, std::string>, int>;
  const std::lock_guard lock(guard);
  const auto [at, fresh] = made.try_emplace({error_class, text}, error_class);
  if (!fresh) return at->second;
  int code = error_class, found = MPI_SUCCESS;
  if (pmpi::Add_error_code(error_class, &code) == MPI_SUCCESS &&
      pmpi::Add_error_string(code, text.c_str()) == MPI_SUCCESS &&
      pmpi::Error_class(code, &found) == MPI_SUCCESS && found == error_class)
    at->second = code;
  return at->second;
}

}  // namespace

kept_comm::kept_comm(MPI_Comm comm) noexcept
    : comm_(comm), since_(frees.load(std::memory_order_relaxed)) {}

error_owner kept_comm::owner() const noexcept {
  if (frees.load(std::memory_order_relaxed) == since_) return comm_;
  const std::lock_guard lock(guard);
  const auto found = freed_at().find(comm_);
  const bool gone = found != freed_at().end() && found->second > since_;
  return gone ? error_owner::nobody() : error_owner(comm_);
}

void note_freed(MPI_Comm comm) noexcept {
  const std::lock_guard lock(guard);
  freed_at()[comm] = frees.fetch_add(1, std::memory_order_relaxed) + 1;
}

void error_owner::call_handler(int code) const noexcept {
  switch (kind_) {
    case kind::communicator:
      pmpi::Comm_call_errhandler(comm_, code);
      break;
    case kind::window:
      pmpi::Win_call_errhandler(window_, code);
      break;
    case kind::file:
      pmpi::File_call_errhandler(file_, code);
      break;
    case kind::session:
#if TELPHER_HOST_HAS_Session_call_errhandler
      pmpi::Session_call_errhandler(session_, code);
#endif
      break;
    case kind::none:
      break;
  }
}

int raise(const error_owner& owner, int code) noexcept {
  owner.call_handler(code);
  return code;
}

int fail(const error_owner& owner, const char* call, status s, const char* detail) noexcept {
  const bool has_detail = detail && *detail;
  TELPHER_ERROR("%s: %s%s%s", call, to_string(s), has_detail ? ": " : "", has_detail ? detail : "");
  return raise(owner, code_with_text(error_class(s), std::string(call) + ": " + to_string(s)));
}

int fail_with(const error_owner& owner, const char* call, int error_class,
              const char* why) noexcept {
  TELPHER_ERROR("%s: %s", call, why);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  pmpi::Error_string(error_class, text, &length);
  return raise(owner, code_with_text(error_class, std::string(call) + ": " + text));
}

namespace {

// A call whose errors MPICH would give to the handler of MPI_COMM_SELF: nobody hears of them.
template <class Call>
int in_silence(const Call& call) noexcept {
#ifdef OPEN_MPI
  return call();
#else
  if (!world_model) return call();
  MPI_Errhandler programs = MPI_ERRHANDLER_NULL;
  pmpi::Comm_get_errhandler(MPI_COMM_SELF, &programs);
  if (programs == MPI_ERRORS_RETURN) return call();
  pmpi::Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int rc = call();
  pmpi::Comm_set_errhandler(MPI_COMM_SELF, programs);
  if (programs != MPI_ERRORS_ARE_FATAL) pmpi::Errhandler_free(&programs);  // a reference
  return rc;
#endif
}

}  // namespace

int look_at(MPI_Request request, int* flag, MPI_Status* status) noexcept {
  return in_silence([&] { return pmpi::Request_get_status(request, flag, status); });
}

int end_some(int count, MPI_Request requests[], int* ended, int indices[],
             MPI_Status statuses[]) noexcept {
  return in_silence([&] { return pmpi::Testsome(count, requests, ended, indices, statuses); });
}

}  // namespace telpher::host_mpi
