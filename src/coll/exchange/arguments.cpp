// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/arguments.hpp"

#include <bit>
#include <unordered_map>
#include <utility>

#include "datatype/datatype.hpp"

namespace telpher::coll::exchange {
namespace {

using kernel::reduce_op;
using kernel::value_type;

// Kinds of types, by what MPI allows on them.
namespace family {
enum kind : unsigned { integer = 1, byte = 2, logical = 4, real = 8, complex = 16, pair = 32 };
}

struct value_row {
  family::kind of;
  value_type type;
};
using value_table = std::unordered_map<MPI_Datatype, value_row>;

void add(value_table& table, MPI_Datatype type, family::kind of, value_type value) {
  if (type != MPI_DATATYPE_NULL) table.emplace(type, value_row{of, value});
}

/// 0 where the host MPI lacks the type.
std::size_t size_of(MPI_Datatype type) {
  int size = 0;
  if (type == MPI_DATATYPE_NULL || pmpi::Type_size(type, &size) != MPI_SUCCESS) return 0;
  return static_cast<std::size_t>(size);
}

void add_integer(value_table& table, MPI_Datatype type, bool is_signed) {
  const std::size_t size = size_of(type);
  const value_type value = size == 1   ? (is_signed ? value_type::i8 : value_type::u8)
                           : size == 2 ? (is_signed ? value_type::i16 : value_type::u16)
                           : size == 4 ? (is_signed ? value_type::i32 : value_type::u32)
                                       : (is_signed ? value_type::i64 : value_type::u64);
  if (size == 1 || size == 2 || size == 4 || size == 8) add(table, type, family::integer, value);
}

void add_real(value_table& table, MPI_Datatype type, family::kind of) {
  const std::size_t size = size_of(type);
  if (of == family::real && (size == 4 || size == 8))
    add(table, type, of, size == 4 ? value_type::f32 : value_type::f64);
  if (of == family::complex && (size == 8 || size == 16))
    add(table, type, of, size == 8 ? value_type::c32 : value_type::c64);
}

void add_pairs(value_table& table) {
  add(table, MPI_FLOAT_INT, family::pair, value_type::f32_i32);
  add(table, MPI_DOUBLE_INT, family::pair, value_type::f64_i32);
  add(table, MPI_LONG_INT, family::pair,
      sizeof(long) == 8 ? value_type::i64_i32 : value_type::i32_i32);
  add(table, MPI_SHORT_INT, family::pair, value_type::i16_i32);
  add(table, MPI_2INT, family::pair, value_type::i32_i32);
  // The sizes of Fortran's types are chosen when the host MPI is built.
  for (const auto& [type, pair] : {std::pair{MPI_2INTEGER, value_type::i32_i32},
                                   {MPI_2REAL, value_type::f32_f32},
                                   {MPI_2DOUBLE_PRECISION, value_type::f64_f64}})
    if (size_of(type) == kernel::value_bytes(pair)) add(table, type, family::pair, pair);
}

// Not Fortran's LOGICAL: only the host MPI knows which values its compiler takes for true. Not long
// double: no device has it.
value_table make_table() {
  value_table t;
  for (MPI_Datatype signed_type :
       {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
        MPI_INT32_T, MPI_INT64_T, MPI_INTEGER, MPI_AINT, MPI_OFFSET, MPI_COUNT})
    add_integer(t, signed_type, true);
  for (MPI_Datatype unsigned_type :
       {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
        MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})
    add_integer(t, unsigned_type, false);
  for (MPI_Datatype real : {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION})
    add_real(t, real, family::real);
  for (MPI_Datatype complex :
       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX})
    add_real(t, complex, family::complex);
  add(t, MPI_C_BOOL, family::logical, value_type::u8);
  add(t, MPI_BYTE, family::byte, value_type::u8);
  add_pairs(t);
#ifdef MPIX_C_FLOAT16
  add(t, MPIX_C_FLOAT16, family::real, value_type::f16);
#endif
#ifdef MPIX_BFLOAT16
  add(t, MPIX_BFLOAT16, family::real, value_type::bf16);
#endif
  return t;
}

// For operations whose result has the same bits with and without sign: one kernel serves both.
value_type without_sign(value_type t) {
  switch (t) {
    case value_type::i8:
      return value_type::u8;
    case value_type::i16:
      return value_type::u16;
    case value_type::i32:
      return value_type::u32;
    case value_type::i64:
      return value_type::u64;
    default:
      return t;
  }
}

struct op_row {
  MPI_Op op;
  reduce_op device;
  unsigned on;  // families
};

/// The device's operation, if there is one and MPI allows it on such types.
bool find_op(MPI_Op op, family::kind of, reduce_op& out) {
  using namespace family;
  constexpr unsigned ordered = integer | real, numbers = ordered | complex,
                     truth = integer | logical, bits = integer | byte;
  const op_row rows[] = {
      {MPI_SUM, reduce_op::sum, numbers},    {MPI_PROD, reduce_op::prod, numbers},
      {MPI_MAX, reduce_op::max, ordered},    {MPI_MIN, reduce_op::min, ordered},
      {MPI_LAND, reduce_op::land, truth},    {MPI_LOR, reduce_op::lor, truth},
      {MPI_LXOR, reduce_op::lxor, truth},    {MPI_BAND, reduce_op::band, bits},
      {MPI_BOR, reduce_op::bor, bits},       {MPI_BXOR, reduce_op::bxor, bits},
      {MPI_MAXLOC, reduce_op::maxloc, pair}, {MPI_MINLOC, reduce_op::minloc, pair}};
  for (const op_row& r : rows)
    if (r.op == op) return out = r.device, (r.on & of) != 0;
  return false;
}

}  // namespace

reduction reduction_of(MPI_Op op, MPI_Datatype type) noexcept {
  static const value_table& table = *new value_table(make_table());
  reduction r;
  const auto found = table.find(type);
  if (found == table.end() || !find_op(op, found->second.of, r.op)) return r;
  const bool ordered = r.op == reduce_op::max || r.op == reduce_op::min;
  r.type = ordered ? found->second.type : without_sign(found->second.type);
  r.known = kernel::reduces(r.op, r.type);
  return r;
}

bool arguments::buffers(const void* send, void* receive) noexcept {
  in_place = send == MPI_IN_PLACE || receive == MPI_IN_PLACE;
  // It stands for the output of a scatter, and for the input of others. Elsewhere the host MPI
  // raises its error.
  const bool scatters = what == operation::scatter || what == operation::scatterv;
  if ((scatters ? send : receive) == MPI_IN_PLACE) possible = false;
  input = send == MPI_IN_PLACE ? receive : send;
  output = receive == MPI_IN_PLACE ? nullptr : receive;
  // A null buffer may be MPI_BOTTOM: has_sound_buffers() finds that out by the bytes.
  possible = possible && look_up(input, input_memory, input_place);
  if (possible && output == input) {
    output_memory = input_memory;
    output_place = input_place;
  } else {
    possible = possible && look_up(output, output_memory, output_place);
  }
  see_scattered();
  return possible;
}

arguments arguments::looked_up_again() const {
  arguments now(*this);
  const auto look = [&](const void* buffer, device::pointer_info& found, const memory::place& was) {
    if (buffer && memory::classify(buffer, found) != was) now.possible = false;
  };
  look(input, now.input_memory, input_place);
  look(output, now.output_memory, output_place);
  return now;
}

bool arguments::look_up(const void* buffer, device::pointer_info& found,
                        memory::place& place) noexcept {
  if (!buffer) return true;
  place = memory::classify(buffer, found);
  if (place.on_device() && !where.on_device()) where = place;
  return takes_host || (place.on_device() && place == where);
}

std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) noexcept {
  MPI_Count size = 0;  // an int has no room for types of 2 GiB and more
  if (count <= 0 || pmpi::Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

const datatype::layout* arguments::layout_of(MPI_Datatype of) noexcept {
  type = of;
  const auto found = datatype::layout_of(of);
  possible = possible && found && ((*found)->is_plain() || takes_gaps);
  if (!possible) return nullptr;
  derived = derived || !(*found)->is_plain();
  lasting = lasting && (*found)->predefined;
  return *found;
}

void arguments::divide_grain(std::uint64_t n) noexcept {
  if (n) grain = std::min(grain, std::uint64_t{1} << std::countr_zero(n));
}

void arguments::vector(std::int64_t count, MPI_Datatype of) noexcept {
  sent = received = {count, of};
  if (count < 0) possible = false;
  bytes = possible ? static_cast<std::uint64_t>(count) * size_of(of) : 0;
  divide_grain(bytes);
}

// Pairs may have padding. Then the vector is no run of bytes, but the kernels can reduce it.
void arguments::reducing(std::int64_t count, MPI_Datatype of, MPI_Op op) noexcept {
  type = of;
  sent = received = {count, of};
  reduce = reduction_of(op, type);
  possible = possible && reduce.known && count >= 0;
  if (!possible) return;
  grain = kernel::value_bytes(reduce.type);
  if (reduce.op == reduce_op::maxloc || reduce.op == reduce_op::minloc) {
    const auto layout = datatype::layout_of(type);
    gaps = layout && (*layout)->size != grain;
  }
  bytes = static_cast<std::uint64_t>(count) * grain;
  for (const void* b : {input, static_cast<const void*>(output)})
    if (reinterpret_cast<std::uintptr_t>(b) % std::min<std::uint64_t>(grain, 8)) possible = false;
}

// With MPI_IN_PLACE only one side's count is valid: a gather's receiving, a scatter's sending side.
// A scatter's own elements are those that it receives.
void arguments::vectors(std::int64_t count, MPI_Datatype own_type, std::int64_t other_count,
                        MPI_Datatype other_type, bool both) noexcept {
  if (in_place) return vector(other_count, other_type);
  vector(count, own_type);
  const std::uint64_t said = bytes;
  if (both && possible) {
    vector(other_count, other_type);
    if (bytes != said) possible = false;
  }
  sent = {count, own_type};
  received = {other_count, other_type};
  if (what == operation::scatter) std::swap(sent, received);
}

void arguments::take_own_block_apart() noexcept {
  const datatype::layout* const l = possible && in_place ? layout_of(sent.of) : nullptr;
  if (!l) return;
  const auto block_of = [&](const void* all) {
    const auto at = static_cast<std::uintptr_t>(rank * sent.count * l->extent);
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(all) + at);
  };
  if (what == operation::gather)
    input = block_of(output);
  else
    output = block_of(input);
  output_memory = input_memory;
  output_place = input_place;
  in_place = false;
  own_block_stays = true;
}

void arguments::own_block(std::int64_t count, MPI_Datatype of) {
  if (!possible) return;
  if (in_place) {
    own_counts.push_back(output_counts[static_cast<std::size_t>(rank)]);
    own_offsets.push_back(output_offsets[static_cast<std::size_t>(rank)]);
    return;
  }
  const elements expected = received;
  vector(count, of);
  received = expected;
  own_counts.push_back(bytes);
  own_offsets.push_back(0);
}

void arguments::expected_block(std::int64_t count, MPI_Datatype of) {
  const elements given = sent;
  if (!in_place) vector(count, of);
  sent = given;
  output_counts.assign(static_cast<std::size_t>(ranks), 0);
  output_offsets.assign(static_cast<std::size_t>(ranks), 0);
  output_counts[static_cast<std::size_t>(root)] = bytes;
}

}  // namespace telpher::coll::exchange
