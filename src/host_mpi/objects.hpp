// SPDX-License-Identifier: BSD-3-Clause
// The objects (program and libraries) that the process has mapped: which of them is an MPI, and
// which is Telpher.
#pragma once

#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace telpher::host_mpi {

enum class kind { none, mpich, ompi, mpi_abi };

/// The kind of MPI that a soname stands for. Every MPI of MPICH's ABI has version 12: libmpi.so.12,
/// Debian's libmpich.so.12, Cray's libmpi_cray.so.12. Bindings of other languages do not count.
kind kind_of(std::string_view soname) noexcept;

/// The object's DT_SONAME. The file may have another name, such as libmpi.so.12.5.2 or libmpi.so.
const char* soname_of(const dl_phdr_info& object) noexcept;

struct mapped_library {
  std::string path;
  kind flavour;
};
std::vector<mapped_library> mapped_mpi_libraries();

/// Whether an address lies in this library.
bool is_ours(const void* address) noexcept;

}  // namespace telpher::host_mpi
