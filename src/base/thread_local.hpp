// SPDX-License-Identifier: BSD-3-Clause
// Thread-local variables of the message path: a few bytes each, reached without a call. The C
// library keeps some room for such variables of libraries that are loaded late (glibc does, musl
// refuses to load them), so only variables that every message touches are marked.
#pragma once

#include <cstdlib>  // defines __GLIBC__ where it holds

#if defined(__GLIBC__) && defined(__PIC__)
#define TELPHER_NEAR_TLS __attribute__((tls_model("initial-exec")))
#else
#define TELPHER_NEAR_TLS
#endif
