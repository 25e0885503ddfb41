// SPDX-License-Identifier: BSD-3-Clause
// Which messages and collectives of a program are compressed: what the setting asks for, by MPI
// datatype, from a threshold on, where it pays.
#pragma once

#include "codec/choice.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

/// What a predefined type consists of; none for derived types and for those that no codec takes.
codec::element element_of(MPI_Datatype type) noexcept;

/// The plan for `bytes` of a type that leave this node: method none unless the choice covers the
/// type, the message has TELPHER_COMPRESSION_THRESHOLD, and the model says that it pays or
/// TELPHER_COMPRESSION_FORCE is on.
codec::plan plan_for(const codec::choices& c, MPI_Datatype type, std::size_t bytes) noexcept;

/// Reads the info key `telpher_compression` into `out`; false where there is none, or a wrong one,
/// which is logged. To be asked of the info that a program passes to MPI_Comm_set_info and its
/// like: neither MPICH 5.0.2 nor Open MPI 5.0.11 gives a key that it does not know back.
bool read_choices(MPI_Info info, codec::choices& out) noexcept;

}  // namespace telpher::mpi
