// SPDX-License-Identifier: BSD-3-Clause
// Words of pinned memory that streams write or wait for, each in a cache line of its own. They are
// freed only by release_words, because a stream may access one at any time.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "device/device.hpp"

namespace telpher::stream {

/// A word in the back end's pinned memory. Its value is 0.
result<std::uint32_t*> take_word(device::backend* owner) noexcept;

/// Nothing waits for the word or writes it any more: it may be taken again.
void give_word(device::backend* owner, std::uint32_t* word) noexcept;

/// Frees all words. No stream may wait for one or write one any more.
void release_words() noexcept;

}  // namespace telpher::stream
