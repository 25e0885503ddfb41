// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/deferred.hpp"

#include "host_mpi/error.hpp"
#include "mpi/operations.hpp"

namespace telpher::mpi {

using state = coll::exchange::deferred::state;

// What was staged stands in the table under the host MPI's request, which the program never sees.
bool deferred_operation::check() noexcept {
  if (call_->now() != state::on_host) return call_->now() == state::done;
  if (!on_host_) on_host_ = remove(call_->native());
  if (!on_host_) on_host_ = std::make_unique<native_send>(call_->native(), memory::buffer());
  return on_host_->check();
}

int deferred_operation::finish(MPI_Status* out) noexcept {
  pmpi::Grequest_complete(place_);
  pmpi::Wait(&place_, MPI_STATUS_IGNORE);
  if (on_host_) return on_host_->finish(out);
  fill_empty(out);
  if (call_->outcome() == status::ok) return call_->code();
  return host_mpi::fail(comm_, call_->call(), call_->outcome(),
                        "a collective among devices failed");
}

int hold(std::shared_ptr<coll::exchange::deferred> call, MPI_Comm comm,
         MPI_Request* request) noexcept {
  auto held = ticket::the_engine().lock();
  const int code = new_generalized(request);
  if (code == MPI_SUCCESS)
    enter(std::make_unique<deferred_operation>(std::move(call), comm, *request));
  return code;
}

}  // namespace telpher::mpi
