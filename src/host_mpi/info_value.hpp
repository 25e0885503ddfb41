// SPDX-License-Identifier: BSD-3-Clause
// A value of an info object.
#pragma once

#include <string>

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// False, and an empty value, if the info (which may be null) does not have the key.
inline bool info_value(MPI_Info info, const char* key, std::string& value) {
  char text[MPI_MAX_INFO_VAL + 1] = {};
  int found = 0;
  if (info != MPI_INFO_NULL)
    pmpi::Info_get(info, const_cast<char*>(key), MPI_MAX_INFO_VAL, text, &found);
  value = text;
  return found != 0;
}

}  // namespace telpher::host_mpi
