// SPDX-License-Identifier: BSD-3-Clause
// The address of a UNIX socket with an abstract name: it needs no file, and ends with its socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace telpher {

class abstract_address {
 public:
  /// The name is cut where it is longer than an address holds.
  explicit abstract_address(const char* name) noexcept {
    address_.sun_family = AF_UNIX;  // sun_path[0] stays zero, which makes the name abstract
    std::snprintf(address_.sun_path + 1, sizeof address_.sun_path - 1, "%s", name);
    bytes_ =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(this->name()));
  }

  const char* name() const noexcept { return address_.sun_path + 1; }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t bytes() const noexcept { return bytes_; }

 private:
  sockaddr_un address_{};
  socklen_t bytes_ = 0;
};

}  // namespace telpher
