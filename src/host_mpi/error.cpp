// SPDX-License-Identifier: BSD-3-Clause
#include "host_mpi/error.hpp"

#include "base/log.hpp"

namespace telpher::host_mpi {
namespace {

int error_class(status s) noexcept {
  switch (s) {
    case status::truncated:
      return MPI_ERR_TRUNCATE;
    case status::invalid_argument:
      return MPI_ERR_ARG;
    case status::out_of_memory:
      return MPI_ERR_NO_MEM;
    case status::not_supported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    default:
      return MPI_ERR_OTHER;
  }
}

void report(const char* call, status s, const char* detail) noexcept {
  const bool has_detail = detail && *detail;
  TELPHER_ERROR("%s: %s%s%s", call, to_string(s), has_detail ? ": " : "", has_detail ? detail : "");
}

}  // namespace

int raise(MPI_Comm comm, int code) noexcept {
  pmpi::Comm_call_errhandler(comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm, code);
  return code;
}

int raise(MPI_File file, int code) noexcept {
  pmpi::File_call_errhandler(file, code);
  return code;
}

int fail(MPI_Comm comm, const char* call, status s, const char* detail) noexcept {
  report(call, s, detail);
  return raise(comm, error_class(s));
}

int fail(MPI_File file, const char* call, status s, const char* detail) noexcept {
  report(call, s, detail);
  return raise(file, error_class(s));
}

}  // namespace telpher::host_mpi
