// SPDX-License-Identifier: BSD-3-Clause
// From a rank's arguments to the description that its peers read, and from all descriptions to the
// problem that is the same at all ranks.
#pragma once

#include "coll/exchange/agreement.hpp"
#include "coll/exchange/arguments.hpp"

namespace telpher::coll::exchange {

/// Whether the call reads its input, and writes its output, at this rank.
bool reads_input(const arguments& a) noexcept;
bool writes_output(const arguments& a) noexcept;

/// False if a buffer that must hold bytes is null (MPI_BOTTOM, or the program's mistake), or if the
/// call would write what it reads, which MPI forbids but some programs do (schedules read and write
/// in an order of their own; staged, the two have images of their own).
bool has_sound_buffers(const arguments& a) noexcept;

/// Whether a description has the handles that peers need to map the buffers.
enum class handles : std::uint8_t { none, where_of_use, all };

/// Fills what peers need to reach the buffers. False: the bytes are not one allocation's.
bool describe_buffers(const arguments& a, handles wanted, description& d) noexcept;

/// Fills the other fields, which tell of counts and offsets.
void describe_call(const arguments& a, description& d) noexcept;

/// Takes the memory that describe_problem needs. May throw std::bad_alloc.
void reserve_problem(const arguments& a, problem& p);

/// Fills what the arguments alone tell. `unit`: bytes of the problem's elements.
void begin_problem(const arguments& a, std::uint64_t unit, problem& p) noexcept;

/// Makes the problem from the descriptions of all ranks; `unit` becomes the bytes of its elements.
/// False where the bytes that one rank sends are not those that another expects: the call is staged
/// then, so that the host MPI reports the mistake.
bool describe_problem(const arguments& a, const agreement& protocol, problem& p,
                      std::uint64_t& unit);

}  // namespace telpher::coll::exchange
