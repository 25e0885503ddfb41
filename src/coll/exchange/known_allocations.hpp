// SPDX-License-Identifier: BSD-3-Clause
// The program's allocations that every rank of a communicator has mapped. All ranks hear of the
// same ones in the same order, so all keep and drop the same. Between calls a mapping that has not
// been used for long may be closed (memory/allocations.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/imported.hpp"
#include "path/slot.hpp"

namespace telpher::coll::exchange {

class known_allocations {
 public:
  /// A buffer that a rank has named in a call.
  struct named {
    int rank;
    int process;  // its world rank; of_this_rank: nothing is to be mapped
    const path::exported_memory& memory;
    std::uint64_t call;
  };
  static constexpr int of_this_rank = -1;

  /// Finds its allocation, or maps it for `where` and sets `fresh`. False where that fails. May
  /// throw std::bad_alloc.
  bool map(const named& n, const memory::place& where, bool& fresh);
  /// The address here of a peer's memory; 0: it is not mapped.
  std::uint64_t address_of(int rank, const path::exported_memory& m) const noexcept;

  /// Whether some mapping has been closed since all were forgotten.
  bool lost_some() noexcept;
  void forget_all() noexcept;
  void forget_named_in(std::uint64_t call) noexcept;
  /// After `call`: drops what was not named for long, and the oldest if there are too many.
  void drop_old(std::uint64_t call, int ranks) noexcept;

 private:
  struct entry {
    int rank;
    path::exported_memory memory;
    memory::mapping mapping;  // none for own memory
    std::uint64_t last_call;
  };

  std::vector<entry> all_;
  bool lost_ = false;
  std::uint64_t seen_revoked_ = 0;  // allocations::revoked() at the last look
};

}  // namespace telpher::coll::exchange
