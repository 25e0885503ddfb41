// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack in one process, from one kind of memory to another. Beside them: one
// plain copy of the same bytes between the same kinds (the limit), and packing by hand in host
// memory, for which the whole span goes there and what is made of it back.
#pragma once

#include "layout.hpp"
#include "measure.hpp"
#include "surface.hpp"
#include "window_buffer.hpp"

namespace telpher::bench {

struct packing_shape {
  surface_test what = surface_test::pack;
  std::size_t bytes = 0;  // packed
  kind from = kind::host;
  kind to = kind::host;
  derived type;
};

class packing final : public workload {
 public:
  packing(memory_source& source, const packing_shape& s, mode how);

  double run(long iterations, std::vector<double>* each) override;
  double run_checked(std::uint64_t seed, std::string& wrong) override;

 private:
  void once();
  void call(void* typed, void* packed) const;

  memory_source& source_;
  packing_shape shape_;
  mode how_;
  layout layout_;
  window_buffer typed_, packed_;
  std::unique_ptr<window_buffer> staged_typed_, staged_packed_;
};

}  // namespace telpher::bench
