// SPDX-License-Identifier: BSD-3-Clause
// Shared libraries opened at run time: vendors' drivers and our own back ends.
#pragma once

#include <string>

namespace telpher {

class library {
 public:
  library() = default;
  /// Opens `name` (RTLD_NOW, RTLD_LOCAL). On failure the object is empty and `why` is the loader's
  /// message.
  static library open(const std::string& name, std::string& why);
  /// As open, but only if the process has it mapped already.
  static library already_open(const std::string& name);
  ~library() = default;  // never closed: vendors' libraries cannot be unloaded safely

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  void* symbol(const char* name) const noexcept;
  template <class F>
  bool find(const char* name, F*& function) const noexcept {
    function = reinterpret_cast<F*>(symbol(name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

/// The folder of the shared library (or program) that holds `address`, without a trailing slash.
std::string folder_of(const void* address);

}  // namespace telpher
