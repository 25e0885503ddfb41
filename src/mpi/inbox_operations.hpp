// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a message through an inbox, as the proxy knows them (stream_messages.hpp has the
// protocol).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/recycled.hpp"
#include "kernel/kernel.hpp"
#include "mpi/enqueued.hpp"
#include "mpi/request_kinds.hpp"
#include "path/inbox.hpp"
#include "memory/streams.hpp"
#include "stream/proxy.hpp"
#include "stream/words.hpp"

namespace telpher::mpi {

/// The words of an operation, in one line of pinned memory. Whoever knows that no kernel uses them
/// any more gives them back; else they are kept.
class kernel_words {
 public:
  explicit kernel_words(const memory::place& where) noexcept : owner_(where.owner) {
    if (const auto line = stream::take_word(owner_)) at_ = reinterpret_cast<std::uint64_t*>(*line);
    if (at_) std::fill_n(at_, line_words, 0);
  }
  kernel_words(const kernel_words&) = delete;
  kernel_words& operator=(const kernel_words&) = delete;

  explicit operator bool() const noexcept { return at_ != nullptr; }
  std::uint64_t* order() const noexcept { return at_; }
  std::uint64_t* reached() const noexcept { return at_ + 1; }
  /// One for each block.
  std::uint32_t* over() const noexcept { return reinterpret_cast<std::uint32_t*>(at_ + 2); }
  bool are_over(int blocks) const noexcept {
    return std::all_of(over(), over() + blocks, [](const auto& word) { return is_set(&word); });
  }
  void give_order(std::uint64_t o) const noexcept {
    std::atomic_ref(*order()).store(o, std::memory_order_release);
  }
  template <class Word>
  static bool is_set(const Word* word) noexcept {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
  }
  /// No kernel uses it any more, or it was never launched.
  void give_back() noexcept {
    if (at_) stream::give_word(owner_, reinterpret_cast<std::uint32_t*>(at_));
    at_ = nullptr;
  }

 private:
  static constexpr int line_words = 8;
  static_assert(2 * 2 + kernel::inbox_take::most_blocks <= 2 * line_words);

  device::backend* owner_;
  std::uint64_t* at_ = nullptr;
};

/// What both ends share: the proxy polls each operation, and the first one that it polls in a look
/// moves all of them on, under one hold of the progress lock. The program's threads need it, too.
/// The functions are as those of stream::operation.
class inbox_operation {
 public:
  inbox_operation() = default;
  inbox_operation(const inbox_operation&) = delete;
  inbox_operation& operator=(const inbox_operation&) = delete;
  virtual ~inbox_operation();
  bool poll(int& code) noexcept;
  virtual void describe(char* text, std::size_t bytes) const noexcept = 0;
  virtual void abandon() noexcept = 0;

 protected:
  enum class need {
    nothing,
    messages,  // progress passes: for a message, or for bytes on their way
    step,      // something has happened
  };
  virtual need needs() const noexcept = 0;
  /// Under the progress lock. Calls end() once the operation is over.
  virtual void step() noexcept = 0;
  void end() noexcept { ended_ = true; }
  /// An error is told before the operation is over, so that the proxy knows it before the stream
  /// goes on.
  void fail(int code) noexcept { code_ = code; }
  /// How many receives have got the order to take their bytes and have not ended. While there are
  /// any, streams are busy, and nobody waits for the lock.
  static inline int ordered = 0;
  /// In step(): whether to ask the host MPI for this receive's message. A progress pass does that
  /// for those of which a bell tells.
  static bool asks_host() noexcept { return asked_++ == 0 || asks_for_all_; }

 private:
  static void look() noexcept;
  static inline unsigned asked_ = 0;
  static inline bool asks_for_all_ = false;

  bool listed_ = false;
  bool ended_ = false;
  int code_ = MPI_SUCCESS;
};

// --- the sender ---

/// Its kernel puts the message into the receiver's inbox. Where there is none, or no room in it,
/// the stream copies the message to memory of ours, from where it goes like any other one.
class inbox_send final : public inbox_operation, public recycled<inbox_send> {
 public:
  /// `read`: of the program's request, once the stream has read the buffer. May be null.
  inbox_send(const path::region& from, std::shared_ptr<ending> read) noexcept
      : from_(from.data),
        bytes_(from.bytes),
        words_(from.where),
        where_(from.where),
        read_(std::move(read)) {}

  bool has_words() const noexcept { return static_cast<bool>(words_); }

  /// Sends the ticket. False: nothing was sent. Under the progress lock.
  bool announce(ticket::message&& m, int peer) noexcept;
  /// What the stream does: a kernel with `blocks` for this message, or a copy.
  bool has_cells() const noexcept { return cells_.has_value(); }
  kernel::inbox_put kernel(int blocks) noexcept {
    blocks_ = blocks;
    return {from_, cells_->at, bytes_, words_.over(), cells_->mark};
  }
  status copy(device::stream s) const noexcept;
  bool is_read() const noexcept { return copied_ || words_.are_over(blocks_); }
  std::size_t bytes() const noexcept { return bytes_; }
  const memory::place& where() const noexcept { return where_; }
  void describe(char* text, std::size_t bytes) const noexcept override {
    std::snprintf(text, bytes, "a send of %zu bytes has not been reached", bytes_);
  }
  // Its receiver gets an error in place of the message.
  void abandon() noexcept override;

 private:
  need needs() const noexcept override;
  void step() noexcept override;
  void end_copy(status copied) noexcept;

  const std::byte* from_;
  std::size_t bytes_;
  kernel_words words_;
  memory::place where_;
  std::shared_ptr<ending> read_;
  int blocks_ = 1;
  std::optional<path::inbox_cells> cells_;
  std::byte* copy_ = nullptr;
  ticket::send* send_ = nullptr;
  bool copied_ = false;
};

// --- the receiver ---

/// What a receive shares with the program's request for it and with the kernel that takes its
/// bytes. That kernel is launched by the call that receives, or by a later wait in a stream.
struct taking {
  /// Who waits for the message. A kernel of another stream than the receive's own gets its order
  /// only when the own one has reached the receive.
  enum class waiter { nobody, host, own_stream, other_stream };

  taking(const memory::place& w, void* stream) noexcept : where(w), native(stream), words(w) {}
  ~taking() {
    if (words && (!launched || is_over())) words.give_back();
  }
  taking(const taking&) = delete;
  taking& operator=(const taking&) = delete;
  /// The kernel. `blocks` is written before its launch, so it is read after its first word.
  bool is_over() const noexcept {
    return words.are_over(1) && words.are_over(blocks.load(std::memory_order_relaxed));
  }
  bool by_kernel() const noexcept {
    const waiter w = by.load(std::memory_order_relaxed);
    return w == waiter::own_stream || w == waiter::other_stream;
  }

  memory::place where;
  void* native;  // the receive's stream
  kernel_words words;
  std::size_t capacity = 0;
  std::atomic<int> blocks{1};
  kernel::inbox_take kernel{};
  bool launched = false;               // the kernel
  std::atomic<bool> cancelled{false};  // by the program
  MPI_Status* out = MPI_STATUS_IGNORE;
  ending end;
  /// Written under the progress lock, as `out` is before it.
  std::atomic<waiter> by{waiter::nobody};
};

class inbox_receive final : public inbox_operation, public recycled<inbox_receive> {
 public:
  inbox_receive(const char* call, std::shared_ptr<taking> t) noexcept
      : request_(std::make_unique<receive_request>(call)), taking_(std::move(t)) {}
  ~inbox_receive() override;

  /// Posts the receive of at most `capacity` bytes to `to`. False, and an error in `rc` where MPI
  /// has raised it: nothing was posted. Under the progress lock.
  bool post(const pt2pt::receive_args& a, const path::inbox& from, std::byte* to,
            std::size_t capacity, int* rc) noexcept;
  /// By the call that receives; else a later wait does it.
  bool waits_by_kernel() const noexcept { return taking_->by_kernel(); }
  status launch_kernel(device::stream s) noexcept;
  /// Without a kernel of that call: when this has passed, the stream has got to the receive.
  void set_call(const memory::pooled_event& e) noexcept { call_ = &e; }
  memory::place where() const noexcept { return taking_->where; }
  void describe(char* text, std::size_t bytes) const noexcept override;
  void abandon() noexcept override;

 private:
  enum class phase {
    awaits_message,
    awaits_waiter,  // the message is in the inbox, or comes there
    awaits_kernel,
    awaits_stream,  // before the host may move the message
    moves,
    fails,
    ends
  };

  need needs() const noexcept override;
  void step() noexcept override;
  void await_message() noexcept;
  void serve_waiter() noexcept;
  void end_kernels_turn() noexcept;
  void end_message(MPI_Status* out) noexcept;
  void end_kernel() noexcept;
  bool is_reached() const noexcept {
    return call_ ? call_->query() == status::ok : kernel_words::is_set(taking_->words.reached());
  }
  ticket::receive& receive() noexcept { return request_->receive(); }

  std::unique_ptr<receive_request> request_;
  std::shared_ptr<taking> taking_;
  const memory::pooled_event* call_ = nullptr;
  phase phase_ = phase::awaits_message;
};

// --- what the stream and the proxy get ---

/// What one call begins in a stream: sends, and receives that a later wait takes; or one receive
/// that the stream waits for. All messages of a call have one kernel, and all receives one event.
class inbox_calls final : public stream::launched, public recycled<inbox_calls> {
 public:
  static constexpr std::size_t capacity = kernel::inbox_put_all::capacity;

  explicit inbox_calls(std::unique_ptr<inbox_send> s) noexcept { add(std::move(s)); }
  explicit inbox_calls(std::unique_ptr<inbox_receive> r) noexcept { add(std::move(r)); }
  inbox_calls() = default;

  void add(std::unique_ptr<inbox_send> s) noexcept { sends_[send_count_++] = std::move(s); }
  void add(std::unique_ptr<inbox_receive> r) noexcept {
    receives_[receive_count_++] = std::move(r);
  }
  bool empty() const noexcept { return send_count_ + receive_count_ == 0; }
  bool full() const noexcept { return send_count_ == capacity || receive_count_ == capacity; }

  status launch(device::stream s) noexcept override;
  bool is_reached() const noexcept override;
  bool poll(int& code) noexcept override;
  void describe(char* text, std::size_t bytes) const noexcept override;
  void abandon() noexcept override;

 private:
  status launch_puts(device::stream s) noexcept;
  template <class Do>
  void for_each(Do what) const noexcept;

  std::size_t send_count_ = 0, receive_count_ = 0;
  memory::pooled_event call_;  // the place of the call in the stream; for the receives
  std::array<std::unique_ptr<inbox_send>, capacity> sends_;  // null: over
  std::array<std::unique_ptr<inbox_receive>, capacity> receives_;
};

/// The wait for receives, in a stream: one kernel for all.
class inbox_wait final : public stream::launched, public recycled<inbox_wait> {
 public:
  explicit inbox_wait(std::vector<std::shared_ptr<taking>> all) noexcept : all_(std::move(all)) {}

  status launch(device::stream s) noexcept override;
  bool poll(int& code) noexcept override;
  void describe(char* text, std::size_t bytes) const noexcept override {
    std::snprintf(text, bytes, "a wait for %zu receives, the first one of %zu bytes", all_.size(),
                  all_.front()->capacity);
  }

 private:
  std::vector<std::shared_ptr<taking>> all_;  // 1 to inbox_take_all::capacity
};

}  // namespace telpher::mpi
