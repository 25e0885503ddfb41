// SPDX-License-Identifier: BSD-3-Clause
// A device as the applications use it: memory comes from telpher.h, work goes to queues of the
// back end's module. No MPI here. What fails throws std::runtime_error with the cause.
// An array has two addresses: data() is the one for MPI and the program, kernel() the one for
// kernels and queue::copy. On a GPU they are equal; on the emulated device they are not, so that a
// program that mixes them up fails without a GPU.
#pragma once

#include <telpher/telpher.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/module.hpp"

namespace apps {

/// Throws if `error`, an answer of telpher.h, is one.
void check(int error, const char* what);
/// The same for a module's answer.
void check(const char* failed, const char* what);

/// The device that Telpher chose for this rank, and the kernels for it.
class gpu {
 public:
  gpu();
  const char* backend() const { return backend_.c_str(); }
  int device() const { return device_; }
  const module& kernels() const { return *module_; }

 private:
  std::string backend_;
  int device_ = 0;
  const module* module_ = nullptr;
};

/// Work in order, beside the program. What a queue did may be read by MPI, the program and other
/// queues after wait().
class queue {
 public:
  explicit queue(const gpu& g) : module_(g.kernels()) {
    check(module_.open(g.device(), &handle_), "opening a queue");
  }
  ~queue() { module_.close(handle_); }
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  template <class K>
  void run(std::size_t items, const K& kernel) {
    if (items == 0) return;
    if (items > UINT32_MAX) check("more work items than 32 bits count", "a launch");
    check(module_.launch(handle_, kernel_number<K>::value, &kernel, static_cast<index>(items)),
          "a launch");
  }
  template <class T>
  void copy(T* to, const T* from, std::size_t count) {
    if (count > 0) check(module_.copy(handle_, to, from, count * sizeof(T)), "a copy");
  }
  void wait() { check(module_.wait(handle_), "work on the device"); }
  /// For calls of MPI in the order of this queue.
  void* stream() {
    void* const found = module_.stream(handle_);
    if (!found) check("queues of this back end are no streams", "MPI in the order of a queue");
    return found;
  }

 private:
  const module& module_;
  void* handle_ = nullptr;
};

/// Memory of one kind, of elements without constructors; not initialised.
template <class T>
class array {
 public:
  array() = default;
  array(std::size_t count, telpher_memory kind) : count_(count) {
    void* memory = nullptr;
    check(telpher_malloc(&memory, count * sizeof(T), kind), "telpher_malloc");
    data_ = static_cast<T*>(memory);
    check(telpher_kernel_address(data_, &memory), "telpher_kernel_address");
    kernel_ = static_cast<T*>(memory);
  }
  ~array() { telpher_free(data_); }
  array(array&& other) noexcept { swap(other); }
  array& operator=(array&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() const { return data_; }
  T* kernel() const { return kernel_; }
  std::size_t size() const { return count_; }

  void fill_from(const T* host, std::size_t count) {
    check(telpher_memcpy(data_, host, count * sizeof(T)), "telpher_memcpy");
  }
  std::vector<T> to_host() const {
    std::vector<T> host(count_);
    check(telpher_memcpy(host.data(), data_, count_ * sizeof(T)), "telpher_memcpy");
    return host;
  }
  void swap(array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(kernel_, other.kernel_);
    std::swap(count_, other.count_);
  }

 private:
  T* data_ = nullptr;
  T* kernel_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace apps
