// SPDX-License-Identifier: BSD-3-Clause
// The registry of allocations: all that is kept of an allocation between messages. What is kept for
// one use is a facet: the handle that peers open (exported), the CPU's view (window), the network's
// registration (registered), and for an allocation of a peer its mapping here (imported).
//
// - An allocation is named by its process, back end, base and generation. Memory that was freed and
//   made again at the same address has another generation, so it is another allocation.
// - An allocation ends once, for all its facets. The end is noticed in one of three ways: a call
//   names another generation at the same addresses; tidy() asks the driver about this process's own
//   allocations; or another process posts the end of one of its own (path/endings.hpp). From then
//   on acquire() does not find its facets.
// - When an allocation ends, its imported facet closes at once, even if it is held: until then its
//   memory is not free, and a vendor may open no new allocation of the peer at the same addresses.
//   Other facets close when nobody uses them. The imported facet of a run of chunks does so too:
//   the run ends with one of its chunks while messages may use others.
// - As long as its allocation lives, a facet in use (users > 0) is never closed.
// - Each kind has a limit of entries and of bytes (exported facets: of entries only). Imported
//   facets have a limit of idle time, too. The least recently used facet closes first.
// - A facet whose holders have all called rest() counts as unused, except while trimming is paused.
//   The limits of bytes and of idle time may close it, the limit of entries does not. So a holder
//   pauses trimming, checks with base() that it still has its facet, and may use the facet until
//   the pause ends.
//
// The lock protects the lists. Registered facets are also protected by the progress lock.
// So only callers that hold that lock acquire them, and call tidy() and clear().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "base/thread_use.hpp"
#include "memory/memory.hpp"

namespace telpher::memory {

struct allocation {
  static constexpr std::int32_t own_process = -1;

  std::int32_t process = own_process;  // world rank of another one
  device::backend* owner = nullptr;
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uint64_t generation = 0;
  bool is_run = false;  // memory/chunk_runs.hpp

  static allocation own(const place& p, const device::pointer_info& info) noexcept {
    return {own_process, p.owner, info.base, info.bytes, info.generation, info.is_run};
  }
  bool same(const allocation& o) const noexcept {
    return base == o.base && generation == o.generation && process == o.process && owner == o.owner;
  }
  /// Whether only one of the two can be alive. Runs overlap each other and their chunks.
  bool excludes(const allocation& o) const noexcept {
    return !is_run && !o.is_run && process == o.process && owner == o.owner &&
           base < o.base + o.bytes && o.base < base + bytes;
  }
};

/// What is kept of an allocation for one use. Its destructor gives it back.
class facet {
 public:
  enum class kind : std::uint8_t { exported, window, registered, imported, count_ };
  virtual ~facet() = default;
  std::byte* base = nullptr;  // where the use finds the allocation's first byte
};

/// Whom a facet is for: a device, and the network if it is one's registration.
struct facet_user {
  place where;
  const void* network = nullptr;
  friend bool operator==(const facet_user&, const facet_user&) = default;
};

class allocations {
 public:
  struct counters {
    std::uint64_t hits = 0, opens = 0, closes = 0, ended = 0;
  };
  struct entry;

  /// A reference to a facet; released on destruction.
  class held {
   public:
    held() = default;
    held(held&& o) noexcept
        : entry_(std::exchange(o.entry_, nullptr)), rests_(std::exchange(o.rests_, false)) {}
    held& operator=(held&& o) noexcept {
      std::swap(entry_, o.entry_);
      std::swap(rests_, o.rests_);
      return *this;
    }
    ~held();
    /// Null once the facet is closed.
    std::byte* base() const noexcept;
    facet* what() const noexcept;
    /// Marks it as kept for later, not in use now. It may then be closed.
    void rest() noexcept;
    /// Notes a use of a resting facet.
    void touch() noexcept;
    explicit operator bool() const noexcept { return entry_ != nullptr; }

   private:
    friend class allocations;
    explicit held(entry* e) noexcept : entry_(e) {}
    entry* entry_ = nullptr;
    bool rests_ = false;
  };

  /// While a pause lives, no resting facet is closed by trimming.
  class pause {
   public:
    pause() = default;
    pause(pause&& o) noexcept : on_(std::exchange(o.on_, false)) {}
    pause& operator=(pause&& o) noexcept {
      std::swap(on_, o.on_);
      return *this;
    }
    ~pause();

   private:
    friend class allocations;
    explicit pause(bool on) noexcept : on_(on) {}
    bool on_ = false;
  };

  static allocations& instance() noexcept;

  /// Finds the facet, or opens it with `open`, which returns a result<std::unique_ptr<facet>>. If
  /// `open` fails with anything but not_supported, all unused facets of the kind are closed, and
  /// `open` is called once more.
  template <class Open>
  result<held> acquire(facet::kind k, const allocation& a, const facet_user& user,
                       Open&& open) noexcept {
    const guard_threads lock(guard_);
    if (held known = find(k, a, user)) return known;
    end_others(a);
    for (bool again = false;; again = true) {
      result<std::unique_ptr<facet>> made = open();
      if (made) return insert(k, a, user, std::move(*made));
      if (again || made.error() == status::not_supported) return made.error();
      trim_to(k, {0, 0});
    }
  }

  /// Another process says that an allocation of its own has ended.
  void ended(std::int32_t process, std::uint64_t base, std::uint64_t generation) noexcept;
  /// Another process says that some of its allocations have ended, but not which: closes all
  /// imported facets of that process that are not in use.
  void some_ended(std::int32_t process) noexcept;
  /// Sets a function that is called for each exported allocation of this process that has ended.
  void tell_peers_by(void (*post)(const allocation&)) noexcept { post_.store(post); }

  /// Whether tidy() should be called: its interval has passed, or look_soon() was called.
  bool due() const noexcept;
  /// Asks the driver whether this process's own allocations still live, and closes what exceeds the
  /// limits.
  void tidy() noexcept;
  /// The program may have freed an allocation: makes tidy() due.
  void look_soon() noexcept { due_ns_.store(0, std::memory_order_relaxed); }

  pause pause_trimming() noexcept;
  /// How many resting facets were closed so far.
  std::uint64_t revoked() const noexcept { return revoked_.load(std::memory_order_relaxed); }
  /// Closes everything that is not in use, of all kinds or of one.
  void clear() noexcept;
  void clear(facet::kind k) noexcept;
  /// Changes when an exported facet closes: its handle may be of no use to peers any more.
  std::uint64_t exports_closed() const noexcept {
    return exports_closed_.load(std::memory_order_relaxed);
  }
  counters count(facet::kind k) const noexcept { return of(k).count; }
  std::size_t bytes(facet::kind k) const noexcept { return of(k).bytes; }
  std::size_t entries(facet::kind k) const noexcept { return of(k).entries.size(); }

 private:
  friend class held;
  using list = std::list<entry>;
  struct shelf {
    list entries;  // most recently used first
    std::size_t bytes = 0;
    counters count;
  };
  struct limits {
    std::size_t entries, bytes;
  };
  static constexpr auto kinds = static_cast<std::size_t>(facet::kind::count_);

  shelf& of(facet::kind k) noexcept { return shelves_[static_cast<std::size_t>(k)]; }
  const shelf& of(facet::kind k) const noexcept { return shelves_[static_cast<std::size_t>(k)]; }
  static limits limits_of(facet::kind k) noexcept;

  held find(facet::kind k, const allocation& a, const facet_user& user) noexcept;
  result<held> insert(facet::kind k, const allocation& a, const facet_user& user,
                      std::unique_ptr<facet> what) noexcept;
  bool is_used(const entry& e) const noexcept;
  list::iterator close(shelf& s, list::iterator e) noexcept;
  template <class Test>
  void end_those(Test&& test) noexcept;
  void end_others(const allocation& now) noexcept;
  void look_again() noexcept;
  void close_ended_runs() noexcept;
  void trim_to(facet::kind k, const limits& most) noexcept;

  std::mutex guard_;
  std::array<shelf, kinds> shelves_;
  list ended_;  // closed or ended, but still held by somebody
  int pauses_ = 0;
  std::atomic<std::uint64_t> revoked_{0}, exports_closed_{0};
  std::atomic<std::int64_t> due_ns_{0};
  std::atomic<bool> used_{false};  // a program without a device never looks at the clock
  std::atomic<void (*)(const allocation&)> post_{nullptr};
};

}  // namespace telpher::memory
