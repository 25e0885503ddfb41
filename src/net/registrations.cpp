// SPDX-License-Identifier: BSD-3-Clause
#include "net/registrations.hpp"

#include <new>

namespace telpher::net {
namespace {

using memory::allocations;
using memory::facet;

struct registered final : facet {
  memory::place where;
  device::pointer_info info;
  void* window = nullptr;
  std::unique_ptr<registration> held;
  ~registered() override {
    held.reset();
    if (window) where.owner->unmap_for_cpu(info, window);
  }
};

result<std::unique_ptr<facet>> enrol(fabric& f, const memory::place& where,
                                     const device::pointer_info& info) noexcept {
  auto made = std::unique_ptr<registered>(new (std::nothrow) registered);
  if (!made) return status::not_supported;
  made->where = where;
  made->info = info;
  made->base = reinterpret_cast<std::byte*>(info.base);
  const bool direct = f.registers(info.owner);
  if (!direct) {
    auto window = where.owner->map_for_cpu(info);
    TELPHER_TRY(window);
    made->window = *window;
    made->base = static_cast<std::byte*>(*window);
  }
  TELPHER_TRY(
      f.enrol(made->base, info.bytes, direct ? info.owner : device::vendor::none, where.device)
          .into(made->held));
  return std::unique_ptr<facet>(std::move(made));
}

const registered& registered_in(const allocations::held& held) noexcept {
  return static_cast<const registered&>(*held.what());
}

}  // namespace

result<registered_use> registered_use::acquire(fabric& f, const memory::place& where,
                                               const device::pointer_info& info) noexcept {
  auto known = allocations::instance().acquire(facet::kind::registered,
                                               memory::allocation::own(where, info), {where, &f},
                                               [&]() noexcept { return enrol(f, where, info); });
  TELPHER_TRY(known);
  return registered_use(std::move(*known));
}

const registration& registered_use::held() const noexcept {
  return *registered_in(facet_).held;
}

std::byte* registered_use::reach(const void* device_address) const noexcept {
  const registered& r = registered_in(facet_);
  return r.base + (reinterpret_cast<std::uintptr_t>(device_address) - r.info.base);
}

void withdraw_registrations() noexcept {
  allocations::instance().clear(facet::kind::registered);
}

}  // namespace telpher::net
