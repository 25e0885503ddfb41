// SPDX-License-Identifier: BSD-3-Clause
#include "packing.hpp"

namespace telpher::bench {

namespace {

bool unpacks(const packing_shape& s) {
  return s.what == surface_test::unpack;
}

}  // namespace

packing::packing(memory_source& source, const packing_shape& s, mode how)
    : source_(source),
      shape_(s),
      how_(how),
      layout_(s.type, s.bytes),
      typed_(source, unpacks(s) ? s.to : s.from, layout_.span(), 1, &layout_.blocks()),
      packed_(source, unpacks(s) ? s.from : s.to, s.bytes, 1) {
  if (how != mode::staged) return;
  staged_typed_ =
      std::make_unique<window_buffer>(source, kind::pinned, layout_.span(), 1, &layout_.blocks());
  staged_packed_ = std::make_unique<window_buffer>(source, kind::pinned, s.bytes, 1);
}

double packing::run(long iterations, std::vector<double>* each) {
  return time_all(iterations, each, [this] { once(); });
}

double packing::run_checked(std::uint64_t seed, std::string& wrong) {
  typed_.write(0, unpacks(shape_) ? ~seed : seed);
  packed_.write(0, unpacks(shape_) ? seed : ~seed);
  const double start = MPI_Wtime();
  once();
  const double seconds = MPI_Wtime() - start;
  if (how_ == mode::copy) return seconds;
  if (unpacks(shape_))
    typed_.holds(0, seed, wrong);
  else
    packed_.holds(0, seed, wrong);
  return seconds;
}

void packing::once() {
  if (how_ == mode::copy) {
    source_.copy(unpacks(shape_) ? typed_.slot(0) : packed_.slot(0),
                 unpacks(shape_) ? packed_.slot(0) : typed_.slot(0), shape_.bytes);
    return source_.wait();
  }
  if (!staged_typed_) return call(typed_.slot(0), packed_.slot(0));
  if (unpacks(shape_))
    source_.copy(staged_packed_->slot(0), packed_.slot(0), shape_.bytes);
  else
    source_.copy(staged_typed_->slot(0), typed_.slot(0), layout_.span());
  call(staged_typed_->slot(0), staged_packed_->slot(0));
  if (unpacks(shape_))
    source_.copy(typed_.slot(0), staged_typed_->slot(0), layout_.span());
  else
    source_.copy(packed_.slot(0), staged_packed_->slot(0), shape_.bytes);
}

void packing::call(void* typed, void* packed) const {
  const int bytes = static_cast<int>(shape_.bytes);
  int position = 0;
  if (unpacks(shape_))
    MPI_Unpack(packed, bytes, &position, typed, layout_.count(), layout_.type(), MPI_COMM_SELF);
  else
    MPI_Pack(typed, layout_.count(), layout_.type(), packed, bytes, &position, MPI_COMM_SELF);
}

}  // namespace telpher::bench
