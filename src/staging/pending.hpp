// SPDX-License-Identifier: BSD-3-Clause
// The seam between non-blocking or persistent calls that are staged and the wrappers that
// complete requests: work that must run when a native request starts or completes. Kept by
// mpi/requests.cpp beside the request's record.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "host_mpi/error.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::staging {

class pending {
 public:
  virtual ~pending() = default;
  /// Called by MPI_Start before the native request starts (persistent only): copies the inputs to
  /// the host.
  virtual status before_start() noexcept { return status::ok; }
  /// Asked once the native request has completed: whether what else it waits for has ended. Returns
  /// at once.
  virtual bool ended() noexcept { return true; }
  /// Called once when the native request has completed and the rest has ended, before the program
  /// learns of it: copies the results to the device and waits for the copies.
  virtual status after_completion() noexcept = 0;
  /// The program has freed the request: nobody will hear of errors by it.
  virtual void given_up() noexcept {}
  /// Whose handler hears of its errors: that of the call's communicator, or another.
  virtual host_mpi::error_owner owner(const host_mpi::kept_comm& of_call) const noexcept {
    return of_call.owner();
  }
};

/// Attaches `work` to a request that PMPI has just made for `call`. Persistent work stays until the
/// request is freed. Other work is destroyed after completion: for it `*request` becomes a
/// generalized request, which does not end before the work is done (mpi/handles.hpp). Implemented
/// in mpi/request_kinds.cpp.
void attach(const char* call, MPI_Comm comm, MPI_Request* request, std::unique_ptr<pending> work,
            bool persistent) noexcept;

}  // namespace telpher::staging
