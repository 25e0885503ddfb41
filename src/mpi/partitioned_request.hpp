// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a partitioned communication.
//
// Protocol. A `channel` joins one MPI_Psend_init and one MPI_Precv_init: the n-th of each with the
// same communicator (its lineage name), sender, receiver and tag. Everything travels on a private
// communicator of the job, so that no message of the program can meet it.
// - At its first start the sender says once how it will send: a `hello` with the channel, how many
//   bytes and messages, and the tag of the first message.
// - In each start it sends every message once, the i-th with the i-th tag, as soon as all
//   partitions of that message are ready. It never waits for the receiver, which may have other
//   partitions. So what was marked ready arrives without a further call of the sender.
//   A message that the host MPI carries may not end before its receive is posted. A receiver that
//   is blocked in the host MPI has not heard the hello, and has posted none. So such messages leave
//   from a copy, and are complete for the program at once, until the send of one has ended.
// - The receiver posts a receive for each message as soon as it is started and knows the hello.
//   Messages of successive starts have the same tags and are matched in order.
// A message is a partition of the sender, or several where there are more than `most_messages`. It
// is received in place, except where it would end inside an element of the receiver's that has
// gaps: then into packed memory, from which each partition is unpacked when all its bytes are here.
//
// Ends may be matched for streams (matching.hpp): then `matched` is set at both, they are started,
// marked ready and waited for in streams and by kernels only, and nothing of the above happens.
//
// All under the progress lock; so threads may mark partitions ready at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/request_kinds.hpp"
#include "mpi/partitioned.hpp"
#include "mpi/stream_request.hpp"
#include "path/matched_partitions.hpp"

namespace telpher::partitioned {

constexpr int most_messages = 4096;

struct channel {
  std::uint64_t comm = 0;  // lineage::name_of
  std::uint64_t number = 0;
  std::int32_t sender = -1;  // rank of the job
  std::int32_t tag = -1;
  auto operator<=>(const channel&) const = default;
};

struct hello {
  channel from;
  std::uint64_t bytes;
  std::uint64_t message_bytes;  // of each, but the last one
  std::int32_t messages;
  std::int32_t first_tag;
};

/// What both ends share: the place in the program's hands, and the messages of this start.
class end : public mpi::stream_request {
 public:
  end(const init_args& a, int peer, MPI_Request place) noexcept;
  ~end() override;
  end(const end&) = delete;
  end& operator=(const end&) = delete;

  MPI_Request request() const noexcept override { return place_; }
  bool persistent() const noexcept override { return true; }
  bool active() const noexcept override { return active_ || in_stream; }
  bool abandon() noexcept override;
  void finish_quietly() noexcept override { finish(MPI_STATUS_IGNORE); }
  virtual bool sends() const noexcept = 0;
  int partitions() const noexcept { return args_.partitions; }
  bool has(int partition) const noexcept { return partition >= 0 && partition < partitions(); }
  /// What a start or a mark uses.
  stream::used used_as(stream::used::how as) const noexcept {
    return {errors_.get(), args_.buffer, as};
  }
  /// Raises that `partition` is none of the `count` that the call may name.
  int refuse_partition(const char* call, int partition, int count) const noexcept;
  const memory::place* matched_at() const noexcept override {
    return matched ? &matched->where() : nullptr;
  }

  const init_args& args() const noexcept { return args_; }
  int peer() const noexcept { return peer_; }
  virtual const channel& name() const noexcept = 0;
  /// The program's bytes, if they are one run; else null.
  std::byte* one_run() const noexcept;
  std::uint64_t bytes() const noexcept {
    return partition_bytes() * static_cast<std::uint64_t>(args_.partitions);
  }
  /// Of a receive that is complete.
  void fill_received(MPI_Status* out, std::uint64_t bytes) const noexcept;

  std::unique_ptr<path::matched_end> matched;  // a matched_message if `whole`
  path::matched_partitions* matched_parts() const noexcept {
    return static_cast<path::matched_partitions*>(matched.get());
  }
  /// A graph starts it or waits for it; the host does not hear when.
  bool in_graph = false;

 protected:
  std::uint64_t partition_bytes() const noexcept {
    return static_cast<std::uint64_t>(args_.count) * layout_->size;
  }
  void* element(std::uint64_t index) const noexcept {
    return static_cast<std::byte*>(args_.buffer) +
           static_cast<std::int64_t>(index) * layout_->extent;
  }
  /// Whether a message is complete; asks.
  bool complete(std::size_t message) noexcept;
  /// Whether all are, up to the first that is not.
  bool all_complete() noexcept;
  /// A start on the CPU: an error if it cannot be now.
  int may_start() const noexcept;
  /// A start, of so many messages.
  void begin(int messages) noexcept;
  /// Ends the messages. The first error among them, which nobody has raised.
  int end_messages() noexcept;

  init_args args_;
  int peer_;  // rank of the job; -1: nobody
  datatype::hold layout_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  // a duplicate: the program may free its own
  MPI_Request place_;
  bool active_ = false;
  std::vector<std::unique_ptr<mpi::request_object>> messages_;  // null: not under way yet
  std::vector<bool> complete_;
  std::size_t asked_ = 0;  // all before this one are complete
};

/// Null: it is none.
inline end* as_end(mpi::stream_request* r) noexcept {
  return dynamic_cast<end*>(r);
}

class sender final : public end {
 public:
  sender(const init_args& a, int peer, const channel& c, MPI_Request place) noexcept;
  ~sender() override;
  /// Nothing, unless it marks the one partition as well.
  stream::used used_by_start() const noexcept override {
    return used_as(args_.whole ? stream::used::how::sends : stream::used::how::nothing);
  }
  int start() noexcept override;
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void fill(MPI_Status* out) noexcept override { mpi::fill_empty(out); }
  bool sends() const noexcept override { return true; }
  const channel& name() const noexcept override { return hello_.from; }
  /// MPI_Pready: sends the message if this was its last partition.
  int ready(const char* call, int partition) noexcept;

 private:
  int greet() noexcept;
  int send(std::size_t message) noexcept;
  int send_copy(std::size_t message, const pt2pt::send_args& a) noexcept;
  void look_at_copies() noexcept;
  int partitions_in(std::size_t message) const noexcept;

  hello hello_;
  int group_ = 1;  // partitions in a message
  bool greeted_ = false;
  bool met_ = false;  // the send of a copy has ended: messages need no copies any more
  std::vector<std::unique_ptr<mpi::request_object>> copies_;  // complete for the program
  std::vector<bool> ready_;
  std::vector<int> missing_;  // partitions of each message that are not ready
  std::size_t unsent_ = 0;
};

class receiver final : public end {
 public:
  receiver(const init_args& a, int peer, const channel& c, MPI_Request place) noexcept;
  ~receiver() override;
  stream::used used_by_start() const noexcept override {
    return used_as(stream::used::how::otherwise);
  }
  int start() noexcept override;
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void fill(MPI_Status* out) noexcept override;
  bool sends() const noexcept override { return false; }
  const channel& name() const noexcept override { return channel_; }
  /// The sender has said how it will send.
  void matched(const hello& h) noexcept;
  /// MPI_Parrived.
  bool arrived(int partition) noexcept;

 private:
  void post() noexcept;
  pt2pt::receive_args place_of(std::size_t message) noexcept;
  status prepare_packed() noexcept;
  void unpack(int partition) noexcept;
  void note(int rc) noexcept {
    if (error_ == MPI_SUCCESS) error_ = rc;
  }

  channel channel_;
  hello hello_{};
  bool matched_ = false;
  enum class way : std::uint8_t { bytes, elements, packed, thrown_away } way_ = way::bytes;
  memory::buffer packed_;
  memory::place where_;
  std::vector<bool> unpacked_;
  int error_ = MPI_SUCCESS;
};

/// The private communicator, with its receivers that wait for a hello.
MPI_Comm own_comm() noexcept;
int hello_tag() noexcept;
int card_tag() noexcept;     // matching.cpp
int command_tag() noexcept;  // far_partitions.cpp, as the next one
int answer_tag() noexcept;
/// Sends a copy of some bytes there. Nobody waits for it.
int send_note(const end& from, const char* call, const void* bytes, std::size_t count,
              int tag) noexcept;
/// Takes the next one with this tag, of this many bytes. False if none has come.
bool take_note(void* bytes, std::size_t count, int tag) noexcept;
/// Tags for as many messages to one rank, from the one returned on; -1: there are none left.
int take_tags(int peer, int messages) noexcept;
void give_tags(int peer, int first) noexcept;
void await_hello(receiver& r) noexcept;
void await_no_more(receiver& r) noexcept;

}  // namespace telpher::partitioned
