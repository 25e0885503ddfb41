// SPDX-License-Identifier: BSD-3-Clause
// One space of one rank as the verifier sees it: cells with a symbolic value, who wrote them and
// who has read them since. An access is a rank and its clock (the number of its step); whether it
// happened before another is for the caller's vector clock to say.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coll/schedule/schedule.hpp"
#include "schedules/symbols.hpp"

namespace telpher::coll {

struct access {
  std::int32_t rank = -1;
  std::uint32_t clock = 0;
  std::int32_t message = -1;  // of a send: the message that reads; see verify.cpp
};

/// How the step under way lies to an earlier access.
enum class order : std::uint8_t {
  none,     // a race
  sliced,   // after it, slice by slice: both must use the same span
  stopped,  // after all of it: a message lies between
};

class cells {
 public:
  struct reading {
    std::uint64_t offset;
    std::uint64_t count;
    access by;
  };
  struct cell {
    std::uint64_t count = 0;
    content holds;
    access writer;                     // rank -1: there from the start
    std::uint64_t written_offset = 0;  // as it was written; parts may since be overwritten
    std::uint64_t written_count = 0;
    std::vector<reading> readings;
    bool initial() const noexcept { return writer.rank < 0; }
  };
  using ordered = std::function<order(const access&)>;

  /// Elements [0, count) are there from the start.
  void begin(std::uint64_t count, value_id value) {
    if (count > 0) cells_[0] = {.count = count, .holds = {{count, value, 0}}};
  }

  /// Reads a span; what is wrong, or an empty text.
  std::string read(std::uint64_t offset, std::uint64_t count, content& found, const access& by,
                   const ordered& before);
  /// Writes a span; what is wrong, or an empty text.
  std::string write(std::uint64_t offset, std::uint64_t count, content holds, const access& by,
                    const ordered& before);

  const std::map<std::uint64_t, cell>& all() const noexcept { return cells_; }
  /// The cell that holds element `offset`; end() if none does.
  std::map<std::uint64_t, cell>::const_iterator holding(std::uint64_t offset) const;

 private:
  static std::string check_read(const cell& from, const reading& fresh, const ordered& before);
  static std::string check_overwritten(const cell& old, const reading& fresh,
                                       const ordered& before);
  void keep_rest(std::uint64_t at, const cell& old, std::uint64_t begin, std::uint64_t end);

  std::map<std::uint64_t, cell> cells_;
};

}  // namespace telpher::coll
