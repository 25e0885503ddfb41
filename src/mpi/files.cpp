// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/files.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/lasting.hpp"
#include "coll/pending.hpp"
#include "coll/host_images.hpp"
#include "datatype/datatype.hpp"
#include "datatype/type_contents.hpp"
#include "host_mpi/error.hpp"
#include "memory/memory.hpp"
#include "path/path.hpp"

namespace telpher::mpi::files {
namespace {

// Large enough that a file system takes it at full speed, small enough that two stay pinned.
constexpr std::uint64_t block_bytes = 4u << 20;

int fail(const access& a, status s) noexcept {
  return host_mpi::fail(host_mpi::error_owner::file(a.file), a.call, s,
                        "a device buffer could not be copied to or from the host");
}

const datatype::layout* layout_of(MPI_Datatype type) noexcept {
  const auto l = datatype::layout_of(type);
  return l ? *l : nullptr;
}

std::uint64_t bytes_of(const datatype::layout& l, MPI_Count count) noexcept {
  return l.size * static_cast<std::uint64_t>(count);
}

std::uint64_t transferred(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
  pmpi::Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

// --- an image of the whole buffer ---

// A request's image must outlive the call, so it is on the heap.
class image final : public coll::pending {
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
    coll::plan p{.segments = {}, .copy_in = true, .copy_out = reads_};
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

  // What the file did not fill becomes what the device holds.
  status restore_after(std::uint64_t bytes) noexcept {
    auto kept = memory::buffer::host(bytes, nullptr);
    TELPHER_TRY(kept);
    datatype::pack_host(*layout_, data_, 0, bytes, kept->data());
    TELPHER_TRY(images_.copy_in());
    datatype::unpack_host(*layout_, kept->data(), 0, bytes, data_);
    return status::ok;
  }

  coll::host_images images_;
  MPI_File file_;
  bool reads_;
  MPI_Count count_;
  datatype::hold layout_;
  void* data_ = nullptr;
};

// --- blocks ---

// How a buffer is cut: a block is a whole number of its elements and of the file's units.
struct cut {
  memory::place where;
  std::byte* data;
  std::uint64_t element;
  MPI_Count elements;  // of a block
  MPI_Offset step;     // of a block, in units of the file's view
};

// Bytes of one unit of the file's view.
std::uint64_t unit_of(MPI_File file) noexcept {
  MPI_Offset displacement = 0;
  MPI_Datatype unit = MPI_DATATYPE_NULL, filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING];
  if (pmpi::File_get_view(file, &displacement, &unit, &filetype, representation) != MPI_SUCCESS)
    return 0;
  int bytes = 0;
  pmpi::Type_size(unit, &bytes);
  for (MPI_Datatype* type : {&unit, &filetype})
    if (!datatype::is_predefined(*type)) pmpi::Type_free(type);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

// Nothing where one block would do, where data has gaps, or where the call must be atomic.
std::optional<cut> cut_of(const access& a) noexcept {
  const datatype::layout* l = layout_of(a.type);
  if (!l || !l->contiguous || bytes_of(*l, a.count) <= 2 * block_bytes) return std::nullopt;
  int atomic = 0;
  if (pmpi::File_get_atomicity(a.file, &atomic) != MPI_SUCCESS || atomic) return std::nullopt;
  const std::uint64_t unit = unit_of(a.file);
  if (unit == 0) return std::nullopt;
  const std::uint64_t whole = std::lcm(unit, l->size);
  const std::uint64_t bytes = block_bytes / whole * whole;
  if (bytes == 0) return std::nullopt;
  auto* data = static_cast<std::byte*>(a.buffer) + l->true_lower_bound;
  return cut{memory::classify(data), data, l->size, static_cast<MPI_Count>(bytes / l->size),
             static_cast<MPI_Offset>(bytes / unit)};
}

// Two blocks of pinned memory that take turns between the device and the file.
class pipeline {
 public:
  pipeline(const access& a, const cut& c) noexcept : access_(a), cut_(c) {}

  status prepare() noexcept {
    const bool reads = access_.way == direction::read;
    auto s =
        memory::stream(cut_.where, reads ? memory::stream_role::copy : memory::stream_role::in);
    TELPHER_TRY(s);
    stream_ = *s;
    for (memory::buffer& b : blocks_) {
      TELPHER_TRY(memory::buffer::host(static_cast<std::uint64_t>(cut_.elements) * cut_.element,
                                       cut_.where.owner, true)
                      .into(b));
    }
    return status::ok;
  }

  /// Moves all, or as much as the host MPI and the device can. `outcome` is the device's; the host
  /// MPI's code is returned.
  int run(MPI_Offset offset, MPI_Status* last, const host_call& f, status& outcome) noexcept {
    int code = MPI_SUCCESS;
    const bool reads = access_.way == direction::read;
    if (!reads) outcome = copy_block(0, elements_at(0));
    for (MPI_Count first = 0; first < access_.count && !failed(outcome); first += cut_.elements) {
      const MPI_Count n = elements_at(first);
      if (!reads) {
        outcome = wait();
        if (failed(outcome)) break;
        const MPI_Count next = first + cut_.elements;
        if (next < access_.count) outcome = copy_block(next, elements_at(next));
      }
      code = f(block(first), n, offset, last);
      const std::uint64_t moved = code == MPI_SUCCESS ? transferred(*last) : 0;
      offset += cut_.step;
      if (!reads)
        done_ += moved;
      else if (!failed(outcome))
        outcome = end_copy();
      if (reads && moved > 0 && !failed(outcome)) {
        outcome = copy_bytes(first, moved);
        if (!failed(outcome)) under_way_ = moved;
      }
      if (moved < static_cast<std::uint64_t>(n) * cut_.element) break;
    }
    const status last_one = end_copy();
    if (!failed(outcome)) outcome = last_one;
    return code;
  }

  /// Bytes that are in the file, or on the device.
  std::uint64_t done() const noexcept { return done_; }

 private:
  MPI_Count elements_at(MPI_Count first) const noexcept {
    return std::min(cut_.elements, access_.count - first);
  }
  void* block(MPI_Count first) const noexcept {
    return blocks_[static_cast<std::size_t>(first / cut_.elements % 2)].data();
  }
  status copy_block(MPI_Count first, MPI_Count n) noexcept {
    return copy_bytes(first, static_cast<std::uint64_t>(n) * cut_.element);
  }
  status copy_bytes(MPI_Count first, std::uint64_t bytes) noexcept {
    void* device = cut_.data + static_cast<std::uint64_t>(first) * cut_.element;
    void* host = block(first);
    const bool reads = access_.way == direction::read;
    return cut_.where.owner->copy(reads ? device : host, reads ? host : device, bytes, stream_);
  }
  status wait() noexcept { return cut_.where.owner->synchronise(stream_); }
  status end_copy() noexcept {
    const status s = wait();
    if (!failed(s)) done_ += under_way_;
    under_way_ = 0;
    return s;
  }

  const access& access_;
  const cut& cut_;
  device::stream stream_{};
  memory::buffer blocks_[2];
  std::uint64_t done_ = 0;
  std::uint64_t under_way_ = 0;  // of a read, to the device
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

bool access::on_device() const noexcept {
  if (count <= 0 || (buffer != MPI_BOTTOM && memory::surely_host(buffer))) return false;
  const datatype::layout* l = layout_of(type);
  if (!l || l->blocks.empty()) return false;  // the host MPI says what is wrong with the type
  const auto* first = static_cast<const std::byte*>(buffer) + l->blocks.front().offset;
  return memory::classify(first).on_device() ||
         (buffer == MPI_BOTTOM && datatype::mixes_places(*l, buffer));
}

int access::whole(MPI_Offset offset, MPI_Status* status, const host_call& f) const noexcept {
  auto made = image::of(*this, false);
  if (!made) return fail(*this, made.error());
  image& i = **made;
  MPI_Status seen;
  MPI_Status* const last = status == MPI_STATUS_IGNORE ? &seen : status;
  const int code = f(i.data(), count, offset, last);
  path::count(path::kind::file, i.bytes());
  if (code != MPI_SUCCESS) return code;
  const auto finished = i.finish(transferred(*last));
  return failed(finished) ? fail(*this, finished) : MPI_SUCCESS;
}

int access::in_blocks(MPI_Offset offset, MPI_Status* status, const host_call& f) const noexcept {
  const auto c = cut_of(*this);
  if (!c) return whole(offset, status, f);
  pipeline blocks(*this, *c);
  if (const auto prepared = blocks.prepare(); failed(prepared)) return fail(*this, prepared);
  MPI_Status seen;
  MPI_Status* const last = status == MPI_STATUS_IGNORE ? &seen : status;
  auto outcome = telpher::status::ok;
  const int code = blocks.run(offset, last, f, outcome);
  path::count(path::kind::file, blocks.done());
  pmpi::Status_set_elements_x(last, MPI_BYTE, static_cast<MPI_Count>(blocks.done()));
  if (code != MPI_SUCCESS) return code;
  return failed(outcome) ? fail(*this, outcome) : MPI_SUCCESS;
}

// The host MPI does not tell how much a read has brought until the program asks for the status, so
// the image holds the device's bytes before. Each call has a request of its own, also where it is
// complete at once. It is not left to the program once it was looked at: MPICH 5.0's MPI_Test of a
// file's request fails after MPI_Request_get_status.
int access::start(MPI_Request* request, const host_start& f) const noexcept {
  auto made = image::of(*this, true);
  if (!made) return fail(*this, made.error());
  path::count(path::kind::file, (*made)->bytes());
  if (const int code = f((*made)->data()); code != MPI_SUCCESS) return code;
  coll::attach(call, MPI_COMM_SELF, request, std::move(*made), false);
  return MPI_SUCCESS;
}

int access::begin(const host_start& f) const noexcept {
  auto made = image::of(*this, false);
  if (!made) return fail(*this, made.error());
  path::count(path::kind::file, (*made)->bytes());
  void* const stand_in = (*made)->data();
  static_cast<void>(take_half(file));  // of a collective that never ended
  try {
    const std::lock_guard lock(guard);
    halves->push_back({file, std::move(*made)});
  } catch (const std::bad_alloc&) {
    return fail(*this, status::out_of_memory);
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
