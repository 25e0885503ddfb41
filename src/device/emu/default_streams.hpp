// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace telpher::device::emu {

/// Waits for the legacy default stream and for the calling thread's own.
void synchronise_default_streams() noexcept;

}  // namespace telpher::device::emu
