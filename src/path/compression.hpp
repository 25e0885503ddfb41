// SPDX-License-Identifier: BSD-3-Clause
// Which messages and collectives of a program are compressed. This depends on the setting or a
// communicator's info key, the MPI datatype, the size, and on whether compression pays.
#pragma once

#include "codec/choice.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::path {

/// The element type of a predefined datatype; none for derived types and for types that no codec
/// supports.
codec::element element_of(MPI_Datatype type) noexcept;

/// The plan for a message of `bytes` of a type to another node. Method none unless the choice
/// covers the type, the message has at least TELPHER_COMPRESSION_THRESHOLD bytes, and the model
/// predicts that it pays (or TELPHER_COMPRESSION_FORCE is on). The communicator's choice is used if
/// it has one.
codec::plan plan_for(MPI_Comm comm, MPI_Datatype type, std::size_t bytes) noexcept;

/// The choices of the communicator's info key, else of the setting.
codec::choices choices_of(MPI_Comm comm) noexcept;

/// Makes the info key `telpher_compression`, if present, the communicator's choice. An invalid one
/// is logged and changes nothing.
void choose_by(MPI_Info info, MPI_Comm comm) noexcept;

}  // namespace telpher::path
