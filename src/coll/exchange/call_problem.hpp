// SPDX-License-Identifier: BSD-3-Clause
// Between a rank's arguments, what it tells its peers of them, and the problem that all of them
// make out of what they were told.
#pragma once

#include "coll/exchange/agreement.hpp"
#include "coll/exchange/arguments.hpp"

namespace telpher::coll::exchange {

/// Whether the call reads its input, and writes its output, at this rank.
bool reads_input(const arguments& a) noexcept;
bool writes_output(const arguments& a) noexcept;

/// No buffer that holds bytes is missing (MPI_BOTTOM, or the program's mistake).
bool has_buffers(const arguments& a) noexcept;

/// Whether a call tells peers what they need to map its buffers: never, where mapping is worth it,
/// always.
enum class handles : std::uint8_t { none, where_of_use, all };

/// Fills what peers need to reach the buffers. False: the bytes are not one allocation's.
bool describe_buffers(const arguments& a, handles wanted, description& d) noexcept;

/// Fills the rest.
void describe_call(const arguments& a, description& d) noexcept;

/// Takes the memory that describe_problem needs. May throw std::bad_alloc.
void reserve_problem(const arguments& a, problem& p);

/// Makes the problem from the descriptions of all ranks; `unit` becomes the bytes of its elements.
/// False where the bytes that one rank sends are not those that another expects: the call is staged
/// then, so that the host MPI reports the mistake.
bool describe_problem(const arguments& a, const agreement& protocol, problem& p,
                      std::uint64_t& unit);

/// The power of two that is not less.
std::uint64_t size_class(std::uint64_t bytes) noexcept;

}  // namespace telpher::coll::exchange
