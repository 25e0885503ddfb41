// SPDX-License-Identifier: BSD-3-Clause
// One rank's buffers of a call that no schedule can use as they lie: a type with gaps, MPI_BOTTOM,
// values that are not aligned. The rank's part of the call runs on a packed copy in host memory,
// and the other ranks need not know. Only for calls without arrays of counts.
#pragma once

#include <vector>

#include "coll/exchange/arguments.hpp"
#include "coll/exchange/sides.hpp"
#include "coll/host_images.hpp"
#include "datatype/datatype.hpp"

namespace telpher::coll::between {

class packed_buffers {
 public:
  /// `bytes`: of the vector or a block; `grain` divides them; all ranks know both. Makes `a` the
  /// same call on the packed copy. Where there is no memory for that, `a` gets no buffers, and
  /// load() fails.
  packed_buffers(exchange::arguments& a, std::uint64_t bytes, std::uint64_t grain) noexcept;

  /// Packs what the call reads.
  status load() noexcept;
  /// Brings the results to their places.
  status store() noexcept;

 private:
  struct copied : exchange::side {
    const datatype::layout* layout = nullptr;
    std::byte* image = nullptr;  // host memory with the buffer's layout
    std::vector<std::byte> content{};
  };
  void make(const exchange::arguments& a, std::uint64_t bytes, std::uint64_t result);
  status open(copied& s);

  status made_ = status::ok;
  bool reduces_;
  copied input_, output_;  // in place all is the output
  host_images images_{path::kind::coll_levels};
};

}  // namespace telpher::coll::between
