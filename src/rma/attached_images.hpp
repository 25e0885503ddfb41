// SPDX-License-Identifier: BSD-3-Clause
// The device memory that a rank has attached to a dynamic window, where ranks of other nodes reach
// it. Each range has an image (image.hpp), and the host MPI's window gets the image in its place.
// Origins name the target's memory by its own address, which here is that of the device. So they
// must know the target's ranges. These lie in a second window of the host MPI, the directory, on
// which each rank holds a shared lock of all from beginning to end.
//
//   words of the directory at rank r    written by                  meaning
//   changes[t]                          t, by MPI_Accumulate, at    how often the ranges of t have
//                                       each attach and detach      changed; 0: it never had any
//   ranges                              r                           address on the device, bytes
//                                                                   (0: free), address of the image
//
// MPI_Win_attach and MPI_Win_detach of device memory return once all ranks have the new number.
// An origin that finds another number than when it read the target's ranges reads them again. The
// program itself must tell an origin of new memory before that may use it, so an origin never needs
// a range whose number it cannot see. Until a rank has attached device memory, an access to it
// costs one load and an MPI_Win_sync.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "host_mpi/host_mpi.hpp"
#include "rma/image.hpp"

namespace telpher::rma {

class attached_images {
 public:
  static constexpr std::size_t most = 256;  // ranges of a rank

  attached_images() = default;
  attached_images(const attached_images&) = delete;
  attached_images& operator=(const attached_images&) = delete;

  /// Collective over the ranks of the window. Returns MPI's code.
  int open(MPI_Comm comm) noexcept;
  /// Collective, after the last epoch: writes to the devices what operations have left in the
  /// images.
  status close() noexcept;

  /// `window` is the program's; `raised` is the error that the host MPI has raised on it.
  /// not_supported: the rank has as many ranges as can be.
  status attach(MPI_Win window, const memory::place& where, std::byte* device, std::size_t bytes,
                int& raised) noexcept;
  /// not_supported: no device memory was attached at the address.
  status detach(MPI_Win window, const void* device, int& raised) noexcept;

  /// See image.
  status merge() noexcept;
  status merge_written(bool& found) noexcept;

  /// How far the image of the target's device memory that holds the address is from that memory; 0
  /// if there is none, because it is host memory. invalid_argument: not all of [low, high), the
  /// bytes that the same access uses, is in that range.
  result<MPI_Aint> find(int target, MPI_Aint address, MPI_Aint low, MPI_Aint high) noexcept;

 private:
  struct range {
    std::uint64_t device, bytes, image;
  };
  using ranges = std::array<range, most>;
  struct mirrored {
    std::size_t place = 0;  // in own_ranges()
    void* public_copy = nullptr;
    image mirror;

    ~mirrored() {
      if (public_copy) pmpi::Free_mem(public_copy);
    }
  };
  struct known {
    std::uint64_t changes = 0;
    ranges of{};
  };

  std::uint64_t* changes() noexcept { return reinterpret_cast<std::uint64_t*>(directory_.get()); }
  range* own_ranges() noexcept { return reinterpret_cast<range*>(changes() + ranks_); }
  std::uint64_t changes_of(int rank) noexcept;
  status publish(std::size_t place, const range& r) noexcept;
  /// Null: the target's ranges could not be read.
  const ranges* ranges_of(int target, std::uint64_t changes) noexcept;

  MPI_Win window_ = MPI_WIN_NULL;           // the directory
  std::unique_ptr<std::byte[]> directory_;  // this rank's
  int rank_ = 0, ranks_ = 0;
  std::mutex own_guard_;  // for `images_`, own_ranges() and `changes_`
  std::list<mirrored> images_;
  std::uint64_t changes_ = 0;
  std::mutex known_guard_;
  std::map<int, known> known_;  // by target
};

}  // namespace telpher::rma
