// SPDX-License-Identifier: BSD-3-Clause
// The ZFP kernels, run on the CPU as the emulated device runs them, against libzfp: the same bits
// in both directions, for every rate, shape and kind of data. Without libzfp the cases that need it
// say so, and only what needs no reference is checked.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "check.hpp"
#include "judge.hpp"
#include "kernel/cpu.hpp"

namespace {

using telpher::kernel::cpu_kernel_of;
using telpher::kernel::id;
using telpher::kernel::zfp_array;

const judge::library& libzfp() {
  static const judge::library one(TELPHER_ZFP_LIBRARY);
  return one;
}

bool judged() {
  if (libzfp().present()) return true;
  std::printf("# left out: there is no libzfp to compare with\n");
  return false;
}

std::mt19937_64& random_source() {
  static std::mt19937_64 one(20141204);
  return one;
}
double uniform() {
  return std::uniform_real_distribution<double>(-1, 1)(random_source());
}

template <class S>
struct facts;
template <>
struct facts<float> {
  static constexpr judge::type type = judge::type::f32;
  static constexpr unsigned header = 9, width = 32;
  static constexpr id encode[] = {id::zfp_encode_f32_1, id::zfp_encode_f32_2, id::zfp_encode_f32_3};
  static constexpr id decode[] = {id::zfp_decode_f32_1, id::zfp_decode_f32_2, id::zfp_decode_f32_3};
  static constexpr int safe_exponent = -97;  // libzfp's scale factor is finite from here on
};
template <>
struct facts<double> {
  static constexpr judge::type type = judge::type::f64;
  static constexpr unsigned header = 12, width = 64;
  static constexpr id encode[] = {id::zfp_encode_f64_1, id::zfp_encode_f64_2, id::zfp_encode_f64_3};
  static constexpr id decode[] = {id::zfp_decode_f64_1, id::zfp_decode_f64_2, id::zfp_decode_f64_3};
  static constexpr int safe_exponent = -961;
};

struct shape {
  int dims;
  std::uint64_t extent[3];
  std::uint64_t values() const { return extent[0] * extent[1] * extent[2]; }
  std::uint64_t blocks() const {
    std::uint64_t n = 1;
    for (int d = 0; d < dims; ++d) n *= (extent[d] + 3) / 4;
    return n;
  }
};

template <class S>
std::uint32_t block_bits(double rate, int dims) {
  const auto bits = static_cast<std::uint32_t>(std::floor(std::pow(4, dims) * rate + 0.5));
  return std::max(bits, facts<S>::header);
}

/// The parameters of one array, and both directions.
template <class S>
struct coder {
  shape s;
  std::uint32_t bits;
  std::uint32_t worst = 0;

  std::uint64_t words() const { return zfp_array::stream_words(s.blocks(), bits) / 2; }
  void run(id k, void* values, void* stream) {
    zfp_array a{values,
                static_cast<std::uint32_t*>(stream),
                {s.extent[0], s.extent[1], s.extent[2]},
                s.blocks(),
                bits,
                &worst};
    const unsigned blocks = 1 + static_cast<unsigned>(random_source()() % 3);
    for (unsigned b = 0; b < blocks; ++b) cpu_kernel_of(k).run_block(&a, b, blocks);
  }
  std::vector<std::uint64_t> encode(std::vector<S> values) {
    std::vector<std::uint64_t> out(words() + 1, 0x5555555555555555u);
    run(facts<S>::encode[s.dims - 1], values.data(), out.data());
    CHECK_EQ(out.back(), 0x5555555555555555u);
    out.pop_back();
    return out;
  }
  std::vector<S> decode(std::vector<std::uint64_t> stream) {
    std::vector<S> out(s.values() + 1, S{42});
    run(facts<S>::decode[s.dims - 1], out.data(), stream.data());
    CHECK_EQ(out.back(), S{42});
    out.pop_back();
    return out;
  }
};

template <class S>
bool same_bits(const std::vector<S>& a, const std::vector<S>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(S)) == 0;
}

enum class content { smooth, random, rough, mixed, zeros, spikes, extreme, subnormal, tiny, count };

template <class S>
std::vector<S> make(content c, std::uint64_t count) {
  using limits = std::numeric_limits<S>;
  std::vector<S> v(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(i);
    double y = 0;
    switch (c) {
      case content::smooth:
        y = std::sin(x / 31) * 100 + x / 7;
        break;
      case content::random:
        y = uniform();
        break;
      case content::rough:
        y = std::ldexp(uniform(), static_cast<int>(random_source()() % 120) - 60);
        break;
      case content::mixed:
        y = i % 9 < 4 ? 0 : -std::abs(uniform()) * 1e-3;
        break;
      case content::zeros:
        y = 0;
        break;
      case content::spikes:
        y = i % 37 == 5 ? -1e6 : 0;
        break;
      case content::extreme:
        y = (i % 3 ? 1 : -1) * static_cast<double>(i % 5 ? limits::max() : limits::lowest());
        break;
      case content::subnormal:
        y = i % 4 ? static_cast<double>(limits::denorm_min()) * static_cast<double>(i % 97) : 1;
        break;
      case content::tiny:
        y = static_cast<double>(limits::min()) * uniform() * 8;
        break;
      case content::count:
        break;
    }
    v[i] = static_cast<S>(y);
  }
  return v;
}

std::string describe(const shape& s, double rate, content c) {
  char text[128];
  std::snprintf(text, sizeof text, "%llux%llux%llu, %d-D, rate %g, content %d",
                static_cast<unsigned long long>(s.extent[0]),
                static_cast<unsigned long long>(s.extent[1]),
                static_cast<unsigned long long>(s.extent[2]), s.dims, rate, static_cast<int>(c));
  return text;
}

/// Both directions against libzfp. If its scale factor overflows, only two things are checked: that
/// it can read our stream, and that both decoders stay within our error bound.
template <class S>
void compare(const shape& s, double rate, content c) {
  const std::vector<S> values = make<S>(c, s.values());
  coder<S> ours{s, block_bits<S>(rate, s.dims)};
  const auto stream = ours.encode(values);
  const auto back = ours.decode(stream);
  auto copy = values;
  const std::size_t room = (stream.size() + 64) * 8;
  std::vector<S> theirs_back(values.size());
  const std::string what = describe(s, rate, c);
  if (c != content::tiny) {
    const auto theirs = libzfp().encode(copy.data(), facts<S>::type, s.dims, s.extent, rate, room);
    if (!same_bits(theirs, stream)) check::fail(__FILE__, __LINE__, "encode differs: " + what);
    libzfp().decode(theirs, theirs_back.data(), facts<S>::type, s.dims, s.extent, rate);
    if (!same_bits(theirs_back, back)) check::fail(__FILE__, __LINE__, "decode differs: " + what);
  }
  const int exponent = static_cast<int>(ours.worst) - zfp_array::exponent_zero;
  const double bound = ours.worst == 0 ? 0 : std::ldexp(1.0, exponent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(static_cast<double>(back[i]) - static_cast<double>(values[i]));
    if (!(error <= bound) && c != content::extreme) {
      char text[160];
      std::snprintf(text, sizeof text, "error %g above the bound %g: %s", error, bound,
                    what.c_str());
      check::fail(__FILE__, __LINE__, text);
      return;
    }
  }
}

const shape shapes[] = {
    {1, {1, 1, 1}}, {1, {2, 1, 1}},  {1, {3, 1, 1}},   {1, {257, 1, 1}}, {1, {1031, 1, 1}},
    {2, {1, 1, 1}}, {2, {5, 3, 1}},  {2, {64, 33, 1}}, {2, {31, 70, 1}}, {3, {1, 1, 1}},
    {3, {3, 2, 5}}, {3, {16, 8, 9}}, {3, {13, 9, 11}}, {3, {40, 4, 4}},
};

template <class S>
void every_rate_and_shape() {
  if (!judged()) return;
  int turn = 0;
  for (const shape& s : shapes)
    for (unsigned rate = 1; rate <= facts<S>::width; ++rate) {
      compare<S>(s, rate, content::smooth);
      compare<S>(s, rate, static_cast<content>(turn++ % static_cast<int>(content::count)));
    }
}

TEST_CASE(streams_of_floats_are_libzfps) {
  every_rate_and_shape<float>();
}

TEST_CASE(streams_of_doubles_are_libzfps) {
  every_rate_and_shape<double>();
}

TEST_CASE(every_content_at_odd_rates) {
  if (!judged()) return;
  for (const shape& s : {shape{1, {999, 1, 1}}, shape{2, {37, 29, 1}}, shape{3, {17, 13, 6}}})
    for (const double rate : {2.25, 4.0, 7.5, 10.0, 13.8125, 16.0, 31.75})
      for (int c = 0; c < static_cast<int>(content::count); ++c) {
        compare<float>(s, rate, static_cast<content>(c));
        compare<double>(s, rate, static_cast<content>(c));
      }
}

}  // namespace
