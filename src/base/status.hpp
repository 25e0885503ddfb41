// SPDX-License-Identifier: BSD-3-Clause
// The return types of functions inside Telpher: a status, or a result that holds a value or a
// status. No exception crosses a function on the message path. The wrappers in mpi/ turn a status
// into an MPI error class.
#pragma once

#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace telpher {

enum class [[nodiscard]] status : int{
    ok = 0,
    would_block,       // not an error: try again later
    not_supported,     // not an error: use another way
    invalid_argument,  // the caller passed an impossible argument
    out_of_memory,     // host or device memory ran out
    device_error,      // the vendor's runtime reported a failure
    truncated,         // the message is longer than the receive buffer
    corrupt,           // a ticket or a slot failed its checks
    peer_lost,         // the other process is gone
    host_mpi_error,    // a PMPI call failed
};

/// The name of a status as it appears in logs, e.g. "out of memory".
const char* to_string(status s) noexcept;

constexpr bool failed(status s) noexcept {
  return s != status::ok;
}

/// A value of type T, or the status that explains why there is none.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : value_(std::move(value)), status_(status::ok) {}  // NOLINT: implicit on purpose
  result(status s) : status_(s) {}                                    // NOLINT: implicit on purpose
  result(const result& other) : status_(other.status_) {
    if (has_value()) new (&value_) T(other.value_);
  }
  result(result&& other) noexcept : status_(other.status_) {
    if (has_value()) new (&value_) T(std::move(other.value_));
  }
  result& operator=(const result&) = delete;
  ~result() {
    if (has_value()) value_.~T();
  }

  bool has_value() const noexcept { return status_ == status::ok; }
  explicit operator bool() const noexcept { return has_value(); }
  status error() const noexcept { return status_; }

  T& operator*() noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }
  T value_or(T fallback) const { return has_value() ? value_ : std::move(fallback); }
  /// Moves the value to where it is to be, if there is one.
  status into(T& to) && {
    if (has_value()) to = std::move(value_);
    return status_;
  }

 private:
  union {
    T value_;
  };
  status status_;
};

inline status error_of(status s) noexcept {
  return s;
}
template <class T>
status error_of(const result<T>& r) noexcept {
  return r.error();
}

}  // namespace telpher

/// Returns the status of `expr` from the enclosing function unless it is ok.
#define TELPHER_TRY(expr)                                 \
  do {                                                    \
    if (auto telpher_status_ = ::telpher::error_of(expr); \
        telpher_status_ != ::telpher::status::ok)         \
      return telpher_status_;                             \
  } while (0)
