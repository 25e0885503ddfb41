// SPDX-License-Identifier: BSD-3-Clause
#include "base/library.hpp"

#include <dlfcn.h>

namespace telpher {

library library::open(const std::string& name, std::string& why) {
  library l;
  l.handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!l.handle_) why = ::dlerror();
  return l;
}

library library::already_open(const std::string& name) {
  library l;
  l.handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return l;
}

void* library::symbol(const char* name) const noexcept {
  return handle_ ? ::dlsym(handle_, name) : nullptr;
}

std::string folder_of(const void* address) {
  Dl_info info{};
  if (!::dladdr(address, &info) || !info.dli_fname) return ".";
  const std::string path(info.dli_fname);
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace telpher
