// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/operation.hpp"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace telpher::mpi {
namespace {

// Open addressing with linear probing and backward-shift deletion: a hit costs one multiplication
// and usually one cache line. The handle's bits are the key; MPI_REQUEST_NULL marks a free place.
class table {
 public:
  table() : places_(64) {}

  void insert(operation* op) {
    if (2 * (used_ + 1) > places_.size()) grow();
    std::size_t i = home(op->request());
    while (places_[i]) i = next(i);
    places_[i] = {op->request(), op};
    ++used_, ++table_size;
  }

  operation* find(MPI_Request key) const {
    for (std::size_t i = home(key); places_[i]; i = next(i))
      if (places_[i].key == key) return places_[i].op;
    return nullptr;
  }

  /// The operation, which has left the table if `leaves(op)`; null if there is none.
  template <class Leaves>
  operation* take(MPI_Request key, const Leaves& leaves) {
    std::size_t i = home(key);
    while (places_[i] && places_[i].key != key) i = next(i);
    operation* op = places_[i].op;
    if (!op || !leaves(*op)) return op;
    --used_, --table_size;
    for (std::size_t j = next(i); places_[j]; j = next(j)) {
      const std::size_t h = home(places_[j].key);
      const bool stays = i <= j ? (i < h && h <= j) : (i < h || h <= j);
      if (stays) continue;
      places_[i] = places_[j];
      i = j;
    }
    places_[i] = {};
    return op;
  }

 private:
  struct place {
    MPI_Request key = MPI_REQUEST_NULL;
    operation* op = nullptr;
    explicit operator bool() const { return op != nullptr; }
  };

  std::size_t home(MPI_Request key) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &key, sizeof key);
    return static_cast<std::size_t>(bits * 0x9e3779b97f4a7c15u >> 32) & (places_.size() - 1);
  }
  std::size_t next(std::size_t i) const { return (i + 1) & (places_.size() - 1); }

  void grow() {
    std::vector<place> old(places_.size() * 2);
    old.swap(places_);
    table_size -= used_;
    used_ = 0;
    for (const place& p : old)
      if (p) insert(p.op);
  }

  std::vector<place> places_;
  std::size_t used_ = 0;
};

table& requests() {
  static auto* const one = new table;
  return *one;
}

std::vector<std::unique_ptr<operation>>& abandoned_list() {
  static auto* const one = new std::vector<std::unique_ptr<operation>>;
  return *one;
}

}  // namespace

void fill_empty(MPI_Status* out) noexcept {
  if (out == MPI_STATUS_IGNORE) return;
  out->MPI_SOURCE = MPI_ANY_SOURCE;
  out->MPI_TAG = MPI_ANY_TAG;
  out->MPI_ERROR = MPI_SUCCESS;
  pmpi::Status_set_elements_x(out, MPI_BYTE, 0);
  pmpi::Status_set_cancelled(out, 0);
}

void enter(std::unique_ptr<operation> op) noexcept {
  requests().insert(op.release());
}
operation* find(MPI_Request request) noexcept {
  return requests().find(request);
}
std::unique_ptr<operation> remove(MPI_Request request) noexcept {
  return std::unique_ptr<operation>(
      requests().take(request, [](const operation&) { return true; }));
}
operation* take_for_waiting(MPI_Request request) noexcept {
  return requests().take(request, [](const operation& op) { return !op.persistent(); });
}
void keep_abandoned(std::unique_ptr<operation> op) noexcept {
  abandoned_list().push_back(std::move(op));
  abandoned_count = abandoned_list().size();
}

// The list is empty meanwhile: what a handler of the program calls may add to it.
void sweep_slow() noexcept {
  auto mine = std::exchange(abandoned_list(), {});
  std::erase_if(mine, [](std::unique_ptr<operation>& op) {
    if (!op->check()) return false;
    op->finish_quietly();
    if (op->persistent()) op->abandon();  // inactive now: the host MPI's request may go
    return true;
  });
  for (auto& op : mine) abandoned_list().push_back(std::move(op));
  abandoned_count = abandoned_list().size();
}

}  // namespace telpher::mpi
