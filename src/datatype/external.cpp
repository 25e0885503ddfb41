// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/external.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <vector>

#include "base/lasting.hpp"
#include "datatype/type_contents.hpp"

namespace telpher::datatype {

// --- which types ---

namespace {

constexpr const char* representation = "external32";
using value = std::array<unsigned char, 16>;

/// Two values, of which one or both may have another size there; a host MPI may not know them.
bool is_pair(MPI_Datatype type) {
  for (const MPI_Datatype one :
       {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_2INT, MPI_LONG_DOUBLE_INT,
        MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION})
    if (type == one) return true;
  return false;
}

/// What the host MPI makes of a value of so many bytes. False: of another number of bytes.
bool canonical(MPI_Datatype type, int size, const value& of, value& made) {
  MPI_Aint bytes = 0, end = 0;
  return pmpi::Pack_external_size(representation, 1, type, &bytes) == MPI_SUCCESS &&
         bytes == size &&
         pmpi::Pack_external(representation, of.data(), 1, type, made.data(), bytes, &end) ==
             MPI_SUCCESS &&
         end == size;
}

bool is_read_back(MPI_Datatype type, int size, const value& of, const value& made) {
  MPI_Aint end = 0;
  value back{};
  return pmpi::Unpack_external(representation, made.data(), size, &end, back.data(), 1, type) ==
             MPI_SUCCESS &&
         back == of;
}

std::uint32_t unit_of_leaf(MPI_Datatype type) {
  int size = 0;
  value of{}, made{};
  if (is_pair(type) || type == MPI_PACKED || pmpi::Type_size(type, &size) != MPI_SUCCESS ||
      size <= 0 || size > static_cast<int>(of.size()))
    return 0;
  std::iota(of.begin(), of.begin() + size, static_cast<unsigned char>(1));
  if (!canonical(type, size, of, made) || !is_read_back(type, size, of, made)) return 0;
  for (const int unit : {1, 2, 4, 8}) {
    if (size % unit != 0) break;
    value turned = of;
    for (auto at = turned.begin(); at != turned.begin() + size; at += unit)
      std::reverse(at, at + unit);
    if (turned == made) return static_cast<std::uint32_t>(unit);
  }
  return 0;
}

constinit lasting<std::mutex> asking;
struct known_type {
  MPI_Datatype type;
  std::uint32_t unit;
};
lasting<std::vector<known_type>> known;  // predefined ones

std::uint32_t known_unit(MPI_Datatype type) {
  std::lock_guard lock(*asking);
  const auto at = std::ranges::find(*known, type, &known_type::type);
  if (at != known->end()) return at->unit;
  known->push_back({type, unit_of_leaf(type)});
  return known->back().unit;
}

/// `unit`: of the leaves so far; none yet at first.
bool all_alike(MPI_Datatype type, std::uint32_t& unit) {
  type_contents c;
  if (c.read(type) != status::ok) return false;
  if (!is_leaf(c.combiner())) {
    for (const MPI_Datatype inner : c.types())
      if (!all_alike(inner, unit)) return false;
    return true;
  }
  const std::uint32_t own = known_unit(type);
  const bool alike = own != 0 && (unit == 0 || unit == own);
  unit = own;
  return alike;
}

}  // namespace

std::uint32_t canonical_unit(MPI_Datatype type) {
  std::uint32_t unit = 0;
  return all_alike(type, unit) ? unit : 0;
}

// --- the bytes ---

namespace {

/// The packed side in memory of the elements' device: itself, or `scratch`.
result<std::byte*> near(const elements& e, const side& packed, memory::buffer& scratch) noexcept {
  if (packed.where == e.at.where) return packed.data;
  TELPHER_TRY(memory::buffer::device(e.at.where, e.bytes()).into(scratch));
  return static_cast<std::byte*>(scratch.data());
}

status swap(const elements& e, void* to, const void* from, std::uint32_t unit,
            device::stream s) noexcept {
  const memory::place& where = e.at.where;
  return swap_bytes(*where.owner, where.device, to, from, e.bytes(), unit, s);
}

}  // namespace

status gather_canonical(const elements& from, const side& packed, std::uint32_t unit) noexcept {
  if (unit == 1) return gather(from, packed);
  const memory::place& where = from.at.where;
  memory::buffer scratch;
  const auto to = near(from, packed, scratch);
  TELPHER_TRY(to);
  const auto s = memory::stream(where, memory::stream_role::kernel);
  TELPHER_TRY(s);
  if (from.one_run()) {
    TELPHER_TRY(swap(from, *to, from.at.data + from.type.true_lower_bound, unit, *s));
  } else {
    TELPHER_TRY(pack(*where.owner, from.type, from.at.data, from.count, *to, *s));
    TELPHER_TRY(swap(from, *to, *to, unit, *s));
  }
  TELPHER_TRY(where.owner->synchronise(*s));
  return scratch ? copy(packed, {where, *to}, from.bytes()) : status::ok;
}

status scatter_canonical(const side& packed, const elements& to, std::uint32_t unit) noexcept {
  if (unit == 1) return scatter(packed, to);
  const memory::place& where = to.at.where;
  memory::buffer scratch, turned;
  const auto from = near(to, packed, scratch);
  TELPHER_TRY(from);
  if (scratch) TELPHER_TRY(copy({where, *from}, packed, to.bytes()));
  const auto s = memory::stream(where, memory::stream_role::kernel);
  TELPHER_TRY(s);
  if (to.one_run()) {
    TELPHER_TRY(swap(to, to.at.data + to.type.true_lower_bound, *from, unit, *s));
    return where.owner->synchronise(*s);
  }
  if (!scratch) TELPHER_TRY(memory::buffer::device(where, to.bytes()).into(turned));
  void* const native = scratch ? scratch.data() : turned.data();
  TELPHER_TRY(swap(to, native, *from, unit, *s));
  TELPHER_TRY(unpack(*where.owner, to.type, native, to.at.data, to.count, *s));
  return where.owner->synchronise(*s);
}

}  // namespace telpher::datatype
