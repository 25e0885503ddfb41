// SPDX-License-Identifier: BSD-3-Clause
#include "rma/carry_out.hpp"

#include <algorithm>
#include <bit>

#include "base/settings.hpp"
#include "coll/exchange/exchange.hpp"
#include "datatype/type_contents.hpp"
#include "path/table.hpp"

namespace telpher::rma {

using datatype::elements;
using datatype::layout;
using datatype::side;

const layout* layout_of(MPI_Datatype type) noexcept {
  const auto l = datatype::layout_of(type);
  return l && datatype::is_committed(**l, type, ticket::job().control) ? *l : nullptr;
}

namespace {

// --- operands ---

std::byte* run_of(const elements& e) noexcept {
  return e.at.data + e.type.true_lower_bound;
}

bool aligned(const void* at, std::size_t to) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % to == 0;
}

/// Elements as kernels of a device use them: one run where they lie, or its stand-in. For small
/// ones in host memory that is pinned memory, which costs no device operation; else, and where no
/// more can be pinned, memory of the device.
class operand {
 public:
  static result<operand> of(const elements& e, const memory::place& device,
                            std::size_t alignment) noexcept {
    operand o(e);
    if (e.one_run() && e.at.where == device && aligned(run_of(e), alignment)) return o;
    if (!e.at.where.on_device() && e.bytes() <= config().landing_pinned_limit &&
        !failed(memory::buffer::for_kernels(e.bytes(), device.owner).into(o.stand_in_)))
      return o;
    TELPHER_TRY(memory::buffer::device(device, e.bytes()).into(o.stand_in_));
    o.where_ = device;
    return o;
  }

  std::byte* data() const noexcept {
    return stand_in_ ? static_cast<std::byte*>(stand_in_.data()) : run_of(*elements_);
  }
  bool on_device() const noexcept { return !stand_in_ || where_.on_device(); }
  /// Before a kernel reads it, and after a kernel has written it.
  status load() const noexcept {
    return stand_in_ ? datatype::gather(*elements_, {where_, data()}) : status::ok;
  }
  status store() const noexcept {
    return stand_in_ ? datatype::scatter({where_, data()}, *elements_) : status::ok;
  }

 private:
  explicit operand(const elements& e) noexcept : elements_(&e) {}

  const elements* elements_;
  memory::buffer stand_in_;
  memory::place where_;  // of the stand-in
};

// --- copies ---

bool in_reach(const elements& e, const memory::place& device) noexcept {
  return e.one_run() && (e.at.where == device || !e.at.where.on_device());
}

/// By the kernel that stays, where it does: one command and no call of the driver.
status copy_by_kernel(const elements& from, const elements& to) noexcept {
  const memory::place& device = to.at.where.on_device() ? to.at.where : from.at.where;
  if (!device.on_device() || !path::linger_sizes.holds(from.bytes()) || !in_reach(from, device) ||
      !in_reach(to, device))
    return status::not_supported;
  const auto source = operand::of(from, device, 1), target = operand::of(to, device, 1);
  TELPHER_TRY(source);
  TELPHER_TRY(target);
  TELPHER_TRY(source->load());
  {
    const auto held = ticket::progress().lock();
    TELPHER_TRY(path::copier::copy_by_linger(device, target->data(), source->data(), from.bytes()));
  }
  return target->store();
}

status move_bytes(const elements& from, const elements& to) noexcept {
  const status s = copy_by_kernel(from, to);
  return s == status::not_supported ? datatype::move(from, to) : s;
}

// --- leaves of types ---

/// Of the elements of a type that has some. Members without elements may be of another.
MPI_Datatype leaf_of(MPI_Datatype type) {
  if (datatype::is_predefined(type)) return type;
  datatype::type_contents contents;
  if (failed(contents.read(type))) return MPI_DATATYPE_NULL;
  const auto& members = contents.types();
  const bool is_struct = members.size() > 1;  // which alone has several, and their counts first
  for (std::size_t i = 0; i < members.size(); ++i) {
    MPI_Count bytes = 0;
    if (is_struct && contents.numbers()[1 + i] == 0) continue;
    if (pmpi::Type_size_x(members[i], &bytes) == MPI_SUCCESS && bytes > 0)
      return leaf_of(members[i]);
  }
  return MPI_DATATYPE_NULL;
}

// --- accumulate ---

/// What an accumulate works on; all checked.
struct update {
  const access& call;
  MPI_Datatype leaf;
  const layout& leaf_layout;
  elements target;
  bool far;
};

// From packed bytes to an array of the leaf type, and back.
class values {
 public:
  values(const layout& leaf, std::size_t bytes) : leaf_(leaf), count_(bytes / leaf.size) {
    array_.resize(count_ * static_cast<std::size_t>(leaf.extent));
    packed_.resize(leaf.contiguous ? 0 : bytes);
  }
  side packed() noexcept { return {{}, leaf_.contiguous ? array_.data() : packed_.data()}; }
  void unpack() noexcept {
    if (!leaf_.contiguous)
      datatype::unpack_host(leaf_, packed_.data(), 0, packed_.size(), array_.data());
  }
  void pack() noexcept {
    if (!leaf_.contiguous)
      datatype::pack_host(leaf_, array_.data(), 0, packed_.size(), packed_.data());
  }
  std::byte* at(std::size_t i) noexcept {
    return array_.data() + i * static_cast<std::size_t>(leaf_.extent);
  }
  std::size_t count() const noexcept { return count_; }

 private:
  const layout& leaf_;
  std::size_t count_;
  std::vector<std::byte> array_, packed_;
};

// Combines through the host MPI, for every type and operation.
status combine_on_host(const update& u, const elements& origin) {
  values from(u.leaf_layout, u.target.bytes()), to(u.leaf_layout, u.target.bytes());
  TELPHER_TRY(datatype::gather(origin, from.packed()));
  TELPHER_TRY(datatype::gather(u.target, to.packed()));
  from.unpack();
  to.unpack();
  constexpr std::size_t at_once = 1u << 30;
  for (std::size_t i = 0; i < to.count(); i += at_once) {
    const int n = static_cast<int>(std::min(at_once, to.count() - i));
    if (pmpi::Reduce_local(from.at(i), to.at(i), n, u.leaf, u.call.op) != MPI_SUCCESS)
      return status::host_mpi_error;
  }
  to.pack();
  return datatype::scatter(to.packed(), u.target);
}

// Updates by a kernel of the device that holds the target. The kernel must know the operation, and
// neither the leaf nor the target may have gaps. not_supported, would_block: nothing was changed.
status update_on_device(const update& u, const elements& origin, const elements* old) noexcept {
  const bool replaces = u.call.op == MPI_REPLACE;
  const auto known = replaces ? coll::reduction{} : coll::exchange::reduction_of(u.call.op, u.leaf);
  const std::size_t alignment = known.known ? kernel::value_bytes(known.type) : 1;
  const memory::place& device = u.target.at.where;
  std::byte* const to = run_of(u.target);
  if (!coll::exchange::enabled() || (!replaces && !known.known) || !u.leaf_layout.contiguous ||
      !u.target.one_run() || !aligned(to, alignment))
    return status::not_supported;
  const auto from = operand::of(origin, device, alignment);
  TELPHER_TRY(from);
  const auto seen = operand::of(old ? *old : u.target, device, 1);
  TELPHER_TRY(seen);
  TELPHER_TRY(from->load());
  const bool near = old && seen->on_device() && aligned(seen->data(), alignment);
  void* const old_values = old ? seen->data() : nullptr;
  TELPHER_TRY(coll::exchange::run_update(
      device, known, {to, from->data(), old_values, u.target.bytes(), near, u.far}));
  return old ? seen->store() : status::ok;
}

// An accumulate, and what reads the old values as well.
status combine(const update& u, const elements& origin, const elements* old) {
  const bool replaces = u.call.op == MPI_REPLACE;
  if (old || !replaces) {
    const status s = update_on_device(u, origin, old);
    if (s != status::not_supported && s != status::would_block) return s;
  }
  if (old) TELPHER_TRY(move_bytes(u.target, *old));
  return replaces ? move_bytes(origin, u.target) : combine_on_host(u, origin);
}

// By a kernel, as update_on_device.
status swap_on_device(const update& u, const elements& origin, const elements& compared,
                      const elements& result) noexcept {
  const std::size_t bytes = u.target.bytes();
  const memory::place& device = u.target.at.where;
  std::byte* const to = run_of(u.target);
  if (!coll::exchange::enabled() || !std::has_single_bit(bytes) || bytes > sizeof(std::uint64_t) ||
      !u.target.one_run() || !aligned(to, bytes))
    return status::not_supported;
  const auto from = operand::of(origin, device, bytes),
             expected = operand::of(compared, device, bytes),
             seen = operand::of(result, device, bytes);
  TELPHER_TRY(from);
  TELPHER_TRY(expected);
  TELPHER_TRY(seen);
  TELPHER_TRY(from->load());
  TELPHER_TRY(expected->load());
  TELPHER_TRY(coll::exchange::run_swap(
      device, {{to, from->data(), seen->data(), bytes}, expected->data()}));
  return seen->store();
}

status compare_and_swap(const update& u, const elements& origin, const elements& result) {
  auto* const compare = static_cast<std::byte*>(const_cast<void*>(u.call.compare));
  const elements compared{u.target.type, 1, {memory::classify(compare), compare}};
  if (const status s = swap_on_device(u, origin, compared, result);
      s != status::not_supported && s != status::would_block)
    return s;
  const std::size_t bytes = u.target.bytes();
  const layout* const byte = layout_of(MPI_BYTE);
  if (!byte) return status::host_mpi_error;
  std::vector<std::byte> held(bytes), expected(bytes);
  const auto in_host = [&](std::vector<std::byte>& v) {
    return elements{*byte, static_cast<MPI_Count>(bytes), {{}, v.data()}};
  };
  TELPHER_TRY(move_bytes(u.target, in_host(held)));
  TELPHER_TRY(move_bytes(in_host(held), result));
  TELPHER_TRY(move_bytes(compared, in_host(expected)));
  return held == expected ? move_bytes(origin, u.target) : status::ok;
}

}  // namespace

status carry_out(const access& a, const words& shared, const elements& target, bool far,
                 const std::optional<elements>& origin, const std::optional<elements>& result) {
  if (a.what == verb::put) return datatype::move(*origin, target);
  if (a.what == verb::get) return datatype::move(target, *result);
  const MPI_Datatype leaf = leaf_of(a.type);
  const layout* const leaf_layout = layout_of(leaf);
  if (!leaf_layout) return status::invalid_argument;
  const update u{a, leaf, *leaf_layout, target, far};
  const exclusion alone(shared, a.rank);
  if (a.what == verb::compare_and_swap) return compare_and_swap(u, *origin, *result);
  if (a.op == MPI_NO_OP) return result ? move_bytes(target, *result) : status::ok;
  return combine(u, *origin, result ? &*result : nullptr);
}

}  // namespace telpher::rma
