// SPDX-License-Identifier: BSD-3-Clause
// A second process on the same back end: this program started again and controlled through a
// socket.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/shared_memory.hpp"
#include "contract.hpp"

namespace contract {

struct peer_request {
  enum class action : int {
    open,
    check,
    write,
    close,
    open_chunk,
    close_chunk,
    make,
    drop,
    share,
    unshare,
    leave_work
  };
  action what;
  int device;
  unsigned seed;
  std::uint64_t bytes;
  device::ipc_handle handle;  // share: the name of a segment; open_chunk: of an offered descriptor
};

/// The offset of a shared segment's data, after its cookie.
constexpr std::size_t segment_data_at = 4096;

struct peer_answer {
  status outcome;
  bool same;                  // check: whether the bytes were the pattern of the seed
  device::ipc_handle handle;  // make
};

class peer {
 public:
  peer();
  ~peer();
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  peer_answer ask(const peer_request& request);
  void kill();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

void set_peer_backend(const std::string& name);
int serve_peer(int socket);

}  // namespace contract
