// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication from the first rank of a pair to a window at the second, which does
// nothing meanwhile. The window is open to all for as long as it lives (MPI_Win_lock_all). An
// iteration is one operation, or a window of them for bandwidth, and one MPI_Win_flush.
//   put_latency get_latency put_bw get_bw   bytes
//   acc_latency                             MPI_Accumulate
//   fop_latency cas_latency                 MPI_Fetch_and_op (sum), MPI_Compare_and_swap of 8 bytes
// By hand: the window lies in host memory, and what the origin has on its device is copied to host
// memory before the operation, or from there behind the flush.
#pragma once

#include "exchange.hpp"
#include "pattern.hpp"
#include "surface.hpp"

namespace telpher::bench {

/// How a program makes a window.
enum class window_making { create, allocate };

struct one_sided_shape {
  surface_test what = surface_test::put_latency;
  std::size_t bytes = 0;
  int operations = 1;             // of an iteration
  std::size_t window_memory = 0;  // upper limit for the slots of one side
  kind origin_kind = kind::host;
  kind target_kind = kind::host;
  window_making making = window_making::create;
  element type{};  // of MPI_Accumulate
  MPI_Op op = MPI_SUM;
};

/// Whether the host MPI makes a window of host memory: some builds of Open MPI 4.1 have no
/// component for the machine. Collective.
bool makes_windows(MPI_Comm comm);

class exposed_memory;

class one_sided final : public workload {
 public:
  one_sided(memory_source& source, const pairing& pair, const one_sided_shape& s, mode how);
  ~one_sided() override;

  double run(long iterations, std::vector<double>* each) override;
  double run_checked(std::uint64_t seed, std::string& wrong) override;

 private:
  void iterate(int operations);
  void start(int w);
  void copy_in(int w);
  void copy_out(int w);
  void* at(int slot) const { return stage_ ? stage_->slot(slot) : own_->slot(slot); }
  void copy(int slot, bool in);
  void fill(std::uint64_t seed);
  void fill_atomic(std::uint64_t seed);
  void check(std::uint64_t seed, std::string& wrong);
  void check_atomic(std::uint64_t seed, std::string& wrong);
  data_plan contribution(int rank) const;
  void meet();

  memory_source& source_;
  pairing pair_;
  one_sided_shape shape_;
  int depth_ = 1;                               // slots of the window
  std::unique_ptr<window_buffer> own_, stage_;  // of the origin
  std::unique_ptr<exposed_memory> exposed_;
};

}  // namespace telpher::bench
