// SPDX-License-Identifier: BSD-3-Clause
// Global objects. They are never destroyed: static destructors of the program, and of libraries
// that end after this one, may still free memory and call MPI. `lasting` objects can be used before
// constructors run: another library's constructor may call MPI before ours have run.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace telpher {

/// Of a type that can be made at compile time, such as a mutex or a vector.
template <class T>
class lasting {
 public:
  constexpr lasting() noexcept : value_() {}
  constexpr ~lasting() {}
  lasting(const lasting&) = delete;
  lasting& operator=(const lasting&) = delete;

  T& operator*() noexcept { return value_; }
  T* operator->() noexcept { return &value_; }

 private:
  union {
    T value_;
  };
};

/// Made when the job first starts. It must not be used before.
template <class T>
class made_at_start {
 public:
  template <class... Arguments>
  void make(Arguments&&... arguments) {
    if (!std::exchange(made_, true)) new (place_) T(std::forward<Arguments>(arguments)...);
  }
  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(place_)); }
  T* operator->() noexcept { return &**this; }

 private:
  alignas(T) std::byte place_[sizeof(T)]{};
  bool made_ = false;
};

}  // namespace telpher
