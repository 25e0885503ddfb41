// SPDX-License-Identifier: BSD-3-Clause
// NCCL, opened at run time, as a contender beside MPI on the same buffers. Compiled everywhere, as
// its binary interface is declared here; used where every rank has a CUDA device of its own.
#pragma once

#include <memory>
#include <string>

#include "pattern.hpp"

namespace telpher::bench {

class nccl {
 public:
  virtual ~nccl() = default;
  /// Whether NCCL has this collective (gather, scatter and alltoall are made of its sends and
  /// receives, as its own tests do).
  virtual bool offers(const collective& which) const = 0;
  /// Runs it and waits for it.
  virtual void run(const data_plan& plan, const arguments& a) = 0;
};

/// Collective. Null, with the reason, where it cannot be used; the answer is the same on all ranks.
std::unique_ptr<nccl> open_nccl(MPI_Comm comm, const std::string& backend, int device,
                                std::string& why);

}  // namespace telpher::bench
