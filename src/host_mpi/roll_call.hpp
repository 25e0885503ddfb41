// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of MPI_COMM_WORLD carry this library, found out without a message: one that a rank
// without it could match with a wildcard, or a collective that it does not join, would disturb or
// hang the program.
//
// Protocol. Each rank that carries the library listens at an abstract Unix socket from before
// PMPI_Init until all that ask have asked; its name holds what the launcher tells of the job on
// this node and the rank's number. Host MPIs leave PMPI_Init only when all ranks have entered it
// (they exchange addresses there), so every socket that will ever be is there when a rank asks by
// trying to connect, and all that ask find the same. Names vanish with their processes, and nobody
// accepts: that a connection is queued, or that the queue is full, is the answer.
//
// Ranks of other nodes cannot be asked so, and a launcher may tell nothing: then the answer is that
// it is not known, and job.cpp asks by a collective with a time limit.
#pragma once

#include <string>
#include <vector>

namespace telpher::host_mpi {

class roll_call {
 public:
  enum class answer {
    all,        // every rank carries the library
    some,       // not all do, and all are on this node: all that do find so
    some_here,  // not all of this node do, and there are other nodes
    unknown,
  };

  roll_call() = default;
  ~roll_call() { end(); }
  roll_call(const roll_call&) = delete;
  roll_call& operator=(const roll_call&) = delete;

  /// Before PMPI_Init.
  void announce() noexcept;
  /// After it; the rank and the size of MPI_COMM_WORLD.
  answer ask(int rank, int size) noexcept;
  /// The ranks that were not found.
  const std::vector<int>& absent() const noexcept { return absent_; }
  /// When every rank that may ask this one has asked.
  void end() noexcept;

 private:
  std::string job_;  // empty: the launcher tells nothing that would do
  int rank_ = -1;    // as the launcher says; -1: it does not
  int size_ = -1;
  int here_ = -1;  // ranks on this node
  int socket_ = -1;
  std::vector<int> absent_;
};

}  // namespace telpher::host_mpi
