// SPDX-License-Identifier: BSD-3-Clause
// See type_contents.hpp. MPI-4 hosts are asked through the _c functions, which know every type;
// older ones have no types with large counts.
#include "datatype/type_contents.hpp"

#include <algorithm>

namespace telpher::datatype {

struct type_contents::raw {
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large;
};

namespace {

// Where the large counts of the _c form stand among the integers of the int form.
std::size_t large_position(int combiner) {
  if (combiner == MPI_COMBINER_SUBARRAY) return 1;  // after the number of dimensions
  if (combiner == MPI_COMBINER_DARRAY) return 3;    // after size, rank, number of dimensions
  return 0;
}

}  // namespace

// The int form is an error for types that were made with large counts.
bool is_predefined(MPI_Datatype type) {
  int combiner = 0;
  if (pmpi::Type_get_envelope_c.available()) {
    MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
    if (pmpi::Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner) !=
        MPI_SUCCESS)
      return true;
  } else {
    int integers = 0, addresses = 0, types = 0;
    if (pmpi::Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
      return true;
  }
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  if (combiner == MPI_COMBINER_VALUE_INDEX) return true;
#endif
  return is_leaf(combiner);
}

bool is_leaf(int combiner) noexcept {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

type_contents::~type_contents() {
  for (MPI_Datatype& type : types_)
    if (!is_predefined(type)) pmpi::Type_free(&type);
}

bool type_contents::read_large(MPI_Datatype type, raw& r) {
  MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
  if (pmpi::Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner_) !=
      MPI_SUCCESS)
    return false;
  if (is_leaf(combiner_)) return true;
  r.integers.resize(static_cast<std::size_t>(integers));
  r.addresses.resize(static_cast<std::size_t>(addresses));
  r.large.resize(static_cast<std::size_t>(large));
  std::vector<MPI_Datatype> inner(static_cast<std::size_t>(types));
  if (pmpi::Type_get_contents_c(type, integers, addresses, large, types, r.integers.data(),
                                r.addresses.data(), r.large.data(), inner.data()) != MPI_SUCCESS)
    return false;
  types_ = std::move(inner);
  return true;
}

bool type_contents::read_small(MPI_Datatype type, raw& r) {
  int integers = 0, addresses = 0, types = 0;
  if (pmpi::Type_get_envelope(type, &integers, &addresses, &types, &combiner_) != MPI_SUCCESS)
    return false;
  if (is_leaf(combiner_)) return true;
  r.integers.resize(static_cast<std::size_t>(integers));
  r.addresses.resize(static_cast<std::size_t>(addresses));
  std::vector<MPI_Datatype> inner(static_cast<std::size_t>(types));
  if (pmpi::Type_get_contents(type, integers, addresses, types, r.integers.data(),
                              r.addresses.data(), inner.data()) != MPI_SUCCESS)
    return false;
  types_ = std::move(inner);
  return true;
}

status type_contents::read(MPI_Datatype type) {
  raw r;
  const bool large = pmpi::Type_get_envelope_c.available() && pmpi::Type_get_contents_c.available();
  if (!(large ? read_large(type, r) : read_small(type, r))) return status::host_mpi_error;
  const auto head = r.integers.begin() + static_cast<std::ptrdiff_t>(std::min(
                                             large_position(combiner_), r.integers.size()));
  numbers_.assign(r.integers.begin(), head);
  numbers_.insert(numbers_.end(), r.large.begin(), r.large.end());
  numbers_.insert(numbers_.end(), head, r.integers.end());
  numbers_.insert(numbers_.end(), r.addresses.begin(), r.addresses.end());
  return status::ok;
}

}  // namespace telpher::datatype
