// SPDX-License-Identifier: BSD-3-Clause
// What the programs' main functions share: MPI's frame, timing that all ranks agree on, and result
// rows as JSON beside the printed table.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "common/options.hpp"

namespace apps {

/// Initialises MPI, runs `body`, and ends. A body answers how many checks failed on this rank; the
/// exit code is 0 if none did on any. `usage` is printed for --help. An exception ends the job.
int run_program(int argc, char** argv, const char* usage, int (*body)(options&));

int world_rank();
int world_size();

/// The largest of all ranks' values.
double largest(double mine);
long total(long mine);

/// One line of a JSON file of results, values in the order they were added.
class row {
 public:
  row& add(const std::string& name, const std::string& text);
  row& add(const std::string& name, const char* text) { return add(name, std::string(text)); }
  row& add(const std::string& name, double value);
  row& add(const std::string& name, long value);
  row& add(const std::string& name, int value) { return add(name, static_cast<long>(value)); }
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Rank 0 writes {"rows": [...]} to `file`, unless it is empty.
void write_rows(const std::string& file, const std::vector<row>& rows);

/// Requests of one exchange: posted one by one, completed together.
class requests {
 public:
  MPI_Request* next() { return &all_.emplace_back(MPI_REQUEST_NULL); }
  void wait() {
    MPI_Waitall(static_cast<int>(all_.size()), all_.data(), MPI_STATUSES_IGNORE);
    all_.clear();
  }

 private:
  std::vector<MPI_Request> all_;
};

}  // namespace apps
