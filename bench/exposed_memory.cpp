// SPDX-License-Identifier: BSD-3-Clause
#include "exposed_memory.hpp"

namespace telpher::bench {

namespace {

// As `mpi_memory_alloc_kinds` names the memory of a back end.
std::string name_of(kind k, const std::string& backend) {
  if (k == kind::host) return "system,mpi";
  const std::string vendor = backend == "emu"    ? "telpher_emu"
                             : backend == "hip"  ? "rocm"
                             : backend == "sycl" ? "level_zero"
                                                 : backend;
  return vendor + (k == kind::device ? ":device" : k == kind::managed ? ":managed" : ":host");
}

}  // namespace

// Memory that comes with its window.
class exposed_memory::allocating final : public memory_source {
 public:
  allocating(memory_source& source, MPI_Comm comm, MPI_Win& window)
      : source_(source), comm_(comm), window_(window) {}

  void* allocate(kind k, std::size_t bytes) override {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_memory_alloc_kinds", name_of(k, source_.backend()).c_str());
    void* address = nullptr;
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, info, comm_, &address, &window_);
    MPI_Info_free(&info);
    return address;
  }
  void release(kind, void*) override { MPI_Win_free(&window_); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    source_.copy(to, from, bytes);
  }
  void wait() override { source_.wait(); }
  void choose_device(int device) override { source_.choose_device(device); }
  int device() override { return source_.device(); }
  int device_count() override { return source_.device_count(); }
  std::string backend() override { return source_.backend(); }
  std::string copy_call() override { return source_.copy_call(); }

 private:
  memory_source& source_;
  MPI_Comm comm_;
  MPI_Win& window_;
};

exposed_memory::exposed_memory(memory_source& source, kind k, std::size_t bytes, int slots,
                               window_making making, MPI_Comm comm) {
  if (making == window_making::allocate)
    memory_ = std::make_unique<allocating>(source, comm, window_);
  buffer_ = std::make_unique<window_buffer>(memory_ ? *memory_ : source, k, bytes, slots);
  if (!memory_)
    MPI_Win_create(buffer_->slot(0), place(slots - 1) + static_cast<MPI_Aint>(bytes), 1,
                   MPI_INFO_NULL, comm, &window_);
  MPI_Win_lock_all(0, window_);
}

exposed_memory::~exposed_memory() {
  MPI_Win_unlock_all(window_);
  if (!memory_) MPI_Win_free(&window_);
}

MPI_Aint exposed_memory::place(int slot) const {
  return static_cast<MPI_Aint>(static_cast<std::byte*>(buffer_->slot(slot)) -
                               static_cast<std::byte*>(buffer_->slot(0)));
}

void exposed_memory::synchronise() {
  MPI_Win_sync(window_);
}

}  // namespace telpher::bench
