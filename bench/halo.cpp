// SPDX-License-Identifier: BSD-3-Clause
#include "halo.hpp"

#include <algorithm>
#include <cmath>

namespace telpher::bench {

namespace {

constexpr std::size_t cell_bytes = 8;
constexpr int data_tag = 10;  // and above: one for each face

int side_of(std::size_t bytes, int width) {
  const double cells = static_cast<double>(bytes) / (static_cast<double>(width) * cell_bytes);
  return std::max(width, static_cast<int>(std::sqrt(cells)));
}

// The peer's face that arrives at a face: at the opposite side.
int opposite(int face) {
  return face ^ 1;
}

std::uint64_t seed_of(std::uint64_t seed, int rank) {
  return seed * 4096 + static_cast<std::uint64_t>(rank);
}

}  // namespace

std::size_t face_bytes(std::size_t bytes, int width) {
  const auto side = static_cast<std::size_t>(side_of(bytes, width));
  return side * side * static_cast<std::size_t>(width) * cell_bytes;
}

halo::halo(memory_source& source, const pairing& pair, const halo_shape& s, mode how)
    : pair_(pair),
      shape_(s),
      packs_(how == mode::packed),
      side_(side_of(s.bytes, s.width)),
      whole_side_(side_ + 2 * s.width) {
  const auto side = static_cast<std::size_t>(whole_side_);
  box_bytes_ = side * side * side * cell_bytes;
  const kind own = pair.leads ? s.leader_kind : s.peer_kind;
  box_ = std::make_unique<window_buffer>(source, own, box_bytes_, 1);
  if (packs_) packed_ = std::make_unique<window_buffer>(source, own, s.bytes, 2 * s.faces);
  for (int face = 0; face < s.faces; ++face) {
    sent_.push_back(part_of(face, true));
    received_.push_back(part_of(opposite(face), false));
  }
  requests_.assign(static_cast<std::size_t>(2 * s.faces), MPI_REQUEST_NULL);
}

halo::~halo() {
  for (auto* parts : {&sent_, &received_})
    for (part& p : *parts) MPI_Type_free(&p.type);
}

// `inside`: the outermost cells of the box itself; else those of the halo.
halo::part halo::part_of(int face, bool inside) const {
  const int axis = face / 2, width = shape_.width;
  const bool low = face % 2 == 0;
  part p{{width, width, width}, {side_, side_, side_}, MPI_DATATYPE_NULL};
  p.size[axis] = width;
  p.start[axis] = low ? (inside ? width : 0) : (inside ? side_ : side_ + width);
  // MPI's order of C: the last index runs fastest.
  const int whole[3] = {whole_side_, whole_side_, whole_side_};
  const int size[3] = {p.size[2], p.size[1], p.size[0]};
  const int start[3] = {p.start[2], p.start[1], p.start[0]};
  MPI_Type_create_subarray(3, whole, size, start, MPI_ORDER_C, MPI_DOUBLE, &p.type);
  MPI_Type_commit(&p.type);
  return p;
}

double halo::run(long iterations, std::vector<double>* each) {
  return time_all(iterations, each, [this] { packs_ ? exchange_packed() : exchange_typed(); });
}

void halo::exchange_typed() {
  for (int face = 0; face < shape_.faces; ++face) {
    const auto f = static_cast<std::size_t>(face);
    MPI_Irecv(box_->slot(0), 1, received_[f].type, pair_.peer, data_tag + face, pair_.comm,
              &requests_[2 * f]);
  }
  for (int face = 0; face < shape_.faces; ++face) {
    const auto f = static_cast<std::size_t>(face);
    MPI_Isend(box_->slot(0), 1, sent_[f].type, pair_.peer, data_tag + face, pair_.comm,
              &requests_[2 * f + 1]);
  }
  MPI_Waitall(2 * shape_.faces, requests_.data(), MPI_STATUSES_IGNORE);
}

void halo::exchange_packed() {
  const int bytes = static_cast<int>(shape_.bytes);
  for (int face = 0; face < shape_.faces; ++face) {
    const auto f = static_cast<std::size_t>(face);
    MPI_Irecv(packed_->slot(shape_.faces + face), bytes, MPI_PACKED, pair_.peer, data_tag + face,
              pair_.comm, &requests_[2 * f]);
  }
  for (int face = 0; face < shape_.faces; ++face) {
    const auto f = static_cast<std::size_t>(face);
    int position = 0;
    MPI_Pack(box_->slot(0), 1, sent_[f].type, packed_->slot(face), bytes, &position, pair_.comm);
    MPI_Isend(packed_->slot(face), position, MPI_PACKED, pair_.peer, data_tag + face, pair_.comm,
              &requests_[2 * f + 1]);
  }
  MPI_Waitall(2 * shape_.faces, requests_.data(), MPI_STATUSES_IGNORE);
  for (int face = 0; face < shape_.faces; ++face) {
    int position = 0;
    MPI_Unpack(packed_->slot(shape_.faces + face), bytes, &position, box_->slot(0), 1,
               received_[static_cast<std::size_t>(face)].type, pair_.comm);
  }
}

// --- checks ---

double halo::run_checked(std::uint64_t seed, std::string& wrong) {
  box_->write(0, seed_of(seed, pair_.rank));
  MPI_Barrier(pair_.comm);
  const double seconds = run(1, nullptr);
  box_->holds(0, expected(seed), wrong);
  return seconds;
}

// The own box, with the peer's faces in its halos.
std::vector<std::byte> halo::expected(std::uint64_t seed) const {
  std::vector<std::byte> own(box_bytes_), other(box_bytes_);
  fill_pattern(own, seed_of(seed, pair_.rank));
  fill_pattern(other, seed_of(seed, pair_.peer));
  for (std::size_t f = 0; f < sent_.size(); ++f) copy_part(received_[f], own, sent_[f], other);
  return own;
}

void halo::copy_part(const part& to, std::vector<std::byte>& out, const part& from,
                     const std::vector<std::byte>& in) const {
  const auto row_at = [this](const part& p, int y, int z) {
    const auto row = (p.start[2] + z) * static_cast<long>(whole_side_) + p.start[1] + y;
    return static_cast<std::ptrdiff_t>(row * whole_side_ + p.start[0]) *
           static_cast<std::ptrdiff_t>(cell_bytes);
  };
  const auto row_bytes = static_cast<std::size_t>(to.size[0]) * cell_bytes;
  for (int z = 0; z < to.size[2]; ++z)
    for (int y = 0; y < to.size[1]; ++y)
      std::copy_n(in.begin() + row_at(from, y, z), row_bytes, out.begin() + row_at(to, y, z));
}

}  // namespace telpher::bench
