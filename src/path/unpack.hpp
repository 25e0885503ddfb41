// SPDX-License-Identifier: BSD-3-Clause
// The path ipc_unpack: the receiver's device takes messages apart while it reads them out of their
// senders' memory, where they are packed or lie as the program has them (slot::is_strided). So a
// buffer with gaps needs no contiguous copy of its message, at either end. Messages are
// collected while a progress pass finds them, and while two kernels of a device run; then one
// kernel takes all that have come. Called under the progress lock.
#pragma once

namespace telpher::path {

/// At the end of a progress pass: starts what has been collected.
void flush_unpacking() noexcept;
/// Before the devices are shut down.
void stop_unpacking() noexcept;

}  // namespace telpher::path
