// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace telpher::stream {

/// Lets the calling thread run where TELPHER_STREAM_CPUS says. Launchers bind a rank to one core,
/// and a thread of the program that waits in the vendor's library keeps that core busy (CUDA's does
/// not yield by default): a thread that shares it runs once in a time slice of the system, some
/// milliseconds, for each message that the program waits for.
void choose_processors() noexcept;

}  // namespace telpher::stream
