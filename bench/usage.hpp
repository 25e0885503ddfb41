// SPDX-License-Identifier: BSD-3-Clause
// What telpher-bench prints for --help, and before it says what is wrong with its arguments.
#pragma once

namespace telpher::bench {

extern const char* const usage;

}  // namespace telpher::bench
