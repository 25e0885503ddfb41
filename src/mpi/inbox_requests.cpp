// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/inbox_requests.hpp"

#include <algorithm>

#include "device/adopted_stream.hpp"

namespace telpher::mpi {

namespace {

/// One that a kernel of the stream shall wait for, and where the program has its request.
struct waited_for {
  std::shared_ptr<taking> what;
  request_object* request;
  MPI_Request* place;
};

/// The stream of the call that waits.
struct waiting_stream {
  device::adopted_stream& stream;
  void* native;

  bool is_own(const inbox_request& r) const noexcept {
    return native == r.native() && stream.device() == r.device() &&
           !stream.owner()->one_for_each_thread(native);
  }
  bool reaches(const memory::place& where) const noexcept {
    return where == memory::place{stream.owner(), stream.device()};
  }
};

/// The program is through with the operation: a persistent request may be started again.
void end_request(request_object& op) noexcept {
  if (persistent_request* const p = op.persistent_message())
    p->end_in_stream();
  else
    remove(op.request());
}

/// False: the proxy shall wait for it. Else the request is over or in `kernels`, and null unless it
/// is persistent. Under the progress lock.
bool take(request_object& op, MPI_Request& handle, MPI_Status* out, const waiting_stream& by,
          std::vector<waited_for>& kernels) noexcept {
  inbox_request* const r = op.through_inbox();
  if (!r) return false;
  taking* const t = r->kernel().get();
  const bool own = by.is_own(*r);
  const bool over = r->over() || (!t && own);
  if (!over && (!t || !by.reaches(t->where))) return false;
  if (!op.persistent()) handle = MPI_REQUEST_NULL;
  if (over) {
    r->fill(out);
    end_request(op);
  } else {
    t->out = out;
    t->by.store(own ? taking::waiter::own_stream : taking::waiter::other_stream,
                std::memory_order_release);
    kernels.push_back({r->kernel(), &op, &handle});
  }
  return true;
}

/// The first so many kernels were launched, so their requests are over for the program. It has the
/// others again.
void end_requests(const std::vector<waited_for>& kernels, std::size_t launched) noexcept {
  const ticket::visit v;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (i < launched) {
      end_request(*kernels[i].request);
    } else {
      kernels[i].what->by.store(taking::waiter::host, std::memory_order_release);
      *kernels[i].place = kernels[i].request->request();
    }
  }
}

}  // namespace

bool inbox_request::check() noexcept {
  if (over()) return true;
  auto nobody = taking::waiter::nobody;
  if (taking_)
    taking_->by.compare_exchange_strong(nobody, taking::waiter::host, std::memory_order_release);
  return false;
}

int wait_through_inbox(const char* call, MPI_Request* requests, MPI_Status* statuses, void* native,
                       std::vector<int>& which) noexcept {
  std::vector<waited_for> kernels;
  device::adopted_stream s(native);
  if (!s.owner() || !s.get() || s.is_captured()) return MPI_SUCCESS;
  {
    const ticket::visit v;
    std::erase_if(which, [&](int i) {
      request_object* const op = find(requests[i]);
      MPI_Status* const out = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
      return op && take(*op, requests[i], out, {s, native}, kernels);
    });
  }
  constexpr std::size_t most = kernel::inbox_take_all::capacity;
  int code = MPI_SUCCESS;
  std::size_t launched = 0;
  while (code == MPI_SUCCESS && launched < kernels.size()) {
    const std::size_t end = std::min(launched + most, kernels.size());
    std::vector<std::shared_ptr<taking>> some;
    for (std::size_t i = launched; i < end; ++i) some.push_back(kernels[i].what);
    auto wait = std::make_unique<inbox_wait>(std::move(some));
    code = report(call, MPI_COMM_SELF, native, stream::launch(s, native, std::move(wait), true));
    if (code == MPI_SUCCESS) launched = end;
  }
  if (!kernels.empty()) end_requests(kernels, launched);
  return code;
}

}  // namespace telpher::mpi
