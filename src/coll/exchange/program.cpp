// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/program.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "kernel/exchange.hpp"

namespace telpher::coll::exchange {
namespace {

using kernel::exchange_op;

constexpr std::uint64_t largest_number = 0xffff;

class compiler {
 public:
  compiler(const compilation& c, std::vector<std::uint64_t>& words) : c_(c), words_(words) {
    words_.clear();
  }

  /// Waits until all ranks have begun the call.
  void meet() {
    add_flags(exchange_op::signal, 0, others());
    add_flags(exchange_op::wait, 0, others());
    signals_.fill(1);
    waits_.fill(1);
  }

  /// Waits until the ranks whose packed memory this one writes have begun the call before.
  void meet_readers() {
    std::uint64_t readers = 0;
    bool reads = false;
    for (const step& s : c_.what.steps) {
      if (s.to.where == space::scratch) readers |= std::uint64_t{1} << s.to.rank;
      for (const span& from : s.sources) reads = reads || from.where == space::scratch;
    }
    if (reads) add_flags(exchange_op::signal, 1, others());
    readers &= others();
    if (readers) add_flags(exchange_op::wait, 1, readers);
  }

  status add(const step& s) {
    switch (s.kind) {
      case step_kind::copy:
      case step_kind::reduce:
        return add_move(s);
      case step_kind::signal:
        return add_flag(exchange_op::signal, s.peer, signals_);
      case step_kind::wait:
        if (s.peer == c_.what.rank || s.peer == c_.host) return add_wait_for_all(s.peer);
        return add_flag(exchange_op::wait, s.peer, waits_);
      case step_kind::send:
      case step_kind::receive:
        break;
    }
    return status::invalid_argument;
  }

 private:
  using numbers = std::array<std::uint64_t, most_ranks>;

  std::uint64_t others() const {
    const std::uint64_t all = (std::uint64_t{2} << (c_.what.ranks - 1)) - 1;
    return all & ~(std::uint64_t{1} << c_.what.rank);
  }

  /// The first signal of this call, or the wait for the first one of `lag` calls before.
  void add_flags(exchange_op kind, std::uint64_t lag, std::uint64_t peers) {
    words_.push_back(static_cast<std::uint64_t>(kind) | lag << 8 | 1 << 16);
    words_.push_back(peers);
  }

  /// Whether the copy is one of the last sum. Then that step writes the sum to both places. Not if
  /// the new place overlaps a source in part: the step would overwrite what it still reads.
  bool joins_last_reduce(const step& s) const {
    constexpr std::uint64_t most = 0xff;
    if (s.kind != step_kind::copy || last_reduce_ == none) return false;
    const std::uint64_t* sum = &words_[last_reduce_];
    const std::uint64_t bytes = sum[1], to = address_of(s.to, c_);
    if (bytes != s.to.count * c_.unit || sum[2] != address_of(s.sources[0], c_)) return false;
    const std::uint64_t sources = sum[0] >> 8 & 0xff;
    for (std::uint64_t i = 0; i < sources; ++i) {
      const std::uint64_t from = sum[3 + i];
      if (from != to && from < to + bytes && to < from + bytes) return false;
    }
    return to != 0 && sum[0] >> 16 < most;
  }

  status add_further_target(const span& to) {
    words_[last_reduce_] += 1 << 16;
    return add_address(to) ? status::ok : status::invalid_argument;
  }

  status add_move(const step& s) {
    last_flag_ = none;
    if (joins_last_reduce(s)) return add_further_target(s.to);
    last_reduce_ = none;
    if (const way w = way_of(s); w != way::no) return add_packed(s, w);
    last_way_ = way::no;
    if (joins_last_copy(s)) return add_target(s.to);
    last_copy_ = none;
    (s.kind == step_kind::copy ? last_copy_ : last_reduce_) = words_.size();
    const auto kind = s.kind == step_kind::copy ? exchange_op::copy : exchange_op::reduce;
    words_.push_back(static_cast<std::uint64_t>(kind) | s.sources.size() << 8);
    words_.push_back(s.to.count * c_.unit);
    if (!add_address(s.to)) return status::invalid_argument;
    for (const span& from : s.sources)
      if (!add_address(from)) return status::invalid_argument;
    return status::ok;
  }

  /// Copies of a packed program: into a peer's packed memory (in), out of the own (out), from input
  /// to output (over), from the own packed memory into a peer's (on).
  enum class way : std::uint8_t { no, in, out, over, on };

  way way_of(const step& s) const {
    if (!c_.packed || s.kind != step_kind::copy) return way::no;
    const bool to = s.to.where == space::scratch, from = s.sources[0].where == space::scratch;
    if (to && from) return way::on;
    if (to || from) return to ? way::in : way::out;
    const bool over = s.to.where == space::output && s.sources[0].where == space::input;
    return over ? way::over : way::no;
  }

  /// What a row of copies does with the program's output.
  struct uses {
    bool reads = false, writes = false;
  };

  /// In place the input is the output.
  uses uses_of(const span& to, const span& from) const {
    const spaces& own = c_.map[static_cast<std::size_t>(from.rank)];
    const bool in_place = from.where == space::input && own.input == own.output;
    return {from.where == space::output || in_place, to.where == space::output};
  }

  /// Copies in a row are one step if none writes where another reads. Copies of different ways may
  /// wait for each other, so each needs wavefronts of its own: that limits their number.
  bool joins(way w, uses u) const {
    constexpr std::uint64_t most = 0xff, most_mixed = kernel::exchange_place::most_items / 64;
    if (last_way_ == way::no || (row_.reads && u.writes) || (row_.writes && u.reads)) return false;
    return words_[last_head_] >> 8 < (mixed_ || w != last_way_ ? most_mixed : most);
  }

  status add_packed(const step& s, way w) {
    const uses u = uses_of(s.to, s.sources[0]);
    last_copy_ = none;
    if (joins(w, u)) {
      mixed_ = mixed_ || w != last_way_;
      row_ = {row_.reads || u.reads, row_.writes || u.writes};
    } else {
      mixed_ = false;
      row_ = u;
      last_head_ = words_.size();
      words_.push_back(static_cast<std::uint64_t>(exchange_op::copies));
    }
    last_way_ = w;
    words_[last_head_] += 1 << 8;
    words_.push_back(s.to.count * c_.unit);
    return add_address(s.to) && add_address(s.sources[0]) ? status::ok : status::invalid_argument;
  }

  /// Several copies of one piece in a row become one step, which reads it once.
  bool joins_last_copy(const step& s) const {
    return s.kind == step_kind::copy && last_copy_ != none &&
           words_[last_copy_ + 1] == s.to.count * c_.unit &&
           source_of_last_copy() == address_of(s.sources[0], c_);
  }

  std::uint64_t source_of_last_copy() const {
    const bool one = static_cast<exchange_op>(words_[last_copy_] & 0xff) == exchange_op::copy;
    return words_[last_copy_ + (one ? 3 : 2)];
  }

  status add_target(const span& to) {
    std::uint64_t& head = words_[last_copy_];
    if (static_cast<exchange_op>(head & 0xff) == exchange_op::copy) {
      head = static_cast<std::uint64_t>(exchange_op::spread) | 1 << 8;
      std::swap(words_[last_copy_ + 2], words_[last_copy_ + 3]);
    }
    head += 1 << 8;
    return add_address(to) ? status::ok : status::invalid_argument;
  }

  bool add_address(const span& s) {
    const std::uint64_t address = address_of(s, c_);
    words_.push_back(address);
    return address != 0;
  }

  status add_flag(exchange_op kind, std::int32_t peer, numbers& count) {
    if (c_.packed) return status::ok;
    last_copy_ = last_reduce_ = none;
    const std::uint64_t number = ++count[static_cast<std::size_t>(peer)];
    if (number > largest_number) return status::invalid_argument;
    const std::uint64_t head = static_cast<std::uint64_t>(kind) | number << 16;
    const std::uint64_t bit = std::uint64_t{1} << peer;
    if (last_flag_ != none && words_[last_flag_] == head && !(words_[last_flag_ + 1] & bit)) {
      words_[last_flag_ + 1] |= bit;
      return status::ok;
    }
    last_flag_ = words_.size();
    words_.push_back(head);
    words_.push_back(bit);
    return status::ok;
  }

  /// All blocks wait for the same: for each other, or for the host's word.
  status add_wait_for_all(std::int32_t peer) {
    last_flag_ = last_copy_ = last_reduce_ = none;
    const std::uint64_t number = ++waits_[static_cast<std::size_t>(peer)];
    if (number > largest_number) return status::invalid_argument;
    const auto kind = peer == c_.host ? exchange_op::await : exchange_op::meet;
    words_.push_back(static_cast<std::uint64_t>(kind) | number << 16);
    words_.push_back(static_cast<std::uint64_t>(peer));
    return status::ok;
  }

  static constexpr std::size_t none = ~std::size_t{0};

  const compilation& c_;
  std::vector<std::uint64_t>& words_;
  std::size_t last_flag_ = none;    // a step that more peers may join
  std::size_t last_copy_ = none;    // a step that more copies may join
  std::size_t last_reduce_ = none;  // a step whose result more copies may be made of
  way last_way_ = way::no;          // of the last copy at last_head_, which more may join
  std::size_t last_head_ = 0;
  bool mixed_ = false;
  uses row_;
  numbers signals_{};
  numbers waits_{};
};

}  // namespace

std::uint64_t address_of(const span& s, const compilation& c) noexcept {
  const spaces& at = c.map[static_cast<std::size_t>(s.rank)];
  if (s.where == space::scratch && c.packed)
    return at.inbox ? (at.inbox + packed_bytes(c.format, s.offset, c.unit)) | kernel::packed_mark
                    : 0;
  const std::uint64_t base = s.where == space::input    ? at.input
                             : s.where == space::output ? at.output
                                                        : at.scratch;
  return base ? base + s.offset * c.unit : 0;
}

// A copy of packed memory has up to four words, other steps a head of two and their addresses.
std::size_t most_words(const schedule& s) noexcept {
  std::size_t most = 4;  // where ranks meet
  for (const step& one : s.steps) most += 3 + std::max<std::size_t>(1, one.sources.size());
  return most;
}

status compile(const compilation& c, std::span<const step> steps,
               std::vector<std::uint64_t>& words) noexcept {
  try {
    compiler work(c, words);
    if (c.begins == meeting::of_all) work.meet();
    if (c.begins == meeting::of_call_before) work.meet_readers();
    for (const step& s : steps) TELPHER_TRY(work.add(s));
    return status::ok;
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

}  // namespace telpher::coll::exchange
