// SPDX-License-Identifier: BSD-3-Clause
// Packing on a device gives the same bytes as packing on the host, and unpacking on a device
// changes no gap.
#include "datatype/datatype.hpp"

#include <algorithm>
#include <cstdlib>

#include "check.hpp"
#include "one_rank.hpp"
#include "random_type.hpp"

namespace {

using namespace telpher;

class on_device {
 public:
  explicit on_device(device::backend* b) : b_(b), stream_(*b->create_stream(0)) {}
  ~on_device() { b_->destroy_stream(stream_); }

  void compare(const datatype::layout& l, int count) {
    const std::int64_t last = (count - 1) * l.extent;
    const std::int64_t low = std::min<std::int64_t>(0, last) + l.true_lower_bound;
    const std::int64_t high = std::max<std::int64_t>(0, last) + l.true_lower_bound + l.true_extent;
    const auto span = static_cast<std::size_t>(high - low);
    const std::size_t bytes = l.size * static_cast<std::size_t>(count);
    std::vector<char> host(span), packed(bytes), other(span);
    for (char& c : host) c = static_cast<char>(std::rand());
    for (char& c : other) c = static_cast<char>(std::rand());
    datatype::pack_host(l, host.data() - low, 0, bytes, packed.data());

    auto* there = static_cast<char*>(*b_->allocate(0, span));
    auto* landing = static_cast<char*>(*b_->allocate_pinned(bytes));
    put(there, host);
    CHECK(datatype::pack(*b_, l, there - low, count, landing, stream_) == status::ok);
    CHECK(b_->synchronise(stream_) == status::ok);
    CHECK(std::equal(packed.begin(), packed.end(), landing));

    put(there, other);
    CHECK(datatype::unpack(*b_, l, landing, there - low, count, stream_) == status::ok);
    datatype::unpack_host(l, packed.data(), 0, bytes, other.data() - low);
    CHECK(get(there, span) == other);
    for (int i = 0; i < 4; ++i) compare_part(l, bytes, there - low, landing, other, low);
    (void)b_->release_pinned(landing);
    (void)b_->release(0, there);
  }

 private:
  // Any of `all` packed bytes. `there` holds `laid_out`, whose first byte is at `low`.
  void compare_part(const datatype::layout& l, std::size_t all, char* there, char* landing,
                    std::vector<char>& laid_out, std::int64_t low) {
    const auto below = [](std::size_t n) { return static_cast<std::size_t>(std::rand()) % n; };
    const std::size_t unit = below(2) ? 1 : 4;
    const std::size_t first = below(all) / unit * unit;
    const std::size_t bytes = std::min((below(all) / unit + 1) * unit, all - first);
    std::vector<char> part(bytes);
    datatype::pack_host(l, laid_out.data() - low, first, bytes, part.data());
    std::fill_n(landing, all, 'x');
    CHECK(datatype::pack_part(*b_, l, there, first, bytes, landing, stream_) == status::ok);
    CHECK(b_->synchronise(stream_) == status::ok);
    CHECK(std::equal(landing, landing + bytes, part.data()));
    CHECK(std::all_of(landing + bytes, landing + all, [](char c) { return c == 'x'; }));

    for (std::size_t i = 0; i < bytes; ++i) landing[i] = static_cast<char>(std::rand());
    part.assign(landing, landing + bytes);
    CHECK(datatype::unpack_part(*b_, l, landing, first, bytes, there, stream_) == status::ok);
    datatype::unpack_host(l, part.data(), first, bytes, laid_out.data() - low);
    CHECK(get(there + low, laid_out.size()) == laid_out);
    put(there + low, laid_out);
  }

  void put(char* to, const std::vector<char>& from) {
    CHECK(b_->copy(to, from.data(), from.size(), stream_) == status::ok);
    CHECK(b_->synchronise(stream_) == status::ok);
  }
  std::vector<char> get(const char* from, std::size_t bytes) {
    std::vector<char> to(bytes);
    CHECK(b_->copy(to.data(), from, bytes, stream_) == status::ok);
    CHECK(b_->synchronise(stream_) == status::ok);
    return to;
  }

  device::backend* b_;
  device::stream stream_;
};

}  // namespace

TEST_CASE(random_types_pack_on_the_device) {
  one_rank::start();
  REQUIRE(one_rank::device());
  on_device d(one_rank::device());
  for (unsigned seed = 1; seed <= 200; ++seed) {
    random_types random(seed);
    MPI_Datatype type = random.make(random.below(4));
    const auto l = datatype::layout_of(type);
    if (l && (*l)->size) d.compare(**l, 1 + random.below(4));
  }
}

TEST_CASE(a_column_packs_on_the_device) {
  one_rank::start();
  REQUIRE(one_rank::device());
  on_device d(one_rank::device());
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(20000, 1, 7, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  d.compare(**datatype::layout_of(column), 1);
  d.compare(**datatype::layout_of(column), 3);
  MPI_Type_free(&column);
}

// Kernels count units in 32 bits. Nothing is moved here.
TEST_CASE(elements_of_too_many_small_units_go_by_blocks) {
  one_rank::start();
  device::backend* const b = one_rank::device();
  REQUIRE(b);
  constexpr std::uint64_t giga = std::uint64_t{1} << 30;
  datatype::layout l;
  l.size = 2 * giga;
  l.extent = 4 * giga;
  l.blocks = {{0, giga}, {2 * giga, giga}};
  l.packed_offsets = {0, giga};
  l.regular = datatype::grid{.counts = {2, 1, 1}, .strides = {2 * giga, 0, 0}};
  auto* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
  const auto unit_of = [&](MPI_Count count, std::size_t beside) {
    const auto plan = datatype::plan_unpack(*b, l, 0, base + 64 * giga + beside, nullptr, base,
                                            count, device::stream{});
    CHECK(plan.has_value());
    return plan ? plan->rows.unit : 99;
  };
  CHECK_EQ(unit_of(4, 0), 16u);
  CHECK_EQ(unit_of(3, 4), 4u);
  CHECK_EQ(unit_of(4, 4), 0u);
  CHECK_EQ(unit_of(4, 8), 8u);
  CHECK_EQ(unit_of(8, 8), 0u);
  const auto gathers = [&](std::uint64_t bytes, std::size_t beside) {
    const datatype::strided from{.block_bytes = bytes, .counts = {1, 1, 1}, .unit = 16};
    return datatype::plan_gather(*b, 0, base, from, base + 64 * giga + beside, bytes).error();
  };
  CHECK_EQ(gathers(6 * giga, 4), status::ok);
  CHECK_EQ(gathers(8 * giga, 4), status::not_supported);
  CHECK_EQ(gathers(8 * giga, 8), status::ok);
  // As a sender describes them, whose unit is the larger one.
  const datatype::strided from = datatype::strided_of(l, base, 4);
  CHECK_EQ(datatype::plan_unpack(*b, l, 0, base + 64 * giga, &from, base + 4, 4, {}).error(),
           status::not_supported);
}
