// SPDX-License-Identifier: BSD-3-Clause
// Faces of a box of cells, exchanged by two ranks that are each other's neighbour on every side: a
// rank's face goes into the halo at the opposite side of the peer's box. The faces are subarrays of
// the box, passed to MPI as they are, or packed by the program into contiguous buffers first.
#pragma once

#include "exchange.hpp"

namespace telpher::bench {

struct halo_shape {
  std::size_t bytes = 0;  // of one face
  int faces = 6;          // in the order: low x, high x, low y, high y, low z, high z
  int width = 4;          // of the halo, in cells
  kind leader_kind = kind::host;
  kind peer_kind = kind::host;
};

/// The size of a face as near to `bytes` as a cubic box allows, at least one cell a row.
std::size_t face_bytes(std::size_t bytes, int width);

class halo final : public workload {
 public:
  halo(memory_source& source, const pairing& pair, const halo_shape& s, mode how);
  ~halo() override;

  double run(long iterations, std::vector<double>* each) override;
  double run_checked(std::uint64_t seed, std::string& wrong) override;

 private:
  /// A part of the box: cells in x, y, z.
  struct part {
    int start[3];
    int size[3];
    MPI_Datatype type;
  };
  part part_of(int face, bool inside) const;
  void exchange_typed();
  void exchange_packed();
  std::vector<std::byte> expected(std::uint64_t seed) const;
  void copy_part(const part& to, std::vector<std::byte>& out, const part& from,
                 const std::vector<std::byte>& in) const;

  pairing pair_;
  halo_shape shape_;
  bool packs_;
  int side_;        // cells inside, along each axis
  int whole_side_;  // with the halos
  std::size_t box_bytes_;
  std::unique_ptr<window_buffer> box_, packed_;  // packed_: first what is sent, then what comes
  std::vector<part> sent_, received_;            // of each face
  std::vector<MPI_Request> requests_;
};

}  // namespace telpher::bench
