// SPDX-License-Identifier: BSD-3-Clause
// Finds out which ranks of MPI_COMM_WORLD carry this library, without any message. A rank without
// the library could match a message with a wildcard receive, and would not join a collective;
// either could hang the program.
//
// Protocol. Each rank that carries the library listens at an abstract Unix socket, from before
// PMPI_Init until all ranks that ask have asked. The socket's name contains the launcher's identity
// of the job on this node and the rank's number. A rank asks by trying to connect. Host MPIs leave
// PMPI_Init only when all ranks have entered it (they exchange addresses there). So by then every
// socket exists, and all ranks that ask find the same. Sockets vanish with their processes. Nobody
// accepts connections: a queued connection, or a full queue, is the answer.
//
// Ranks of other nodes cannot be reached this way, and a launcher may tell nothing. Then the answer
// is `unknown`, and job.cpp asks with a collective that has a time limit.
#pragma once

#include <string>
#include <vector>

namespace telpher::host_mpi {

class roll_call {
 public:
  enum class answer {
    all,        // every rank carries the library
    some,       // not all do, and all ranks are on this node: all that do find the same
    some_here,  // not all ranks of this node do, and there are other nodes
    unknown,
  };

  constexpr roll_call() = default;
  ~roll_call() { end(); }
  roll_call(const roll_call&) = delete;
  roll_call& operator=(const roll_call&) = delete;

  /// To be called before PMPI_Init.
  void announce() noexcept;
  /// To be called after PMPI_Init, with the rank and size in MPI_COMM_WORLD.
  answer ask(int rank, int size) noexcept;
  /// The ranks that were not found.
  const std::vector<int>& absent() const noexcept { return absent_; }
  /// Closes the socket; to be called when every rank that may ask this one has asked.
  void end() noexcept;

 private:
  std::string job_;  // empty: the launcher gives no usable identity
  int rank_ = -1;    // according to the launcher; -1: unknown
  int size_ = -1;
  int here_ = -1;  // ranks on this node
  int socket_ = -1;
  std::vector<int> absent_;
};

}  // namespace telpher::host_mpi
