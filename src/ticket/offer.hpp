// SPDX-License-Identifier: BSD-3-Clause
// The sender's side of one ticket, from the moment the ticket leaves until the receiver has said
// that the bytes arrived. An offer is `complete` when the send buffer may be used again (what the
// program waits for), and `retired` when nothing of it is needed any more; a buffered message is
// complete long before it is retired. Offers belong to the engine, which lists them until they are
// retired and destroys them once nobody holds them either.
#pragma once

#include <memory>

#include "base/linked_list.hpp"
#include "base/recycled.hpp"
#include "datatype/datatype.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/pointer_cache.hpp"
#include "memory/streams.hpp"
#include "path/compressed.hpp"
#include "path/pipelined.hpp"
#include "path/staged.hpp"
#include "path/transfer.hpp"
#include "ticket/ticket.hpp"

namespace telpher::ticket {

/// A message in device memory, as the program sent it.
struct message {
  path::region payload;
  device::pointer_info info;      // of the payload's address
  memory::cached_pointer cached;  // of the program's buffer, until the send is complete
  memory::buffer packed;          // keeps the payload alive where it is a packed copy
  memory::pooled_event ready;     // if any: the payload is complete once it has passed
  datatype::hold packs;           // what its packing reads, until then
  int destination;                // rank in comm
  int tag;
  MPI_Comm comm;
  std::size_t element_bytes;  // of the datatype; 0: what it consists of is not known
  bool synchronous = false;
  codec::plan coding;  // if it leaves the node
};

class peer_table;
class send_list;

class offer final : public recycled<offer>, public linked_list<offer>::link {
 public:
  offer(message&& m, int peer, send_list& all) noexcept;
  offer(const offer&) = delete;
  offer& operator=(const offer&) = delete;
  ~offer();

  /// Sends the ticket. not_supported or would_block: nothing was sent, send the bytes raw.
  /// host_mpi_error: PMPI refused it with host_error(), after its error handler returned.
  status send() noexcept;
  int host_error() const noexcept { return host_error_; }
  /// The message of an offer that could not be sent.
  message take_back() noexcept { return std::move(message_); }
  /// The program will not ask for this send again, and may free the buffer when it knows otherwise
  /// that the message has arrived.
  void abandon() noexcept { message_.cached.release(); }
  /// Does what can be done now. True if the receiver has answered since the last time.
  bool advance(std::uint64_t now) noexcept;
  /// This rank is about to block: makes the send complete without the receiver if that is possible
  /// now. True once the receiver cannot need this rank any more; to be asked until then.
  bool detach() noexcept;
  /// From now on the send completes without the receiver as soon as it has not begun and there is
  /// memory for the bytes.
  void hasten() noexcept;
  /// Bytes are being copied to memory of this rank, whatever the receiver does.
  bool copying() const noexcept;
  /// What lies at the receiver, of another node, although it never asked for it.
  int unasked_messages() const noexcept { return remote_ ? remote_->unasked_messages() : 0; }
  int peer() const noexcept { return peer_; }

  bool complete() const noexcept { return complete_; }
  bool retired() const noexcept { return retired_; }
  status outcome() const noexcept { return outcome_; }
  /// Has work of its own that must be polled, beside what the receiver's answers bring.
  bool busy() const noexcept {
    return !retired_ &&
           (message_.ready || transfer_ || remote_ || awaits_carrier_ || (hasty_ && !complete_));
  }
  /// Since when the receiver has been awaited: on a node since this rank first looked for it.
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
  status send_carrier(const void* ticket, int size) noexcept;
  path::region compressed(ticket& t) noexcept;
  status prepared() noexcept;
  void prepare() noexcept;
  bool advance_on_node(std::uint64_t now) noexcept;
  void advance_off_node() noexcept;
  void consider_staging(std::uint64_t now) noexcept;
  void consider_push() noexcept;
  void push() noexcept;
  bool bytes_safe() const noexcept;
  bool needs_us() const noexcept;
  void stage(std::unique_ptr<path::staging_piece> room) noexcept;
  bool carrier_gone() noexcept;
  bool matched_while_blocked() noexcept;
  std::unique_ptr<path::transfer> answer(path::slot_state asked) noexcept;
  void run(path::transfer& t) noexcept;
  void finish(status outcome) noexcept;
  void complete(status outcome) noexcept;
  void record() const noexcept;

  send_list& all_;
  peer_table& peers_;
  message message_;
  int peer_;
  path::slot* cell_ = nullptr;
  path::slot_use use_;
  path::slot_state answer_ = path::slot_state::offered;  // the receiver's last one that was seen
  MPI_Request carrier_ = MPI_REQUEST_NULL;               // the ticket's own message
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
  bool bytes_left_ = false;  // the send buffer is not needed any more
  bool complete_ = false;
  bool retired_ = false;
  status outcome_ = status::ok;

 public:
  alignas(16) std::byte wire_bytes[ticket_bytes];  // the ticket, until its message has left
};

}  // namespace telpher::ticket
