// SPDX-License-Identifier: BSD-3-Clause
// libzfp as the reference for our streams. It is opened at run time, so neither its headers nor the
// library are needed to build. Declares what its documentation names.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace judge {

enum class type : int { int32 = 1, int64 = 2, f32 = 3, f64 = 4 };

class library {
 public:
  /// Opens `path`, or the system's library if it is empty.
  explicit library(const char* path) {
    handle_ = *path ? dlopen(path, RTLD_NOW) : nullptr;
    if (!handle_) handle_ = dlopen("libzfp.so.1", RTLD_NOW);
    if (!handle_) return;
    find(open_bits_, "stream_open");
    find(close_bits_, "stream_close");
    find(open_, "zfp_stream_open");
    find(close_, "zfp_stream_close");
    find(set_rate_, "zfp_stream_set_rate");
    find(rewind_, "zfp_stream_rewind");
    find(field_, "zfp_field_3d");
    find(field_2_, "zfp_field_2d");
    find(field_1_, "zfp_field_1d");
    find(free_, "zfp_field_free");
    find(compress_, "zfp_compress");
    find(decompress_, "zfp_decompress");
  }
  bool present() const { return handle_ != nullptr && complete_; }

  /// The stream of an array, or an array from its stream; empty or false on failure.
  std::vector<std::uint64_t> encode(void* values, type t, int dims, const std::uint64_t* extent,
                                    double rate, std::size_t room) const {
    std::vector<std::uint64_t> out(room / 8);
    const std::size_t bytes = run(compress_, out, values, t, dims, extent, rate);
    out.resize(bytes / 8);
    return out;
  }
  bool decode(std::vector<std::uint64_t> stream, void* values, type t, int dims,
              const std::uint64_t* extent, double rate) const {
    return run(decompress_, stream, values, t, dims, extent, rate) != 0;
  }

 private:
  template <class F>
  void find(F*& f, const char* name) {
    f = reinterpret_cast<F*>(dlsym(handle_, name));
    complete_ = complete_ && f != nullptr;
  }
  using work = std::size_t(void*, void*);

  std::size_t run(work* f, std::vector<std::uint64_t>& stream, void* values, type t, int dims,
                  const std::uint64_t* extent, double rate) const {
    void* bits = open_bits_(stream.data(), stream.size() * 8);
    void* zfp = open_(bits);
    set_rate_(zfp, rate, static_cast<int>(t), static_cast<unsigned>(dims), 0);
    rewind_(zfp);
    void* field = dims == 1 ? field_1_(values, static_cast<int>(t), extent[0])
                  : dims == 2
                      ? field_2_(values, static_cast<int>(t), extent[0], extent[1])
                      : field_(values, static_cast<int>(t), extent[0], extent[1], extent[2]);
    const std::size_t bytes = f(zfp, field);
    free_(field);
    close_(zfp);
    close_bits_(bits);
    return bytes;
  }

  void* handle_ = nullptr;
  bool complete_ = true;
  void* (*open_bits_)(void*, std::size_t) = nullptr;
  void (*close_bits_)(void*) = nullptr;
  void* (*open_)(void*) = nullptr;
  void (*close_)(void*) = nullptr;
  double (*set_rate_)(void*, double, int, unsigned, int) = nullptr;
  void (*rewind_)(void*) = nullptr;
  void* (*field_1_)(void*, int, std::size_t) = nullptr;
  void* (*field_2_)(void*, int, std::size_t, std::size_t) = nullptr;
  void* (*field_)(void*, int, std::size_t, std::size_t, std::size_t) = nullptr;
  void (*free_)(void*) = nullptr;
  work* compress_ = nullptr;
  work* decompress_ = nullptr;
};

}  // namespace judge
