// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives among the devices of a node: what the wrappers call first. A call answers
// true when it was done, with MPI's code; false when the wrapper must stage it, in agreement with
// all ranks. Every rank must come here for every blocking collective, whatever its buffers are.
#pragma once

#include "coll/exchange/arguments.hpp"
#include "coll/exchange/communicator.hpp"

namespace telpher::coll::exchange {

/// One call: agrees, chooses, runs.
class attempt {
 public:
  attempt(const char* call, communicator& c) noexcept : call_(call), c_(c) {}
  bool run(arguments& a, int* code) noexcept;

 private:
  // What all ranks know, and what they vote on.
  bool eligible(arguments& a) noexcept;
  void describe(const arguments& a) noexcept;
  bool hear_all() noexcept;
  bool vote(bool yes) noexcept;
  bool same_call() const noexcept;
  bool prepare_workspace(const arguments& a) noexcept;
  bool open_workspaces() noexcept;
  bool choose_and_map(const arguments& a) noexcept;
  bool all_exportable() const noexcept;
  bool map_buffers() noexcept;
  bool map_one(int rank, const path::exported_memory& m, bool& fresh) noexcept;
  std::uint64_t address_of(int rank, const path::exported_memory& m) const noexcept;
  void place_spaces(const arguments& a, bool mapped) noexcept;

  status execute(const arguments& a) noexcept;
  status execute_kernel(const arguments& a, const compilation& what) noexcept;
  status execute_stepped(const arguments& a, const compilation& what) noexcept;
  bool somebody_failed() const noexcept;
  void report(const char* what, int peer, double seconds) const noexcept;
  void explain() const noexcept;

  struct plan;
  const char* call_;
  communicator& c_;
  lane lane_;
  space_map map_{};
  plan* plan_ = nullptr;
};

/// MPI_Reduce_local on device memory, by the same kernels. False: stage it.
bool reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  int* code) noexcept;

/// Whether such calls are attempted at all.
bool enabled() noexcept;

}  // namespace telpher::coll::exchange
