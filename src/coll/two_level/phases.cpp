// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/phases.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "codec/codec.hpp"
#include "coll/exchange/exchange.hpp"
#include "datatype/datatype.hpp"
#include "host_mpi/error.hpp"
#include "kernel/reduction.hpp"
#include "path/compressed.hpp"
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
  const exchange::reduction known = exchange::reduction_of(op, type);
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

std::int64_t chunk_elements(const team& t, std::uint64_t bytes, std::int64_t unit) noexcept {
  const std::int64_t block = piece_bytes(t, bytes, 1) / unit;
  return block / granule(unit) * granule(unit) * t.among.lanes;
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

status phases::encode(memory_ref to_host, memory_ref from, const codec::plan& p) noexcept {
  auto coded = path::compress({from.where, from.at, codec::plain_bytes(p)}, p);
  TELPHER_TRY(coded);
  return memory::copy_and_wait(from.where, to_host.at, coded->data.data(), coded->bytes);
}

status phases::decode(memory_ref to, memory_ref from_host, const codec::plan& p) noexcept {
  const std::size_t bytes = codec::most_bytes(p);
  auto coded = memory::buffer::device(to.where, bytes);
  TELPHER_TRY(coded);
  TELPHER_TRY(memory::copy_and_wait(to.where, coded->data(), from_host.at, bytes));
  auto s = memory::stream(to.where, memory::lane::kernel);
  TELPHER_TRY(s);
  TELPHER_TRY(codec::decode(*to.where.owner, *s, p, coded->data(), bytes, to.at));
  return to.where.owner->synchronise(*s);
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
                            int slot) {
  const memory_ref block = team_.send_block(slot), reduced = team_.device_block(slot);
  const std::int64_t own = elements.count(me()) * by.unit;
  if (alone()) return keep(move(block, input, own));
  const bool here =
      among_devices(operation::reduce_scatter, input.on_device(), [&](exchange::arguments& a) {
        if (!a.buffers(input.at, reduced.at)) return;
        a.reducing(elements.total(), by.type, by.op);
        a.common_counts(elements.counts.data());
      });
  if (here) return keep(move(block, reduced, own));
  const memory_ref image = input.on_device() ? team_.image_in() : input;
  if (input.on_device()) keep(move(image, input, elements.total() * by.unit));
  const std::vector<int> counts = as_int(elements.counts);
  by_host_mpi([&] {
    return pmpi::Reduce_scatter(image.at, block.at, counts.data(), by.type, by.op, team_.local);
  });
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
  const memory_ref plain = coded ? team_.image_in() : own;
  if (coded) keep(failed(placed) ? placed : move(plain, place, bytes.count(me())));
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

void phases::alltoall(memory_ref input, const shares& bytes, int slot, const codec::plan& coded) {
  const memory_ref block = team_.send_block(slot), on_device = team_.device_block(slot);
  const auto at = [&](int r) { return static_cast<std::uint64_t>(bytes.offset(r)); };
  if (alone())
    return keep(coded ? encode(block, input + at(0), coded)
                      : move(block, input + at(0), bytes.count(0)));
  const shares dense = bytes.dense();
  const bool here =
      among_devices(operation::alltoallv, input.on_device(), [&](exchange::arguments& a) {
        if (!a.buffers(input.at, on_device.at)) return;
        a.output_blocks(dense.counts.data(), dense.offsets.data(), MPI_BYTE);
        a.input_blocks(bytes.counts.data(), bytes.offsets.data(), MPI_BYTE);
      });
  if (here)
    return keep(coded ? encode(block, on_device, coded) : move(block, on_device, dense.total()));
  for (int r = 0; r < team_.among.locals(); ++r)
    keep(move(team_.image_in() + static_cast<std::uint64_t>(dense.offset(r)), input + at(r),
              bytes.count(r)));
  const int each = static_cast<int>(bytes.count(0));
  by_host_mpi([&] {
    return pmpi::Alltoall(team_.image_in().at, each, MPI_BYTE, block.at, each, MPI_BYTE,
                          team_.local);
  });
  if (!coded) return;
  keep(move(on_device, block, dense.total()));
  keep(encode(block, on_device, coded));
}

// --- between nodes ---

void phases::started(int code) noexcept {
  if (code != MPI_SUCCESS) keep(status::host_mpi_error);
}

void phases::exchange_with(int to, memory_ref block, std::int64_t bytes, int from,
                           int slot) noexcept {
  const int n = static_cast<int>(bytes);
  started(pmpi::Irecv(team_.receive_block(slot).at, n, MPI_BYTE, from, 0, team_.leaders,
                      request(slot)));
  started(pmpi::Isend(block.at, n, MPI_BYTE, to, 0, team_.leaders, request(slot, 1)));
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

int phases::finish() noexcept {
  int bad = failed(status_), somebody = 0;
  MPI_Request r = MPI_REQUEST_NULL;
  started(pmpi::Iallreduce(&bad, &somebody, 1, MPI_INT, MPI_MAX, team_.comm, &r));
  wait_for_request(&r);
  if (somebody || failed(status_))
    return host_mpi::fail(call_.comm, call_.name, failed(status_) ? status_ : status::device_error,
                          "a collective in two levels failed at some rank");
  path::count(path::kind::coll_levels, call_.bytes);
  return MPI_SUCCESS;
}

}  // namespace telpher::coll::two_level
