// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/coding.hpp"

#include <cstring>

#include "base/settings.hpp"
#include "codec/accounting.hpp"
#include "codec/codec.hpp"
#include "codec/model.hpp"

namespace telpher::coll::between {

coding::coding(const codec::choices& wanted, codec::element kind, operation what,
               std::uint64_t bytes) noexcept {
  const bool exact = what == operation::bcast || what == operation::reduce;
  if (exact || kind == codec::element::none || bytes < config().compression_threshold) return;
  if (wanted.for_kind(kind).how != codec::method::zfp) return;
  kind_ = kind;
  how_ = wanted.for_kind(kind);
  if (is_reduction(what))
    how_.row = how_.column = 0;  // a share of a vector has no rows and columns
}

codec::plan coding::plan_for(std::uint64_t bytes) const noexcept {
  if (!*this || bytes == 0) return {};
  const codec::plan p = codec::plan_for(how_, kind_, bytes);
  return p && (config().compression_force || codec::pays(p)) ? p : codec::plan{};
}

std::uint64_t coding::travels(std::uint64_t bytes) const noexcept {
  const codec::plan p = plan_for(bytes);
  return p ? codec::most_bytes(p) : bytes;
}

result<std::shared_ptr<coded_form>> coded_form::landing(const memory::place& where,
                                                        const codec::plan& p) {
  std::shared_ptr<coded_form> one(new coded_form(where, p));
  TELPHER_TRY(memory::buffer::device(where, codec::most_bytes(p)).into(one->data_));
  return one;
}

result<std::shared_ptr<coded_form>> coded_form::made(const memory::place& where, device::stream s,
                                                     const codec::plan& p, const void* from) {
  auto one = landing(where, p);
  TELPHER_TRY(one);
  coded_form& f = **one;
  TELPHER_TRY(
      memory::buffer::device(where, codec::the_coder()->workspace_bytes(p)).into(f.workspace_));
  TELPHER_TRY(memory::buffer::for_kernels(sizeof(codec::report), where.owner).into(f.report_));
  TELPHER_TRY(codec::the_coder()->encode(*where.owner, s, p, from, f.data(), f.workspace_.data(),
                                         static_cast<codec::report*>(f.report_.data())));
  return one;
}

status coded_form::decode(device::stream s, void* to) const noexcept {
  return codec::the_coder()->decode(*where_.owner, s, plan_, data_.data(), bytes(), to);
}

std::optional<int> coded_form::counted() const noexcept {
  codec::report r;
  std::memcpy(&r, report_.data(), sizeof r);
  const auto error = codec::the_coder()->error_exponent(plan_, r);
  codec::count(plan_.how, codec::plain_bytes(plan_), bytes(), error);
  return error;
}

}  // namespace telpher::coll::between
