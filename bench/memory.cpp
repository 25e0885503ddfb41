// SPDX-License-Identifier: BSD-3-Clause
// Telpher's C API, looked up by name, and the memory source made from it.
#include "memory.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda_memory.hpp"
#include "telpher/telpher.h"

namespace telpher::bench {

namespace {

template <class F>
F* find(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name));
}

struct telpher_functions {
#define TELPHER_FUNCTION(name) \
  decltype(&::telpher_##name) name = find<decltype(::telpher_##name)>("telpher_" #name)
  TELPHER_FUNCTION(version);
  TELPHER_FUNCTION(error_string);
  TELPHER_FUNCTION(backend);
  TELPHER_FUNCTION(device_count);
  TELPHER_FUNCTION(set_device);
  TELPHER_FUNCTION(get_device);
  TELPHER_FUNCTION(malloc);
  TELPHER_FUNCTION(free);
  TELPHER_FUNCTION(memcpy);
#undef TELPHER_FUNCTION
  // Exported for measurement only; not part of telpher.h.
  const char* (*last_path)() = find<const char*()>("telpher_last_path");
};

const telpher_functions& functions() {
  static const telpher_functions found;
  return found;
}

void* allocate_host(std::size_t bytes) {
  void* address = nullptr;
  if (::posix_memalign(&address, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), bytes) != 0)
    fail("out of host memory for %zu bytes", bytes);
  return address;
}

// Used if the library is not in the process: host memory only.
class host_memory final : public memory_source {
 public:
  void* allocate(kind k, std::size_t bytes) override {
    if (k != kind::host)
      fail(
          "buffers of kind %c need Telpher: start with LD_PRELOAD=.../libtelpher-<abi>.so, or link "
          "it in front of the MPI library",
          static_cast<char>(k));
    return allocate_host(bytes);
  }
  void release(kind, void* address) override { std::free(address); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void choose_device(int) override {}
  int device() override { return -1; }
  int device_count() override { return 0; }
  std::string backend() override { return "none"; }
  std::string copy_call() override { return "memcpy"; }
};

class telpher_memory final : public memory_source {
 public:
  void* allocate(kind k, std::size_t bytes) override {
    if (k == kind::host) return allocate_host(bytes);
    const auto wanted = k == kind::device    ? TELPHER_MEMORY_DEVICE
                        : k == kind::managed ? TELPHER_MEMORY_MANAGED
                                             : TELPHER_MEMORY_PINNED;
    void* address = nullptr;
    const int error = functions().malloc(&address, bytes, wanted);
    if (error)
      fail("cannot allocate %zu bytes of kind %c: %s", bytes, static_cast<char>(k), text(error));
    return address;
  }
  void release(kind k, void* address) override {
    if (k == kind::host)
      std::free(address);
    else
      check(functions().free(address), "telpher_free");
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (vendor_)
      vendor_->copy(to, from, bytes);
    else
      check(functions().memcpy(to, from, bytes), "telpher_memcpy");
  }
  void wait() override {
    if (vendor_) vendor_->wait();
  }
  void choose_device(int device) override {
    check(functions().set_device(device), "telpher_set_device");
    open_vendor();
  }
  int device() override {
    int device = -1;
    if (device_count() > 0) check(functions().get_device(&device), "telpher_get_device");
    return device;
  }
  int device_count() override { return functions().device_count(); }
  std::string backend() override { return functions().backend(); }
  std::string copy_call() override { return vendor_ ? vendor_->copy_call() : "telpher_memcpy"; }

  // On CUDA the baseline uses CUDA's own copy call, so that it does not depend on Telpher.
  void open_vendor() {
    if (backend() != "cuda") return;
    std::string why;
    if (!vendor_) vendor_ = open_cuda_memory("malloc", why);
    if (vendor_) vendor_->choose_device(device());
  }

 private:
  static const char* text(int error) { return functions().error_string(error); }
  static void check(int error, const char* call) {
    if (error) fail("%s: %s", call, text(error));
  }

  std::unique_ptr<memory_source> vendor_;
};

}  // namespace

std::unique_ptr<memory_source> open_memory_source(const std::string& allocation) {
  if (allocation != "telpher") {
    std::string why;
    auto source = open_cuda_memory(allocation, why);
    if (!source) fail("--alloc %s: %s", allocation.c_str(), why.c_str());
    return source;
  }
  if (!telpher_present()) return std::make_unique<host_memory>();
  auto source = std::make_unique<telpher_memory>();
  source->open_vendor();
  return source;
}

bool telpher_present() {
  const auto& f = functions();
  return f.version && f.error_string && f.backend && f.device_count && f.set_device &&
         f.get_device && f.malloc && f.free && f.memcpy;
}

std::string telpher_version_text() {
  if (!telpher_present()) return "";
  const int v = functions().version();
  return std::to_string(v / 10000) + '.' + std::to_string(v / 100 % 100) + '.' +
         std::to_string(v % 100);
}

std::string last_path() {
  const char* path = functions().last_path ? functions().last_path() : nullptr;
  return path && *path ? path : "-";
}

void give_up(const char* why) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::fprintf(stderr, "telpher: %s\n", why);
  MPI_Finalize();
  std::exit(2);
}

void fail(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fflush(stdout);
  std::fprintf(stderr, "telpher: %s\n", text);
  MPI_Abort(MPI_COMM_WORLD, 2);
  std::exit(2);
}

}  // namespace telpher::bench
