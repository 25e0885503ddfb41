// SPDX-License-Identifier: BSD-3-Clause
#include "path/compressed.hpp"

#include <cstring>

#include "codec/accounting.hpp"

namespace telpher::path {

result<compressed_payload> compress(const region& from, const codec::plan& p) noexcept {
  auto s = memory::stream(from.where, memory::stream_role::kernel);
  TELPHER_TRY(s);
  codec::encoder one(from.where, p);
  const status started = one.start(from.data, *s);
  TELPHER_TRY(from.where.owner->synchronise(*s));  // also if only a part was started
  TELPHER_TRY(started);
  auto done = one.finish();
  if (done.bytes >= from.bytes) return status::not_supported;
  codec::count(p.how, from.bytes, done.bytes, done.error_exponent);
  return compressed_payload{std::move(done.data), done.bytes, done.error_exponent};
}

status compressed_receive::start(const wire& w, std::size_t bytes) noexcept {
  TELPHER_TRY(memory::buffer::in(to_.where, bytes).into(data_));
  arriving_ = {to_.where, static_cast<std::byte*>(data_.data()), bytes};
  bytes_.emplace(w, arriving_, false);
  return status::ok;
}

status compressed_receive::poll() noexcept {
  if (bytes_) {
    TELPHER_TRY(bytes_->poll());
    bytes_.reset();
    TELPHER_TRY(decode());
  }
  return to_.where.on_device() ? decoded_.query() : status::ok;
}

bool compressed_receive::aligned() const noexcept {
  return reinterpret_cast<std::uintptr_t>(to_.data) % codec::size_of(plan_.kind) == 0;
}

// The buffer may be unaligned if the program receives as bytes what was sent as values.
status compressed_receive::decode() noexcept {
  void* to = to_.data;
  if (!aligned()) {
    TELPHER_TRY(memory::buffer::in(to_.where, to_.bytes).into(aligned_));
    to = aligned_.data();
  }
  if (to_.where.on_device()) return decode_on_device(to);
  TELPHER_TRY(codec::the_coder()->decode_on_cpu(plan_, arriving_.data, arriving_.bytes, to));
  if (aligned_) std::memcpy(to_.data, to, to_.bytes);
  return status::ok;
}

status compressed_receive::decode_on_device(void* to) noexcept {
  auto s = memory::stream(to_.where, memory::stream_role::in);
  TELPHER_TRY(s);
  const status started = start_decoding(to, *s);
  if (started != status::ok)
    memory::wait_for(to_.where, memory::stream_role::in);  // a part may run
  return started;
}

status compressed_receive::start_decoding(void* to, device::stream s) noexcept {
  device::backend& b = *to_.where.owner;
  auto e = memory::pooled_event::acquire(to_.where);
  TELPHER_TRY(e);
  TELPHER_TRY(codec::the_coder()->decode(b, s, plan_, arriving_.data, arriving_.bytes, to));
  if (aligned_) TELPHER_TRY(b.copy(to_.data, to, to_.bytes, s));
  TELPHER_TRY(e->record(s));
  decoded_ = std::move(*e);
  return status::ok;
}

}  // namespace telpher::path
