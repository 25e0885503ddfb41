// SPDX-License-Identifier: BSD-3-Clause
#include "path/pipelined.hpp"

#include "base/log.hpp"

namespace telpher::path {
namespace {

constexpr std::size_t depth = 4;  // blocks in each stage
constexpr std::uint32_t reply_magic = 0x54504c52;

status test(MPI_Request& request) noexcept {
  int flag = 0;
  if (pmpi::Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return status::host_mpi_error;
  return flag ? status::ok : status::would_block;
}

}  // namespace

// --- sender ---

pipelined_send::pipelined_send(const wire& w, const region& from) noexcept
    : wire_(w),
      from_(from),
      plan_(block_plan::of(from.bytes)),
      copies_(from.where, memory::lane::out) {
  pmpi::Irecv(&reply_, sizeof reply_, MPI_BYTE, w.peer, w.reply_tag, w.control, &reply_request_);
}

pipelined_send::~pipelined_send() {
  if (reply_request_ == MPI_REQUEST_NULL) return;
  pmpi::Cancel(&reply_request_);  // only on the way out after an error
  pmpi::Wait(&reply_request_, MPI_STATUS_IGNORE);
}

status pipelined_send::hear() noexcept {
  if (asked_) return status::ok;
  TELPHER_TRY(test(reply_request_));
  asked_ = true;
  return reply_.magic == reply_magic ? status::ok : status::corrupt;
}

status pipelined_send::send(const std::byte* from, std::size_t bytes,
                            memory::buffer block) noexcept {
  flying_.push_back({std::move(block), MPI_REQUEST_NULL});
  if (pmpi::Isend(from, static_cast<int>(bytes), MPI_BYTE, wire_.peer, wire_.block_tag(),
                  wire_.control, &flying_.back().request) != MPI_SUCCESS)
    return status::host_mpi_error;
  ++sent_;
  return status::ok;
}

status pipelined_send::fill() noexcept {
  while (copies_.started() < plan_.count() && filling_.size() + flying_.size() < depth) {
    const std::size_t k = copies_.started();
    auto block = memory::buffer::host(plan_.size(k), from_.where.owner, true);
    TELPHER_TRY(block);
    TELPHER_TRY(copies_.start(block->data(), from_.data + plan_.offset(k), plan_.size(k)));
    filling_.push_back(std::move(*block));
  }
  return status::ok;
}

status pipelined_send::launch_filled() noexcept {
  auto finished = copies_.finished();
  TELPHER_TRY(finished);
  while (sent_ < *finished) {
    memory::buffer block = std::move(filling_.front());
    filling_.pop_front();
    const auto* from = static_cast<const std::byte*>(block.data());
    TELPHER_TRY(send(from, plan_.size(sent_), std::move(block)));
  }
  return status::ok;
}

status pipelined_send::reap() noexcept {
  while (!flying_.empty()) {
    const status s = test(flying_.front().request);
    if (s != status::ok) return s;
    flying_.pop_front();
  }
  return status::ok;
}

status pipelined_send::poll() noexcept {
  if (buffered()) {
    if (const status s = hear(); s == status::ok)
      TELPHER_TRY(send_all());
    else if (s != status::would_block)
      return s;
  } else {
    TELPHER_TRY(hear());
    TELPHER_TRY(fill());
    TELPHER_TRY(launch_filled());
  }
  const status s = reap();
  if (s != status::ok && s != status::would_block) return s;
  return asked_ && sent_ == plan_.count() && flying_.empty() ? status::ok : status::would_block;
}

status pipelined_send::buffer() noexcept {
  if (buffered()) return status::ok;
  if (copies_.started() > 0) return status::would_block;
  auto whole = memory::buffer::host(from_.bytes, from_.where.owner);
  TELPHER_TRY(whole);
  TELPHER_TRY(memory::copy_and_wait(from_.where, whole->data(), from_.data, from_.bytes));
  whole_ = std::move(*whole);
  return status::ok;
}

status pipelined_send::send_all() noexcept {
  const auto* whole = static_cast<const std::byte*>(whole_.data());
  while (sent_ < plan_.count())
    TELPHER_TRY(send(whole + plan_.offset(sent_), plan_.size(sent_), {}));
  return status::ok;
}

// --- receiver ---

pipelined_receive::pipelined_receive(const wire& w, const region& to) noexcept
    : wire_(w), to_(to), plan_(block_plan::of(to.bytes)), copies_(to.where, memory::lane::in) {
  reply_ = {reply_magic, 1};
  pmpi::Isend(&reply_, sizeof reply_, MPI_BYTE, w.peer, w.reply_tag, w.control, &reply_request_);
}

pipelined_receive::~pipelined_receive() {
  if (reply_request_ != MPI_REQUEST_NULL) pmpi::Wait(&reply_request_, MPI_STATUS_IGNORE);
}

status pipelined_receive::post() noexcept {
  while (next_ < plan_.count() && posted_.size() + landing_.size() < depth) {
    flight f{{}, MPI_REQUEST_NULL, next_};
    std::byte* into = to_.data + plan_.offset(next_);
    if (to_.where.on_device()) {
      auto block = memory::buffer::host(plan_.size(next_), to_.where.owner, true);
      TELPHER_TRY(block);
      f.block = std::move(*block);
      into = static_cast<std::byte*>(f.block.data());
    }
    if (pmpi::Irecv(into, static_cast<int>(plan_.size(next_)), MPI_BYTE, wire_.peer,
                    wire_.block_tag(), wire_.control, &f.request) != MPI_SUCCESS)
      return status::host_mpi_error;
    posted_.push_back(std::move(f));
    ++next_;
  }
  return status::ok;
}

status pipelined_receive::land() noexcept {
  while (!posted_.empty()) {
    flight& f = posted_.front();
    const status s = test(f.request);
    if (s == status::would_block) break;
    TELPHER_TRY(s);
    if (to_.where.on_device()) {
      TELPHER_TRY(
          copies_.start(to_.data + plan_.offset(f.index), f.block.data(), plan_.size(f.index)));
      landing_.push_back(std::move(f.block));
    } else {
      ++landed_;
    }
    posted_.pop_front();
  }
  return status::ok;
}

status pipelined_receive::poll() noexcept {
  TELPHER_TRY(post());
  TELPHER_TRY(land());
  if (to_.where.on_device()) {
    auto finished = copies_.finished();
    TELPHER_TRY(finished);
    for (; landed_ < *finished; ++landed_) landing_.pop_front();
  }
  if (reply_request_ != MPI_REQUEST_NULL) {
    const status s = test(reply_request_);
    if (s != status::ok && s != status::would_block) return s;
  }
  return landed_ == plan_.count() && reply_request_ == MPI_REQUEST_NULL ? status::ok
                                                                        : status::would_block;
}

}  // namespace telpher::path
