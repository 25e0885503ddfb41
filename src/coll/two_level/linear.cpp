// SPDX-License-Identifier: BSD-3-Clause
#include "coll/two_level/linear.hpp"

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
  return layout_ && layout_->contiguous && !layout_->blocks.empty() &&
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
  if (contiguous()) return buffer_;
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

}  // namespace telpher::coll::two_level
