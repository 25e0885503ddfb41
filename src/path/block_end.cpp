// SPDX-License-Identifier: BSD-3-Clause
#include "path/block_end.hpp"

namespace telpher::path {

status block_end::read(std::size_t at, std::size_t bytes, void* block, bool pinned,
                       block_copies& by) const noexcept {
  if (!has_gaps()) return by.start(block, region_.data + at, bytes);
  device::backend& owner = *region_.where.owner;
  const auto pack = [&](void* to, device::stream s) {
    return datatype::pack_part(owner, *layout_, region_.data, at, bytes, to, s);
  };
  if (pinned) return by.start_by([&](device::stream s) { return pack(block, s); });
  auto through = memory::buffer::device(region_.where, bytes);
  TELPHER_TRY(through);
  void* const aside = through->data();
  const auto pack_and_copy = [&](device::stream s) {
    TELPHER_TRY(pack(aside, s));
    return owner.copy(block, aside, bytes, s);
  };
  return by.start_by(pack_and_copy, std::move(*through));
}

status block_end::write(std::size_t at, std::size_t bytes, const void* block, bool pinned,
                        block_copies& by) const noexcept {
  if (!has_gaps()) return by.start(region_.data + at, block, bytes);
  device::backend& owner = *region_.where.owner;
  const auto unpack = [&](const void* from, device::stream s) {
    return datatype::unpack_part(owner, *layout_, from, at, bytes, region_.data, s);
  };
  if (pinned) return by.start_by([&](device::stream s) { return unpack(block, s); });
  auto through = memory::buffer::device(region_.where, bytes);
  TELPHER_TRY(through);
  void* const aside = through->data();
  const auto copy_and_unpack = [&](device::stream s) {
    TELPHER_TRY(owner.copy(aside, block, bytes, s));
    return unpack(aside, s);
  };
  return by.start_by(copy_and_unpack, std::move(*through));
}

}  // namespace telpher::path
