// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: the handles that the program holds for operations for which the host MPI
// has no request of its own. Our wrappers never pass such a handle to the host MPI. They look it up
// in the table of requests. Code that goes past the wrappers does pass it (a library that took
// PMPI_Wait by dlsym from the MPI library itself). Then the operation must move, and the handle
// must end natively:
// - MPICH asks by itself: a generalized request may have functions by which it is polled and waited
//   for (MPIX_Grequest_start). They move the operation, and complete the request.
// - Open MPI has no such functions, but calls a function that is registered with its progress loop
//   (opal_progress_register). The function counts its calls in a row in a thread in which Telpher
//   was not at work. Many of them, while no thread of the process is blocked in the host MPI below
//   Telpher, show that some code waits past us. The function does not know which operation that
//   code waits for, so it completes natively all that are done. If the program later passes such a
//   handle to our wrappers, it is an ordinary complete request.
// Where an MPI has neither, nothing ends the handle natively, and such code waits for ever.
#pragma once

#include <memory>
#include <utility>

#include "host_mpi/host_mpi.hpp"
#include "mpi/request_object.hpp"

namespace telpher::mpi {

/// A handle for an operation that is entered into the table next. Our wrappers never complete it:
/// give_handle() keeps it for the next operation, so that the host MPI need not make and end one
/// for each message.
int take_handle(MPI_Request* request) noexcept;
void give_handle(MPI_Request request) noexcept;
/// One that is given back unless it is kept.
class taken_handle {
 public:
  taken_handle() = default;
  taken_handle(const taken_handle&) = delete;
  taken_handle& operator=(const taken_handle&) = delete;
  ~taken_handle() {
    if (request_ != MPI_REQUEST_NULL) give_handle(request_);
  }
  int take() noexcept { return take_handle(&request_); }
  MPI_Request keep() noexcept { return std::exchange(request_, MPI_REQUEST_NULL); }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Gives the program a request of this kind, which is made with the handle behind its arguments.
template <class Object, class... Arguments>
int give_request(MPI_Request* request, Arguments&&... arguments) noexcept {
  const int code = take_handle(request);
  if (code == MPI_SUCCESS)
    enter(std::make_unique<Object>(std::forward<Arguments>(arguments)..., *request));
  return code;
}

/// From MPI_Init on, and before the host MPI's end: ends those that are not in use.
void begin_handles() noexcept;
void end_handles() noexcept;

}  // namespace telpher::mpi
