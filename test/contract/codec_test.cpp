// SPDX-License-Identifier: BSD-3-Clause
// The codecs on the back end under test. The device and the CPU decode alike what the device
// encodes. The ZFP streams equal those of the CPU's kernels (test/unit/codec compares these with
// libzfp). mpc loses nothing. No stream, however damaged, makes a decoder write outside its array.
#include "codec/codec.hpp"

#include <cmath>

#include "codec/choice.hpp"
#include "contract.hpp"
#include "kernel/cpu.hpp"

namespace contract {
namespace {

using codec::element;

constexpr std::size_t guard = 64;

bytes values_of(element kind, std::size_t count) {
  bytes made(count * codec::size_of(kind));
  for (std::size_t i = 0; i < count; ++i) {
    const double x = std::sin(static_cast<double>(i) / 40) * 1000 + static_cast<double>(i % 7);
    const auto f = static_cast<float>(x);
    const auto n = static_cast<std::uint64_t>(x * 100 + 1e6) + random_below(3);
    const void* from = kind == element::f32   ? static_cast<const void*>(&f)
                       : kind == element::f64 ? static_cast<const void*>(&x)
                                              : &n;
    std::memcpy(made.data() + i * codec::size_of(kind), from, codec::size_of(kind));
  }
  return made;
}

/// The device memory of a plan: values and stream, each followed by guard bytes.
struct bench {
  codec::plan p;
  std::size_t plain = codec::plain_bytes(p), most = codec::most_bytes(p);
  memory values{memory_kind::device, plain + guard};
  memory stream{memory_kind::device, most + guard};
  memory workspace{memory_kind::device, codec::the_coder()->workspace_bytes(p)};
  memory report{memory_kind::pinned, sizeof(codec::report)};

  /// The compressed bytes of `content`.
  bytes encode(const bytes& content, device::stream s) {
    auto* r = report.as<codec::report>();
    write(values.data(), content, s);
    write(stream.data(), bytes(most + guard, 0x5a), s);
    CHECK_OK(codec::the_coder()->encode(subject(), s, p, values.data(), stream.data(),
                                        workspace.data(), r));
    CHECK_OK(subject().synchronise(s));
    const std::size_t size = codec::the_coder()->coded_bytes(p, *r);
    CHECK(size <= most);
    CHECK(read(stream.data() + most, guard, s) == bytes(guard, 0x5a));
    return read(stream.data(), std::min(size, most), s);
  }
  /// The values decoded from `coded` on the device; the CPU must decode the same.
  bytes decode(const bytes& coded, device::stream s) {
    write(values.data(), bytes(plain + guard, 0xa5), s);
    write(stream.data(), coded, s);
    CHECK_OK(
        codec::the_coder()->decode(subject(), s, p, stream.data(), coded.size(), values.data()));
    const bytes found = read(values.data(), plain, s);
    CHECK(read(values.data() + plain, guard, s) == bytes(guard, 0xa5));
    std::vector<std::uint64_t> from(coded.size() / 8 + 1), to(plain / 8 + 1);
    std::memcpy(from.data(), coded.data(), coded.size());
    CHECK_OK(codec::the_coder()->decode_on_cpu(p, from.data(), coded.size(), to.data()));
    CHECK(std::memcmp(found.data(), to.data(), plain) == 0);
    return found;
  }
};

kernel::id encoder_of(const codec::plan& p) {
  using kernel::id;
  static constexpr id table[2][3] = {
      {id::zfp_encode_f32_1, id::zfp_encode_f32_2, id::zfp_encode_f32_3},
      {id::zfp_encode_f64_1, id::zfp_encode_f64_2, id::zfp_encode_f64_3}};
  return table[p.kind == element::f64][p.dims - 1];
}

bytes zfp_on_cpu(const codec::plan& p, bytes content) {
  std::vector<std::uint64_t> stream(codec::most_bytes(p) / 8);
  const kernel::zfp_array a{content.data(),
                            reinterpret_cast<std::uint32_t*>(stream.data()),
                            {p.extent[0], p.extent[1], p.extent[2]},
                            codec::pieces(p),
                            p.detail,
                            nullptr};
  kernel::cpu_kernel_of(encoder_of(p)).run_block(&a, 0, 1);
  bytes made(stream.size() * 8);
  std::memcpy(made.data(), stream.data(), made.size());
  return made;
}

codec::plan planned(const char* text, element kind, std::size_t count) {
  codec::choices c;
  CHECK_EQ(codec::parse(text, c), "");
  const codec::plan p = codec::plan_for(c.for_kind(kind), kind, count * codec::size_of(kind));
  CHECK(p);
  CHECK(codec::sound(p, count * codec::size_of(kind), codec::most_bytes(p)));
  return p;
}

void check_zfp(const char* text, element kind, std::size_t count) {
  const scoped_stream s;
  bench b{planned(text, kind, count)};
  const bytes content = values_of(kind, count);
  const bytes coded = b.encode(content, s);
  CHECK(coded == zfp_on_cpu(b.p, content));
  const bytes found = b.decode(coded, s);
  const auto exponent = codec::the_coder()->error_exponent(b.p, *b.report.as<codec::report>());
  REQUIRE(exponent.has_value());
  const double bound = std::ldexp(1.0, *exponent);
  bool within = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * codec::size_of(kind);
    float f[2] = {};
    double d[2] = {};
    std::memcpy(f, content.data() + at, 4), std::memcpy(f + 1, found.data() + at, 4);
    std::memcpy(d, content.data() + at, codec::size_of(kind));
    std::memcpy(d + 1, found.data() + at, codec::size_of(kind));
    const double error =
        kind == element::f32 ? std::abs(double{f[0]} - double{f[1]}) : std::abs(d[0] - d[1]);
    within = within && error <= bound;
  }
  CHECK(within);
}

TEST_CASE(zfp_on_the_device_is_zfp_on_the_cpu) {
  for (const element kind : {element::f32, element::f64}) {
    check_zfp("zfp:rate=8", kind, 100003);
    check_zfp("zfp:rate=16", kind, 4096);
    check_zfp("zfp:rate=3.5", kind, 5);
    check_zfp("zfp:rate=4,nx=127", kind, 127 * 203);
    check_zfp("zfp:rate=13.8125,nx=64", kind, 64 * 64);
    check_zfp("zfp:rate=1,nx=33,ny=21", kind, 33 * 21 * 18);
    check_zfp("zfp:rate=16,nx=64,ny=32", kind, 64 * 32 * 10);
  }
  check_zfp("zfp:rate=48,nx=32,ny=16", element::f64, 32 * 16 * 8);
}

/// Values of every magnitude, including subnormal ones; each 64 neighbours have similar magnitudes.
template <class U>
bytes extreme_values(std::size_t count) {
  constexpr unsigned mantissa = sizeof(U) == 4 ? 23 : 52;
  constexpr std::size_t fields = (std::size_t{1} << (8 * sizeof(U) - 1 - mantissa)) - 1;
  bytes made(count * sizeof(U));
  std::size_t field = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 64 == 0) field = random_below(5) == 0 ? 0 : random_below(fields - 2);
    const U bits = static_cast<U>(random_below(2)) << (8 * sizeof(U) - 1) |
                   static_cast<U>(field + random_below(2)) << mantissa |
                   static_cast<U>(random_below(std::size_t{1} << mantissa));
    std::memcpy(made.data() + i * sizeof(U), &bits, sizeof bits);
  }
  return made;
}

// Fails on a device that flushes subnormal values or reorders products.
TEST_CASE(zfp_of_extreme_values_is_that_of_the_cpu) {
  const scoped_stream s;
  for (const element kind : {element::f32, element::f64})
    for (const char* text : {"zfp:rate=20", "zfp:rate=12,nx=64", "zfp:rate=28,nx=64,ny=16"}) {
      bench b{planned(text, kind, 64 * 16 * 8)};
      const bytes content = kind == element::f32 ? extreme_values<std::uint32_t>(64 * 16 * 8)
                                                 : extreme_values<std::uint64_t>(64 * 16 * 8);
      const bytes coded = b.encode(content, s);
      CHECK(coded == zfp_on_cpu(b.p, content));
      b.decode(coded, s);
    }
}

void check_mpc(const char* text, element kind, std::size_t count, bool must_shrink) {
  const scoped_stream s;
  bench b{planned(text, kind, count)};
  const bytes content = values_of(kind, count);
  const bytes coded = b.encode(content, s);
  CHECK(b.decode(coded, s) == content);
  if (must_shrink) CHECK(coded.size() < content.size());
}

TEST_CASE(mpc_loses_nothing) {
  for (const element kind : {element::f32, element::f64, element::word32, element::word64}) {
    check_mpc("mpc", kind, 1, false);
    check_mpc("mpc", kind, 1023, false);
    check_mpc("mpc:stride=7", kind, 200007, true);
    check_mpc("mpc:stride=256", kind, 33000, false);
    check_mpc("mpc", kind, 400000, true);
  }
}

TEST_CASE(mpc_of_random_words_is_exact_and_bounded) {
  const scoped_stream s;
  for (const element kind : {element::word32, element::word64}) {
    bench b{planned("mpc", kind, 5000)};
    bytes content(b.plain);
    for (auto& byte : content) byte = static_cast<std::uint8_t>(random_below(256));
    CHECK(b.decode(b.encode(content, s), s) == content);
  }
}

TEST_CASE(damaged_streams_stay_inside_their_array) {
  const scoped_stream s;
  for (const char* text : {"mpc", "zfp:rate=9", "zfp:rate=9,nx=10,ny=10"})
    for (const element kind : {element::f32, element::f64}) {
      bench b{planned(text, kind, 9000)};
      bytes coded = b.encode(values_of(kind, 9000), s);
      for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i)
          coded[random_below(coded.size())] = static_cast<std::uint8_t>(random_below(256));
        b.decode(coded, s);
      }
    }
}

}  // namespace
}  // namespace contract
