// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/move.hpp"

#include <cstring>

namespace telpher::datatype {
namespace {

side run_of(const elements& e) noexcept {
  return {e.at.where, e.at.data + e.type.true_lower_bound};
}

// Gathers to, or scatters from, contiguous bytes that lie where the elements lie.
status move_blocks(const elements& e, void* contiguous, bool packs) noexcept {
  const memory::place& where = e.at.where;
  if (!where.on_device()) {
    if (packs)
      pack_host(e.type, e.at.data, 0, e.bytes(), contiguous);
    else
      unpack_host(e.type, contiguous, 0, e.bytes(), e.at.data);
    return status::ok;
  }
  auto s = memory::stream(where, memory::stream_role::kernel);
  TELPHER_TRY(s);
  if (packs)
    TELPHER_TRY(pack(*where.owner, e.type, e.at.data, e.count, contiguous, *s));
  else
    TELPHER_TRY(unpack(*where.owner, e.type, contiguous, e.at.data, e.count, *s));
  return where.owner->synchronise(*s);
}

result<memory::buffer> beside(const elements& e, const side& other) noexcept {
  return e.at.where.on_device() ? memory::buffer::device(e.at.where, e.bytes())
                                : memory::buffer::host(e.bytes(), other.where.owner);
}

}  // namespace

// Two back ends do not know each other's memory, so such copies go through the host.
status copy(const side& to, const side& from, std::size_t bytes) noexcept {
  if (!to.where.on_device() && !from.where.on_device()) {
    if (bytes > 0) std::memcpy(to.data, from.data, bytes);
    return status::ok;
  }
  const memory::place& device = to.where.on_device() ? to.where : from.where;
  if (!from.where.on_device() || from.where.owner == device.owner)
    return memory::copy_and_wait(device, to.data, from.data, bytes);
  auto between = memory::buffer::host(bytes, nullptr);
  TELPHER_TRY(between);
  TELPHER_TRY(memory::copy_and_wait(from.where, between->data(), from.data, bytes));
  return memory::copy_and_wait(to.where, to.data, between->data(), bytes);
}

status gather(const elements& from, const side& packed) noexcept {
  if (from.one_run()) return copy(packed, run_of(from), from.bytes());
  if (from.at.where == packed.where) return move_blocks(from, packed.data, true);
  auto scratch = beside(from, packed);
  TELPHER_TRY(scratch);
  TELPHER_TRY(move_blocks(from, scratch->data(), true));
  return copy(packed, {from.at.where, static_cast<std::byte*>(scratch->data())}, from.bytes());
}

status scatter(const side& packed, const elements& to) noexcept {
  if (to.one_run()) return copy(run_of(to), packed, to.bytes());
  if (to.at.where == packed.where) return move_blocks(to, packed.data, false);
  auto scratch = beside(to, packed);
  TELPHER_TRY(scratch);
  TELPHER_TRY(copy({to.at.where, static_cast<std::byte*>(scratch->data())}, packed, to.bytes()));
  return move_blocks(to, scratch->data(), false);
}

status move(const elements& from, const elements& to) noexcept {
  if (from.one_run()) return scatter(run_of(from), to);
  if (to.one_run()) return gather(from, run_of(to));
  auto scratch = beside(to, from.at);
  TELPHER_TRY(scratch);
  const side packed{to.at.where, static_cast<std::byte*>(scratch->data())};
  TELPHER_TRY(gather(from, packed));
  return scatter(packed, to);
}

}  // namespace telpher::datatype
