// SPDX-License-Identifier: BSD-3-Clause
// The border between statuses and MPI's errors: a status becomes an error class, is logged with the
// call that met it, and goes to the error handler of the object that the call was made on. The code
// that the program gets has a text which names the call.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// Between MPI_Init and MPI_Finalize: MPI_COMM_WORLD and MPI_COMM_SELF are communicators. A program
/// with sessions may do without.
inline bool world_model = false;

/// The object whose error handler hears of an error.
class error_owner {
 public:
  /// MPI_COMM_WORLD in place of the null communicator.
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
  /// No handler is called: the program has given up its handle.
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

/// A communicator as what outlives its call remembers it. The program may free the handle
/// meanwhile, and the host MPI may give the same one to another communicator: then nobody hears of
/// errors.
class kept_comm {
 public:
  kept_comm() noexcept = default;
  explicit kept_comm(MPI_Comm comm) noexcept;
  error_owner owner() const noexcept;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint64_t since_ = 0;
};

/// The program is about to free or disconnect a communicator.
void note_freed(MPI_Comm comm) noexcept;

/// Calls the error handler of `owner` with `code` and returns `code`, if the handler returns.
int raise(const error_owner& owner, int code) noexcept;

/// The code of a call that should have made `request`. After an error handler of the program's
/// MPICH answers MPI_SUCCESS and makes none: nothing would ever complete.
inline int started(int code, MPI_Request request) noexcept {
  return code == MPI_SUCCESS && request == MPI_REQUEST_NULL ? MPI_ERR_OTHER : code;
}

/// Logs what `call` could not do and raises the error class of `s`. `detail` may be null.
int fail(const error_owner& owner, const char* call, status s, const char* detail) noexcept;

/// The same for an error class of MPI's; `why` is all that the log says.
int fail_with(const error_owner& owner, const char* call, int error_class,
              const char* why) noexcept;

/// PMPI_Request_get_status that calls no error handler: the call that completes the request does.
/// MPICH would call the one of MPI_COMM_SELF, whatever communicator the request belongs to.
int look_at(MPI_Request request, int* flag, MPI_Status* status) noexcept;

}  // namespace telpher::host_mpi
