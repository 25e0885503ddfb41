// SPDX-License-Identifier: BSD-3-Clause
// ipc_get, batch, linger and local: the receiver's device reads the sender's memory.
#pragma once

#include <memory>

#include "base/recycled.hpp"
#include "memory/imported.hpp"
#include "path/copier.hpp"
#include "path/slot.hpp"
#include "path/table.hpp"
#include "path/transfer.hpp"

namespace telpher::path {

class get_copy final : public transfer, public recycled<get_copy> {
 public:
  /// From memory of this process; `where` belongs to the same back end.
  static std::unique_ptr<get_copy> local(const region& to, const memory::place& where,
                                         const void* from) noexcept;
  /// From another process's allocation. not_supported if it cannot be opened.
  static result<std::unique_ptr<get_copy>> imported(int sender, const exported_memory& from,
                                                    const region& to) noexcept;
  ~get_copy() override;

  status poll() noexcept override;
  kind moved_by() const noexcept override { return is_local_ ? kind::local : job_.moved_by(); }
  bool in_order() const noexcept override { return true; }
  bool owes_answer() const noexcept override { return true; }

 private:
  get_copy(const memory::place& mover, const region& to, const void* from, bool is_local) noexcept;

  void land(const memory::place& mover) noexcept;

  copier& copier_;
  memory::mapping mapping_;
  memory::buffer landing_;  // of host memory, where a kernel moves the bytes
  void* target_ = nullptr;  // where they go then
  copy_job job_;
  bool is_local_;
};

/// Functions that the table of paths refers to.
status get_local(receive_end& e) noexcept;
status get_imported(receive_end& e) noexcept;

/// The device of this process on which another process's allocation can be opened, for bytes that
/// go to or come from `here`. not_supported if no started back end fits.
result<memory::place> importer_for(const exported_memory& there,
                                   const memory::place& here) noexcept;

/// Opens it there, or finds it open.
result<memory::mapping> open_exported(int process, const exported_memory& there,
                                      const memory::place& importer) noexcept;

/// Another process's bytes where kernels of a device reach them, while the mapping is held.
struct opened_memory {
  memory::mapping mapping;
  std::byte* data;
};
/// Opens them for kernels of `where`. not_supported if these could not reach them.
result<opened_memory> open_for(int process, const exported_memory& there,
                               const memory::place& where) noexcept;

/// Describes a device region for another process; `info` comes from classify or describe of its
/// address.
status export_region(const region& r, const device::pointer_info& info,
                     exported_memory& out) noexcept;

}  // namespace telpher::path
