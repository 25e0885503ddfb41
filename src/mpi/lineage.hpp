// SPDX-License-Identifier: BSD-3-Clause
// A name for each communicator, which all its ranks derive without asking each other. On the wire
// it tells two communicators of the same ranks apart. It follows from how the communicator was
// made. All ranks of a parent make its children in the same order, so a child's name is made of the
// parent's name and of the number of children before it. Children of one call (MPI_Comm_split)
// share a name, but no two of them have a rank in common.
//
// A name is kept in an attribute: MPI deletes it with the communicator, and its copy function names
// every duplicate, non-blocking ones too.
#pragma once

#include <cstdint>

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi::lineage {

/// On all ranks: communicators that are made from here on have names; with MPI_Init, MPI_COMM_WORLD
/// and MPI_COMM_SELF.
void start() noexcept;
void name_world() noexcept;
/// Before the host MPI's end.
void stop() noexcept;

/// 0: not known. It was made before start(), or by a call that is not wrapped.
std::uint64_t name_of(MPI_Comm comm) noexcept;

/// After a call that is collective over `parent` made `made`, null on this rank or not. Must be
/// called on all ranks of the parent.
void made_from(MPI_Comm parent, MPI_Comm made) noexcept;

/// After a call that only the ranks of `made` take part in: `seed` is what they all know of it.
void made_among(std::uint64_t seed, MPI_Comm made) noexcept;

/// Seeds for made_among, from what all these ranks know: a communicator and a tag, a tag, a text.
std::uint64_t of_group(MPI_Comm parent, int tag) noexcept;
std::uint64_t of_number(int number) noexcept;
std::uint64_t of_text(const char* text) noexcept;

}  // namespace telpher::mpi::lineage
