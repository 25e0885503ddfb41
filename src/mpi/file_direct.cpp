// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file_direct.hpp"

#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/lasting.hpp"
#include "base/settings.hpp"
#include "memory/direct_file.hpp"

namespace telpher::mpi::files {
namespace {

struct twin {
  MPI_File file;
  int mode;
  std::unique_ptr<memory::direct_file> opened;
};
std::mutex twins_guard;
lasting<std::vector<twin>> twins;

/// Stays until the file is closed, which no call may be made beside. Null: the file has none, or
/// the host MPI will refuse the call.
memory::direct_file* twin_for(const access& a) noexcept {
  if (config().gds == "off") return nullptr;
  const int other = a.way == direction::read ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  const std::lock_guard lock(twins_guard);
  const auto found = std::ranges::find(*twins, a.file, &twin::file);
  return found == twins->end() || (found->mode & other) ? nullptr : found->opened.get();
}

}  // namespace

bool is_direct(const access& a) noexcept {
  return twin_for(a) != nullptr;
}

void opened(MPI_File file, const char* name, int mode) noexcept {
  if (config().gds == "off" || (mode & MPI_MODE_SEQUENTIAL)) return;
  const int flags = mode & MPI_MODE_RDONLY ? O_RDONLY : mode & MPI_MODE_WRONLY ? O_WRONLY : O_RDWR;
  auto made = memory::direct_file::open(name, flags);
  if (!made) return;
  try {
    const std::lock_guard lock(twins_guard);
    twins->push_back({file, mode, std::move(made)});
  } catch (const std::bad_alloc&) {  // the file goes through host memory
  }
}

void closing(MPI_File file) noexcept {
  const std::lock_guard lock(twins_guard);
  std::erase_if(*twins, [&](const twin& t) { return t.file == file; });
}

std::uint64_t move_directly(const access& a, const stretch& s, std::optional<MPI_Offset> offset,
                            bool& ended) noexcept {
  memory::direct_file* const file = twin_for(a);
  MPI_Offset pointer = offset.value_or(0);
  if (!file || pointer < 0 || !file->serves(s.where) ||
      (!offset && pmpi::File_get_position(a.file, &pointer) != MPI_SUCCESS))
    return 0;
  const bool reads = a.way == direction::read;
  const auto from =
      static_cast<std::uint64_t>(s.seen.begins + pointer * static_cast<MPI_Offset>(s.seen.unit));
  std::uint64_t done = 0;
  for (std::uint64_t moved = 1; done < s.bytes && moved > 0; done += moved) {
    const auto answer = file->move(s.where, reads, s.data + done, s.bytes - done, from + done);
    moved = answer ? std::min(*answer, s.bytes - done) : 0;
    ended = answer && reads && moved == 0;
  }
  ended = ended || done == s.bytes;
  if (!ended) done -= done % s.seen.unit;
  if (!offset && done > 0)
    static_cast<void>(pmpi::File_seek(a.file, pointer + static_cast<MPI_Offset>(done / s.seen.unit),
                                      MPI_SEEK_SET));
  return done;
}

}  // namespace telpher::mpi::files
