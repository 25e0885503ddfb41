// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/coded_sum.hpp"

#include "base/log.hpp"
#include "coll/exchange/exchange.hpp"

namespace telpher::coll::two_level {
namespace {

/// zfp rounds a stream up to 64 bits. 64 of its blocks of four values are a multiple of that at any
/// rate.
constexpr std::int64_t whole_stream = 256;

}  // namespace

coded_sum::coded_sum(const team& t, phases& p, const coding& how, const reducing& by,
                     std::int64_t each)
    : t_(t), p_(p), how_(how), by_(by), nodes_(static_cast<int>(t.among.nodes.size())) {
  if (!how || each == 0) return;
  const double crossing = (nodes_ - 1.0) / nodes_;
  coded_ = coding::pays(how.row(nodes_ * part(each) * by.unit), crossing);
}

std::int64_t coded_sum::granule(const team& t) noexcept {
  return static_cast<std::int64_t>(t.among.nodes.size()) * whole_stream;
}

std::int64_t coded_sum::part(std::int64_t values) const noexcept {
  return (values + granule(t_) - 1) / granule(t_) * whole_stream;
}

memory_ref coded_sum::place(int node, std::int64_t part, int slot) const noexcept {
  return t_.device_block(slot) + static_cast<std::uint64_t>(node * part * by_.unit);
}

/// The constructor has asked whether it pays: a short chunk goes the way of the others.
codec::plan coded_sum::plan(std::int64_t parts, std::int64_t part) const noexcept {
  return how_.row(parts * part * by_.unit);
}

void coded_sum::fill_up(memory_ref at, std::int64_t values, std::int64_t room) noexcept {
  if (values == room) return;
  const auto fill = [&]() -> status {
    auto s = memory::stream(at.where, memory::lane::kernel);
    TELPHER_TRY(s);
    TELPHER_TRY(at.where.owner->fill(at.at + values * by_.unit, 0,
                                     static_cast<std::size_t>((room - values) * by_.unit), *s));
    return at.where.owner->synchronise(*s);
  };
  p_.keep(fill());
}

void coded_sum::scatter(std::int64_t part, int slot) noexcept {
  std::optional<int> error;
  p_.keep(encode(t_.send_block(slot), place(0, part, slot), plan(nodes_, part), &error));
  p_.keep_errors(error, std::nullopt);
  const int bytes = static_cast<int>(codec::most_bytes(plan(1, part)));
  p_.started(pmpi::Ialltoall(t_.send_block(slot).at, bytes, MPI_BYTE, t_.receive_block(slot).at,
                             bytes, MPI_BYTE, t_.leaders, p_.request(slot)));
}

void coded_sum::reduce(std::int64_t part, int slot) noexcept {
  const std::int64_t bytes = part * by_.unit;
  const memory_ref own = place(t_.among.node, part, slot);
  const auto sum = [&]() -> status {
    auto decoded = memory::buffer::device(own.where, static_cast<std::size_t>(nodes_ * bytes));
    TELPHER_TRY(decoded);
    const memory_ref all{static_cast<std::byte*>(decoded->data()), own.where};
    TELPHER_TRY(decode(all, t_.receive_block(slot), plan(nodes_, part)));
    std::vector<const void*> parts;
    for (int n = 0; n < nodes_; ++n)
      parts.push_back(n == t_.among.node ? own.at : all.at + n * bytes);
    const memory_ref to = all + static_cast<std::uint64_t>(t_.among.node * bytes);
    TELPHER_TRY(add(to, parts, bytes));
    return memory::copy_and_wait(own.where, own.at, to.at, static_cast<std::size_t>(bytes));
  };
  p_.keep(sum());
}

status coded_sum::add(memory_ref to, const std::vector<const void*>& parts,
                      std::int64_t bytes) noexcept {
  const reduction r = exchange::reduction_of(by_.op, by_.type);
  status s = status::would_block;
  // Another communicator's kernels may hold all lanes.
  exchange::wait_for(
      [&] {
        s = exchange::reduce_runs(to.where, r, to.at, parts, static_cast<std::uint64_t>(bytes));
        return s != status::would_block;
      },
      [](double seconds) { TELPHER_WARN("a sum has waited %.0f s for a free kernel", seconds); });
  return s == status::not_supported ? add_on_host(to, parts, bytes) : s;
}

status coded_sum::add_on_host(memory_ref to, const std::vector<const void*>& parts,
                              std::int64_t bytes) noexcept {
  const auto n = static_cast<std::size_t>(bytes);
  auto sum = memory::buffer::host(n, to.where.owner),
       next = memory::buffer::host(n, to.where.owner);
  TELPHER_TRY(sum);
  TELPHER_TRY(next);
  TELPHER_TRY(memory::copy_and_wait(to.where, sum->data(), parts[0], n));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    TELPHER_TRY(memory::copy_and_wait(to.where, next->data(), parts[i], n));
    if (pmpi::Reduce_local(sum->data(), next->data(), static_cast<int>(bytes / by_.unit), by_.type,
                           by_.op) != MPI_SUCCESS)
      return status::host_mpi_error;
    std::swap(*sum, *next);
  }
  return memory::copy_and_wait(to.where, to.at, sum->data(), n);
}

void coded_sum::gather(std::int64_t part, int slot) noexcept {
  std::optional<int> error;
  p_.keep(encode(t_.send_block(slot), place(t_.among.node, part, slot), plan(1, part), &error));
  p_.keep_errors(std::nullopt, error);
  const int bytes = static_cast<int>(codec::most_bytes(plan(1, part)));
  p_.started(pmpi::Iallgather(t_.send_block(slot).at, bytes, MPI_BYTE, t_.receive_block(slot).at,
                              bytes, MPI_BYTE, t_.leaders, p_.request(slot)));
}

memory_ref coded_sum::sums(std::int64_t part, int slot) noexcept {
  const memory_ref to = place(0, part, slot);
  p_.keep(decode(to, t_.receive_block(slot), plan(nodes_, part)));
  return to;
}

}  // namespace telpher::coll::two_level
