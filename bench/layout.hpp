// SPDX-License-Identifier: BSD-3-Clause
// How a message's bytes lie in memory: contiguous, or in blocks with gaps as a derived datatype
// describes them. The gaps belong to the program; a message must neither read nor write them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace telpher::bench {

/// As given on the command line.
struct derived {
  enum class kind { none, contiguous, vector, indexed, subarray };
  kind what = kind::none;
  std::size_t block = 0;
  std::size_t stride = 0;
  // A subarray of three dimensions: so many rows of each plane, which has so many. 0: of two.
  std::size_t rows = 0;
  std::size_t plane_rows = 0;
};

class layout {
 public:
  layout(const derived& d, std::size_t bytes);
  ~layout();
  layout(const layout&) = delete;
  layout& operator=(const layout&) = delete;

  MPI_Datatype type() const noexcept { return type_; }
  int count() const noexcept { return count_; }
  /// Bytes from the first to the last byte, including gaps.
  std::size_t span() const noexcept { return span_; }
  struct block {
    std::size_t at;
    std::size_t bytes;
  };
  const std::vector<block>& blocks() const noexcept { return blocks_; }

 private:
  void make_indexed();
  void make_subarray(const derived& d);

  std::vector<block> blocks_;
  std::size_t span_;
  MPI_Datatype type_ = MPI_BYTE;
  int count_;
};

}  // namespace telpher::bench
