// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/error.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/lasting.hpp"
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

// For each handle that was freed, the number of its last free. Handles of Open MPI are addresses,
// of which thousands may have been in use: a piece of the heap for each would stay between pieces
// that come and go, so that the heap grew for ever. The table is one piece, and has a place for
// each handle that was ever freed.
class freed_handles {
 public:
  /// 0 if it never was.
  std::uint64_t last_free(MPI_Comm comm) const noexcept {
    return places_.empty() ? 0 : places_[place_of(comm)].number;
  }

  void note(MPI_Comm comm, std::uint64_t number) noexcept {
    if (2 * (used_ + 1) > places_.size()) grow();
    entry& e = places_[place_of(comm)];
    used_ += e.number == 0;
    e = {comm, number};
  }

 private:
  struct entry {
    MPI_Comm comm{};
    std::uint64_t number = 0;  // 0: a free place
  };

  std::size_t place_of(MPI_Comm comm) const noexcept {
    std::size_t at = std::hash<MPI_Comm>()(comm) * 0x9e3779b97f4a7c15u >> 20;
    while (places_[at &= places_.size() - 1].number != 0 && places_[at].comm != comm) ++at;
    return at;
  }

  void grow() noexcept {
    std::vector<entry> had(std::max<std::size_t>(64, 2 * places_.size()));
    had.swap(places_);
    for (const entry& e : had)
      if (e.number != 0) places_[place_of(e.comm)] = e;
  }

  std::vector<entry> places_;  // a power of two, at least half of them free
  std::size_t used_ = 0;
};

std::atomic<std::uint64_t> frees{0};
constinit lasting<freed_handles> freed;

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

bool kept_comm::is_freed() const noexcept {
  if (frees.load(std::memory_order_relaxed) == since_) return false;
  const std::lock_guard lock(guard);
  return freed->last_free(comm_) > since_;
}

error_owner kept_comm::owner() const noexcept {
  return is_freed() ? error_owner::nobody() : error_owner(comm_);
}

MPI_Comm kept_comm::get() const noexcept {
  return is_freed() ? MPI_COMM_NULL : comm_;
}

void note_freed(MPI_Comm comm) noexcept {
  const std::lock_guard lock(guard);
  freed->note(comm, frees.fetch_add(1, std::memory_order_relaxed) + 1);
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

// A launcher may drop what a rank has written just before it ends the job (MPICH's does). A host
// MPI may come back from PMPI_Abort, and this rank must not go on waiting then.
void end_program(MPI_Comm world) noexcept {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  pmpi::Abort(world, 1);
  std::abort();
}

int look_at(MPI_Request request, int* flag, MPI_Status* status) noexcept {
  return in_silence([&] { return pmpi::Request_get_status(request, flag, status); });
}

int end_some(int count, MPI_Request requests[], int* ended, int indices[],
             MPI_Status statuses[]) noexcept {
  return in_silence([&] { return pmpi::Testsome(count, requests, ended, indices, statuses); });
}

}  // namespace telpher::host_mpi
