// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/files.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "staging/pending.hpp"
#include "staging/host_images.hpp"
#include "datatype/datatype.hpp"
#include "host_mpi/error.hpp"
#include "memory/memory.hpp"
#include "path/path.hpp"

namespace telpher::mpi::files {
namespace {

const datatype::layout* layout_of(MPI_Datatype type) noexcept {
  const auto l = datatype::layout_of(type);
  return l ? *l : nullptr;
}

std::uint64_t bytes_of(const datatype::layout& l, MPI_Count count) noexcept {
  return l.size * static_cast<std::uint64_t>(count);
}

// --- an image of the whole buffer ---

// A request's image must outlive the call, so it is on the heap.
class image final : public staging::pending {
 public:
  /// The image of `a`, filled if `a` writes. `keeps`: filled for a read as well, so that what the
  /// file does not fill is written back as it was.
  static result<std::unique_ptr<image>> of(const access& a, bool keeps) noexcept {
    auto made = std::unique_ptr<image>(new (std::nothrow) image(a));
    if (!made) return status::out_of_memory;
    TELPHER_TRY(made->prepare(a, keeps));
    return made;
  }

  void* data() const noexcept { return data_; }
  std::uint64_t bytes() const noexcept { return bytes_of(*layout_, count_); }

  /// Of a read: writes the first `bytes` of the data to the device.
  status finish(std::uint64_t bytes) noexcept {
    if (!reads_ || bytes == 0) return status::ok;
    if (bytes < this->bytes()) TELPHER_TRY(restore_after(bytes));
    return images_.copy_out();
  }

  status after_completion() noexcept override { return finish(bytes()); }
  host_mpi::error_owner owner(const host_mpi::kept_comm&) const noexcept override {
    return host_mpi::error_owner::file(file_);  // which stays open until the request has ended
  }

 private:
  explicit image(const access& a) noexcept
      : images_(path::kind::none),
        file_(a.file),
        reads_(a.way == direction::read),
        count_(a.count) {}

  status prepare(const access& a, bool keeps) noexcept {
    staging::plan p{.segments = {}, .copy_in = true, .copy_out = reads_};
    try {
      p.add(0, a.count, a.type);
    } catch (const std::bad_alloc&) {
      return status::out_of_memory;
    }
    const auto layout = datatype::layout_of(a.type);
    TELPHER_TRY(layout);
    layout_ = datatype::hold(*layout);
    const auto address = images_.add(a.buffer, p);
    TELPHER_TRY(address);
    data_ = *address;
    return reads_ && !keeps ? status::ok : images_.copy_in();
  }

  // Fills the part that the file did not fill with the device's bytes.
  status restore_after(std::uint64_t bytes) noexcept {
    auto kept = memory::buffer::host(bytes, nullptr);
    TELPHER_TRY(kept);
    datatype::pack_host(*layout_, data_, 0, bytes, kept->data());
    TELPHER_TRY(images_.copy_in());
    datatype::unpack_host(*layout_, kept->data(), 0, bytes, data_);
    return status::ok;
  }

  staging::host_images images_;
  MPI_File file_;
  bool reads_;
  MPI_Count count_;
  datatype::hold layout_;
  void* data_ = nullptr;
};

// --- split collectives ---

// Between its halves; a file has at most one at a time.
struct half {
  MPI_File file;
  std::unique_ptr<image> begun;
};
std::mutex guard;
lasting<std::vector<half>> halves;

/// Null: the file has none.
std::unique_ptr<image> take_half(MPI_File file) noexcept {
  const std::lock_guard lock(guard);
  const auto found = std::ranges::find(*halves, file, &half::file);
  if (found == halves->end()) return nullptr;
  auto taken = std::move(found->begun);
  halves->erase(found);
  return taken;
}

}  // namespace

std::uint64_t transferred(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
  pmpi::Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

int access::fail(status s) const noexcept {
  return host_mpi::fail(host_mpi::error_owner::file(file), call, s,
                        "a device buffer could not be copied to or from the host");
}

bool access::on_device() const noexcept {
  if (count <= 0 || (buffer != MPI_BOTTOM && memory::surely_host(buffer))) return false;
  const datatype::layout* l = layout_of(type);
  if (!l || l->blocks.empty()) return false;  // the host MPI says what is wrong with the type
  const auto* first = static_cast<const std::byte*>(buffer) + l->blocks.front().offset;
  return memory::classify(first).on_device() ||
         (buffer == MPI_BOTTOM && datatype::mixes_places(*l, buffer));
}

int access::whole(std::optional<MPI_Offset> offset, MPI_Status* status,
                  const host_call& f) const noexcept {
  auto made = image::of(*this, false);
  if (!made) return fail(made.error());
  image& i = **made;
  MPI_Status seen;
  MPI_Status* const last = status == MPI_STATUS_IGNORE ? &seen : status;
  const int code = f(i.data(), count, type, offset.value_or(0), last);
  path::count(path::kind::file, i.bytes());
  if (code != MPI_SUCCESS) return code;
  const auto finished = i.finish(transferred(*last));
  return failed(finished) ? fail(finished) : MPI_SUCCESS;
}

// The host MPI does not tell how much a read has brought until the program asks for the status, so
// the image holds the device's bytes before. Each call has a request of its own, also where it is
// complete at once. It is not left to the program once it was looked at: MPICH 5.0's MPI_Test of a
// file's request fails after MPI_Request_get_status.
int access::start(MPI_Request* request, const host_start& f) const noexcept {
  auto made = image::of(*this, true);
  if (!made) return fail(made.error());
  path::count(path::kind::file, (*made)->bytes());
  if (const int code = f((*made)->data()); code != MPI_SUCCESS) return code;
  staging::attach(call, MPI_COMM_SELF, request, std::move(*made), false);
  return MPI_SUCCESS;
}

int access::begin(const host_start& f) const noexcept {
  auto made = image::of(*this, false);
  if (!made) return fail(made.error());
  path::count(path::kind::file, (*made)->bytes());
  void* const stand_in = (*made)->data();
  static_cast<void>(take_half(file));  // of a collective that never ended
  try {
    const std::lock_guard lock(guard);
    halves->push_back({file, std::move(*made)});
  } catch (const std::bad_alloc&) {
    return fail(telpher::status::out_of_memory);
  }
  const int code = f(stand_in);
  if (code != MPI_SUCCESS) static_cast<void>(take_half(file));
  return code;
}

int end(const char* call, MPI_File file, void* buffer, MPI_Status* status,
        const host_end& f) noexcept {
  const auto begun = take_half(file);
  if (!begun) return f(buffer, status);
  MPI_Status seen;
  MPI_Status* const last = status == MPI_STATUS_IGNORE ? &seen : status;
  const int code = f(begun->data(), last);
  if (code != MPI_SUCCESS) return code;
  const auto finished = begun->finish(transferred(*last));
  return failed(finished) ? host_mpi::fail(host_mpi::error_owner::file(file), call, finished,
                                           "a device buffer could not be filled")
                          : MPI_SUCCESS;
}

}  // namespace telpher::mpi::files
