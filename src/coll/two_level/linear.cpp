// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/linear.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/log.hpp"

namespace telpher::coll::two_level {

linear::linear(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept
    : count_(count), buffer_{static_cast<std::byte*>(const_cast<void*>(buffer)), {}} {
  MPI_Count size = 0;
  if (count <= 0 || type == MPI_DATATYPE_NULL || pmpi::Type_size_x(type, &size) != MPI_SUCCESS ||
      size <= 0)
    return;
  bytes_ = static_cast<std::uint64_t>(count * size);
  const auto found = datatype::layout_of(type);
  if (!found) return;
  layout_ = *found;
  // With MPI_BOTTOM only the addresses of the blocks say what memory it is.
  if (!layout_->blocks.empty())
    buffer_.where = memory::classify(buffer_.at + layout_->blocks.front().offset);
}

bool linear::contiguous() const noexcept {
  return layout_ && layout_->one_run(count_) && !layout_->blocks.empty() &&
         layout_->blocks.front().offset == 0;
}

status linear::copy(bool to_packed) noexcept {
  const memory::place& p = buffer_.where;
  if (!p.on_device()) {
    if (to_packed)
      datatype::pack_host(*layout_, buffer_.at, 0, bytes(), packed_.data());
    else
      datatype::unpack_host(*layout_, packed_.data(), 0, bytes(), buffer_.at);
    return status::ok;
  }
  auto s = memory::stream(p, memory::lane::kernel);
  TELPHER_TRY(s);
  TELPHER_TRY(to_packed
                  ? datatype::pack(*p.owner, *layout_, buffer_.at, count_, packed_.data(), *s)
                  : datatype::unpack(*p.owner, *layout_, packed_.data(), buffer_.at, count_, *s));
  return p.owner->synchronise(*s);
}

memory_ref linear::open(bool load) noexcept {
  if (contiguous() || bytes_ == 0) return buffer_;
  auto made = memory::buffer::host(bytes(), buffer_.where.owner, buffer_.on_device());
  if (made) packed_ = std::move(*made);
  packed_.filled();
  if (!layout_ || !made || (load && failed(copy(true)))) {
    TELPHER_ERROR("no packed copy of %llu bytes can be made for a collective that is under way",
                  static_cast<unsigned long long>(bytes()));
    pmpi::Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  }
  return {static_cast<std::byte*>(packed_.data()), {}};
}

status linear::close() noexcept {
  return packed_ ? copy(false) : status::ok;
}

ragged::ragged(const void* buffer, int blocks, numbers counts, numbers displacements,
               MPI_Datatype type)
    : buffer_{static_cast<std::byte*>(const_cast<void*>(buffer)), {}} {
  MPI_Count size = 0;
  if (type != MPI_DATATYPE_NULL) pmpi::Type_size_x(type, &size);
  const std::vector<std::int64_t> elements = counts.first(blocks);
  for (const std::int64_t n : elements) bytes_.push_back(std::max<std::int64_t>(0, n) * size);
  if (total() == 0) {
    offsets_.resize(bytes_.size());
    return;
  }
  if (!linear(buffer, 2, type).contiguous()) {  // one element may hide a gap at its end
    make_type(buffer, elements, displacements, type);
    return;
  }
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (int b = 0; b < blocks; ++b) {
    offsets_.push_back(displacements[b] * size);
    if (bytes_[static_cast<std::size_t>(b)] > 0) first = std::min(first, offsets_.back());
  }
  for (std::size_t b = 0; b < offsets_.size(); ++b)
    offsets_[b] = bytes_[b] > 0 ? offsets_[b] - first : 0;
  buffer_ = memory_ref::of(buffer_.at + first);
}

void ragged::make_type(const void* buffer, const std::vector<std::int64_t>& counts,
                       numbers displacements, MPI_Datatype type) {
  constexpr std::int64_t most = 1 << 30;  // the host MPI counts in int here
  MPI_Count bound = 0, extent = 0;
  pmpi::Type_get_extent_x(type, &bound, &extent);
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (std::size_t b = 0; b < counts.size(); ++b)
    for (std::int64_t at = 0; at < counts[b]; at += most) {
      lengths.push_back(static_cast<int>(std::min(most, counts[b] - at)));
      places.push_back(static_cast<MPI_Aint>((displacements[static_cast<int>(b)] + at) * extent));
    }
  pmpi::Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), type,
                             &all_);
  packed_.emplace(buffer, 1, all_);
  offsets_.resize(bytes_.size());
  std::exclusive_scan(bytes_.begin(), bytes_.end(), offsets_.begin(), std::int64_t{0});
}

ragged::~ragged() {
  packed_.reset();
  if (all_ != MPI_DATATYPE_NULL) pmpi::Type_free(&all_);
}

std::uint64_t ragged::total() const noexcept {
  return static_cast<std::uint64_t>(std::accumulate(bytes_.begin(), bytes_.end(), std::int64_t{0}));
}

memory_ref ragged::buffer() const noexcept {
  if (total() == 0) return {};
  return packed_ ? packed_->buffer() : buffer_;
}

}  // namespace telpher::coll::two_level
