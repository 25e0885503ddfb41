// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/phases.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "codec/accounting.hpp"
#include "coll/exchange/exchange.hpp"
#include "datatype/datatype.hpp"
#include "host_mpi/error.hpp"
#include "kernel/reduction.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::two_level {
namespace {

std::vector<int> as_int(const std::vector<std::int64_t>& numbers) {
  return {numbers.begin(), numbers.end()};  // blocks are bounded by TELPHER_COLL_BLOCK
}

std::size_t index(int r) {
  return static_cast<std::size_t>(r);
}

}  // namespace

std::optional<reducing> reducing_of(MPI_Op op, MPI_Datatype type) noexcept {
  const reduction known = exchange::reduction_of(op, type);
  if (!known.known) return std::nullopt;
  const auto layout = datatype::layout_of(type);
  if (!layout || !(*layout)->contiguous) return std::nullopt;
  return reducing{type, op, static_cast<std::int64_t>(kernel::value_bytes(known.type))};
}

shares shares::even(std::int64_t count, int lanes, int ranks, std::int64_t granule) {
  const std::int64_t each = (count + lanes - 1) / lanes;
  const std::int64_t share = (each + granule - 1) / granule * granule;
  shares s;
  for (int r = 0; r < ranks; ++r) {
    s.offsets.push_back(std::min(count, r * share));
    s.counts.push_back(r < lanes ? std::min(share, count - s.offsets.back()) : 0);
  }
  return s;
}

shares shares::times(std::int64_t unit) const {
  shares s = *this;
  for (std::int64_t& n : s.counts) n *= unit;
  for (std::int64_t& n : s.offsets) n *= unit;
  return s;
}

std::int64_t shares::total() const noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

shares shares::dense() const {
  shares s = *this;
  std::exclusive_scan(counts.begin(), counts.end(), s.offsets.begin(), std::int64_t{0});
  return s;
}

std::int64_t piece_bytes(const team& t, std::uint64_t bytes, int parts) noexcept {
  constexpr std::uint64_t worth_a_message = 64 * 1024, chunks_to_overlap = 4;
  const auto lanes = static_cast<std::uint64_t>(t.among.lanes);
  const std::uint64_t wanted = std::max(bytes / lanes / chunks_to_overlap, worth_a_message);
  const std::uint64_t block = std::min<std::uint64_t>(config().coll_block, wanted);
  constexpr std::int64_t wide = 256;  // pieces begin where devices and codecs like values to be
  const std::int64_t piece = static_cast<std::int64_t>(block) / parts;
  return piece < wide ? std::max<std::int64_t>(1, piece) : piece / wide * wide;
}

std::int64_t chunk_elements(const team& t, std::uint64_t bytes, std::int64_t unit,
                            std::int64_t granule) noexcept {
  const std::int64_t block = piece_bytes(t, bytes, 1) / unit;
  return block / granule * granule * t.among.lanes;
}

// --- moving ---

status phases::move(memory_ref to, memory_ref from, std::int64_t bytes) noexcept {
  if (bytes == 0) return status::ok;
  const auto n = static_cast<std::size_t>(bytes);
  if (to.on_device()) return memory::copy_and_wait(to.where, to.at, from.at, n);
  if (from.on_device()) return memory::copy_and_wait(from.where, to.at, from.at, n);
  std::memcpy(to.at, from.at, n);
  return status::ok;
}

status phases::move_shares(memory_ref output, const shares& bytes, memory_ref dense) noexcept {
  std::uint64_t from = 0;
  for (std::size_t r = 0; r < bytes.counts.size();) {
    const std::int64_t to = bytes.offsets[r];
    std::int64_t run = bytes.counts[r];  // neighbours go as one
    for (++r; r < bytes.counts.size() && bytes.offsets[r] == to + run; ++r) run += bytes.counts[r];
    TELPHER_TRY(move(output + static_cast<std::uint64_t>(to), dense + from, run));
    from += static_cast<std::uint64_t>(run);
  }
  return status::ok;
}

/// False: some rank of the node cannot, and all of them know.
template <class Fill>
bool phases::among_devices(operation what, bool possible, Fill&& fill) {
  if (!team_.devices) return false;
  exchange::arguments a(what, team_.among.locals(), me());
  a.possible = possible;
  if (possible) fill(a);
  int code = MPI_SUCCESS;
  if (!exchange::call_blocking(call_.name, *team_.devices, a, &code)) return false;
  if (code != MPI_SUCCESS) keep(status::device_error);
  return true;
}

template <class Call>
void phases::by_host_mpi(Call&& call) noexcept {
  ticket::blocking_call blocked;
  if (call() != MPI_SUCCESS) keep(status::host_mpi_error);
}

// --- in the node ---

void phases::reduce_scatter(memory_ref input, const shares& elements, const reducing& by,
                            memory_ref to, int slot) {
  const memory_ref block = team_.send_block(slot);
  const memory_ref reduced = to.on_device() ? to : team_.device_block(slot);
  const std::int64_t own = elements.count(me()) * by.unit;
  if (alone()) return keep(move(to, input, own));
  const bool here =
      among_devices(operation::reduce_scatter, input.on_device(), [&](exchange::arguments& a) {
        if (!a.buffers(input.at, reduced.at)) return;
        a.reducing(elements.total(), by.type, by.op);
        a.common_counts(elements.counts.data());
      });
  if (here) return to.on_device() ? void() : keep(move(block, reduced, own));
  const memory_ref image = input.on_device() ? team_.image_in() : input;
  if (input.on_device()) keep(move(image, input, elements.total() * by.unit));
  const std::vector<int> counts = as_int(elements.counts);
  by_host_mpi([&] {
    return pmpi::Reduce_scatter(image.at, block.at, counts.data(), by.type, by.op, team_.local);
  });
  if (to.on_device()) keep(move(to, block, own));
}

void phases::allgather(memory_ref output, const shares& bytes, memory_ref own,
                       const codec::plan& coded) {
  const memory_ref place = output + static_cast<std::uint64_t>(bytes.offset(me()));
  const status placed = coded ? decode(place, own, coded) : move(place, own, bytes.count(me()));
  if (alone()) return keep(placed);
  const bool possible = output.on_device() && !failed(placed);
  const bool here = among_devices(operation::allgatherv, possible, [&](exchange::arguments& a) {
    if (!a.buffers(MPI_IN_PLACE, output.at)) return;
    a.output_blocks(bytes.counts.data(), bytes.offsets.data(), MPI_BYTE);
    a.own_block(0, MPI_BYTE);
  });
  if (here) return;
  const bool away = coded || own.on_device();
  const memory_ref plain = away ? team_.image_in() : own;
  if (away) keep(failed(placed) ? placed : move(plain, place, bytes.count(me())));
  const shares dense = bytes.dense();
  const std::vector<int> counts = as_int(dense.counts), offsets = as_int(dense.offsets);
  by_host_mpi([&] {
    return pmpi::Allgatherv(plain.at, counts[index(me())], MPI_BYTE, team_.image_out().at,
                            counts.data(), offsets.data(), MPI_BYTE, team_.local);
  });
  keep(move_shares(output, bytes, team_.image_out()));
}

void phases::gather(memory_ref output, const shares& bytes, int root, int slot) {
  const memory_ref block = team_.receive_block(slot), on_device = team_.device_block(slot);
  const bool at_root = me() == root;
  const std::int64_t own = bytes.count(me());
  const memory_ref place =
      at_root ? output + static_cast<std::uint64_t>(bytes.offset(root)) : on_device;
  const status placed = move(place, block, own);
  if (alone()) return keep(placed);
  const bool here = among_devices(
      operation::gatherv, place.on_device() && !failed(placed), [&](exchange::arguments& a) {
        a.rooted(root);
        if (!(at_root ? a.buffers(MPI_IN_PLACE, output.at) : a.buffers(on_device.at, nullptr)))
          return;
        if (at_root) a.output_blocks(bytes.counts.data(), bytes.offsets.data(), MPI_BYTE);
        a.own_block(own, MPI_BYTE);
      });
  if (here) return;
  const shares dense = bytes.dense();
  const std::vector<int> counts = as_int(dense.counts), offsets = as_int(dense.offsets);
  by_host_mpi([&] {
    return pmpi::Gatherv(block.at, counts[index(me())], MPI_BYTE, team_.image_out().at,
                         counts.data(), offsets.data(), MPI_BYTE, root, team_.local);
  });
  if (at_root) keep(move_shares(output, bytes, team_.image_out()));
}

void phases::bcast(memory_ref buffer, std::int64_t bytes, int root) {
  if (alone()) return;
  const bool at_root = me() == root;
  const bool here =
      among_devices(operation::bcast, buffer.on_device(), [&](exchange::arguments& a) {
        a.rooted(root);
        if (at_root ? a.buffers(buffer.at, nullptr) : a.buffers(nullptr, buffer.at))
          a.vector(bytes, MPI_BYTE);
      });
  if (here) return;
  const memory_ref image = buffer.on_device() ? team_.image_in() : buffer;
  if (at_root && buffer.on_device()) keep(move(image, buffer, bytes));
  by_host_mpi(
      [&] { return pmpi::Bcast(image.at, static_cast<int>(bytes), MPI_BYTE, root, team_.local); });
  if (!at_root && buffer.on_device()) keep(move(buffer, image, bytes));
}

void phases::alltoall(memory_ref input, const shares& bytes, const shares& dense, int slot,
                      const codec::plan& coded) {
  const memory_ref block = team_.send_block(slot), on_device = team_.device_block(slot);
  const auto at = [&](int r) { return static_cast<std::uint64_t>(bytes.offset(r)); };
  if (alone())
    return keep(coded ? encode(block, input + at(0), coded)
                      : move(block, input + at(0), bytes.count(0)));
  const bool here =
      among_devices(operation::alltoallv, input.on_device(), [&](exchange::arguments& a) {
        if (!a.buffers(input.at, on_device.at)) return;
        a.output_blocks(dense.counts.data(), dense.offsets.data(), MPI_BYTE);
        a.input_blocks(bytes.counts.data(), bytes.offsets.data(), MPI_BYTE);
      });
  if (here)
    return keep(coded ? encode(block, on_device, coded) : move(block, on_device, dense.total()));
  const shares image = bytes.dense();
  for (int r = 0; r < team_.among.locals(); ++r)
    keep(move(team_.image_in() + static_cast<std::uint64_t>(image.offset(r)), input + at(r),
              bytes.count(r)));
  const std::vector<int> sent = as_int(image.counts), sent_at = as_int(image.offsets);
  const std::vector<int> got = as_int(dense.counts), got_at = as_int(dense.offsets);
  by_host_mpi([&] {
    return pmpi::Alltoallv(team_.image_in().at, sent.data(), sent_at.data(), MPI_BYTE, block.at,
                           got.data(), got_at.data(), MPI_BYTE, team_.local);
  });
  if (!coded) return;
  keep(move(on_device, block, dense.total()));
  keep(encode(block, on_device, coded));
}

// --- between nodes ---

void phases::started(int code) noexcept {
  if (code != MPI_SUCCESS) keep(status::host_mpi_error);
}

void phases::send_to(int node, memory_ref block, std::int64_t bytes, int slot) noexcept {
  if (bytes == 0) return;
  started(pmpi::Isend(block.at, static_cast<int>(bytes), MPI_BYTE, node, 0, team_.leaders,
                      request(slot, 1)));
}

void phases::receive_from(int node, std::int64_t bytes, int slot) noexcept {
  if (bytes == 0) return;
  started(pmpi::Irecv(team_.receive_block(slot).at, static_cast<int>(bytes), MPI_BYTE, node, 0,
                      team_.leaders, request(slot)));
}

void phases::wait(int slot) noexcept {
  for (const int which : {0, 1}) wait_for_request(request(slot, which));
}

void phases::wait_for_request(MPI_Request* r) noexcept {
  int complete = *r == MPI_REQUEST_NULL;
  exchange::wait_for(
      [&] {
        if (complete) return true;
        const int code = pmpi::Test(r, &complete, MPI_STATUS_IGNORE);
        started(code);
        return complete || code != MPI_SUCCESS;
      },
      [&](double s) { TELPHER_WARN("%s: has waited %.0f s for other nodes", call_.name, s); });
}

void phases::keep_errors(std::optional<int> in_parts, std::optional<int> in_sums) noexcept {
  in_parts_ = std::max(in_parts_, in_parts.value_or(no_error));
  in_sums_ = std::max(in_sums_, in_sums.value_or(no_error));
}

int phases::finish() noexcept {
  const int own[] = {failed(status_), in_parts_, in_sums_};
  int all[] = {0, no_error, no_error};
  MPI_Request r = MPI_REQUEST_NULL;
  started(pmpi::Iallreduce(own, all, 3, MPI_INT, MPI_MAX, team_.comm, &r));
  wait_for_request(&r);
  // A sum has a part of every other node, each with an error, and then one of its own.
  const auto others = static_cast<double>(team_.among.nodes.size() - 1);
  if (std::max(all[1], all[2]) > no_error)
    codec::count_error(codec::method::zfp,
                       others * std::ldexp(1.0, all[1]) + std::ldexp(1.0, all[2]));
  if (all[0] || failed(status_))
    return host_mpi::fail(call_.comm, call_.name, failed(status_) ? status_ : status::device_error,
                          "a collective in two levels failed at some rank");
  path::count(path::kind::coll_levels, call_.bytes);
  return MPI_SUCCESS;
}

}  // namespace telpher::coll::two_level
