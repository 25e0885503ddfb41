// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/packing.hpp"

#include "coll/between/votes.hpp"
#include "coll/exchange/launch.hpp"

namespace telpher::coll::between {
namespace {

status take(exchange::packed_copies& c, exchange::arguments& a) noexcept {
  if (a.scattered || !a.where.on_device()) return c.make_on_host(a);
  const auto context = exchange::launch_context::common(a.where);
  TELPHER_TRY(context);
  return c.make(a, context->stream());
}

}  // namespace

copies pack(exchange::arguments& a) noexcept {
  if (!a.possible || !a.gapped) return nullptr;
  copies made;
  status s = status::out_of_memory;
  static_cast<void>(has_memory_for([&] {
    made = std::make_shared<exchange::packed_copies>();
    s = take(*made, a);
  }));
  a.possible = s == status::ok;
  a.gapped.reset();
  return a.possible ? made : nullptr;
}

}  // namespace telpher::coll::between
