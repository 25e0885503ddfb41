// SPDX-License-Identifier: BSD-3-Clause
// A build without codecs (TELPHER_CODECS=OFF): whoever asks for compression is told, no plan is
// made, and none of another process is taken.
#include "check.hpp"
#include "check_log.hpp"
#include "codec/choice.hpp"
#include "codec/codec.hpp"

using namespace telpher::codec;

TEST_CASE(only_off_is_taken) {
  CHECK(the_coder() == nullptr);
  choices c;
  CHECK_EQ(parse("", c), "");
  CHECK_EQ(parse("off", c), "");
  for (const char* text : {"zfp:rate=8", "mpc", "double=mpc", "float=off;double=zfp"}) {
    CHECK(parse(text, c).find("without codecs") != std::string::npos);
    CHECK(!c.any());
  }
}

TEST_CASE(no_plan_is_made_or_taken) {
  choice zfp;
  zfp.how = method::zfp;
  zfp.rate = 8;
  CHECK(!plan_for(zfp, element::f32, 4096));
  plan from_elsewhere;  // as a process with codecs sends it
  from_elsewhere.how = method::mpc;
  from_elsewhere.kind = element::word64;
  from_elsewhere.detail = 1;
  from_elsewhere.extent[0] = 512;
  CHECK(!sound(from_elsewhere, 4096, 4096));
}

TEST_CASE(a_setting_that_asks_for_compression_is_an_error) {
  check::expect_log("TELPHER_COMPRESSION: this build is without codecs");
  CHECK(!configured().any());
}
