// SPDX-License-Identifier: BSD-3-Clause
// A table from the program's request handles to what Telpher keeps for them. Open addressing with
// linear probing and backward-shift deletion: a hit costs one multiplication and usually one cache
// line. The handle's bits are the key; no MPI has a request whose bits are all zero.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

template <class Value>
class request_table {
 public:
  constexpr request_table() noexcept = default;
  request_table(const request_table&) = delete;
  request_table& operator=(const request_table&) = delete;

  std::size_t size() const noexcept { return used_; }

  /// Enters a request. If it was there already, its value is replaced, and the old one returned.
  std::optional<Value> enter(MPI_Request request, const Value& value) {
    if (2 * used_ > mask_) [[unlikely]]
      grow();
    const std::uint64_t key = bits(request);
    place& p = places_[probe(key)];
    if (p.key == key) [[unlikely]]
      return std::exchange(p.value, value);
    p.key = key;
    p.value = value;
    ++used_;
    return std::nullopt;
  }

  const Value* find(MPI_Request request) const noexcept {
    const place& p = places_[probe(bits(request))];
    return p.key != 0 ? &p.value : nullptr;
  }

  /// The value of a request, or nothing if the table does not have it. The request is removed if
  /// `leaves(value)` is true.
  template <class Leaves>
  std::optional<Value> take(MPI_Request request, const Leaves& leaves) noexcept {
    const std::size_t i = probe(bits(request));
    if (places_[i].key == 0) return std::nullopt;
    const Value value = places_[i].value;
    if (leaves(value)) remove(i);
    return value;
  }
  std::optional<Value> take(MPI_Request request) noexcept {
    return take(request, [](const Value&) { return true; });
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i <= mask_; ++i)
      if (places_[i].key != 0) visit(places_[i].value);
  }
  void clear() noexcept {
    for (std::size_t i = 0; i <= mask_; ++i) places_[i].key = 0;
    used_ = 0;
  }

 private:
  struct place {
    std::uint64_t key = 0;
    Value value{};
  };

  static std::uint64_t bits(MPI_Request request) noexcept {
    std::uint64_t b = 0;
    std::memcpy(&b, &request, sizeof request);
    return b;
  }
  std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> 32) & mask_;
  }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask_; }
  /// The place of the key, or the free one where it would go.
  std::size_t probe(std::uint64_t key) const noexcept {
    std::size_t i = home(key);
    while (places_[i].key != key && places_[i].key != 0) i = next(i);
    return i;
  }

  void remove(std::size_t i) noexcept {
    --used_;
    std::size_t j = next(i);
    if (places_[j].key != 0) [[unlikely]]
      i = move_back(i, j);
    places_[i].key = 0;
  }
  /// Moves entries from behind the hole `i` back, so that no probe ends too early; `j` is the place
  /// after the hole. Returns where the hole is then.
  std::size_t move_back(std::size_t i, std::size_t j) noexcept {
    for (; places_[j].key != 0; j = next(j)) {
      const std::size_t h = home(places_[j].key);
      const bool stays = i <= j ? (i < h && h <= j) : (i < h || h <= j);
      if (stays) continue;
      places_[i] = places_[j];
      i = j;
    }
    return i;
  }

  void grow() {
    const std::size_t before = mask_ + 1;
    auto larger = std::make_unique<place[]>(2 * before);
    const place* const old = std::exchange(places_, larger.get());
    mask_ = 2 * before - 1;
    for (std::size_t i = 0; i < before; ++i)
      if (old[i].key != 0) places_[probe(old[i].key)] = old[i];
    grown_ = std::move(larger);
  }

  static constexpr std::size_t first = 64;
  place few_[first]{};
  std::unique_ptr<place[]> grown_;  // in place of few_, once that is too small
  place* places_ = few_;
  std::size_t mask_ = first - 1;
  std::size_t used_ = 0;
};

}  // namespace telpher::host_mpi
