// SPDX-License-Identifier: BSD-3-Clause
#include "rma/direct.hpp"

#include <algorithm>

#include "staging/pending.hpp"
#include "host_mpi/error.hpp"
#include "path/path.hpp"
#include "rma/carry_out.hpp"

namespace telpher::rma {
namespace {

using datatype::elements;
using datatype::layout;

std::size_t index(int rank) noexcept {
  return static_cast<std::size_t>(rank);
}

// --- where the target's elements lie ---

/// The attached range that holds the bytes from `low` on, or the first of them; null if none does.
const attachment* attached_at(const window& w, int rank, std::uint64_t low, std::uint64_t high) {
  const attachment* const all = w.shared.attachments(rank);
  for (const attachment* a = all; a != all + words::most_attached; ++a)
    if (a->attached.load(std::memory_order_acquire) == attachment::valid &&
        a->memory.address <= low && std::min(low + 1, high) <= a->memory.address + a->bytes)
      return a;
  return nullptr;
}

/// The first of the attached ranges of one allocation that lie side by side and hold the addresses;
/// null if there are none.
const attachment* all_attached_at(const window& w, int rank, std::uint64_t low,
                                  std::uint64_t high) {
  const attachment* const first = attached_at(w, rank, low, high);
  if (!first || !first->memory.holds(high - first->memory.address)) return nullptr;
  const auto end = [](const attachment& a) { return a.memory.address + a.bytes; };
  for (const attachment* a = first; end(*a) < high;)
    if (!(a = attached_at(w, rank, end(*a), high))) return nullptr;
  return first;
}

// --- a call ---

struct refusal {
  int error_class;
  const char* why;
};

int refuse(const access& a, const refusal& r) noexcept {
  return host_mpi::fail_with(host_mpi::error_owner::window(a.win), a.call, r.error_class, r.why);
}

std::optional<elements> elements_of(const buffer& b) noexcept {
  const layout* const l = layout_of(b.type);
  if (!l) return std::nullopt;
  auto* const data = static_cast<std::byte*>(const_cast<void*>(b.address));
  if (l->blocks.empty() || b.count == 0) return elements{*l, 0, {{}, data}};
  return elements{*l, b.count, {memory::classify(data + l->blocks.front().offset), data}};
}

// The target's memory, or the reason why the call may not use it.
std::optional<refusal> find_target(const access& a, const window& w, const layout& l, MPI_Count n,
                                   const memory::place& here, reached& out) {
  const span s = span_of(l, n);
  const refusal outside{MPI_ERR_RMA_RANGE,
                        "the target's elements do not lie in the memory that it exposes"};
  if (!w.dynamic()) {
    const exposed& there = w.ranks[index(a.rank)];
    const std::int64_t at = a.displacement * there.unit;
    if (at + s.low < 0 || at + s.high > there.bytes) return outside;
    out.at = w.targets[index(a.rank)].at;
    out.at.data += at;
    return std::nullopt;
  }
  const auto at = static_cast<std::uint64_t>(a.displacement);
  const attachment* const there = all_attached_at(w, a.rank, at + static_cast<std::uint64_t>(s.low),
                                                  at + static_cast<std::uint64_t>(s.high));
  if (!there) return outside;
  if (a.rank == w.rank) {
    auto* const own = reinterpret_cast<std::byte*>(at);
    out.at = {memory::classify(own), own};
    return std::nullopt;
  }
  if (failed(reach_best(there->memory, (*w.processes)[index(a.rank)], here, out)))
    return refusal{MPI_ERR_RMA_ATTACH, "the target's memory could not be opened"};
  out.at.data += at - there->memory.address;
  return std::nullopt;
}

// A request form's copy that is under way.
class copy_request final : public staging::pending {
 public:
  explicit copy_request(const access& a, const window& w)
      : win_(a.win), target_(a.rank), copies_(w.copies) {}

  const std::shared_ptr<under_way::answer>& answer() const noexcept { return answer_; }
  void numbered(std::uint64_t number) noexcept { number_ = number; }
  bool ended() noexcept override { return copies_->ended(target_, number_); }
  status after_completion() noexcept override { return answer_->outcome; }
  void given_up() noexcept override { copies_->give_up(target_, *answer_); }
  host_mpi::error_owner owner(const host_mpi::kept_comm& of_call) const noexcept override {
    const window* const w = find(win_);  // it may have been freed
    return w && w->copies == copies_ ? host_mpi::error_owner::window(win_) : of_call.owner();
  }

 private:
  const MPI_Win win_;
  const int target_;
  const std::shared_ptr<under_way> copies_;
  const std::shared_ptr<under_way::answer> answer_ = std::make_shared<under_way::answer>();
  std::uint64_t number_ = 0;
};

// Makes a request that is complete from the beginning for the host MPI.
int query_ended(void*, MPI_Status* status) {
  pmpi::Status_set_elements_x(status, MPI_BYTE, 0);
  pmpi::Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int free_ended(void*) {
  return MPI_SUCCESS;
}
int cancel_ended(void*, int) {
  return MPI_SUCCESS;
}

int end(const access& a) noexcept {
  if (!a.request) return MPI_SUCCESS;
  const int code = pmpi::Grequest_start(query_ended, free_ended, cancel_ended, nullptr, a.request);
  return code == MPI_SUCCESS ? pmpi::Grequest_complete(*a.request) : code;
}

// A put or get as a copy that is under way; not_supported: it must be made in the call.
status start_copy(const access& a, window& w, const elements& from, const elements& to,
                  memory::mapping& mapping, int& code) {
  std::unique_ptr<copy_request> request;
  if (a.request) request = std::make_unique<copy_request>(a, w);
  const auto number =
      w.copies->start(a.rank, from, to, mapping, request ? request->answer() : nullptr);
  TELPHER_TRY(number);
  code = end(a);
  if (!request || code != MPI_SUCCESS) return status::ok;
  request->numbered(*number);
  staging::attach(a.call, MPI_COMM_SELF, a.request, std::move(request), false);
  return status::ok;
}

}  // namespace

bool is_direct(const access& a, const window& w) noexcept {
  if (!w.direct_at(a.rank)) return false;
  if (!w.dynamic()) return true;
  const auto l = datatype::layout_of(a.type);
  if (!l || (*l)->blocks.empty()) return false;
  const auto first = static_cast<std::uint64_t>(a.displacement + (*l)->blocks.front().offset);
  return attached_at(w, a.rank, first, first + 1) != nullptr;
}

int run_direct(const access& a, window& w) {
  const layout* const type = layout_of(a.type);
  if (!type) return refuse(a, {MPI_ERR_TYPE, "the target's type is not a committed one"});
  if (a.count < 0 || a.origin.count < 0 || a.result.count < 0)
    return refuse(a, {MPI_ERR_COUNT, "a negative count"});
  const bool reads = a.what != verb::get && a.op != MPI_NO_OP;
  const bool writes = a.what != verb::put && a.what != verb::accumulate;
  const auto origin = reads ? elements_of(a.origin) : std::nullopt;
  const auto result = writes ? elements_of(a.result) : std::nullopt;
  if (reads && !origin)
    return refuse(a, {MPI_ERR_TYPE, "the origin's type is not a committed one"});
  if (writes && !result)
    return refuse(a, {MPI_ERR_TYPE, "the result's type is not a committed one"});
  const std::size_t bytes = type->size * static_cast<std::size_t>(a.count);
  if ((reads && origin->bytes() != bytes) || (writes && result->bytes() != bytes))
    return refuse(a, {MPI_ERR_TRUNCATE, "origin and target differ in size"});
  if (!enter_epoch(w, a.rank, a.call))
    return refuse(a, {MPI_ERR_RMA_SYNC, "no epoch gives access to the target"});
  if (bytes == 0) return end(a);
  reached there;
  const memory::place here = origin   ? origin->at.where
                             : result ? result->at.where
                                      : memory::place{};
  if (const auto no = find_target(a, w, *type, a.count, here, there)) return refuse(a, *no);
  const elements target{*type, a.count, there.at};
  int code = MPI_SUCCESS;
  status s = status::not_supported;
  if (a.what == verb::put) s = start_copy(a, w, *origin, target, there.mapping, code);
  if (a.what == verb::get) s = start_copy(a, w, target, *result, there.mapping, code);
  const bool in_call = s == status::not_supported;
  if (in_call) s = carry_out(a, w.shared, target, a.rank != w.rank, origin, result);
  if (s != status::ok)
    return host_mpi::fail(host_mpi::error_owner::window(a.win), a.call, s,
                          "bytes could not be moved to or from the target's device memory");
  path::count(a.what == verb::get ? path::kind::ipc_get : path::kind::ipc_put, bytes);
  return in_call ? end(a) : code;
}

}  // namespace telpher::rma
