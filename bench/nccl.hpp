// SPDX-License-Identifier: BSD-3-Clause
// NCCL, opened at run time, as a contender beside MPI on the same buffers. It is compiled
// everywhere, because its binary interface is declared here. It is used if every rank has its own
// CUDA device.
#pragma once

#include <memory>
#include <string>

#include "pattern.hpp"

namespace telpher::bench {

class nccl {
 public:
  virtual ~nccl() = default;
  /// Whether NCCL has this collective. Gather, scatter and alltoall are made from its sends and
  /// receives, as in its own tests.
  virtual bool supports(const collective& which) const = 0;
  /// Runs it and waits until it is done.
  virtual void run(const data_plan& plan, const arguments& a) = 0;
};

/// Collective. Null, with the reason, if NCCL cannot be used; the result is the same on all ranks.
std::unique_ptr<nccl> open_nccl(MPI_Comm comm, const std::string& backend, int device,
                                std::string& why);

}  // namespace telpher::bench
