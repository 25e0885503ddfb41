// SPDX-License-Identifier: BSD-3-Clause
// Runs of chunks (memory/chunk_runs.hpp), with a device whose chunks are listed, and what the
// registry of allocations does with them.
#include "memory/chunk_runs.hpp"

#include <sys/resource.h>

#include "base/settings.hpp"
#include "check_log.hpp"
#include "importer.hpp"
#include "memory/imported.hpp"

using namespace telpher;
using device::pointer_info;
using memory::allocations;
using memory::facet;

namespace {

constexpr std::size_t unit = std::size_t{2} << 20;
constexpr std::uintptr_t start = std::uintptr_t{1} << 40;  // a place begins there

/// Knows the chunks that the test has mapped.
class mapper final : public importer {
 public:
  std::map<std::uintptr_t, pointer_info> chunks;

  void map(std::size_t at, bool exportable = true, std::int16_t device = 0) {
    pointer_info c{device::memory_kind::device, owner(), device, start + at * unit, unit, ++made_};
    c.exportable = exportable;
    c.is_chunk = true;
    chunks[c.base] = c;
  }
  void unmap(std::size_t at) { chunks.erase(start + at * unit); }
  status classify(const void* address, bool detail, pointer_info& out) noexcept override {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto next = chunks.upper_bound(at);
    if (next == chunks.begin()) return importer::classify(address, detail, out);
    const pointer_info& c = std::prev(next)->second;
    if (at - c.base >= c.bytes) return importer::classify(address, detail, out);
    out = c;
    return status::ok;
  }

 private:
  std::uint64_t made_ = 0;
};
mapper the_device;

memory::place here() {
  return {&the_device, 0};
}

/// Chunks 0, 1, ... of the device, until the end of the case.
struct mapping_of {
  explicit mapping_of(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) the_device.map(n);
  }
  ~mapping_of() { the_device.chunks.clear(); }
};

pointer_info holding(std::uintptr_t at, std::size_t bytes) {
  auto* const address = reinterpret_cast<void*>(start + at);
  pointer_info info;
  CHECK_EQ(the_device.classify(address, true, info), status::ok);
  return memory::holding(here(), info, address, bytes);
}

bool is_there(const pointer_info& run) {
  return memory::run_is_there(memory::allocation::own(here(), run));
}

result<memory::mapping> open_run(std::uintptr_t base, std::uint64_t generation) {
  return memory::import_memory({1, &the_device, base, unit, generation, true}, here(), {});
}

}  // namespace

TEST_CASE(bytes_in_one_chunk_are_its_own) {
  const mapping_of m(3);
  const pointer_info one = holding(unit + 5, unit - 5);
  CHECK(!one.is_run);
  CHECK_EQ(one.base, start + unit);
  CHECK_EQ(one.bytes, unit);
}

TEST_CASE(bytes_over_several_lie_in_a_run_that_is_found_again) {
  const mapping_of m(5);
  const pointer_info run = holding(unit - 1, 2);
  CHECK(run.is_run && run.is_chunk && run.exportable);
  CHECK_EQ(run.base, start);
  CHECK_EQ(run.bytes, 5 * unit);
  for (std::size_t at = 0; at < 4; ++at)
    CHECK_EQ(holding(at * unit + 7, unit).generation, run.generation);
  CHECK_EQ(holding(0, 5 * unit).generation, run.generation);
  const auto chunks = memory::chunks_of(run);
  REQUIRE(chunks.size() == 5);
  for (std::size_t n = 0; n < 5; ++n) CHECK_EQ(chunks[n].base, start + n * unit);
}

TEST_CASE(a_place_bounds_a_run) {
  const mapping_of m(40);
  const pointer_info first = holding(unit - 1, 2);
  CHECK_EQ(first.base, start);
  CHECK_EQ(first.bytes, 32 * unit);  // 64 MB
  CHECK_EQ(holding(20 * unit - 1, 2).generation, first.generation);
  const pointer_info second = holding(32 * unit - 1, 2);
  CHECK_EQ(second.base, start + 16 * unit);
  CHECK_EQ(second.bytes, 24 * unit);
  const pointer_info all = holding(10, 40 * unit - 10);
  CHECK_EQ(all.bytes, 40 * unit);
  CHECK(is_there(first) && is_there(second) && is_there(all));
}

TEST_CASE(other_memory_is_no_part_of_a_run) {
  const mapping_of m(6);
  the_device.unmap(2);
  CHECK(!holding(unit + 5, unit).is_run);
  CHECK_EQ(holding(5, unit).bytes, 2 * unit);
  the_device.map(2, false);
  CHECK(!holding(unit + 5, unit).is_run);      // into it
  CHECK(!holding(2 * unit + 5, unit).is_run);  // out of it
  the_device.map(2, true, 1);                  // another device's
  CHECK(!holding(unit + 5, unit).is_run);
  CHECK_EQ(holding(3 * unit + 5, unit).base, start + 3 * unit);
  CHECK(!holding(4 * unit, 3 * unit).is_run);  // beyond the end
  CHECK(!holding(4 * unit, ~std::size_t{0}).is_run);
}

TEST_CASE(a_chunk_that_is_mapped_anew_makes_another_run) {
  const mapping_of m(4);
  const pointer_info run = holding(5, unit);
  the_device.map(1);
  const pointer_info next = holding(5, unit);
  CHECK(next.is_run && next.generation != run.generation);
  CHECK(memory::chunks_of(run).empty());
  CHECK(!is_there(run));
  CHECK(is_there(next));
}

TEST_CASE(a_run_ends_when_somebody_looks_at_all_of_it) {
  const mapping_of m(4);
  const pointer_info run = holding(5, unit);
  the_device.unmap(3);
  CHECK_EQ(holding(6, unit).generation, run.generation);  // none of its bytes are gone
  CHECK(!is_there(run));
  CHECK_EQ(holding(6, unit).bytes, 3 * unit);
}

TEST_CASE(memory_that_grows_makes_a_larger_run_beside_the_other) {
  const mapping_of m(2);
  const pointer_info small = holding(5, unit);
  the_device.map(2);
  CHECK_EQ(holding(5, unit).generation, small.generation);
  const pointer_info large = holding(unit + 5, unit);
  CHECK_EQ(large.bytes, 3 * unit);
  CHECK_EQ(holding(5, unit).generation, large.generation);
  CHECK(is_there(small) && is_there(large));
}

TEST_CASE(a_run_takes_no_more_than_a_quarter_of_the_descriptors) {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{16, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  const mapping_of m(9);
  CHECK(!holding(5, 4 * unit).is_run);
  const pointer_info run = holding(3 * unit + 5, unit);
  CHECK_EQ(run.base, start + 3 * unit);
  CHECK_EQ(run.bytes, 4 * unit);
  CHECK_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_CASE(without_ipc_there_are_no_runs) {
  const scoped_settings off({"TELPHER_IPC=off"});
  const mapping_of m(2);
  CHECK(!holding(5, unit).is_run);
}

TEST_CASE(runs_that_overlap_are_open_side_by_side) {
  allocations& all = allocations::instance();
  all.clear();
  const auto one = open_run(start, 1), other = open_run(start + 4096, 2);
  const auto chunk = memory::import_memory({1, &the_device, start, unit, 3, false}, here(), {});
  REQUIRE(one.has_value() && other.has_value() && chunk.has_value());
  CHECK(one->base() != nullptr && other->base() != nullptr && chunk->base() != nullptr);
  CHECK_EQ(the_device.open.size(), 3);
}

TEST_CASE(a_run_that_ends_closes_when_nobody_uses_it) {
  allocations& all = allocations::instance();
  all.clear();
  {
    auto used = open_run(start, 1), kept = open_run(start, 1);
    REQUIRE(used.has_value() && kept.has_value());
    kept->rest();
    const std::uint64_t revoked = all.revoked();
    all.ended(1, start, 1);
    all.tidy();
    CHECK(used->base() != nullptr);
    { const auto ends = std::move(*used); }
    {
      const auto paused = all.pause_trimming();
      all.tidy();
      CHECK(kept->base() != nullptr);
      CHECK_EQ(all.revoked(), revoked);
    }
    all.tidy();
    CHECK(kept->base() == nullptr);
    CHECK_EQ(all.revoked(), revoked + 1);
    CHECK(the_device.open.empty());
  }
  {
    const auto used = open_run(start, 2);
    all.ended(1, start, 2);
    CHECK_EQ(the_device.open.size(), 1);
  }
  CHECK(the_device.open.empty());
}
