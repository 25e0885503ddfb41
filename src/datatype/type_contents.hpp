// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made (MPI_Type_get_contents), in one form for types made with int and for
// types made with MPI_Count arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::datatype {

class type_contents {
 public:
  type_contents() = default;
  type_contents(const type_contents&) = delete;
  type_contents& operator=(const type_contents&) = delete;
  ~type_contents();  // frees the handles that the host MPI gave out

  status read(MPI_Datatype type);

  int combiner() const noexcept { return combiner_; }
  /// All numbers in the order in which the standard lists the integers of the int form, followed by
  /// the addresses.
  const std::vector<std::int64_t>& numbers() const noexcept { return numbers_; }
  const std::vector<MPI_Datatype>& types() const noexcept { return types_; }

 private:
  struct raw;
  bool read_large(MPI_Datatype type, raw& r);
  bool read_small(MPI_Datatype type, raw& r);

  int combiner_ = 0;
  std::vector<std::int64_t> numbers_;
  std::vector<MPI_Datatype> types_;
};

/// Predefined types, named or not, must not be freed.
bool is_predefined(MPI_Datatype type);

/// True for types that have no inner type: named ones and those of MPI_Type_create_f90_*.
bool is_leaf(int combiner) noexcept;

}  // namespace telpher::datatype
