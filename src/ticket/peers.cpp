// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/peers.hpp"

#include <algorithm>

#include "device/registry.hpp"

namespace telpher::ticket {

status peer_table::find(MPI_Comm world, host_mpi::job& found) noexcept {
  found.own = std::move(job_.own);
  return host_mpi::join(world, !device::backends().empty(), config().enable, &path::segment_bytes,
                        found);
}

status peer_table::wait_for_job(host_mpi::job& found) noexcept {
  return host_mpi::wait_for_job(!device::backends().empty(), &path::segment_bytes, found);
}

void peer_table::enter(host_mpi::job&& found) noexcept {
  found.control_alone = job_.control;
  job_ = std::move(found);
  endings_seen_.clear();  // until the segments are open passes look at none
  if (job_.any_device) bell_.start(job_);
}

void peer_table::lay_out_own() noexcept {
  slots_ = static_cast<std::uint32_t>(config().slots);
  if (own_) return own_.keep_slots(slots_);
  own_ = path::own_segment(job_.own.data());
  path::neighbours::write_cpus(own_.header());
}

void peer_table::open() noexcept {
  const auto ranks = static_cast<std::size_t>(job_.size);
  segments_.resize(ranks);
  std::vector<const path::segment_header*> all, others;
  for (int r : job_.node) {
    if (r != job_.rank) segments_[at(r)] = path::segment(job_.segment(r));
    if (r != job_.rank || !own_.has_doorbell()) segment_of(r).take_doorbell();
    all.push_back(&segment_of(r).header());
    if (r != job_.rank) others.push_back(all.back());
  }
  crowded_ = path::neighbours::crowded(all);
  auto beside = std::make_unique<path::neighbours>(own_.header(), std::move(others));
  path::set_neighbours(beside.get());
  neighbours_ = std::move(beside);
  takes_.assign(ranks, taking::unknown);
  endings_seen_.assign(ranks, 0);
  memory::allocations::instance().tell_peers_by(
      [](const memory::allocation& a) { peers().own().header().ended.post(a); });
  answered_ns_.assign(ranks, 0);
  small_tickets_ = job_.all_devices && config().test_small_tickets;
  all_near_ = job_.node.size() == ranks && !path::between_nodes(path::forced());
}

std::size_t peer_table::place_on_node(int world_rank) const noexcept {
  const auto found = std::find(job_.node.begin(), job_.node.end(), world_rank);
  return found == job_.node.end() ? path::most_inboxes
                                  : static_cast<std::size_t>(found - job_.node.begin());
}

void peer_table::tidy() noexcept {
  for (const int r : job_.node)
    if (r != job_.rank && at(r) < endings_seen_.size())
      segment_of(r).header().ended.close_ended(r, endings_seen_[at(r)]);
  memory::allocations::instance().tidy();
}

void peer_table::leave() noexcept {
  memory::allocations::instance().tell_peers_by(nullptr);
  path::set_neighbours(nullptr);
  neighbours_.reset();
  for (path::segment& s : segments_) s.release_pins();
  own_.release_pins();
  memory::shut_down();
  segments_.clear();
  own_ = path::own_segment();
  host_mpi::leave(job_);
}

int peer_table::take_reply_tag(int world_rank) {
  const int span =
      (std::min(job_.tag_limit, 1 << 24) - 2) / 2;  // the two last ones have other uses
  reply_tags& of = reply_tags_[world_rank];
  do of.last = (of.last + 1) % span;
  while (!of.in_use.insert(2 * of.last).second);
  return 2 * of.last;
}

void peer_table::give_reply_tag(int world_rank, int tag) noexcept {
  if (const auto of = reply_tags_.find(world_rank); of != reply_tags_.end())
    of->second.in_use.erase(tag);
}

std::uint32_t peer_table::arrive() noexcept {
  return met_of(job_.rank).fetch_add(1, std::memory_order_release) + 1;
}

bool peer_table::met(std::uint32_t meeting) noexcept {
  return std::all_of(job_.node.begin(), job_.node.end(), [&](int rank) {
    const std::uint32_t there = met_of(rank).load(std::memory_order_acquire);
    return static_cast<std::int32_t>(there - meeting) >= 0;
  });
}

}  // namespace telpher::ticket
