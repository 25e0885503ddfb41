// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace telpher::stream {

/// Lets the calling thread run on the processors that TELPHER_STREAM_CPUS says. Launchers bind a
/// rank to one core. A thread of the program that waits in the vendor's library keeps that core
/// busy (CUDA's does not yield by default). A thread of ours on the same core would run only once
/// in a time slice of the system, so each message that the program waits for would take some
/// milliseconds.
void choose_processors() noexcept;

}  // namespace telpher::stream
