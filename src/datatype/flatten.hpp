// SPDX-License-Identifier: BSD-3-Clause
// Decoding a datatype into a layout. Setup work: called once per type, by the cache.
#pragma once

#include "datatype/datatype.hpp"

namespace telpher::datatype {

/// Fills `out`; may throw std::bad_alloc. invalid_argument: a constructor that this file does not
/// know.
status flatten(MPI_Datatype type, layout& out);

}  // namespace telpher::datatype
