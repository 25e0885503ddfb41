// SPDX-License-Identifier: BSD-3-Clause
// What a thread of the model may read: loads and stores with their order, and races of plain
// accesses.
#include <cstring>

#include "explorer.hpp"

namespace model {

static std::uint64_t read_memory(const void* at, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

location& explorer::location_of(const void* at, unsigned bytes) {
  const auto [found, is_new] = index_.try_emplace(at, locations_.size());
  if (is_new) {
    location l{at, bytes, "", {}, false, 0, 0, {}};
    auto named = names.upper_bound(at);
    if (named != names.begin()) {
      --named;
      const auto distance =
          static_cast<const std::byte*>(at) - static_cast<const std::byte*>(named->first);
      if (static_cast<std::size_t>(distance) < named->second.second) l.name = named->second.first;
    }
    if (const auto rule = rules.find(at); rule != rules.end()) l.rule = rule->second;
    l.stores.push_back({read_memory(at, bytes), 0, 0, nullptr});
    locations_.push_back(std::move(l));
  }
  location& l = locations_[found->second];
  if (l.plain_written) {
    l.plain_written = false;
    l.stores.push_back({read_memory(at, bytes), l.plain_by, l.plain_stamp, nullptr});
  }
  return l;
}

std::uint64_t explorer::load(location& l, bool acquires) {
  knowledge& known = running_->known;
  const std::size_t index = index_of(l);
  const auto newest = static_cast<std::uint32_t>(l.stores.size() - 1);
  std::uint32_t oldest = known.floor_of(index);
  for (std::uint32_t i = newest; i > oldest; --i)
    if (l.stores[i].stamp <= known.clock[l.stores[i].by]) oldest = i;
  const std::uint32_t back = choose(newest - oldest + 1, true);
  const stored& from = l.stores[newest - back];
  known.floor_of(index) = newest - back;
  if (acquires && from.released && mutation_of(l) != mutation::load_relaxed)
    known.learn(*from.released);
  running_->note_read(index, newest - back);
  return from.value;
}

void explorer::store(location& l, std::uint64_t value, bool releases, const stored* continued) {
  knowledge& known = running_->known;
  const unsigned me = id(running_);
  const std::uint64_t before = l.stores.back().value;
  if (l.rule && !l.rule(me, before, value))
    return fail(l.name + ": " + std::to_string(before) + " -> " + std::to_string(value) +
                " by thread " + std::to_string(me) + " is not allowed");
  known.floor_of(index_of(l)) = static_cast<std::uint32_t>(l.stores.size());
  std::shared_ptr<knowledge> released;
  const mutation m = mutation_of(l);
  const bool dropped = m == (continued ? mutation::swap_relaxed : mutation::store_relaxed);
  if (releases && !dropped) released = std::make_shared<knowledge>(known);
  if (continued && continued->released) {  // the release sequence goes on
    if (!released) released = std::make_shared<knowledge>();
    released->learn(*continued->released);
  }
  l.stores.push_back({value, me, known.clock[me], std::move(released)});
  std::memcpy(const_cast<void*>(l.at), &value, l.bytes);
  idle_jumps_ = 0;
}

std::uint64_t explorer::access(const access_request& r) {
  busy_ = true;
  running_->next = {r.at, r.kind != access_kind::load, false};
  schedule();
  location* l = &location_of(r.at, r.bytes);
  const bool acquires = r.order != __ATOMIC_RELAXED && r.order != __ATOMIC_RELEASE;
  const bool releases = r.order == __ATOMIC_RELEASE || r.order >= __ATOMIC_ACQ_REL;
  std::uint64_t result = 0;
  if (r.kind == access_kind::load) {
    result = load(*l, acquires);
    note("load " + l->name + " = " + std::to_string(result));
  } else if (r.kind == access_kind::store) {
    note("store " + l->name + " = " + std::to_string(r.operand));
    store(*l, r.operand, releases, nullptr);
  } else {
    stored last = l->stores.back();
    result = last.value;
    running_->known.floor_of(index_of(*l)) = static_cast<std::uint32_t>(l->stores.size() - 1);
    const mutation m = mutation_of(*l);
    if (acquires && last.released && m != mutation::swap_relaxed)
      running_->known.learn(*last.released);
    running_->note_read(index_of(*l), static_cast<std::uint32_t>(l->stores.size() - 1));
    const auto next = r.change(result, r.operand, r.expected);
    note("swap " + l->name + " = " + std::to_string(result) +
         (next ? " -> " + std::to_string(*next) : " stays"));
    if (next && m == mutation::swap_split) {
      running_->next = {r.at, true, false};
      ++running_->known.clock[id(running_)];
      schedule();
      l = &location_of(r.at, r.bytes);
    }
    if (next) store(*l, *next, releases, &last);
  }
  ++running_->known.clock[id(running_)];
  busy_ = false;
  return result;
}

void explorer::plain(const void* at, std::size_t bytes, bool writes) {
  const auto* byte = static_cast<const std::byte*>(at);
  if (byte >= running_->stack.get() && byte < running_->stack.get() + stack_bytes) return;
  const knowledge& known = running_->known;
  const unsigned me = id(running_);
  const auto first = reinterpret_cast<std::uintptr_t>(at) / 4;
  const auto last = (reinterpret_cast<std::uintptr_t>(at) + bytes - 1) / 4;
  for (auto granule = first; granule <= last; ++granule) {
    if (const auto atomic = index_.find(reinterpret_cast<const void*>(granule * 4));
        atomic != index_.end()) {
      location& l = locations_[atomic->second];
      if (writes) {
        l.plain_written = true;
        l.plain_by = me;
        l.plain_stamp = known.clock[me];
      }
      continue;
    }
    shadow& s = shadows_[granule];
    bool race = s.written > known.clock[s.writer] && s.writer != me;
    for (unsigned i = 0; writes && i < live_; ++i)
      race = race || (i != me && s.read[i] > known.clock[i]);
    if (race) {
      auto named = names.upper_bound(at);
      const std::string what =
          named != names.begin() ? (--named)->second.first : std::string("memory");
      return fail("a data race at or after " + what + ", thread " + std::to_string(me));
    }
    if (writes) {
      s.writer = me;
      s.written = known.clock[me];
    } else {
      s.read[me] = known.clock[me];
    }
  }
}

}  // namespace model
