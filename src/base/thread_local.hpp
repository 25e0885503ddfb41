// SPDX-License-Identifier: BSD-3-Clause
// TLS model for the few thread-local variables that every message touches: initial-exec needs no
// function call for an access. glibc reserves a little static TLS for libraries loaded with dlopen;
// musl refuses to load such libraries. So only variables on the message path are marked.
#pragma once

#include <cstdlib>  // defines __GLIBC__ on glibc

#if defined(__GLIBC__) && defined(__PIC__)
#define TELPHER_NEAR_TLS __attribute__((tls_model("initial-exec")))
#else
#define TELPHER_NEAR_TLS
#endif
