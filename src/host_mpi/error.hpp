// SPDX-License-Identifier: BSD-3-Clause
// Turns statuses into MPI errors. A status becomes an error class and is logged with the name of
// the MPI call. The error handler of the object that the call was made on is called. The program
// gets an error code whose text names the call.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// True between MPI_Init and MPI_Finalize, while MPI_COMM_WORLD and MPI_COMM_SELF exist. A program
/// that uses sessions may never have them.
inline bool world_model = false;

/// The object whose error handler is called.
class error_owner {
 public:
  /// MPI_COMM_WORLD stands in for the null communicator.
  error_owner(MPI_Comm comm) noexcept
      : kind_(kind::communicator), comm_(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm) {}
  static error_owner window(MPI_Win window) noexcept {
    error_owner o(kind::window);
    o.window_ = window;
    return o;
  }
  static error_owner file(MPI_File file) noexcept {
    error_owner o(kind::file);
    o.file_ = file;
    return o;
  }
#if TELPHER_HOST_HAS_Session_call_errhandler
  static error_owner session(MPI_Session session) noexcept {
    error_owner o(kind::session);
    o.session_ = session;
    return o;
  }
#endif
  /// No handler is called, because the program has freed its handle.
  static error_owner nobody() noexcept {
    return error_owner(kind::none);
  }

  void call_handler(int code) const noexcept;

 private:
  enum class kind : std::uint8_t { none, communicator, window, file, session };
  explicit error_owner(kind k) noexcept : kind_(k), comm_(MPI_COMM_NULL) {}

  kind kind_;
  union {
    MPI_Comm comm_;
    MPI_Win window_;
    MPI_File file_;
#if TELPHER_HOST_HAS_Session_call_errhandler
    MPI_Session session_;
#endif
  };
};

/// A communicator that an operation remembers after its call has returned. The program may free the
/// handle meanwhile, and the host MPI may reuse it for another communicator. Then no error handler
/// is called.
class kept_comm {
 public:
  kept_comm() noexcept = default;
  explicit kept_comm(MPI_Comm comm) noexcept;
  error_owner owner() const noexcept;
  /// Null once the program has freed it.
  MPI_Comm get() const noexcept;

 private:
  bool is_freed() const noexcept;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint64_t since_ = 0;
};

/// To be called when the program is about to free or disconnect a communicator.
void note_freed(MPI_Comm comm) noexcept;

/// Calls the error handler of `owner` with `code` and returns `code`, if the handler returns.
int raise(const error_owner& owner, int code) noexcept;

/// The error code of a call that should have made `request`. If the program's error handler
/// returned, MPICH returns MPI_SUCCESS but makes no request; waiting for it would never end. This
/// returns MPI_ERR_OTHER then.
[[gnu::always_inline]] inline int started(int code, MPI_Request request) noexcept {
  return code == MPI_SUCCESS && request == MPI_REQUEST_NULL ? MPI_ERR_OTHER : code;
}

/// Logs that `call` failed, and why, and raises the error class of `s`. `detail` may be null.
int fail(const error_owner& owner, const char* call, status s, const char* detail) noexcept;

/// The same for an MPI error class; `why` is the text of the log line.
int fail_with(const error_owner& owner, const char* call, int error_class,
              const char* why) noexcept;

/// Ends the whole program, of which `world` is a communicator, after what was logged.
[[noreturn]] void end_program(MPI_Comm world = MPI_COMM_WORLD) noexcept;

/// PMPI_Request_get_status without an error handler; the call that completes the request calls one.
/// MPICH would call the handler of MPI_COMM_SELF, whatever communicator the request belongs to.
int look_at(MPI_Request request, int* flag, MPI_Status* status) noexcept;

/// PMPI_Testsome of requests that may belong to several communicators. Each error is told in the
/// status of its request; in other statuses MPI_ERROR is as it was, or MPI_SUCCESS. MPICH would
/// call the error handler of MPI_COMM_SELF, and is kept from it. Open MPI calls the handler of the
/// request's communicator: then end_some_raises is true, and the caller must call none.
#ifdef OPEN_MPI
constexpr bool end_some_raises = true;
#else
constexpr bool end_some_raises = false;
#endif
int end_some(int count, MPI_Request requests[], int* ended, int indices[],
             MPI_Status statuses[]) noexcept;

}  // namespace telpher::host_mpi
