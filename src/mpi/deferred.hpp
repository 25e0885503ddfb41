// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives that may run among the devices, as requests: the program holds a
// generalized request while the call is deferred, however it ends.
#pragma once

#include "coll/exchange/exchange.hpp"
#include "mpi/operation.hpp"

namespace telpher::mpi {

/// A call that coll::exchange moves, and the host MPI's operation once it has been left to it.
class deferred_operation final : public operation {
 public:
  deferred_operation(std::shared_ptr<coll::exchange::deferred> call, MPI_Comm comm,
                     MPI_Request place) noexcept
      : call_(std::move(call)), comm_(comm), place_(place) {}
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void fill(MPI_Status* out) noexcept override { fill_empty(out); }
  MPI_Request request() const noexcept override { return place_; }

 private:
  std::shared_ptr<coll::exchange::deferred> call_;
  MPI_Comm comm_;
  MPI_Request place_;
  std::unique_ptr<operation> on_host_;
};

/// Gives the program a request for `call`.
int hold(std::shared_ptr<coll::exchange::deferred> call, MPI_Comm comm,
         MPI_Request* request) noexcept;

/// `host` initiates the call in the host MPI.
template <class Described, class Host>
int start_collective(const char* call, MPI_Comm comm, const Described& what, const Host& host,
                     MPI_Request* request) noexcept {
  auto deferred = coll::exchange::defer(call, comm, what, host);
  return deferred ? hold(std::move(deferred), comm, request) : host(request);
}

}  // namespace telpher::mpi
