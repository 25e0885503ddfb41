// SPDX-License-Identifier: BSD-3-Clause
// Collectives in which a rank exchanges with a few others, each block of its own: neighbourhood
// collectives and MPI_Alltoallw. On device memory they run as a receive from and a send to each
// neighbour, over a private communicator (message_channel.hpp says when). A block then goes the
// way that a message of the program's goes: types with gaps are packed on the device, and no block
// touches host memory that need not.
#pragma once

#include <cstddef>
#include <vector>

#include "coll/regions.hpp"
#include "mpi/message_channel.hpp"

namespace telpher::mpi::by_messages {

struct block {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
};

/// What a call sends and receives, by the index of the neighbour.
struct exchange_plan {
  const neighbourhood* who = nullptr;
  std::vector<block> out, in;
  bool in_place = false;  // what is sent lies where the blocks are received
};

/// A call as a function that fills its plan. `everybody`: among all ranks.
template <class Fill>
struct described {
  bool everybody;
  Fill fill;
};
template <class Fill>
described(bool, Fill) -> described<Fill>;

inline void* at(const void* buffer, std::int64_t bytes) noexcept {
  return static_cast<std::byte*>(const_cast<void*>(buffer)) + bytes;
}

inline std::int64_t stride_of(MPI_Datatype type) noexcept {
  return type == MPI_DATATYPE_NULL ? 0 : coll::extent_of(type);
}

/// Blocks one after another.
inline void add_uniform(std::vector<block>& to, std::size_t n, const void* buffer, MPI_Count count,
                        MPI_Datatype type) {
  const std::int64_t extent = count * stride_of(type);
  for (std::size_t i = 0; i < n; ++i)
    to.push_back({at(buffer, static_cast<std::int64_t>(i) * extent), count, type});
}

/// Blocks where the call says, in extents of the type.
template <class Count, class Displacement>
void add_ragged(std::vector<block>& to, std::size_t n, const void* buffer, const Count* counts,
                const Displacement* displacements, MPI_Datatype type) {
  const std::int64_t extent = stride_of(type);
  for (std::size_t i = 0; i < n; ++i)
    to.push_back({at(buffer, displacements[i] * extent), counts[i], type});
}

/// The same in bytes, each block with its own type.
template <class Count, class Displacement>
void add_ragged_w(std::vector<block>& to, std::size_t n, const void* buffer, const Count* counts,
                  const Displacement* displacements, const MPI_Datatype* types) {
  for (std::size_t i = 0; i < n; ++i)
    to.push_back({at(buffer, displacements[i]), counts[i], types[i]});
}

// --- the calls, with the parameters of MPI's but the communicator ---

template <class Count>
auto neighbor_allgather(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                        Count receive_count, MPI_Datatype receive_type) noexcept {
  return described(false, [=](exchange_plan& p) {
    p.out.assign(p.who->to.size(), {const_cast<void*>(send), send_count, send_type});
    add_uniform(p.in, p.who->from.size(), receive, receive_count, receive_type);
  });
}

template <class Count, class Displacement>
auto neighbor_allgatherv(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                         const Count* counts, const Displacement* displacements,
                         MPI_Datatype receive_type) noexcept {
  return described(false, [=](exchange_plan& p) {
    p.out.assign(p.who->to.size(), {const_cast<void*>(send), send_count, send_type});
    add_ragged(p.in, p.who->from.size(), receive, counts, displacements, receive_type);
  });
}

template <class Count>
auto neighbor_alltoall(const void* send, Count send_count, MPI_Datatype send_type, void* receive,
                       Count receive_count, MPI_Datatype receive_type) noexcept {
  return described(false, [=](exchange_plan& p) {
    add_uniform(p.out, p.who->to.size(), send, send_count, send_type);
    add_uniform(p.in, p.who->from.size(), receive, receive_count, receive_type);
  });
}

template <class Count, class Displacement>
auto neighbor_alltoallv(const void* send, const Count* send_counts,
                        const Displacement* send_displacements, MPI_Datatype send_type,
                        void* receive, const Count* counts, const Displacement* displacements,
                        MPI_Datatype receive_type) noexcept {
  return described(false, [=](exchange_plan& p) {
    add_ragged(p.out, p.who->to.size(), send, send_counts, send_displacements, send_type);
    add_ragged(p.in, p.who->from.size(), receive, counts, displacements, receive_type);
  });
}

template <class Count, class Displacement>
auto among(bool everybody, const void* send, const Count* send_counts,
           const Displacement* send_displacements, const MPI_Datatype* send_types, void* receive,
           const Count* counts, const Displacement* displacements,
           const MPI_Datatype* types) noexcept {
  return described(everybody, [=](exchange_plan& p) {
    p.in_place = everybody && send == MPI_IN_PLACE;
    add_ragged_w(p.in, p.who->from.size(), receive, counts, displacements, types);
    if (p.in_place)
      p.out = p.in;
    else
      add_ragged_w(p.out, p.who->to.size(), send, send_counts, send_displacements, send_types);
  });
}
template <class... Arguments>
auto neighbor_alltoallw(const Arguments&... arguments) noexcept {
  return among(false, arguments...);
}
template <class... Arguments>
auto alltoallw(const Arguments&... arguments) noexcept {
  return among(true, arguments...);
}

// --- running them ---

struct call_site {
  const char* call;
  MPI_Comm comm;
  message_channel::pointer channel;
};

/// Whether the call that `plan` describes goes by messages; collective. The first settles that for
/// later calls as well.
bool settles(const call_site& s, const exchange_plan& plan) noexcept;
bool agrees(const call_site& s, const exchange_plan& plan) noexcept;
int run_round(const call_site& s, const exchange_plan& plan) noexcept;
int start_round(const call_site& s, const exchange_plan& plan, MPI_Request* request) noexcept;
int make_persistent(const call_site& s, exchange_plan&& plan, int tags,
                    MPI_Request* request) noexcept;

template <class Fill>
exchange_plan plan_of(const message_channel::pointer& channel, const described<Fill>& what) {
  exchange_plan p;
  p.who = what.everybody ? &channel->everybody() : &channel->neighbours();
  what.fill(p);
  return p;
}

/// The state, if the communicator may have such a call at all.
template <class Fill>
message_channel::pointer channel_for(MPI_Comm comm, const described<Fill>& what) noexcept {
  auto channel = message_channel::of(comm);
  return channel && (what.everybody || channel->has_topology()) ? channel : nullptr;
}

/// Each returns false if the call is the host MPI's; else it has run and `code` is its result.
template <class Fill>
bool run(const char* call, MPI_Comm comm, const described<Fill>& what, int* code) noexcept {
  const call_site s{call, comm, channel_for(comm, what)};
  if (!s.channel) return false;
  const bool settle = s.channel->settles_now();
  if (!settle && !s.channel->in_force()) return false;
  const exchange_plan p = plan_of(s.channel, what);
  if (settle && !settles(s, p)) return false;
  *code = run_round(s, p);
  return true;
}

template <class Fill>
bool start(const char* call, MPI_Comm comm, const described<Fill>& what, MPI_Request* request,
           int* code) noexcept {
  const call_site s{call, comm, message_channel::known(comm)};
  if (!s.channel || !s.channel->in_force()) return false;
  if (!what.everybody && !s.channel->has_topology()) return false;
  *code = start_round(s, plan_of(s.channel, what), request);
  return true;
}

template <class Fill>
bool init(const char* call, MPI_Comm comm, const described<Fill>& what, MPI_Request* request,
          int* code) noexcept {
  const call_site s{call, comm, channel_for(comm, what)};
  if (!s.channel) return false;
  const int tags = s.channel->take_tags();
  if (tags < 0) return false;
  exchange_plan p = plan_of(s.channel, what);
  if (!agrees(s, p)) return false;
  *code = make_persistent(s, std::move(p), tags, request);
  return true;
}

}  // namespace telpher::mpi::by_messages
