// SPDX-License-Identifier: BSD-3-Clause
// PMPI's sends and receives by mode, in the form that fits the count.
#include <algorithm>
#include <climits>
#include <cstdio>

#include "host_mpi/error.hpp"
#include "mpi/send.hpp"

namespace telpher::mpi {

using pt2pt::send_args;
using pt2pt::send_mode;

namespace {

// One element of so many bytes: blocks of 1 MB and what is left.
int make_bytes_type(MPI_Count bytes, MPI_Datatype* type) noexcept {
  constexpr MPI_Count block_bytes = 1 << 20;
  const int blocks = static_cast<int>(bytes / block_bytes);
  MPI_Datatype block = MPI_DATATYPE_NULL;
  int rc = pmpi::Type_contiguous(static_cast<int>(block_bytes), MPI_BYTE, &block);
  if (rc != MPI_SUCCESS) return rc;
  const int lengths[] = {blocks, static_cast<int>(bytes % block_bytes)};
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(blocks * block_bytes)};
  const MPI_Datatype types[] = {block, MPI_BYTE};
  rc = pmpi::Type_create_struct(2, lengths, places, types, type);
  pmpi::Type_free(&block);
  return rc != MPI_SUCCESS ? rc : pmpi::Type_commit(type);
}

// Calls the int form, or the _c form for a count that needs it. Where there is none, bytes go as
// one element of a type of that size: a receiver may need the bytes of a device message of any
// size.
template <class Small, class Large, class... Rest>
int by_count(const Small& small, const Large& large, const send_args& a, Rest... rest) noexcept {
  if (a.count == static_cast<int>(a.count))
    return small(a.buffer, static_cast<int>(a.count), a.type, a.destination, a.tag, a.comm,
                 rest...);
  if (!large.available() && a.type == MPI_BYTE && a.count / (1 << 20) < INT_MAX) {
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    int rc = make_bytes_type(a.count, &whole);
    if (rc != MPI_SUCCESS) return rc;
    rc = small(a.buffer, 1, whole, a.destination, a.tag, a.comm, rest...);
    pmpi::Type_free(&whole);  // lives as long as the message
    return rc;
  }
  if (!large.available()) {
    char why[80];
    std::snprintf(why, sizeof why, "this MPI cannot send %lld elements in one message",
                  static_cast<long long>(a.count));
    return host_mpi::fail_with(a.comm, a.call, MPI_ERR_COUNT, why);
  }
  return large(a.buffer, a.count, a.type, a.destination, a.tag, a.comm, rest...);
}

}  // namespace

int host_send(const send_args& a) noexcept {
  switch (a.mode) {
    case send_mode::buffered:
      return by_count(pmpi::Bsend, pmpi::Bsend_c, a);
    case send_mode::synchronous:
      return by_count(pmpi::Ssend, pmpi::Ssend_c, a);
    case send_mode::ready:
      return by_count(pmpi::Rsend, pmpi::Rsend_c, a);
    case send_mode::standard:
      break;
  }
  return by_count(pmpi::Send, pmpi::Send_c, a);
}

int host_isend(const send_args& a, MPI_Request* request) noexcept {
  switch (a.mode) {
    case send_mode::buffered:
      return by_count(pmpi::Ibsend, pmpi::Ibsend_c, a, request);
    case send_mode::synchronous:
      return by_count(pmpi::Issend, pmpi::Issend_c, a, request);
    case send_mode::ready:
      return by_count(pmpi::Irsend, pmpi::Irsend_c, a, request);
    case send_mode::standard:
      break;
  }
  return by_count(pmpi::Isend, pmpi::Isend_c, a, request);
}

int host_send_init(const send_args& a, MPI_Request* request) noexcept {
  switch (a.mode) {
    case send_mode::buffered:
      return by_count(pmpi::Bsend_init, pmpi::Bsend_init_c, a, request);
    case send_mode::synchronous:
      return by_count(pmpi::Ssend_init, pmpi::Ssend_init_c, a, request);
    case send_mode::ready:
      return by_count(pmpi::Rsend_init, pmpi::Rsend_init_c, a, request);
    case send_mode::standard:
      break;
  }
  return by_count(pmpi::Send_init, pmpi::Send_init_c, a, request);
}

int host_recv_init(const pt2pt::receive_args& a, MPI_Request* request) noexcept {
  if (a.count != static_cast<int>(a.count) && pmpi::Recv_init_c.available())
    return pmpi::Recv_init_c(a.buffer, a.count, a.type, a.source, a.tag, a.comm, request);
  const int count = static_cast<int>(std::clamp<MPI_Count>(a.count, -1, INT_MAX));
  return pmpi::Recv_init(a.buffer, count, a.type, a.source, a.tag, a.comm, request);
}

}  // namespace telpher::mpi
