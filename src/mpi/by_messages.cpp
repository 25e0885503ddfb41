// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/by_messages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/trace.hpp"
#include "datatype/datatype.hpp"
#include "mpi/entry.hpp"
#include "mpi/handles.hpp"
#include "mpi/request_kinds.hpp"
#include "mpi/send.hpp"

namespace telpher::mpi::by_messages {
namespace {

using pt2pt::receive_args;
using pt2pt::send_args;
using ticket::progress;
using ticket::visit;

// --- the blocks of a call ---

// A block without bytes has none at the other end either, and needs no message. An
// invalid block counts as having bytes; the host MPI reports it later.
bool has_bytes(const block& b) noexcept {
  if (b.count == 0) return false;
  if (b.type == MPI_DATATYPE_NULL) return true;
  const auto l = datatype::layout_of(b.type);
  return !l || (*l)->size > 0;
}

// Also for a count of 0: the answer is kept for later calls.
bool on_device(const block& b) noexcept {
  if (b.type == MPI_DATATYPE_NULL || memory::surely_host(b.buffer)) return false;
  const auto l = datatype::layout_of(b.type);
  if (!l || (*l)->blocks.empty()) return false;
  return memory::classify(at(b.buffer, (*l)->blocks.front().offset)).on_device();
}

bool names_device_memory(const exchange_plan& p) noexcept {
  return std::any_of(p.out.begin(), p.out.end(), on_device) ||
         std::any_of(p.in.begin(), p.in.end(), on_device);
}

send_args to_send(const char* call, const block& b, const neighbour& to, int tags,
                  MPI_Comm comm) noexcept {
  return {call, b.buffer, b.count, b.type, to.rank, to.tag + tags, comm};
}

receive_args to_receive(const char* call, const block& b, const neighbour& from, int tags,
                        MPI_Comm comm) noexcept {
  return {call, b.buffer, b.count, b.type, from.rank, from.tag + tags, comm};
}

// MPI_SUCCESS, or the error that the host MPI raises for the count and type of a block.
int check_block(const call_site& s, const block& b) noexcept {
  if (b.count <= 0 || b.type == MPI_DATATYPE_NULL) return MPI_SUCCESS;
  const auto l = datatype::layout_of(b.type);
  if (l && datatype::is_committed(**l, b.type, ticket::job().control)) return MPI_SUCCESS;
  return entry::refuse_buffer(s.comm, s.call, status::invalid_argument, b.count, b.type);
}

// The same for all blocks, before anything has begun, on the program's own communicator.
int check(const call_site& s, const exchange_plan& p) noexcept {
  for (const neighbour& n : p.who->to) {
    const block& b = p.out[n.index];
    if (const int rc = check_arguments(to_send(s.call, b, n, 0, s.comm))) return rc;
    if (const int rc = check_block(s, b)) return rc;
  }
  for (const neighbour& n : p.who->from) {
    const block& b = p.in[n.index];
    const send_args alike{s.call, b.buffer, b.count, b.type, MPI_PROC_NULL, 0, s.comm};
    if (const int rc = check_arguments(alike)) return rc;
    if (const int rc = check_block(s, b)) return rc;
  }
  return MPI_SUCCESS;
}

// --- a round ---

/// One exchange: done when all its messages are.
class round final : public request_object {
 public:
  explicit round(const call_site& s) noexcept
      : call_(s.call), errors_(s.comm), channel_(s.channel) {}
  ~round() override {
    if (request_ != MPI_REQUEST_NULL) give_handle(request_);
  }

  /// Receives first, so that messages find their place.
  int begin(const exchange_plan& p, int tags) noexcept;
  /// Gives it a request for the program.
  int take_request() noexcept { return take_handle(&request_); }
  int raise(int rc) const noexcept {
    return rc == MPI_SUCCESS ? rc : host_mpi::raise(errors_.owner(), rc);
  }
  /// After begin() failed: receives end here. Sends go on by themselves, since a receiver that
  /// failed as well never takes them.
  void withdraw(ticket::held_lock& held) noexcept;

  bool check() noexcept override { return reach(&request_object::check); }
  bool conclude() noexcept override { return reach(&request_object::conclude); }
  int finish(MPI_Status* out) noexcept override;
  void finish_quietly() noexcept override {
    for (auto& part : parts_) part->finish_quietly();
  }
  void fill(MPI_Status* out) noexcept override { fill_empty(out); }
  MPI_Request request() const noexcept override { return request_; }
  void leave_handle() noexcept override { request_ = MPI_REQUEST_NULL; }

 private:
  bool reach(bool (request_object::*done)()) noexcept {
    while (done_ < parts_.size() && (*parts_[done_].*done)()) ++done_;
    return done_ == parts_.size();
  }
  void add(std::unique_ptr<request_object> part) {
    if (part) parts_.push_back(std::move(part));
  }
  int detach(const exchange_plan& p) noexcept;
  int send(const exchange_plan& p, const neighbour& to, int tags) noexcept;

  const char* call_;
  host_mpi::kept_comm errors_;
  message_channel::pointer channel_;
  std::vector<std::unique_ptr<request_object>> parts_;
  std::vector<std::optional<detached_bytes>> copies_;  // of an exchange in place, by index
  std::size_t done_ = 0;                               // parts that are, from the first on
  std::size_t receives_ = 0;                           // parts that are; they come first
  bool sending_ = false;                               // all receives have begun
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// In place what is sent must leave the buffer before a message overwrites it. A rank's own block
// stays where it is.
int round::detach(const exchange_plan& p) noexcept {
  copies_.resize(p.out.size());
  for (const neighbour& n : p.who->to) {
    int rc = MPI_SUCCESS;
    if (n.rank == p.who->to.front().rank || !has_bytes(p.out[n.index])) continue;
    auto& copy = copies_[n.index];
    copy = detach_bytes(to_send(call_, p.out[n.index], n, 0, channel_->wire()), &rc);
    if (!copy) return rc;
  }
  return MPI_SUCCESS;
}

int round::send(const exchange_plan& p, const neighbour& to, int tags) noexcept {
  int rc = MPI_SUCCESS;
  const send_args a = to_send(call_, p.out[to.index], to, tags, channel_->wire());
  if (p.in_place)
    add(start_detached(a, std::move(*copies_[to.index]), &rc));
  else
    add(start_send(a, false, &rc));
  return rc;
}

int round::begin(const exchange_plan& p, int tags) noexcept {
  const auto skipped = [&](const neighbour& n, const block& b) {
    const bool stays = p.in_place && n.rank == p.who->to.front().rank;
    return stays || n.rank == MPI_PROC_NULL || !has_bytes(b);
  };
  if (p.in_place)
    if (const int rc = detach(p)) return rc;
  parts_.reserve(p.in.size() + p.out.size());
  for (const neighbour& n : p.who->from) {
    int rc = MPI_SUCCESS;
    if (skipped(n, p.in[n.index])) continue;
    add(start_receive(to_receive(call_, p.in[n.index], n, tags, channel_->wire()), &rc));
    if (rc != MPI_SUCCESS) return rc;
  }
  receives_ = parts_.size();
  sending_ = true;
  for (const neighbour& n : p.who->to)
    if (!skipped(n, p.out[n.index]))
      if (const int rc = send(p, n, tags)) return rc;
  return MPI_SUCCESS;
}

int round::finish(MPI_Status* out) noexcept {
  fill_empty(out);
  int first = MPI_SUCCESS;
  for (auto& part : parts_) {
    const int rc = part->finish(MPI_STATUS_IGNORE);
    if (first == MPI_SUCCESS) first = rc;
  }
  return raise(first);
}

void round::withdraw(ticket::held_lock& held) noexcept {
  while (sending_ && parts_.size() > receives_) {
    auto send = std::move(parts_.back());
    parts_.pop_back();
    if (!send->abandon()) keep_abandoned(std::move(send));
  }
  for (auto& part : parts_) part->cancel();
  progress().wait_until(held, call_, [&] { return conclude(); });
  finish_quietly();
}

std::unique_ptr<round> begin_round(ticket::held_lock& held, const call_site& s,
                                   const exchange_plan& p, int tags, int* rc) noexcept {
  auto made = std::make_unique<round>(s);
  if ((*rc = made->begin(p, tags)) == MPI_SUCCESS) return made;
  made->withdraw(held);
  *rc = made->raise(*rc);
  return nullptr;
}

// --- persistent ---

/// Keeps the call's arguments; each start is a round.
class persistent_exchange final : public request_object {
 public:
  persistent_exchange(const call_site& s, exchange_plan&& p, int tags, MPI_Request place)
      : site_(s), plan_(std::move(p)), tags_(tags), place_(place) {
    for (auto* blocks : {&plan_.out, &plan_.in})
      for (block& b : *blocks) keep_type(b.type);
  }
  ~persistent_exchange() override {
    for (kept& k : types_) pmpi::Type_free(&k.own);
  }

  int start() noexcept override {
    visit v;
    int rc = MPI_SUCCESS;
    running_ = begin_round(v.held, site_, plan_, tags_, &rc);
    return rc;
  }
  bool check() noexcept override { return !running_ || running_->check(); }
  bool conclude() noexcept override { return !running_ || running_->conclude(); }
  int finish(MPI_Status* out) noexcept override {
    fill_empty(out);
    const auto ended = std::move(running_);
    return ended ? ended->finish(MPI_STATUS_IGNORE) : MPI_SUCCESS;
  }
  void fill(MPI_Status* out) noexcept override { fill_empty(out); }
  bool abandon() noexcept override {
    pmpi::Request_free(&place_);
    if (running_) keep_abandoned(std::move(running_));
    return true;
  }
  MPI_Request request() const noexcept override { return place_; }
  bool persistent() const noexcept override { return true; }
  bool active() const noexcept override { return running_ != nullptr; }

 private:
  struct kept {
    MPI_Datatype program;
    MPI_Datatype own;
  };

  // The program may free its types before a start.
  void keep_type(MPI_Datatype& type) {
    const auto there = std::find_if(types_.begin(), types_.end(),
                                    [&](const kept& k) { return k.program == type; });
    if (there != types_.end()) {
      type = there->own;
      return;
    }
    if (type == MPI_DATATYPE_NULL) return;
    const kept k{type, datatype::duplicate_of(type, ticket::job().control)};
    if (k.own == MPI_DATATYPE_NULL) return;
    types_.push_back(k);
    type = k.own;
  }

  call_site site_;
  exchange_plan plan_;
  int tags_;
  MPI_Request place_;
  std::vector<kept> types_;
  std::unique_ptr<round> running_;
};

}  // namespace

bool settles(const call_site& s, const exchange_plan& p) noexcept {
  s.channel->settle(s.comm, names_device_memory(p));
  return s.channel->in_force();
}

bool agrees(const call_site& s, const exchange_plan& p) noexcept {
  return s.channel->agree(s.comm, names_device_memory(p));
}

int run_round(const call_site& s, const exchange_plan& p) noexcept {
  const trace::span traced(s.call);
  if (const int rc = check(s, p)) return rc;
  visit v;
  int rc = MPI_SUCCESS;
  const auto made = begin_round(v.held, s, p, 0, &rc);
  if (!made) return rc;
  progress().wait_until(v.held, s.call, [&] { return made->conclude(); });
  return made->finish(MPI_STATUS_IGNORE);
}

int start_round(const call_site& s, const exchange_plan& p, MPI_Request* request) noexcept {
  const trace::span traced(s.call);
  if (const int rc = check(s, p)) return rc;
  visit v;
  int rc = MPI_SUCCESS;
  auto made = begin_round(v.held, s, p, 0, &rc);
  if (!made) return rc;
  if ((rc = made->take_request()) != MPI_SUCCESS) {
    made->withdraw(v.held);
    return made->raise(rc);
  }
  *request = made->request();
  enter(std::move(made));
  return MPI_SUCCESS;
}

// A persistent message to nobody, which is never started, holds the place.
int make_persistent(const call_site& s, exchange_plan&& p, int tags,
                    MPI_Request* request) noexcept {
  if (const int rc = check(s, p)) return rc;
  MPI_Request place = MPI_REQUEST_NULL;
  if (const int rc =
          pmpi::Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, s.channel->wire(), &place))
    return host_mpi::raise(s.comm, rc);
  auto held = progress().lock();
  enter(std::make_unique<persistent_exchange>(s, std::move(p), tags, place));
  *request = place;
  return MPI_SUCCESS;
}

}  // namespace telpher::mpi::by_messages
