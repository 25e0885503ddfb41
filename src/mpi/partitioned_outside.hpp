// SPDX-License-Identifier: BSD-3-Clause
// Partitioned requests of device memory on communicators that have ranks outside the job. The other
// end is the host MPI's, with Telpher or without. So the request is the host MPI's own, for an
// image of the buffer in host memory: the bytes of the elements, without gaps (Open MPI 5 takes its
// partitions for such bytes, whatever their type). MPI_Pready copies its partition to the image
// before the host MPI hears of it. Data that has arrived is copied to the device once: a partition
// by the MPI_Parrived that finds it, the others when the request is complete.
#pragma once

#include <vector>

#include "staging/pending.hpp"
#include "datatype/datatype.hpp"
#include "memory/memory.hpp"
#include "mpi/partitioned.hpp"
#include "stream/settle.hpp"

namespace telpher::partitioned {

class outside_end final : public staging::pending {
 public:
  outside_end(const init_args& a, bool sends, const datatype::layout& l, const memory::place& where)
      : errors_(a.comm), args_(a), sends_(sends), layout_(&l), where_(where) {}

  /// May throw std::bad_alloc.
  status make_image();
  /// What the host MPI gets for the program's buffer, and how many bytes for each partition.
  void* stand_in() const noexcept { return image_.data(); }
  MPI_Count partition_bytes() const noexcept {
    return args_.count * static_cast<MPI_Count>(layout_->size);
  }
  /// What MPI_Pready uses.
  stream::used used() const noexcept {
    return {errors_.get(), args_.buffer, stream::used::how::otherwise};
  }

  /// Before the host MPI hears that a partition is ready. MPI's code, which was raised.
  int ready(const char* call, int partition) noexcept;
  /// After the host MPI has said that a partition has arrived.
  int arrived(const char* call, int partition) noexcept;

  status before_start() noexcept override;
  status after_completion() noexcept override;

 private:
  bool has(int partition) const noexcept { return partition >= 0 && partition < args_.partitions; }
  status copy(int first, int count, bool to_image) noexcept;
  int raise(const char* call, status s) const noexcept;

  host_mpi::kept_comm errors_;
  init_args args_;
  bool sends_;
  datatype::hold layout_;
  memory::place where_;
  memory::buffer image_;
  bool active_ = false;
  std::vector<bool> taken_;  // of a receive: its partitions that are on the device for good
};

/// Whether the buffer is in device memory, so that the request needs an image.
bool needs_image(const init_args& a) noexcept;
/// MPI_Psend_init or MPI_Precv_init of such a buffer.
int make_outside(const init_args& a, bool sends, MPI_Request* request) noexcept;
/// Null: the request is none of these. Under the progress lock.
outside_end* find_outside(MPI_Request request) noexcept;

}  // namespace telpher::partitioned
