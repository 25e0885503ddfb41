// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/request_object.hpp"

#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "host_mpi/request_table.hpp"

namespace telpher::mpi {
namespace {

constinit lasting<host_mpi::request_table<request_object*>> requests;
lasting<std::vector<std::unique_ptr<request_object>>> abandoned_list;

}  // namespace

void fill_empty(MPI_Status* out) noexcept {
  if (out == MPI_STATUS_IGNORE) return;
  out->MPI_SOURCE = MPI_ANY_SOURCE;
  out->MPI_TAG = MPI_ANY_TAG;
  out->MPI_ERROR = MPI_SUCCESS;
  pmpi::Status_set_elements_x(out, MPI_BYTE, 0);
  pmpi::Status_set_cancelled(out, 0);
}

void enter(std::unique_ptr<request_object> op) noexcept {
  const MPI_Request request = op->request();
  requests->enter(request, op.release());
  table_size = requests->size();
}
request_object* find(MPI_Request request) noexcept {
  request_object* const* const found = requests->find(request);
  return found ? *found : nullptr;
}

namespace {

template <class Leaves>
request_object* take(MPI_Request request, const Leaves& leaves) noexcept {
  request_object* const op = requests->take(request, leaves).value_or(nullptr);
  table_size = requests->size();
  return op;
}

}  // namespace

std::unique_ptr<request_object> remove(MPI_Request request) noexcept {
  return std::unique_ptr<request_object>(take(request, [](const request_object*) { return true; }));
}
request_object* take_for_waiting(MPI_Request request) noexcept {
  return take(request, [](const request_object* op) { return !op->persistent(); });
}
void keep_abandoned(std::unique_ptr<request_object> op) noexcept {
  abandoned_list->push_back(std::move(op));
  abandoned_count = abandoned_list->size();
}

// The list is empty meanwhile: what a handler of the program calls may add to it.
void sweep_slow() noexcept {
  auto mine = std::exchange(*abandoned_list, {});
  std::erase_if(mine, [](std::unique_ptr<request_object>& op) {
    if (!op->check()) return false;
    op->finish_quietly();
    if (op->persistent()) op->abandon();  // inactive now: the host MPI's request may go
    return true;
  });
  for (auto& op : mine) abandoned_list->push_back(std::move(op));
  abandoned_count = abandoned_list->size();
}

}  // namespace telpher::mpi
