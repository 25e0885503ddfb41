// SPDX-License-Identifier: BSD-3-Clause
// Compression as a property of a message. Only a codec of fixed rate (zfp) is used, so that both
// ends know the compressed size, and only for messages for which it pays. All ranks have the same
// bits where they have the same expression, for two reasons. A rank that sends from its scratch
// space rounds the values there to what the receiver gets. And a rank passes on what came
// compressed as it came.
#pragma once

#include <memory>
#include <optional>

#include "codec/choice.hpp"
#include "coll/between/problems.hpp"

namespace telpher::coll::between {

class coding {
 public:
  coding() = default;
  /// As all ranks know it: of values of this kind, in a call of so many bytes.
  coding(const codec::choices& wanted, codec::element kind, operation what,
         std::uint64_t bytes) noexcept;

  explicit operator bool() const noexcept { return how_.how != codec::method::none; }
  /// For a message of `bytes`; none where it goes as it is.
  codec::plan plan_for(std::uint64_t bytes) const noexcept;
  /// The bytes of such a message as it goes.
  std::uint64_t travels(std::uint64_t bytes) const noexcept;

 private:
  codec::element kind_ = codec::element::none;
  codec::choice how_;
};

/// One message in its compressed form, in device memory.
class coded_form {
 public:
  /// Memory for one that comes.
  static result<std::shared_ptr<coded_form>> landing(const memory::place& where,
                                                     const codec::plan& p);
  /// Enqueues the compression of what lies at `from`.
  static result<std::shared_ptr<coded_form>> made(const memory::place& where, device::stream s,
                                                  const codec::plan& p, const void* from);
  status decode(device::stream s, void* to) const noexcept;

  std::byte* data() const noexcept { return static_cast<std::byte*>(data_.data()); }
  std::uint64_t bytes() const noexcept { return codec::most_bytes(plan_); }
  /// For a form that was made here, once its compression is done: counts it in the statistics, and
  /// returns the exponent of the bound of its error.
  std::optional<int> counted() const noexcept;

 private:
  coded_form(const memory::place& where, const codec::plan& p) noexcept : where_(where), plan_(p) {}

  memory::place where_;
  codec::plan plan_;
  memory::buffer data_, workspace_, report_;
};

}  // namespace telpher::coll::between
