// SPDX-License-Identifier: BSD-3-Clause
#include "common/gpu.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

namespace apps {
namespace {

// Beside the program as the build folder and an installation lay it out, then where the dynamic
// linker looks.
const module* open_module(const std::string& backend) {
  const std::string name = "libtelpher-apps-" + backend + ".so";
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::string reasons;
  for (const std::string& path : {(folder / "../lib" / name).string(), name}) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      reasons += std::string("\n  ") + dlerror();
      continue;
    }
    auto* function = reinterpret_cast<module_function*>(dlsym(library, module_symbol));
    if (function) return function();
    reasons += "\n  " + path + " has no " + module_symbol;
  }
  throw std::runtime_error("no kernels for the back end " + backend + reasons);
}

}  // namespace

void check(int error, const char* what) {
  if (error != TELPHER_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + telpher_error_string(error));
}

void check(const char* failed, const char* what) {
  if (failed) throw std::runtime_error(std::string(what) + ": " + failed);
}

gpu::gpu() : backend_(telpher_backend()) {
  check(telpher_get_device(&device_), "no device to work on");
  module_ = backend_ == "emu" ? &cpu_module() : open_module(backend_);
}

}  // namespace apps
