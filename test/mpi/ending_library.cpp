// SPDX-License-Identifier: BSD-3-Clause
// A library whose static object is destroyed when the library goes: it calls what
// test/mpi/finalize.cpp has put there.
extern "C" {
[[gnu::visibility("default")]] void (*at_the_end)() = nullptr;
}

namespace {
struct object {
  object() = default;
  ~object() {
    if (at_the_end) at_the_end();
  }
} the_last;
}  // namespace
