// SPDX-License-Identifier: BSD-3-Clause
// What the calls that enqueue hand to the proxy (stream/proxy.hpp), and the requests that they give
// the program. The proxy issues the ordinary non-blocking operation by its body, and tests it like
// any thread of the program.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/handles.hpp"
#include "mpi/request_object.hpp"
#include "mpi/requests.hpp"
#include "stream/proxy.hpp"

namespace telpher::mpi {

/// An operation with a request: `start(&request)` issues it and returns MPI's code.
template <class Start>
class enqueued final : public stream::operation {
 public:
  enqueued(Start start, MPI_Status* out) noexcept : start_(std::move(start)), out_(out) {}
  int begin() noexcept override { return start_(&request_); }
  bool poll(int& code) noexcept override {
    int flag = 0;
    code = requests::test(&request_, &flag, out_);
    return flag != 0 || code != MPI_SUCCESS;
  }

 private:
  Start start_;
  MPI_Status* out_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// One that is over when it was issued: the start of a persistent request.
template <class Start>
class enqueued_start final : public stream::operation {
 public:
  explicit enqueued_start(Start start) noexcept : start_(std::move(start)) {}
  int begin() noexcept override { return start_(); }
  bool poll(int& code) noexcept override {
    code = MPI_SUCCESS;
    return true;
  }

 private:
  Start start_;
};

/// How an operation with a request of the program's has ended. The proxy writes `status` and
/// `code`, then `done` with release order; the request's owner reads them after it.
struct ending {
  std::atomic<bool> done{false};
  int code = MPI_SUCCESS;
  MPI_Status status{};

  void set(int result) noexcept {
    code = result;
    done.store(true, std::memory_order_release);
  }
};
/// With the status of a send.
inline std::shared_ptr<ending> make_ending() {
  auto made = std::make_shared<ending>();
  fill_empty(&made->status);
  return made;
}

template <class Start>
class enqueued_with_request final : public stream::operation {
 public:
  enqueued_with_request(Start start, std::shared_ptr<ending> end) noexcept
      : start_(std::move(start)), end_(std::move(end)) {}
  // When the proxy has noted its failure: who sees the request ended finds it at the stream.
  ~enqueued_with_request() override { end_->set(code_); }
  int begin() noexcept override { return code_ = start_(&request_); }
  bool poll(int& code) noexcept override {
    int flag = 0;
    code = code_ = requests::test(&request_, &flag, &end_->status);
    return flag != 0 || code != MPI_SUCCESS;
  }
  void abandon() noexcept override { code_ = MPI_ERR_OTHER; }
  const char* only_once() const noexcept override {
    return "the stream is being captured, and a replay could not give the program a request: use "
           "calls without one, or persistent requests";
  }

 private:
  Start start_;
  std::shared_ptr<ending> end_;
  int code_ = MPI_SUCCESS;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Its request. The error handler has been called by the operation's body.
class enqueued_request : public request_object {
 public:
  enqueued_request(std::shared_ptr<ending> end, void* native, MPI_Request place) noexcept
      : end_(std::move(end)), native_(native), place_(place) {}
  ~enqueued_request() override;
  bool over() const noexcept { return end_->done.load(std::memory_order_acquire); }
  void* native() const noexcept { return native_; }
  bool check() noexcept override { return over(); }
  int finish(MPI_Status* out) noexcept override {
    fill(out);
    return end_->code;
  }
  void fill(MPI_Status* out) noexcept override {
    if (out != MPI_STATUS_IGNORE) *out = end_->status;
  }
  MPI_Request request() const noexcept override { return place_; }
  void leave_handle() noexcept override { place_ = MPI_REQUEST_NULL; }
  bool enqueued_in(void*& native) const noexcept override {
    native = native_;
    return true;
  }

 private:
  std::shared_ptr<ending> end_;
  void* native_;
  MPI_Request place_;
};

/// The wait for requests of the program's.
class enqueued_wait final : public stream::operation {
 public:
  /// `ends`: some of the requests end with the wait.
  enqueued_wait(std::vector<MPI_Request> all, MPI_Status* statuses, bool ends) noexcept
      : all_(std::move(all)), statuses_(statuses), ends_(ends) {}
  int begin() noexcept override { return MPI_SUCCESS; }
  bool poll(int& code) noexcept override;
  const char* only_once() const noexcept override {
    return ends_ ? "the stream is being captured, and a graph can wait for persistent and "
                   "partitioned requests only: others end with the wait"
                 : nullptr;
  }

 private:
  std::vector<MPI_Request> all_;
  MPI_Status* statuses_;
  bool ends_;
};

/// MPI_SUCCESS, or the error for a call that the stream refused, raised on the communicator.
int report(const char* call, MPI_Comm comm, void* native, const stream::refusal& r) noexcept;

/// Enqueues for `call`, or raises on the communicator why that is not possible.
int enqueue(const char* call, MPI_Comm comm, void* native, std::unique_ptr<stream::operation> op,
            bool holds) noexcept;

/// The same for operations that the stream waits for.
template <class Start>
int enqueue(const char* call, MPI_Comm comm, void* native, MPI_Status* out, Start start) noexcept {
  return enqueue(call, comm, native, std::make_unique<enqueued<Start>>(std::move(start), out),
                 true);
}

/// The same for operations that the program gets a request for.
int take_request(const std::shared_ptr<ending>& end, void* native, MPI_Request* request) noexcept;
void drop_request(MPI_Request* request) noexcept;

template <class Start>
int enqueue_with_request(const char* call, MPI_Comm comm, void* native, MPI_Request* request,
                         Start start) noexcept {
  const auto end = make_ending();
  if (const int code = take_request(end, native, request); code != MPI_SUCCESS) return code;
  const int code =
      enqueue(call, comm, native,
              std::make_unique<enqueued_with_request<Start>>(std::move(start), end), false);
  if (code != MPI_SUCCESS) drop_request(request);
  return code;
}

/// A copy of an array of the program's, which may change it when the call has returned; nothing
/// where there is none.
template <class T>
class copied {
 public:
  copied(const T* array, int count)
      : all_(array ? std::vector<T>(array, array + count) : std::vector<T>()) {}
  operator const T*() const noexcept { return all_.data(); }

 private:
  std::vector<T> all_;
};

/// Waits for requests in the order of a stream.
int enqueue_wait(const char* call, int count, MPI_Request* requests, MPI_Status* statuses,
                 void* native) noexcept;

}  // namespace telpher::mpi
