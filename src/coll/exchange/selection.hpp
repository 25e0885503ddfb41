// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm runs a call, by which transport, on which buffers: by the table of selection.def
// and the settings, or by a tuned one (base/tuning.hpp) in front of it. All ranks choose from the
// same facts, so all choose the same.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/tuning.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory.hpp"
#include "path/path.hpp"

namespace telpher::coll::exchange {

enum class transport : std::uint8_t { packed, lines, exchange, stepped, vendor };

/// Whether data and flags travel together, and in which form.
constexpr bool is_packed(transport t) noexcept {
  return t == transport::packed || t == transport::lines;
}
constexpr kernel::packed_format format_of(transport t) noexcept {
  return t == transport::lines ? kernel::packed_format::lines : kernel::packed_format::words;
}

/// What all ranks know besides the problem.
struct facts {
  std::uint64_t unit = 1;    // bytes of an element
  bool may_wait = true;      // kernels for peers, at all ranks
  bool exportable = false;   // every buffer of every rank could be mapped
  bool library = false;      // the vendor's library does such calls, and may be tried
  bool lines = false;        // packed memory may be in lines, between all ranks
  bool replayed = false;     // streams start it without the host: one kernel, mapped for good
  bool any_buffers = false;  // a replay whose starts name their buffers: peers do not map these
  std::uint64_t places = 0;  // a hash of the offsets of which each rank knows only its own

  bool operator==(const facts&) const = default;
};

/// Memory for a program, so that a call that is chosen needs no more.
struct program_memory {
  std::vector<std::uint64_t> words;
  memory::buffer pinned;  // where kernels read a program that is too long for their parameters
};

/// What a choice was made by: a row of a table, a setting, or that no row serves the problem.
struct origin {
  enum class table : std::uint8_t { none, built_in, tuned, setting } of = table::none;
  std::uint64_t most_bytes = 0;
  int most_ranks = 0;
  tuning::calls calls = tuning::calls::any;
};

struct choice {
  const algorithm* what = nullptr;  // none where the vendor's library runs the call
  transport by = transport::exchange;
  bool mapped = false;
  int blocks = 1;
  int threads = 0;            // of a replay's block
  std::uint64_t scratch = 0;  // of a replay: elements that every rank needs
  std::shared_ptr<const schedule> plan;
  std::shared_ptr<program_memory> program;
  origin from;

  explicit operator bool() const noexcept { return what || by == transport::vendor; }
};

/// What TELPHER_COLL_ALGORITHM names for an operation, or "".
std::string_view forced_algorithm(operation what) noexcept;
/// The first entry of such a list that names no operation, or no algorithm of it; "" if all do.
std::string_view unknown_algorithm(std::string_view list) noexcept;

path::kind kind_of(transport t) noexcept;

/// Whether peers reach the program's buffers however small they are: one copy is all there is to
/// do.
bool maps_small(operation what) noexcept;

/// Bytes of the longest vector of any rank.
std::uint64_t volume(const problem& p, std::uint64_t unit) noexcept;

/// Takes the rows of a tuned table, which come before the built-in ones while that is in force.
/// False: `why` says which of them names what does not exist. May throw std::bad_alloc.
bool take_tuned(const std::vector<tuning::choice>& rows, std::string& why);

/// The choice for rank `me`; none if nothing fits. Sets `p.mapped` to what was chosen. May throw
/// std::bad_alloc.
choice choose(problem& p, const facts& f, int me);

/// Remembers its last answers: calls in a loop are alike. All ranks of a communicator remember the
/// same problems: those that all could choose for.
class chooser {
 public:
  /// The choice that was made for this problem, or null. Sets `p.mapped` to what it was.
  const choice* find(problem& p, const facts& f) const noexcept;
  /// Chooses and remembers. May throw std::bad_alloc.
  status choose(problem& p, const facts& f, int me, const memory::place& where, choice& made);
  void forget() noexcept;

 private:
  struct answer {
    bool known = false;
    problem asked;
    facts given;
    bool mapped = false;  // what was made of asked.mapped
    choice made;
  };
  std::array<answer, 4> answers_;
  std::size_t next_ = 0;
};

}  // namespace telpher::coll::exchange
