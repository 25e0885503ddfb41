// SPDX-License-Identifier: BSD-3-Clause
// Tables that `telpher tune` wrote: thresholds and choices of algorithms that were measured on one
// machine, in place of the built-in ones. A table is text:
//
//   telpher-table 1
//   # what people want to know of it
//   machine telpher 0.1.0                                 its signature, one line a fact
//   machine device 8 x NVIDIA H200
//   set mapped_limit 16384
//   choice allreduce 65536 2 push packed                  operation, most bytes, most ranks, how
//   choice allreduce 262144 2 builtin                     up to here the built-in choice is as good
//   replay_choice allreduce 524288 2 push lines           for what streams start without the host
//   enqueued_choice allreduce 1048576 2 push lines        for enqueued calls that come again alone
//   check 0123456789abcdef                                of everything before this line
//
// Nothing in a table can make a program wrong. Its settings are those of the table of measured
// costs (`measured` in settings.def), which only say what is fast. An algorithm that it chooses is
// asked, as always, whether it can serve a call. The table in force is chosen once, in MPI_Init:
// each rank reads one for itself, then all compare its mark.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"

namespace telpher::tuning {

constexpr std::uint64_t any_size = ~std::uint64_t{0};

/// Calls that a row serves: any, all that streams start without the host, or of these only enqueued
/// ones, whose buffers peers do not map.
enum class calls : std::uint8_t { any, replayed, enqueued };

struct choice {
  std::string operation;
  std::uint64_t most_bytes = 0;  // any_size: "unlimited"
  int most_ranks = 0;
  std::string algorithm;  // "builtin", and no transport: by the built-in table
  std::string transport;
  calls of = calls::any;
};

struct table {
  std::string file;
  std::vector<std::string> machine;
  std::vector<named_value> settings;
  std::vector<choice> choices;
  std::int64_t mark = 0;  // of the text, above 0
};

/// The sum that ends a table and names its file.
std::uint64_t sum_of(std::string_view text) noexcept;

/// False: `why` says which line is wrong.
bool parse(std::string_view text, table& out, std::string& why);

/// The file of a machine's table in a folder of tables.
std::string file_of(const std::vector<std::string>& machine);

/// The table in force, or null. What put_in_force() is given counts from MPI_Init on.
const table* in_force() noexcept;
std::int64_t mark() noexcept;  // 0: none

/// Its settings count from now on. Only while nothing else of Telpher runs.
void put_in_force(table t);
void drop() noexcept;

}  // namespace telpher::tuning
