// SPDX-License-Identifier: BSD-3-Clause
// What tests ask of CUDA's driver themselves, where it is loaded.
#pragma once

#include <dlfcn.h>

namespace cuda_driver {

inline void* library() {
  static void* const opened = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return opened;
}
inline bool loaded() {
  return library() != nullptr;
}

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  void* const found = loaded() ? dlsym(library(), name) : nullptr;
  return found ? reinterpret_cast<int (*)(Arguments...)>(found)(arguments...) : -1;
}

/// Makes the context of a stream's device the calling thread's: a test that leaves the choice of
/// devices to Telpher has set none. Nothing where there is no CUDA.
class current_context {
 public:
  explicit current_context(void* stream) {
    void* of_stream = nullptr;
    pushed_ = call("cuStreamGetCtx", stream, &of_stream) == 0 &&
              call("cuCtxPushCurrent_v2", of_stream) == 0;
  }
  ~current_context() {
    void* popped = nullptr;
    if (pushed_) call("cuCtxPopCurrent_v2", &popped);
  }
  current_context(const current_context&) = delete;
  current_context& operator=(const current_context&) = delete;

 private:
  bool pushed_;
};

}  // namespace cuda_driver
