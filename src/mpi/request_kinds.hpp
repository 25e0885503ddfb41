// SPDX-License-Identifier: BSD-3-Clause
// The request objects of point-to-point calls. See request_object.hpp for the contract.
#pragma once

#include "base/recycled.hpp"
#include "staging/pending.hpp"
#include "mpi/request_object.hpp"
#include "mpi/pt2pt.hpp"
#include "ticket/receives.hpp"
#include "ticket/sends.hpp"

namespace telpher::mpi {

/// A send by ticket.
class ticket_send final : public request_object, public recycled<ticket_send> {
 public:
  /// `send` belongs to ticket::sends(), `request` is a handle of take_handle or null.
  ticket_send(ticket::send& o, MPI_Request request, const char* call, MPI_Comm comm) noexcept
      : send_(o), request_(request), call_(call), errors_(comm) {}
  ~ticket_send() override;
  bool check() noexcept override {
    if (send_.complete()) return true;
    constexpr unsigned looks_between = 1024;
    if (++looks_ % looks_between == 0) withdraw_if_revoked();
    return send_.complete();
  }
  int finish(MPI_Status* out) noexcept override;
  void fill(MPI_Status* out) noexcept override { fill_empty(out); }
  // The send is not cancelled, but the program's wait for it must not depend on the receiver.
  void cancel() noexcept override { ticket::sends().hasten(send_); }
  // The send goes on.
  bool abandon() noexcept override {
    send_.abandon();
    return true;
  }
  MPI_Request request() const noexcept override { return request_; }
  void leave_handle() noexcept override { request_ = MPI_REQUEST_NULL; }

 private:
  void withdraw_if_revoked() noexcept;

  ticket::send& send_;
  MPI_Request request_;
  unsigned looks_ = 0;
  const char* call_;
  host_mpi::kept_comm errors_;
};

/// A native request with memory that must live as long: a send of host bytes, staged or not.
class native_send final : public request_object, public recycled<native_send> {
 public:
  native_send(MPI_Request native, memory::buffer bytes) noexcept
      : request_(native), bytes_(std::move(bytes)) {}
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void finish_quietly() noexcept override { pmpi::Request_free(&request_); }
  void fill(MPI_Status* out) noexcept override;
  void cancel() noexcept override { pmpi::Cancel(&request_); }
  MPI_Request request() const noexcept override { return request_; }
  bool may_share_handle() const noexcept override { return true; }
  /// The host MPI reads a copy, which lives as long as this: the program's buffer is free.
  bool holds_bytes() const noexcept { return static_cast<bool>(bytes_); }

 private:
  MPI_Request request_;
  memory::buffer bytes_;
};

/// A plain receive (ticket/plain_receives.hpp) that the program has freed. Until its message is
/// there no ticket may come for it.
class freed_plain_receive final : public request_object {
 public:
  explicit freed_plain_receive(MPI_Request native) noexcept : request_(native) {}
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void fill(MPI_Status* out) noexcept override { fill_empty(out); }
  MPI_Request request() const noexcept override { return request_; }

 private:
  MPI_Request request_;
};

/// A receive. The program's handle is not the host MPI's request, which ends when a ticket comes.
class receive_request final : public request_object, public recycled<receive_request> {
 public:
  explicit receive_request(const char* call) noexcept : call_(call), receive_(ticket::receives()) {}
  ~receive_request() override;
  ticket::receive& receive() noexcept { return receive_; }
  /// The program's handle, before the receive is posted: the host MPI may refuse one. Returns
  /// PMPI's code.
  int take_request() noexcept;
  bool check() noexcept override;
  bool conclude() noexcept override;
  ticket::receive* receiving() noexcept override { return receive_.posted() ? &receive_ : nullptr; }
  int finish(MPI_Status* out) noexcept override;
  void finish_quietly() noexcept override;
  void fill(MPI_Status* out) noexcept override { receive_.fill(out); }
  void cancel() noexcept override { receive_.cancel(); }
  bool abandon() noexcept override {
    receive_.abandon();
    return false;
  }
  MPI_Request request() const noexcept override { return request_; }
  void leave_handle() noexcept override { request_ = MPI_REQUEST_NULL; }

 private:
  const char* call_;
  ticket::receive receive_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// MPI_Isendrecv: done when both halves are. Its status is the receive's.
class sendrecv_request final : public request_object {
 public:
  sendrecv_request(std::unique_ptr<request_object> send, std::unique_ptr<request_object> receive,
                   MPI_Request request) noexcept
      : send_(std::move(send)), receive_(std::move(receive)), request_(request) {}
  ~sendrecv_request() override;
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void finish_quietly() noexcept override;
  void fill(MPI_Status* out) noexcept override { receive_->fill(out); }
  void cancel() noexcept override { receive_->cancel(); }
  bool abandon() noexcept override {
    send_->abandon();
    receive_->abandon();
    return false;  // both are kept until they are done
  }
  MPI_Request request() const noexcept override { return request_; }
  void leave_handle() noexcept override { request_ = MPI_REQUEST_NULL; }

 private:
  std::unique_ptr<request_object> send_;
  std::unique_ptr<request_object> receive_;
  MPI_Request request_;
};

/// A persistent send or receive: keeps the arguments; each start makes an ordinary one, which is
/// `running_`. A receive that may be plain is left to the host MPI: its own persistent request,
/// which holds the place, is started.
class persistent_request final : public request_object {
 public:
  persistent_request(const pt2pt::send_args& a, MPI_Request place) noexcept;
  persistent_request(const pt2pt::receive_args& a, MPI_Request place) noexcept;
  ~persistent_request() override;
  stream::used used_by_start() const noexcept override;
  int start() noexcept override;
  // Started in a stream, without a turn of the proxy's (mpi/stream_messages.hpp).
  persistent_request* persistent_message() noexcept override { return this; }
  const pt2pt::send_args* sends() const noexcept { return is_send_ ? &send_ : nullptr; }
  const pt2pt::receive_args* receives() const noexcept { return is_send_ ? nullptr : &receive_; }
  const void* buffer() const noexcept { return is_send_ ? send_.buffer : receive_.buffer; }
  void begin_in_stream(std::unique_ptr<request_object> r) noexcept { run(std::move(r)); }
  inbox_request* through_inbox() noexcept override {
    return running_ ? running_->through_inbox() : nullptr;
  }
  /// A stream waits for it, or it did not begin: the program may start it again.
  void end_in_stream() noexcept { run(nullptr); }
  bool check() noexcept override { return !running_ || running_->check(); }
  bool conclude() noexcept override { return !running_ || running_->conclude(); }
  ticket::receive* receiving() noexcept override {
    return running_ ? running_->receiving() : nullptr;
  }
  int finish(MPI_Status* out) noexcept override;
  void fill(MPI_Status* out) noexcept override { running_ ? running_->fill(out) : fill_empty(out); }
  void cancel() noexcept override {
    if (running_) running_->cancel();
  }
  bool abandon() noexcept override;
  MPI_Request request() const noexcept override { return place_; }
  bool persistent() const noexcept override { return true; }
  bool active() const noexcept override { return running_ != nullptr; }

 private:
  void keep_type(MPI_Datatype& type) noexcept;
  void run(std::unique_ptr<request_object> r) noexcept {
    running_ = std::move(r);
    leave_to_host(!running_);
  }

  bool is_send_;
  pt2pt::send_args send_{};
  pt2pt::receive_args receive_{};
  MPI_Datatype type_ = MPI_DATATYPE_NULL;  // a duplicate: the program may free its own
  host_mpi::kept_comm comm_;
  MPI_Request place_;
  std::unique_ptr<request_object> running_;
};

/// A staged collective's native request with the work that follows it. `place`: the handle of
/// take_handle that the program holds, or null where it holds the native request itself.
class collective_request final : public request_object {
 public:
  collective_request(const char* call, MPI_Comm comm, MPI_Request native, MPI_Request place,
                     std::unique_ptr<staging::pending> work, bool persistent) noexcept
      : call_(call),
        errors_(comm),
        native_(native),
        place_(place),
        work_(std::move(work)),
        persistent_(persistent) {}
  ~collective_request() override;
  stream::used used_by_start() const noexcept override { return {errors_.get()}; }
  int start() noexcept override;
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void finish_quietly() noexcept override;
  void fill(MPI_Status* out) noexcept override;
  bool abandon() noexcept override;
  MPI_Request request() const noexcept override {
    return place_ != MPI_REQUEST_NULL ? place_ : native_;
  }
  void leave_handle() noexcept override { place_ = MPI_REQUEST_NULL; }
  bool persistent() const noexcept override { return persistent_; }
  bool active() const noexcept override { return !persistent_ || started_; }
  staging::pending& work() const noexcept { return *work_; }

 private:
  const char* call_;
  host_mpi::kept_comm errors_;
  MPI_Request native_;
  MPI_Request place_;
  std::unique_ptr<staging::pending> work_;
  bool persistent_;
  bool started_ = false;
  bool done_ = false;
  status outcome_ = status::ok;
};

// --- how they are made; each returns null and an MPI error code in `rc` on failure ---

/// Starts a send of either kind of memory. `for_program`: the object carries a request.
std::unique_ptr<request_object> start_send(const pt2pt::send_args& a, bool for_program,
                                           int* rc) noexcept;
/// Describes the buffer of a receive. An error code if the host MPI refuses its count and type, or
/// if it cannot be received into.
int prepare_receive(ticket::receive& r, const pt2pt::receive_args& a) noexcept;
/// Posts a receive.
std::unique_ptr<receive_request> start_receive(const pt2pt::receive_args& a, int* rc) noexcept;

}  // namespace telpher::mpi
