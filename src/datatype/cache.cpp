// SPDX-License-Identifier: BSD-3-Clause
// The cache of layouts by handle: open addressing in a flat table that readers probe without a
// lock. A reader takes the version before and after; a writer (under the mutex) makes it odd while
// slots move, and a reader that met a writer tries again under the mutex. A table that was outgrown
// is kept for readers still in it: sizes double, so all old ones together are smaller than the
// current one.
#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>

#include "base/log.hpp"
#include "datatype/flatten.hpp"
#include "memory/memory.hpp"

namespace telpher::datatype {
namespace {

using key = std::uintptr_t;  // zero is no datatype in any MPI: an empty slot

// Handles are pointers in some MPIs and integers in others.
template <class Handle>
key key_of(Handle type) noexcept {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<key>(type);
  else
    return static_cast<key>(static_cast<unsigned>(type));
}

struct slot {
  std::atomic<key> type{0};
  std::atomic<const layout*> value{nullptr};
};

struct table {
  explicit table(std::size_t capacity) : mask(capacity - 1), slots(new slot[capacity]) {}

  std::size_t home(key k) const noexcept { return (k * 0x9e3779b97f4a7c15u >> 32) & mask; }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & mask; }

  /// The slot of `k`, or the empty one where it would go.
  std::size_t probe(key k) const noexcept {
    std::size_t i = home(k);
    for (;;) {
      const key found = slots[i].type.load(std::memory_order_acquire);
      if (found == k || found == 0) return i;
      i = next(i);
    }
  }

  void put(std::size_t i, key k, const layout* value) noexcept {
    slots[i].value.store(value, std::memory_order_release);
    slots[i].type.store(k, std::memory_order_release);
  }

  /// Empties slot `i` and moves later entries of its run back, so that no probe ends too early.
  void remove(std::size_t i) noexcept {
    for (std::size_t j = next(i);; j = next(j)) {
      const key moved = slots[j].type.load(std::memory_order_relaxed);
      if (moved == 0) break;
      if (((j - home(moved)) & mask) < ((j - i) & mask)) continue;  // its home lies after the hole
      put(i, moved, slots[j].value.load(std::memory_order_relaxed));
      i = j;
    }
    put(i, 0, nullptr);
  }

  const std::size_t mask;
  const std::unique_ptr<slot[]> slots;
  std::unique_ptr<table> outgrown;
};

class cache {
 public:
  const layout* find(key k) noexcept {
    const unsigned before = version_.load(std::memory_order_acquire);
    const table* t = current_.load(std::memory_order_acquire);
    if (t && !(before & 1)) [[likely]] {
      const layout* found = t->slots[t->probe(k)].value.load(std::memory_order_acquire);
      if (version_.load(std::memory_order_relaxed) == before) [[likely]]
        return found;
    }
    std::lock_guard lock(mutex_);
    t = current_.load(std::memory_order_relaxed);
    return t ? t->slots[t->probe(k)].value.load(std::memory_order_relaxed) : nullptr;
  }

  /// `k` has no entry.
  const layout* insert(key k, std::unique_ptr<layout> value) {
    std::lock_guard lock(mutex_);
    reserve();
    const std::size_t i = table_->probe(k);
    const write_section writing(*this);
    table_->put(i, k, value.get());
    ++used_;
    return value.release();
  }

  const layout* take(key k) noexcept {
    std::lock_guard lock(mutex_);
    if (!table_) return nullptr;
    const std::size_t i = table_->probe(k);
    const layout* found = table_->slots[i].value.load(std::memory_order_relaxed);
    if (!found) return nullptr;
    const write_section writing(*this);
    table_->remove(i);
    --used_;
    return found;
  }

  void clear() noexcept {
    std::lock_guard lock(mutex_);
    if (!table_) return;
    const write_section writing(*this);
    for (std::size_t i = 0; i <= table_->mask; ++i) {
      hold::drop(table_->slots[i].value.load(std::memory_order_relaxed));
      table_->put(i, 0, nullptr);
    }
    used_ = 0;
  }

 private:
  static constexpr std::size_t first_capacity = 256;

  class write_section {
   public:
    explicit write_section(cache& c) noexcept : version_(c.version_) { step(); }
    ~write_section() { step(); }
    write_section(const write_section&) = delete;
    write_section& operator=(const write_section&) = delete;

   private:
    void step() noexcept { version_.fetch_add(1, std::memory_order_acq_rel); }
    std::atomic<unsigned>& version_;
  };

  /// Room for one more with the table at most half full.
  void reserve() {
    const std::size_t capacity = table_ ? table_->mask + 1 : 0;
    if (2 * (used_ + 1) <= capacity) return;
    auto larger = std::make_unique<table>(capacity ? 2 * capacity : first_capacity);
    for (std::size_t i = 0; i < capacity; ++i) {
      const key k = table_->slots[i].type.load(std::memory_order_relaxed);
      if (k)
        larger->put(larger->probe(k), k, table_->slots[i].value.load(std::memory_order_relaxed));
    }
    larger->outgrown = std::move(table_);
    table_ = std::move(larger);
    current_.store(table_.get(), std::memory_order_release);
  }

  std::atomic<unsigned> version_{0};
  std::atomic<const table*> current_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<table> table_;
  std::size_t used_ = 0;
};

// Never destroyed: types are looked up until the process ends.
cache& layouts() noexcept {
  alignas(cache) static unsigned char storage[sizeof(cache)];
  static cache* const instance = new (storage) cache;
  return *instance;
}

// --- the end of a type ---

// Only one thread flattens at a time, so that a type gets its attribute once. Setting it again
// would run the delete callback. The mutex is held while the host MPI is called, so the callback
// must not take it.
std::mutex making;
int attribute = MPI_KEYVAL_INVALID;  // under `making`

// Called by the host MPI when the last user of the type has gone: the program, a message under way
// or a type made of it.
int type_ends(MPI_Datatype type, int, void*, void*) {
  hold::drop(layouts().take(key_of(type)));
  return MPI_SUCCESS;
}

// A duplicate is flattened at its own first use.
int not_copied(MPI_Datatype, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

bool hear_of_end(MPI_Datatype type) noexcept {
  if (attribute == MPI_KEYVAL_INVALID &&
      pmpi::Type_create_keyval(not_copied, type_ends, &attribute, nullptr) != MPI_SUCCESS)
    return false;
  return pmpi::Type_set_attr(type, attribute, nullptr) == MPI_SUCCESS;
}

[[gnu::cold, gnu::noinline]] result<const layout*> layout_of_slow(MPI_Datatype type) noexcept {
  if (type == MPI_DATATYPE_NULL) return status::invalid_argument;  // asking would raise an error
  std::lock_guard lock(making);
  if (const layout* made = layouts().find(key_of(type))) return made;
  try {
    auto fresh = std::make_unique<layout>();
    TELPHER_TRY(flatten(type, *fresh));
    if (!fresh->predefined && !hear_of_end(type)) return status::host_mpi_error;
    TELPHER_DEBUG("datatype of %llu bytes in %zu blocks, extent %lld",
                  (unsigned long long)fresh->size, fresh->blocks.size(), (long long)fresh->extent);
    return layouts().insert(key_of(type), std::move(fresh));
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

}  // namespace

bool mixes_places(const layout& l, const void* base) noexcept {
  const auto place_of = [&](const layout::block& b) {
    return memory::classify(static_cast<const std::byte*>(base) + b.offset);
  };
  const auto first = l.blocks.begin();
  return std::any_of(first, l.blocks.end(),
                     [&](const layout::block& b) { return !(place_of(b) == place_of(*first)); });
}

result<const layout*> layout_of(MPI_Datatype type) noexcept {
  if (const layout* found = layouts().find(key_of(type))) [[likely]]
    return found;
  return layout_of_slow(type);
}

// The host MPI checks the type of a receive from MPI_PROC_NULL and touches no memory. With a count
// of 0 it would not look at the type.
bool is_committed_slow(const layout& l, MPI_Datatype type, MPI_Comm comm) noexcept {
  std::byte untouched;
  const bool good =
      pmpi::Recv(&untouched, 1, type, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  l.committed.store(good, std::memory_order_relaxed);
  return good;
}

MPI_Datatype duplicate_of(MPI_Datatype type, MPI_Comm comm) noexcept {
  const auto l = layout_of(type);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (pmpi::Type_contiguous(1, type, &made) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  if ((l && !is_committed(**l, type, comm)) || pmpi::Type_commit(&made) == MPI_SUCCESS) return made;
  pmpi::Type_free(&made);
  return MPI_DATATYPE_NULL;
}

void shut_down() noexcept {
  std::lock_guard lock(making);
  if (attribute != MPI_KEYVAL_INVALID) pmpi::Type_free_keyval(&attribute);
  attribute = MPI_KEYVAL_INVALID;
  layouts().clear();
}

void hold::drop(const layout* l) noexcept {
  if (l && l->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete l;
}

}  // namespace telpher::datatype
