// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/stream_messages.hpp"

#include <optional>

#include "mpi/enqueued.hpp"
#include "mpi/inbox_messages.hpp"

namespace telpher::mpi {

using pt2pt::receive_args;
using pt2pt::send_args;

namespace {

/// The start of an ordinary operation, in its turn.
template <class Start>
auto in_turn(Start start) noexcept {
  return [start, turn = matching_turn()](MPI_Request* made) mutable {
    const int code = start(made);
    turn.end();
    return code;
  };
}

}  // namespace

int enqueue_send(const send_args& a, void* native) noexcept {
  if (const auto code = send_through_inbox(a, nullptr, native)) return *code;
  return enqueue(a.call, a.comm, native, MPI_STATUS_IGNORE,
                 in_turn([a](MPI_Request* made) { return pt2pt::isend(a, made); }));
}

int enqueue_receive(const receive_args& a, MPI_Status* status, void* native) noexcept {
  if (const auto code = receive_through_inbox(a, status, nullptr, native)) return *code;
  return enqueue(a.call, a.comm, native, status,
                 in_turn([a](MPI_Request* made) { return pt2pt::irecv(a, made); }));
}

int enqueue_sendrecv(const send_args& s, const receive_args& r, MPI_Status* status,
                     void* native) noexcept {
  if (const auto code = sendrecv_through_inbox(s, r, status, native)) return *code;
  return enqueue(s.call, s.comm, native, status,
                 in_turn([s, r](MPI_Request* made) { return pt2pt::isendrecv(s, r, made); }));
}

int enqueue_isend(const send_args& a, MPI_Request* request, void* native) noexcept {
  if (const auto code = send_through_inbox(a, request, native)) return *code;
  return enqueue_with_request(a.call, a.comm, native, request,
                              in_turn([a](MPI_Request* made) { return pt2pt::isend(a, made); }));
}

int enqueue_ireceive(const receive_args& a, MPI_Request* request, void* native) noexcept {
  if (const auto code = receive_through_inbox(a, MPI_STATUS_IGNORE, request, native)) return *code;
  return enqueue_with_request(a.call, a.comm, native, request,
                              in_turn([a](MPI_Request* made) { return pt2pt::irecv(a, made); }));
}

}  // namespace telpher::mpi
