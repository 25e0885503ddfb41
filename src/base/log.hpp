// SPDX-License-Identifier: BSD-3-Clause
// Leveled logging. The level says how much may be logged: error and warn need a person, info is
// O(1) per process, debug is O(objects), trace is O(messages). A line reads
//   [telpher <rank>/<size> <subsystem> <level>] <text>
// and goes to stderr, or to the file that TELPHER_LOG_FILE names ('%r' in it is the rank). The
// subsystem is the folder of the source file (TELPHER_SUBSYSTEM, set per CMake target).
#pragma once

#include <atomic>

namespace telpher::log {

enum class level : int { off = 0, error, warn, info, debug, trace };

/// The level in force. The macros read it before they evaluate any argument.
extern std::atomic<level> threshold;

/// Sets the rank and size that lines carry; until then they carry "-/-".
void set_rank(int rank, int size) noexcept;

/// Sets the threshold and opens the log file, if `file` names one. Called when the settings are
/// read (base/settings.cpp).
void configure(level threshold_level, const char* file) noexcept;

/// Called for each line of level warn or worse; tests use it to fail on unexpected warnings.
/// Null removes the observer.
void observe(void (*observer)(level, const char* text)) noexcept;

/// How many lines of level warn or worse were written by this process.
unsigned long warnings() noexcept;

[[gnu::format(printf, 3, 4)]] void write(level l, const char* subsystem, const char* format,
                                         ...) noexcept;

}  // namespace telpher::log

#ifndef TELPHER_SUBSYSTEM
#define TELPHER_SUBSYSTEM "telpher"
#endif

#define TELPHER_LOG_AT(l, ...)                                                                 \
  do {                                                                                         \
    if (::telpher::log::threshold.load(std::memory_order_relaxed) >= ::telpher::log::level::l) \
      ::telpher::log::write(::telpher::log::level::l, TELPHER_SUBSYSTEM, __VA_ARGS__);         \
  } while (0)
#define TELPHER_ERROR(...) TELPHER_LOG_AT(error, __VA_ARGS__)
#define TELPHER_WARN(...) TELPHER_LOG_AT(warn, __VA_ARGS__)
#define TELPHER_INFO(...) TELPHER_LOG_AT(info, __VA_ARGS__)
#define TELPHER_DEBUG(...) TELPHER_LOG_AT(debug, __VA_ARGS__)
#define TELPHER_TRACE(...) TELPHER_LOG_AT(trace, __VA_ARGS__)
