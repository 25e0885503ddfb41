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
  if (!op->left_to_host()) ++open_count;
  // The handle may be given out again: then code that calls the host MPI directly has ended it.
  const std::unique_ptr<request_object> before(
      requests->enter(request, op.release()).value_or(nullptr));
  if (before && !before->left_to_host()) --open_count;
}
request_object* find(MPI_Request request) noexcept {
  request_object* const* const found = requests->find(request);
  return found ? *found : nullptr;
}
request_object* find_open(MPI_Request request) noexcept {
  request_object* const op = find(request);
  return op && !op->left_to_host() ? op : nullptr;
}
std::size_t entered_requests() noexcept {
  return requests->size();
}

std::unique_ptr<request_object> remove(MPI_Request request) noexcept {
  std::unique_ptr<request_object> op(requests->take(request).value_or(nullptr));
  if (op && !op->left_to_host()) --open_count;
  return op;
}
request_object* take_for_waiting(MPI_Request request) noexcept {
  const auto leaves = [](const request_object* op) { return !op->persistent(); };
  request_object* const op = requests->take(request, leaves).value_or(nullptr);
  if (!op || op->left_to_host()) return nullptr;
  if (!op->persistent()) --open_count;
  return op;
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
