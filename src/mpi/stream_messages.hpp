// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives in the order of streams: the bodies of telpher_send_enqueue and its kin, under
// MPICH's names too.
//
// Two ways. The proxy (mpi/enqueued.hpp) begins the ordinary operation when the stream gets there.
// A message of limited size in device memory goes through an inbox instead (path/inbox.hpp). The
// hosts match it, mostly before the streams get there, and kernels move it:
// - Sender, at the call: takes cells of the receiver's inbox, sends a ticket (slot_state::coming)
//   and launches inbox_put in the stream. When the kernel has read the buffer, the sender's host
//   stores `arrived`. While there is no room, the call waits for some milliseconds. If there is no
//   inbox, or no room even then, the stream copies the message to memory of the sender's. The
//   ticket is then an ordinary one, at first `preparing`.
// - Receiver, at the call: posts the receive, held (ticket::receive::hold), and launches inbox_take
//   in the stream, which waits for an order. When the ticket comes, the receiver's host orders the
//   kernel to take the words, which may still be on their way. When the kernel is over, the host
//   stores `done`.
// - A message that comes otherwise for such a receive is kept until the kernel says that the stream
//   has reached the receive. Then the message is moved like any other, and the kernel is ordered to
//   end.
// - A receive of another kind that gets such a message waits until it has arrived, and takes it out
//   of the cell.
// - A receive with a request (irecv) is posted at the call, too, but its kernel is launched by the
//   wait for it (inbox_wait). At the call the stream only gets an event (0.1 us on an H200, where a
//   write of a word takes 2.8). So the host moves any other message without that wait, which may
//   never come. A message in the inbox waits for whoever waits (taking::waiter): a stream, whose
//   kernel takes it, or a thread of the host. A send with a request is over when its kernel has
//   read the buffer.
//
// - A persistent request that is started in a stream is begun like one of isend or irecv, and has
//   what runs as the object of an ordinary start (persistent_request::begin_in_stream). All that
//   one call starts is one inbox_calls: one event for its receives, one kernel for its sends. With
//   the wait in a stream it is inactive again.
//
// So these messages are matched in the order of the calls, others in the order in which streams get
// there. What a program enqueues must match in its order. So nothing goes through an inbox while a
// send, a receive or a start waits for its turn at the proxy (matching_turn), nor while there are
// graphs, whose replays nobody announces.
//
// Both ends' operations are polled by the proxy. Words in pinned memory are in one line for each:
//   order    receiver's host to its kernel, see kernel::inbox_take; release, acquire
//   reached  receiver's kernel to its host: it was there before an order
//   over     each block of a kernel to its host: it does not read or write anything any more
#pragma once

#include <atomic>
#include <utility>

#include "mpi/pt2pt.hpp"

namespace telpher::mpi {

/// An operation of the proxy's that has still to be matched. Moves with it.
class matching_turn {
 public:
  matching_turn() noexcept { waiting_.fetch_add(1, std::memory_order_relaxed); }
  matching_turn(matching_turn&& o) noexcept : waits_(std::exchange(o.waits_, false)) {}
  matching_turn& operator=(matching_turn&&) = delete;
  ~matching_turn() { end(); }
  /// The operation has begun; it may begin again (in replays of a graph).
  void end() noexcept {
    if (std::exchange(waits_, false)) waiting_.fetch_sub(1, std::memory_order_release);
  }
  static bool any() noexcept { return waiting_.load(std::memory_order_acquire) > 0; }

 private:
  static inline std::atomic<int> waiting_{0};
  bool waits_ = true;
};

int enqueue_send(const pt2pt::send_args& a, void* native) noexcept;
int enqueue_receive(const pt2pt::receive_args& a, MPI_Status* status, void* native) noexcept;
int enqueue_sendrecv(const pt2pt::send_args& s, const pt2pt::receive_args& r, MPI_Status* status,
                     void* native) noexcept;
int enqueue_isend(const pt2pt::send_args& a, MPI_Request* request, void* native) noexcept;
int enqueue_ireceive(const pt2pt::receive_args& a, MPI_Request* request, void* native) noexcept;

}  // namespace telpher::mpi
