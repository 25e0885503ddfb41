// SPDX-License-Identifier: BSD-3-Clause
// TELPHER_COLL_BETWEEN: which entries are none.
#include "coll/between/limits.hpp"

#include <string>

#include "check.hpp"

using namespace telpher;

TEST_CASE(limits_that_mean_nothing_are_found) {
  const auto wrong = [](const char* list) { return std::string(coll::between::wrong_limit(list)); };
  CHECK_EQ(wrong(""), "");
  CHECK_EQ(wrong("allreduce=1m,bcast=never,alltoall=0"), "");
  CHECK_EQ(wrong("allreduce=1m,bcast=soon"), "bcast=soon");
  CHECK_EQ(wrong("allreduse=1m"), "allreduse=1m");
  CHECK_EQ(wrong("gather=1m"), "gather=1m");  // has no schedule between nodes
  CHECK_EQ(wrong("allreduce="), "allreduce=");
  CHECK_EQ(wrong("allreduce"), "allreduce");
}
