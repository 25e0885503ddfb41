// SPDX-License-Identifier: BSD-3-Clause
#include "path/table.hpp"

namespace telpher::path {

// Names, order and limits only. The files of these paths call the host MPI, and the table is
// compiled once for all of them: whether a path can serve a message, and how it begins, is in
// path/pipelined.cpp.
using enum use;
constinit const record direct_path{kind::direct, network, unless_other};
constinit const record rdma_path{kind::rdma, network, unless_other, rdma_sizes};
constinit const record pipelined_path{kind::pipelined, network, always};

namespace {

constexpr const record* table[] = {
#define TELPHER_PATH(name, choice, what) &name##_path,
#include "base/paths.def"
#undef TELPHER_PATH
};

// For a row that is not forced.
bool usable(const record& r) noexcept {
  return r.when == always || (r.when == unless_other && forced() == kind::none);
}

/// The first matching row for which `take` is true. A forced row is tried first.
template <class Take>
const record* first_of(unsigned between, const Take& take) noexcept {
  if (forced() != kind::none)
    for (const record* r : table)
      if (r->name == forced() && (r->between & between) && take(*r)) return r;
  for (const record* r : table)
    if (r->name != forced() && (r->between & between) && usable(*r) && take(*r)) return r;
  return nullptr;
}

}  // namespace

std::span<const record* const> all_paths() noexcept {
  return table;
}

// The bounds say what is fast. They do not hold for a path that is forced, nor where nothing but an
// eager path can take the message.
const record* choose_eager(send_end& e) noexcept {
  return first_of(eager, [&](const record& r) {
    const bool bound = e.may_announce && r.name != forced();
    return (!bound || r.sizes.holds(e.from.bytes)) && r.serves(e);
  });
}

bool eager_size(std::size_t bytes) noexcept {
  for (const record* r : table) {
    if (!(r->between & eager)) break;
    if ((usable(*r) || r->name == forced()) && r->sizes.holds(bytes)) return true;
  }
  return false;
}

const record* choose_network(int peer, std::size_t bytes, can_serve* can) noexcept {
  return first_of(network, [&](const record& r) {
    return (r.name == forced() || r.sizes.holds(bytes)) && can(r.name, peer, bytes);
  });
}

// An eager message has come whatever its size.
const record* start_receive(receive_end& e) noexcept {
  return first_of(e.between, [&](const record& r) {
    const bool bound = e.between != eager && r.name != forced();
    return (!bound || r.sizes.holds(e.to.bytes)) && r.start_receive(e) == status::ok;
  });
}

std::unique_ptr<transfer> answer(slot_state asked, const send_end& e) noexcept {
  for (const record* r : table)
    if (r->answer && r->asks == asked) return r->answer(e);
  return nullptr;
}

}  // namespace telpher::path
