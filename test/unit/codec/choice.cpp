// SPDX-License-Identifier: BSD-3-Clause
// How texts are parsed, which plans follow, which plans from other processes are refused, and when
// the model says that compression pays.
#include "codec/choice.hpp"

#include "check.hpp"
#include "codec/accounting.hpp"
#include "codec/model.hpp"

using namespace telpher::codec;

namespace {

choices read(const char* text) {
  choices c;
  CHECK_EQ(parse(text, c), "");
  return c;
}

void refused(const char* text, const char* cause) {
  choices c = read("mpc");
  const std::string why = parse(text, c);
  if (why.find(cause) == std::string::npos) check::fail(__FILE__, __LINE__, text + (": " + why));
  CHECK(c.other.how == method::mpc);
}

}  // namespace

TEST_CASE(texts_are_read) {
  CHECK(!read("").any());
  CHECK(!read("off").any());
  const choices zfp = read("zfp:rate=8.5,nx=64,ny=32");
  CHECK(zfp.f32.how == method::zfp && zfp.f64.how == method::zfp && zfp.other.how == method::none);
  CHECK_EQ(zfp.f32.rate, 8.5);
  CHECK_EQ(zfp.f64.row, 64);
  CHECK_EQ(zfp.f64.column, 32);
  CHECK(read("mpc").other.how == method::mpc);
  CHECK_EQ(read("mpc:stride=3").f32.stride, 3);
  const choices both = read("float=zfp:rate=12;double=mpc");
  CHECK(both.f32.how == method::zfp && both.f64.how == method::mpc);
  CHECK(both.other.how == method::none);
  CHECK(read("mpc;float=off").f32.how == method::none);
  CHECK(read("zfp:rate=40").f32.how == method::none);
  CHECK(read("zfp:rate=40").f64.how == method::zfp);
}

TEST_CASE(wrong_texts_are_refused_and_say_why) {
  refused("gzip", "no codec 'gzip'");
  refused("zfp:rate=0", "no value of rate");
  refused("zfp:rate=8x", "'8x'");
  refused("zfp:speed=8", "no option 'speed'");
  refused("zfp:ny=8", "ny needs nx");
  refused("mpc:rate=8", "no option 'rate'");
  refused("other=zfp", "float and double only");
  refused("off:rate=8", "off has no options");
}

TEST_CASE(plans_follow_the_message) {
  const choices c = read("zfp:rate=8,nx=100,ny=10");
  const plan cube = plan_for(c.f32, element::f32, 100 * 10 * 7 * 4);
  CHECK_EQ(cube.dims, 3);
  CHECK_EQ(most_bytes(cube), std::size_t{25 * 3 * 2 * 64});
  CHECK_EQ(plan_for(c.f32, element::f32, 100 * 11 * 4).dims, 2);
  CHECK_EQ(plan_for(c.f32, element::f32, 1001 * 4).dims, 1);
  CHECK(!plan_for(c.f32, element::f32, 1001));
  CHECK(!plan_for(c.f32, element::word32, 4000));
  CHECK(!plan_for(read("zfp:rate=32").f32, element::f32, 4000));  // would not be smaller
  CHECK_EQ(plain_bytes(cube), 28000);
}

TEST_CASE(plans_from_outside_are_checked) {
  const plan good = plan_for(read("zfp:rate=8").f32, element::f32, 4000);
  CHECK(sound(good, 4000, most_bytes(good)));
  CHECK(!sound(good, 4004, most_bytes(good)));
  CHECK(!sound(good, 4000, most_bytes(good) + 8));
  const auto broken = [&](auto change) {
    plan p = good;
    change(p);
    return !sound(p, 4000, most_bytes(good));
  };
  CHECK(broken([](plan& p) { p.dims = 4; }));
  CHECK(broken([](plan& p) { p.dims = 0; }));
  CHECK(broken([](plan& p) { p.detail = 3; }));
  CHECK(broken([](plan& p) { p.kind = element::word32; }));
  CHECK(broken([](plan& p) { p.kind = static_cast<element>(99); }));
  CHECK(broken([](plan& p) { p.how = static_cast<method>(7); }));
  CHECK(broken([](plan& p) { p.extent[0] = 0; }));
  CHECK(broken([](plan& p) { p.extent[0] = std::uint64_t{1} << 63, p.extent[1] = 4, p.dims = 2; }));
  const plan lossless = plan_for(read("mpc").f64, element::f64, 80000);
  CHECK(sound(lossless, 80000, 50000));
  CHECK(!sound(lossless, 80000, 40));
  CHECK(!sound(lossless, 80000, most_bytes(lossless) + 4));
}

TEST_CASE(it_pays_on_slow_links_and_large_messages) {
  const speeds slow{10e9, 200e9, 200e9}, fast{370e9, 200e9, 200e9};
  CHECK(pays(slow, 64e6, 16e6));
  CHECK(!pays(fast, 64e6, 16e6));
  CHECK(!pays(slow, 64e3, 16e3));  // the launches cost more
  CHECK(!pays(slow, 64e6, 63e6));
}

TEST_CASE(the_worst_error_is_kept) {
  CHECK_EQ(summary(method::zfp), "");
  count(method::zfp, 1000, 250, -3);
  count(method::zfp, 1000, 250, -7);
  count(method::zfp, 1000, 250, std::nullopt);
  CHECK_EQ(summary(method::zfp),
           "zfp: 3 messages, 3000 bytes sent as 750 (4.00 to 1), no value off by more than 0.125");
}
