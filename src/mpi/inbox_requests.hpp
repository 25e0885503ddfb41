// SPDX-License-Identifier: BSD-3-Clause
// The requests of telpher_isend_enqueue and telpher_irecv_enqueue for messages through an inbox
// (stream_messages.hpp has the protocol), and the wait for them in a stream.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "mpi/enqueued.hpp"
#include "mpi/inbox_operations.hpp"

namespace telpher::mpi {

class inbox_request final : public enqueued_request, public recycled<inbox_request> {
 public:
  /// Of a send: `read` is set when the stream has read the buffer.
  inbox_request(std::shared_ptr<ending> read, void* native, int device, MPI_Request place) noexcept
      : enqueued_request(std::move(read), native, place), device_(device) {}
  /// Of a receive.
  inbox_request(const std::shared_ptr<taking>& t, MPI_Request place) noexcept
      : enqueued_request(std::shared_ptr<ending>(t, &t->end), t->native, place),
        device_(t->where.device),
        taking_(t) {}

  /// Of the stream: the default streams of all devices have one handle.
  int device() const noexcept { return device_; }
  inbox_request* through_inbox() noexcept override { return this; }
  /// Called by a host thread: no kernel has to take the message any more.
  bool check() noexcept override;
  bool abandon() noexcept override { return check(), false; }
  /// Of a receive whose message has not come.
  void cancel() noexcept override {
    if (taking_) taking_->cancelled.store(true, std::memory_order_release);
  }
  /// Null for a send.
  const std::shared_ptr<taking>& kernel() const noexcept { return taking_; }

 private:
  int device_;
  std::shared_ptr<taking> taking_;
};

/// Waits in the stream for those of `which` (places in `requests`) that need not be waited for by
/// the proxy, and takes them out of `which`. Their requests become null. Returns MPI's code.
int wait_through_inbox(const char* call, MPI_Request* requests, MPI_Status* statuses, void* native,
                       std::vector<int>& which) noexcept;

}  // namespace telpher::mpi
