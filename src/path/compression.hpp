// SPDX-License-Identifier: BSD-3-Clause
// Which messages and collectives of a program are compressed: what the setting or a communicator's
// info key asks for, by MPI datatype, from a threshold on, where it pays.
#pragma once

#include "codec/choice.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::path {

/// What a predefined type consists of; none for derived types and for those that no codec takes.
codec::element element_of(MPI_Datatype type) noexcept;

/// The plan for a message of `bytes` of a type that leaves this node: method none unless the choice
/// covers the type, the message has TELPHER_COMPRESSION_THRESHOLD, and the model says that it pays
/// or TELPHER_COMPRESSION_FORCE is on. The choice is the communicator's, if it has one.
codec::plan plan_for(MPI_Comm comm, MPI_Datatype type, std::size_t bytes) noexcept;

/// What the communicator's info key asks for, else the setting.
codec::choices choices_of(MPI_Comm comm) noexcept;

/// Takes the info key `telpher_compression`, if there is one, as the communicator's choice. A wrong
/// one is logged and changes nothing.
void choose_by(MPI_Info info, MPI_Comm comm) noexcept;
/// Must be called before a communicator is freed.
void forget_choice(MPI_Comm comm) noexcept;

}  // namespace telpher::path
