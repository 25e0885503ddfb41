// SPDX-License-Identifier: BSD-3-Clause
// Which path ran the last message or collective, for tests that must not pass when it was silently
// staged.
#pragma once

#include <dlfcn.h>

#include "suite.hpp"

namespace mpi_test {

/// How the last message or collective of this rank went; "" without Telpher.
inline std::string last_path() {
  static const auto ask =
      reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "telpher_last_path"));
  return ask ? ask() : "";
}

/// The path that the test's arguments name, taken out of them; "" if none.
inline std::string take_wanted_path(suite& s) {
  std::string wanted;
  for (const std::string& w : s.opt.words)
    if (w.starts_with("coll_")) wanted = w;
  std::erase_if(s.opt.words, [](const std::string& w) { return w.starts_with("coll_"); });
  return wanted;
}

}  // namespace mpi_test
