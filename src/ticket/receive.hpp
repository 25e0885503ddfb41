// SPDX-License-Identifier: BSD-3-Clause
// The receiver's side of one message: where the host MPI puts it, whether it is a ticket, and how
// its bytes reach the program's buffer.
//
// Where the host MPI puts what arrives:
// - for a device buffer: a host landing buffer of max(480, capacity) bytes;
// - for a host buffer smaller than 480 bytes: a landing buffer of 480 bytes. A ticket may come even
//   where small tickets are not in use, if the message is longer than the program expects, and it
//   must be answered;
// - for host memory of a type in which a ticket ends inside a basic element (splits_elements): a
//   landing buffer, because not every host MPI receives such a ticket;
// - for host memory into which another receive writes that has not settled: a landing buffer, so
//   that neither message overwrites the other's ticket (written_ranges.hpp). No landing buffer is
//   needed if the other receive is not plain and no ticket can come (enter_shared_place);
// - for any other host buffer: the program's buffer itself. A ticket overwrites its first 480
//   bytes, and the payload then overwrites the ticket. Where the payload may be smaller (small
//   tickets), these bytes are saved when the receive is posted, and put back when the ticket is
//   read.
//
// Most receives are of host memory and meet no ticket. So the record is small. The part that only
// device buffers, tickets and traces need (`more`) is allocated when it is needed.
//
// Phases: posted (the host MPI has it) → redeemed (a ticket, read and found right) → moving (bytes
// on their way, then being unpacked by the device where the program's buffer has gaps) → settled.
//
// A receive in the order of a stream (mpi/stream_messages.hpp) is held: it is posted before the
// program's buffer may be written. When its message or ticket has come it stays `redeemed` until
// resume(), or until the stream's kernel has taken the bytes out of the inbox (ended_by_stream).
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/linked_list.hpp"
#include "base/recycled.hpp"
#include "datatype/datatype.hpp"
#include "host_mpi/error.hpp"
#include "memory/pointer_cache.hpp"
#include "memory/streams.hpp"
#include "path/inbox.hpp"
#include "path/segment.hpp"
#include "path/transfer.hpp"
#include "ticket/ticket.hpp"
#include "ticket/written_ranges.hpp"

namespace telpher::ticket {

#ifdef OMPI_MAJOR_VERSION
constexpr bool host_mpi_splits_elements = true;
#else  // MPICH calls it MPI_ERR_TYPE
constexpr bool host_mpi_splits_elements = false;
#endif

/// Whether a ticket would end inside a basic element of this type, and the host MPI fails then. The
/// long form's size is a multiple of every predefined type's size. The short form's size is a
/// multiple of the size of the sender's elements, and the receiver's basic types match theirs.
inline bool splits_elements(const datatype::layout& l) noexcept {
  return !host_mpi_splits_elements && !l.uniform && ticket_bytes % l.size != 0;
}

/// From the first to the last byte of a host buffer that is not empty.
written_ranges::range range_of(const void* buffer, MPI_Count count,
                               const datatype::layout& l) noexcept;

class peer_table;
class receive_list;

class receive : public linked_list<receive>::link {
 public:
  enum class phase { posted, redeemed, moving, settled };

  explicit receive(receive_list& all) noexcept;
  ~receive() {
    if (entered_) leave_range();
  }
  receive(const receive&) = delete;
  receive& operator=(const receive&) = delete;

  /// Describes the program's buffer and prepares the landing.
  status prepare(void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept;

  /// Posts the receive; native() is then a request of the host MPI. Returns PMPI's code.
  int post(int source, int tag) noexcept;
  /// Receives and waits inside the host MPI; only while nothing else is under way.
  int post_blocking(int source, int tag) noexcept;
  /// Receives a matched message.
  int post_matched(MPI_Message* message) noexcept;
  /// Takes a message that was received elsewhere: at most 480 bytes, or what fits the buffer.
  void take(const void* bytes, std::size_t count, const MPI_Status& envelope) noexcept;

  /// Asks the host MPI whether the message is there. `last`: the program will not use the request
  /// again, so the host MPI may end it with the same call.
  void check(bool last = false) noexcept;
  /// For receive_list::conclude, which tests several requests in one call. Takes the request out of
  /// a posted receive, so that nobody else tests it meanwhile. Then give_back() or ended() must be
  /// called.
  MPI_Request lend() noexcept { return std::exchange(native_, MPI_REQUEST_NULL); }
  void give_back(MPI_Request native) noexcept { native_ = native; }
  /// To be called before the CPU writes where this receive may write. The host MPI may already have
  /// delivered a ticket there and not reported it yet. Such a ticket is copied to `kept_ticket`.
  void keep_ticket() noexcept;
  /// The request that was lent has ended with this status and code.
  void ended(const MPI_Status& envelope, int code) noexcept;
  /// After a ticket was redeemed: claims the message and starts to move its bytes. Separate from
  /// check(), which prefetches the ticket's slot: so the slots of several tickets are fetched from
  /// their senders at the same time.
  void start() noexcept;
  /// Moves bytes on; true once settled.
  bool advance() noexcept;

  /// Before it is posted, of a receive into device memory.
  void hold() noexcept { held_ = true; }
  /// Nobody moves it on before resume().
  bool waits_for_stream() const noexcept { return held_ && phase_ == phase::redeemed; }
  /// The bytes of such a receive that fits its buffer come into this rank's inbox, or are there.
  std::optional<kernel::inbox_take::arrival> in_inbox() const noexcept;
  /// What its sender promised will not come (in_inbox).
  bool is_refused() const noexcept;
  /// The buffer may be written.
  void resume() noexcept;
  /// The buffer must not be written: after resume() what has come, or still comes, is thrown away.
  /// Without effect once bytes are on their way.
  void give_up(status why) noexcept {
    if (posted() || redeemed()) outcome_ = why;
  }
  /// The stream's kernel has moved the bytes, or (an error) has given them up.
  void ended_by_stream(status outcome) noexcept;

  bool posted() const noexcept { return phase_ == phase::posted; }
  bool redeemed() const noexcept { return phase_ == phase::redeemed; }
  /// The payload's bytes of a ticket that was redeemed and not started yet; else 0.
  std::size_t announced() const noexcept { return phase_ == phase::redeemed ? bytes_ : 0; }
  bool settled() const noexcept { return phase_ == phase::settled; }
  bool moving() const noexcept { return phase_ == phase::moving; }
  /// The bytes are here, and the device is unpacking them into the program's buffer. All unpacking
  /// on a device is done in one stream, so it ends in the order in which it began.
  /// Nothing of it moves before the sender's device or stream has got to the message.
  bool awaits_sender() const noexcept {
    return moving() && !unpacking() && !(more_ && more_->transfer) && sender_prepares();
  }
  bool unpacking() const noexcept { return more_ && more_->unpacked; }
  /// While moving, before the bytes are here: see transfer::in_order.
  bool in_order() const noexcept { return more_->transfer && more_->transfer->in_order(); }
  status outcome() const noexcept { return outcome_; }
  host_mpi::error_owner error_owner() const noexcept { return errors_.owner(); }
  MPI_Request native() const noexcept { return native_; }
  void cancel() noexcept;
  /// The program has given up its request (MPI_Request_free). It may free the buffer as soon as it
  /// knows by other means that the message is there. So the reference to the pointer cache is
  /// released.
  void abandon() noexcept { cached_.release(); }

  /// After it has settled: frees the native request and fills the status (which may be ignored).
  /// Returns PMPI's code; outcome() is for the caller to raise.
  int finish(MPI_Status* out) noexcept;
  /// The same after MPI_Request_free: errors are not reported.
  void finish_quietly() noexcept;
  /// Fills a status and leaves everything else as it is.
  void fill(MPI_Status* out) const noexcept;

  void describe(char* text, std::size_t bytes) const noexcept;

 private:
  struct native_buffer {
    void* address;
    MPI_Count count;
    MPI_Datatype type;
  };
  // What a receive needs beside its record: of a device buffer, with a ticket, or for the trace.
  struct cold : recycled<cold> {
    memory::buffer landing;  // the landing buffer, if `saved_` is too small for it
    // Null in phase `moving`: the sender's device still works on the payload, or the bytes are here
    // and are being unpacked.
    std::unique_ptr<path::transfer> transfer;
    memory::buffer packed;          // contiguous bytes of a non-contiguous or discarded message
    memory::pooled_event unpacked;  // passes when the device has unpacked the bytes; else empty
    // for the trace; 0 while it is off
    std::shared_ptr<const std::vector<int>> senders;  // world ranks: the program may free comm_
    std::uint64_t posted_ns = 0;
    std::uint64_t arrived_ns = 0;
    ticket announced;           // once a ticket was recognised
    bool keeps_ticket = false;  // `kept_ticket` holds one, see keep_ticket()
    alignas(16) std::byte kept_ticket[ticket_bytes];
  };
  cold& more() noexcept {
    if (!more_) more_ = std::make_unique_for_overwrite<cold>();
    return *more_;
  }

  const ticket& told() const noexcept { return more_->announced; }

  void note_start() noexcept;
  void note_arrival(std::uint64_t when_ns) noexcept;
  status find_place() noexcept;
  written_ranges::range range() const noexcept;
  bool enter_range(bool exposes) noexcept;
  bool may_be_written_in_place() noexcept;
  void leave_place() noexcept;
  void leave_range() noexcept;
  void write_host(const void* packed, std::size_t bytes) noexcept;
  native_buffer native_target() noexcept;
  template <class Small, class Large, class... Rest>
  int by_count(const Small& small, const Large& large, Rest... rest) noexcept;
  bool one_run() const noexcept { return layout_->one_run(count_); }
  std::byte* contiguous_data() const noexcept { return user_ + layout_->true_lower_bound; }
  const std::byte* prefix(std::size_t bytes, std::byte* scratch) const noexcept;
  const std::byte* first_bytes(std::byte* scratch) noexcept;
  std::byte* landed() noexcept {
    return more_ && more_->landing ? static_cast<std::byte*>(more_->landing.data()) : saved_;
  }
  void save_prefix() noexcept;
  void restore_prefix() noexcept;

  void arrived(const MPI_Status& envelope) noexcept;
  void raw_arrived(const std::byte* landed) noexcept;
  void redeem(const std::byte* bytes) noexcept;
  result<path::region> destination() noexcept;
  const path::slot* senders_slot() const noexcept;
  bool sender_prepares() const noexcept;
  status take_from_inbox(const path::slot& cell, const path::region& to) noexcept;
  void begin() noexcept;
  status claim() noexcept;
  result<datatype::unpack_plan> plan_move(const void* from, const datatype::strided* shape,
                                          bool gaps, const path::region& to, device::stream s,
                                          bool& unpacks) noexcept;
  status choose_path(const path::region& to) noexcept;
  status ask_for_blocks() noexcept;
  void discard(status why) noexcept;
  bool put_refused() const noexcept;
  status scatter() noexcept;
  status start_unpacking(device::stream s) noexcept;
  bool scattered() noexcept;
  void release_sender() noexcept;
  void settle(status outcome) noexcept;
  void record() const noexcept;

  receive_list& all_;
  peer_table& peers_;

  // the program's buffer
  std::byte* user_ = nullptr;
  MPI_Count count_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;  // until the receive is posted
  datatype::hold layout_;          // the program may free the type before the message is here
  std::size_t capacity_ = 0;
  host_mpi::kept_comm errors_;
  memory::place where_;
  memory::cached_pointer cached_;  // of a device buffer's allocation, until the receive has settled

  // the host MPI's part
  MPI_Request native_ = MPI_REQUEST_NULL;
  int native_error_ = MPI_SUCCESS;  // of a request that has ended
  bool lands_ = false;              // in a landing buffer, or in `saved_` where that is enough
  bool entered_ = false;            // in written_ranges, until the receive has settled
  bool exposed_ = false;            // see written_ranges
  bool shares_place_ = false;       // see segment_header::shared_places

  // what arrived
  phase phase_ = phase::posted;
  bool held_ = false;  // see hold()
  bool cancel_asked_ = false;
  bool owes_handler_ = false;  // `native_error_` was not raised by the host MPI
  bool by_ticket_ = false;
  path::kind moved_by_ = path::kind::none;
  status outcome_ = status::ok;
  std::size_t bytes_ = 0;
  MPI_Status status_{};
  std::unique_ptr<cold> more_;
  std::size_t saved_bytes_ = 0;
  alignas(16)
      std::byte saved_[ticket_bytes];  // the prefix of the program's buffer, or a landing buffer
};

}  // namespace telpher::ticket
