// SPDX-License-Identifier: BSD-3-Clause
// A plug-in that was built from other kernels or another interface is told from one that fits.
#include "device/plugin.hpp"

#include "check.hpp"

using namespace telpher::device;

TEST_CASE(lists_of_kernels_differ) {
  constexpr listed_kernel list[] = {{"copy", 40}, {"pack", 64}};
  constexpr listed_kernel renamed[] = {{"copy", 40}, {"sack", 64}};
  constexpr listed_kernel larger[] = {{"copy", 48}, {"pack", 64}};
  constexpr listed_kernel swapped[] = {{"pack", 64}, {"copy", 40}};
  constexpr listed_kernel longer[] = {{"copy", 40}, {"pack", 64}, {"new", 8}};
  for (const auto other : {fingerprint(renamed), fingerprint(larger), fingerprint(swapped),
                           fingerprint(longer), fingerprint({list, 1})})
    CHECK(other != fingerprint(list));
}

TEST_CASE(a_plugin_that_fits) {
  const built_from ours = own_build(), same = ours;
  CHECK(misfit(ours, &same, "libtelpher-x.so").empty());
}

TEST_CASE(the_refusal_names_both_and_the_remedy) {
  const built_from ours{9, 0x1234}, kernels{9, 0xabcd}, interface { 8, 0x1234 };
  const std::string why = misfit(ours, &kernels, "/lib/libtelpher-x.so");
  for (const char* part : {"/lib/libtelpher-x.so", "000000000000abcd", "libtelpher from",
                           "0000000000001234", "reinstall Telpher and its plug-ins together"})
    CHECK(why.find(part) != std::string::npos);
  CHECK(misfit(ours, &interface, "x").find("interface 8") != std::string::npos);
  CHECK(misfit(ours, nullptr, "x").find("an older version") != std::string::npos);
}
