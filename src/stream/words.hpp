// SPDX-License-Identifier: BSD-3-Clause
// Words of pinned memory that streams wait for, each in a cache line of its own. They live until
// release_words: a stream may look at one at any time.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "device/device.hpp"

namespace telpher::stream {

/// A word of the back end's pinned memory, which is 0.
result<std::uint32_t*> take_word(device::backend* owner) noexcept;

/// Nothing waits for the word or writes it any more: it may be taken again.
void give_word(device::backend* owner, std::uint32_t* word) noexcept;

/// Gives all back. Nothing may wait for any of them.
void release_words() noexcept;

}  // namespace telpher::stream
