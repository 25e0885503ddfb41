// SPDX-License-Identifier: BSD-3-Clause
// The sender's side of one ticket, from the moment the ticket leaves until the receiver has said
// that the bytes arrived. A send is `complete` when the program's send is complete: the send
// buffer may be used again, and for a synchronous send the receive has been found. It is `retired`
// when nothing of it is needed any more. A buffered message is complete long before it is retired.
// Sends belong to the send_list. It lists them until they are retired, and destroys them once no
// caller holds them either.
#pragma once

#include <memory>

#include "base/linked_list.hpp"
#include "base/recycled.hpp"
#include "datatype/datatype.hpp"
#include "datatype/strided.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/pointer_cache.hpp"
#include "memory/streams.hpp"
#include "path/compressed.hpp"
#include "path/inbox.hpp"
#include "path/pipelined.hpp"
#include "path/staged.hpp"
#include "path/transfer.hpp"
#include "ticket/ticket.hpp"

namespace telpher::ticket {

/// A payload that is not packed, because its receiver may do without, or because it goes to another
/// node in blocks, which are packed one by one.
struct unpacked {
  datatype::hold layout;
  const void* buffer;
  MPI_Count count;
  datatype::strided shape;  // for a receiver of this node
};

/// A message in device memory, as the program sent it.
struct message {
  path::region payload;
  device::pointer_info info;         // of the payload's address
  memory::cached_pointer cached;     // of the program's buffer, until the send is complete
  memory::buffer packed;             // keeps the payload alive where it is a packed copy
  memory::pooled_event ready;        // if any: the payload is complete once this event has passed
  datatype::hold packs;              // the layout that the packing reads, until `ready` has passed
  std::optional<unpacked> in_place;  // `payload` then names its first block only
  int destination;                   // rank in comm
  int tag;
  MPI_Comm comm;
  std::size_t element_bytes;  // of the datatype; 0: its basic types are not known
  bool synchronous = false;
  codec::plan coding;  // if it leaves the node
  // A stream of the program's fills the payload, a copy of ours, or puts it into a cell of the
  // receiver's inbox: who sends it says when (send::end_copy).
  bool by_stream = false;
  std::optional<path::inbox_cells> cells;
};

/// Starts to pack a message that was left as it lies; `done` says when it is in `to`.
status start_packing(const message& m, memory::buffer& to, memory::pooled_event& done) noexcept;

class peer_table;
class send_list;

class send final : public recycled<send>, public linked_list<send>::link {
 public:
  send(message&& m, int peer, send_list& all) noexcept;
  send(const send&) = delete;
  send& operator=(const send&) = delete;
  ~send();

  /// Sends the ticket. not_supported or would_block: nothing was sent, send the bytes raw.
  /// host_mpi_error: PMPI refused it with host_error(), after its error handler returned. The same
  /// may come of it later, as the outcome.
  status announce() noexcept;
  int host_error() const noexcept { return host_error_; }
  /// The message of a send that could not be sent.
  message take_back() noexcept { return std::move(message_); }
  /// The program has given up its request (MPI_Request_free). It may free the buffer as soon as it
  /// knows by other means that the message has arrived. So the reference to the pointer cache is
  /// released.
  void abandon() noexcept { message_.cached.release(); }
  /// Does what can be done now. True if the receiver has answered since the last time.
  bool advance(std::uint64_t now) noexcept;
  /// This rank is about to block: makes the send complete without the receiver if that is possible
  /// now. True once the receiver does not need this rank any more; to be called again until then.
  /// Also true if the arena has no room and the receiver is expected to get the bytes by itself
  /// (peer_table::pulls).
  bool detach() noexcept;
  /// From now on the send does not wait for its receiver. If the receiver has not claimed the
  /// message (on a node) or not answered (between nodes), the bytes are copied to host memory as
  /// soon as there is room for them.
  void hasten() noexcept;
  /// Nobody will receive the message: ends in host_mpi_error, unless a receiver has it already.
  void withdraw() noexcept;
  /// Of a message `by_stream`: the stream has passed its copy, or (an error) never will.
  void end_copy(status copied) noexcept;
  /// Bytes are being copied to memory of this rank, whatever the receiver does.
  bool copying() const noexcept;
  /// The number of messages that were pushed to a receiver of another node before it answered.
  int unasked_messages() const noexcept { return remote_ ? remote_->unasked_messages() : 0; }
  int peer() const noexcept { return peer_; }

  bool complete() const noexcept { return complete_; }
  bool retired() const noexcept { return retired_; }
  status outcome() const noexcept { return outcome_; }
  /// Whether it must be polled even if no receiver has answered.
  bool busy() const noexcept {
    return !retired_ && (message_.ready || packing_ || transfer_ || remote_ || awaits_carrier_ ||
                         (hasty_ && !complete_));
  }
  /// Since when the receiver has been awaited. Between nodes, and with a trace, that is just before
  /// the ticket was sent; otherwise it is the first call of this function, which saves a look at
  /// the clock in each send.
  std::uint64_t since_ns(std::uint64_t now) noexcept {
    if (since_ns_ == 0) since_ns_ = now;
    return since_ns_;
  }
  bool held = true;      // a caller still looks at it
  bool visited = false;  // it is in advance()

  /// One line for the stall report.
  void describe(char* text, std::size_t bytes) const noexcept;

 private:
  bool on_node() const noexcept { return cell_ != nullptr; }
  status take_slot() noexcept;
  status take_slot_for_cells() noexcept;
  status send_carrier(const void* ticket, int size) noexcept;
  path::region compressed(ticket& t) noexcept;
  status prepared() noexcept;
  void prepare() noexcept;
  status pack() noexcept;
  bool packs() noexcept;
  bool advance_on_node(std::uint64_t now) noexcept;
  void advance_off_node() noexcept;
  void consider_staging(std::uint64_t now) noexcept;
  void consider_push() noexcept;
  void push() noexcept;
  bool bytes_safe() const noexcept;
  bool needs_us() const noexcept;
  void stage(std::unique_ptr<path::staging_piece> room) noexcept;
  bool carrier_gone() noexcept;
  bool undeliverable() noexcept;
  bool matched_while_blocked() noexcept;
  std::unique_ptr<path::transfer> answer(path::slot_state asked) noexcept;
  bool start_answer(path::slot_state asked) noexcept;
  void run(path::transfer& t) noexcept;
  void finish(status outcome) noexcept;
  void complete(status outcome) noexcept;
  void record() const noexcept;

  send_list& all_;
  peer_table& peers_;
  message message_;
  int peer_;
  memory::pooled_event packing_;  // of `message_.packed`, for a receiver that cannot do without
  path::slot* cell_ = nullptr;
  path::slot_use use_;
  path::slot_state answer_ = path::slot_state::ready;  // the receiver's last answer seen
  MPI_Request carrier_ = MPI_REQUEST_NULL;             // the ticket's own message
  std::unique_ptr<path::transfer> transfer_;
  std::unique_ptr<path::pipelined_send> remote_;
  path::compressed_payload coded_;
  std::unique_ptr<path::staging_piece> stored_;  // ring or whole payload until the receiver is done
  std::uint64_t since_ns_ = 0;
  std::uint64_t complete_ns_ = 0;  // for the trace
  int reply_tag_ = -1;
  int host_error_ = MPI_SUCCESS;
  bool exportable_ = false;
  bool awaits_carrier_ = false;
  bool rung_ = false;
  bool put_refused_ = false;
  bool hasty_ = false;
  bool withdrawn_ = false;
  bool bytes_left_ = false;  // the send buffer is not needed any more
  bool complete_ = false;
  bool retired_ = false;
  status outcome_ = status::ok;

 public:
  alignas(16) std::byte wire_bytes[ticket_bytes];  // the ticket, until its message has left
};

}  // namespace telpher::ticket
