// SPDX-License-Identifier: BSD-3-Clause
// Files written and read by every rank at a place of its own (MPI_File_write_at, _read_at): from
// and to the program's memory; by hand, with a copy through pinned host memory; and the same bytes
// from and to host memory, which is the limit.
#pragma once

#include "measure.hpp"
#include "surface.hpp"
#include "window_buffer.hpp"

namespace telpher::bench {

struct file_shape {
  surface_test what = surface_test::file_write;
  std::size_t bytes = 0;
  kind own_kind = kind::host;
  std::string name;  // of the file; the mode is added
  MPI_Comm comm = MPI_COMM_NULL;
};

class file_access final : public workload {
 public:
  /// Collective over shape.comm. The file is deleted in the end.
  file_access(memory_source& source, const file_shape& s, mode how);
  ~file_access() override;

  double run(long iterations, std::vector<double>* each) override;
  double run_checked(std::uint64_t seed, std::string& wrong) override;

 private:
  void once();
  bool writes() const noexcept { return shape_.what == surface_test::file_write; }

  memory_source& source_;
  file_shape shape_;
  int rank_ = 0;
  MPI_Offset place_ = 0;
  window_buffer own_;
  window_buffer host_;  // of checks
  std::unique_ptr<window_buffer> stage_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace telpher::bench
