// SPDX-License-Identifier: BSD-3-Clause
#include "path/rdma.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "base/lasting.hpp"
#include "base/log.hpp"
#include "host_mpi/test.hpp"
#include "path/pipelined.hpp"

namespace telpher::path {

using host_mpi::test;

namespace {

constexpr std::size_t reads_in_flight = 4;
constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// A block of pinned host memory that is registered with the network; registered once and kept.
struct staging_block {
  memory::buffer bytes;
  std::unique_ptr<net::registration> held;
  net::transfer_mark mark;
  std::size_t at = 0, size = 0, ordinal = 0;
  bool flying = false;
};

struct state {
  std::unique_ptr<net::fabric> fabric;
  std::vector<std::unique_ptr<staging_block>> spare;
};
lasting<state> the_state;

/// The empty message which says that the bytes have arrived.
class finished_message {
 public:
  finished_message(const wire& w, int tag) noexcept
      : control_(w.control), peer_(w.peer), tag_(tag) {}
  status send() noexcept {
    if (!begun_ &&
        pmpi::Isend(nullptr, 0, MPI_BYTE, peer_, tag_, control_, &request_) != MPI_SUCCESS)
      return status::host_mpi_error;
    begun_ = true;
    return test(request_);
  }
  status receive() noexcept {
    if (!begun_ &&
        pmpi::Irecv(nullptr, 0, MPI_BYTE, peer_, tag_, control_, &request_) != MPI_SUCCESS)
      return status::host_mpi_error;
    begun_ = true;
    return test(request_);
  }

 private:
  MPI_Comm control_;
  int peer_;
  int tag_;
  bool begun_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// One end of a transfer; sends or receives `finished` when the bytes have arrived.
class one_sided : public mover {
 public:
  kind moved_by() const noexcept override { return kind::rdma; }
};

// --- the passive side: only keeps its memory registered ---

class lent final : public one_sided {
 public:
  lent(const wire& w, int tag, reachable memory) noexcept
      : memory_(std::move(memory)), finished_(w, tag) {}
  status poll() noexcept override { return finished_.receive(); }
  std::size_t moved() const noexcept override { return 0; }

 private:
  reachable memory_;
  finished_message finished_;
};

// --- read: the receiver pulls straight into its registered memory ---

class reader final : public one_sided {
 public:
  reader(const wire& w, std::size_t bytes, reachable to, const net::remote_memory& from) noexcept
      : peer_(w.peer), bytes_(bytes), to_(std::move(to)), from_(from), finished_(w, w.reply_tag) {}
  status poll() noexcept override {
    TELPHER_TRY(start());
    while (!flying_.empty() && flying_.front()->mark.done) {
      TELPHER_TRY(flying_.front()->mark.outcome);
      arrived_ += flying_.front()->bytes;
      flying_.pop_front();
    }
    return arrived_ == bytes_ ? finished_.send() : status::would_block;
  }
  std::size_t moved() const noexcept override { return arrived_; }

 private:
  struct piece {
    net::transfer_mark mark;
    std::size_t bytes;
  };
  status start() noexcept {
    net::fabric& f = *the_state->fabric;
    while (started_ < bytes_ && flying_.size() < reads_in_flight) {
      auto p = std::make_unique<piece>();
      p->bytes = std::min({bytes_ - started_, piece_bytes, f.largest()});
      const status s = f.read(peer_, {from_.at + started_, from_.key}, to_.data + started_,
                              p->bytes, to_.memory.held(), p->mark);
      if (s == status::would_block) return status::ok;
      TELPHER_TRY(s);
      started_ += p->bytes;
      flying_.push_back(std::move(p));
    }
    return status::ok;
  }

  int peer_;
  std::size_t bytes_;
  reachable to_;
  net::remote_memory from_;
  finished_message finished_;
  std::deque<std::unique_ptr<piece>> flying_;
  std::size_t started_ = 0;
  std::size_t arrived_ = 0;
};

// --- write: the sender stages blocks on the host; the network reads faster from there ---

class writer final : public one_sided {
 public:
  writer(const wire& w, const region& from, const net::remote_memory& to) noexcept
      : peer_(w.peer),
        from_(from),
        to_(to),
        finished_(w, w.block_tag()),
        copies_(from.where, memory::stream_role::out) {}
  status poll() noexcept override {
    TELPHER_TRY(fill());
    TELPHER_TRY(launch());
    while (!busy_.empty() && busy_.front()->flying && busy_.front()->mark.done) {
      TELPHER_TRY(busy_.front()->mark.outcome);
      written_ += busy_.front()->size;
      the_state->spare.push_back(std::move(busy_.front()));
      busy_.pop_front();
    }
    return written_ == from_.bytes ? finished_.send() : status::would_block;
  }
  std::size_t moved() const noexcept override { return written_; }

 private:
  result<std::unique_ptr<staging_block>> take_block() noexcept {
    auto& spare = the_state->spare;
    if (!spare.empty()) {
      auto b = std::move(spare.back());
      spare.pop_back();
      return b;
    }
    auto bytes = memory::buffer::host(config().pipeline_block, from_.where.owner, true);
    TELPHER_TRY(bytes);
    auto held = the_state->fabric->enrol(bytes->data(), bytes->size(), device::vendor::none, -1);
    TELPHER_TRY(held);
    auto b = std::make_unique<staging_block>();
    b->bytes = std::move(*bytes);
    b->held = std::move(*held);
    return b;
  }

  status fill() noexcept {
    const auto depth = static_cast<std::size_t>(config().pipeline_depth);
    while (started_ < from_.bytes && busy_.size() < depth) {
      auto b = take_block();
      TELPHER_TRY(b);
      (*b)->at = started_;
      (*b)->size =
          std::min({from_.bytes - started_, (*b)->bytes.size(), the_state->fabric->largest()});
      (*b)->ordinal = copies_.started();
      (*b)->flying = false;
      (*b)->mark = {};
      TELPHER_TRY(copies_.start((*b)->bytes.data(), from_.data + started_, (*b)->size));
      started_ += (*b)->size;
      busy_.push_back(std::move(*b));
    }
    return status::ok;
  }

  status launch() noexcept {
    auto copied = copies_.finished();
    TELPHER_TRY(copied);
    for (auto& b : busy_) {
      if (b->flying) continue;
      if (b->ordinal >= *copied) break;
      const status s = the_state->fabric->write(peer_, {to_.at + b->at, to_.key}, b->bytes.data(),
                                                b->size, *b->held, b->mark);
      if (s == status::would_block) break;
      TELPHER_TRY(s);
      b->flying = true;
    }
    return status::ok;
  }

  int peer_;
  region from_;
  net::remote_memory to_;
  finished_message finished_;
  block_copies copies_;
  std::deque<std::unique_ptr<staging_block>> busy_;
  std::size_t started_ = 0;
  std::size_t written_ = 0;
};

}  // namespace

// --- the endpoint ---

void rdma::start(MPI_Comm control, int ranks) noexcept {
  // Every rank takes part in the exchange, even if its setting differs.
  std::unique_ptr<net::fabric> made;
  net::address own{};
  if (config().rdma != "off") {
    if (auto f = net::fabric::open(config().rdma.text().c_str())) {
      made = std::move(*f);
      own = made->own();
    }
  }
  std::vector<net::address> all(static_cast<std::size_t>(ranks));
  if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, control) !=
      MPI_SUCCESS)
    return;
  if (made && made->connect(all) == status::ok) the_state->fabric = std::move(made);
}

void rdma::stop() noexcept {
  state& s = *the_state;
  s.spare.clear();
  net::withdraw_registrations();
  s.fabric.reset();
}

bool rdma::reaches(int peer) noexcept {
  const state& s = *the_state;
  return s.fabric && s.fabric->reaches(peer);
}

void rdma::progress() noexcept {
  if (the_state->fabric) the_state->fabric->progress();
}

reachable reachable::of(const region& r) noexcept {
  reachable out;
  state& s = *the_state;
  if (!s.fabric || !r.where.on_device()) return out;
  const auto info = memory::describe(r.where, r.data);
  if (!info || !inside(r, *info)) return out;
  auto use = net::registered_use::acquire(*s.fabric, r.where, *info);
  if (!use) return out;
  out.memory = std::move(*use);
  out.data = out.memory.reach(r.data);
  return out;
}

// --- the two decisions ---

std::unique_ptr<mover> choose_rdma(const wire& w, const region& from,
                                   const net::remote_memory& target, bool writable,
                                   protocol_choice& out) noexcept {
  out = {protocol_choice::blocks, 0, {}};
  if (!writable) return nullptr;
  if (config().rdma_direction != "write") {
    if (reachable source = reachable::of(from)) {
      out.how = protocol_choice::read;
      out.from = source.name();
      return std::make_unique<lent>(w, w.reply_tag, std::move(source));
    }
    if (config().rdma_direction == "read") return nullptr;
  }
  out.how = protocol_choice::write;
  return std::make_unique<writer>(w, from, target);
}

std::unique_ptr<mover> accept_rdma(const wire& w, std::size_t bytes, reachable target,
                                   const protocol_choice& c) noexcept {
  if (c.how == protocol_choice::read)
    return std::make_unique<reader>(w, bytes, std::move(target), c.from);
  return std::make_unique<lent>(w, w.block_tag(), std::move(target));
}

}  // namespace telpher::path
