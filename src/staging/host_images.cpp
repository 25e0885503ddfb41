// SPDX-License-Identifier: BSD-3-Clause
#include "staging/host_images.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "path/copier.hpp"
#include "path/table.hpp"
#include "ticket/progress.hpp"

namespace telpher::staging {
namespace {

// Up to so many blocks in all are copied one by one; more are packed by a kernel.
constexpr std::uint64_t most_single_copies = 16;

// An image has its buffer's alignment, up to a cache line: elements may be loaded as vectors.
constexpr std::uintptr_t image_alignment = 64;

std::uint64_t packed_bytes(const datatype::layout& l, MPI_Count count) {
  return l.size * static_cast<std::uint64_t>(count);
}

}  // namespace

/// What an image must span, relative to the buffer, and how much of that is data.
struct host_images::bounds {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  std::uint64_t data = 0;
  device::backend* owner = nullptr;

  void include(std::int64_t displacement, MPI_Count count, const datatype::layout& l) {
    const std::int64_t last = displacement + (count - 1) * l.extent;
    low = std::min({low, displacement + l.true_lower_bound, last + l.true_lower_bound});
    high = std::max({high, displacement + l.true_lower_bound + l.true_extent,
                     last + l.true_lower_bound + l.true_extent});
    data += packed_bytes(l, count);
  }
};

/// Streams that have copies of this call in them, each waited for once.
class host_images::copies {
 public:
  result<device::stream> stream(const memory::place& where, memory::stream_role role) noexcept {
    auto s = memory::stream(where, role);
    TELPHER_TRY(s);
    for (const used& u : used_)
      if (u.stream.handle == s->handle) return *s;
    try {
      used_.push_back({where.owner, *s});
    } catch (const std::bad_alloc&) {
      return status::out_of_memory;
    }
    return *s;
  }

  /// Waits for all, even if one fails: no copy may be under way when buffers are freed.
  status wait() noexcept {
    status first = status::ok;
    for (const used& u : used_) {
      const status s = u.owner->synchronise(u.stream);
      if (!failed(first)) first = s;
    }
    used_.clear();
    return first;
  }

 private:
  struct used {
    device::backend* owner;
    device::stream stream;
  };
  std::vector<used> used_;
};

// --- planning ---

void host_images::add_run(image& to, const memory::place& where, std::int64_t offset,
                          std::uint64_t bytes) {
  if (!to.runs.empty()) {
    run& last = to.runs.back();
    if (last.where == where && last.offset + static_cast<std::int64_t>(last.bytes) == offset) {
      last.bytes += bytes;
      return;
    }
  }
  to.runs.push_back({where, offset, bytes});
}

template <class PlaceOf>
void host_images::add_blocks(image& to, std::int64_t displacement, MPI_Count count,
                             const datatype::layout& l, const PlaceOf& place_of) {
  for (MPI_Count e = 0; e < count; ++e)
    for (const auto& block : l.blocks) {
      const std::int64_t at = displacement + e * l.extent + block.offset;
      add_run(to, place_of(at), at, block.bytes);
    }
}

status host_images::add_segment(image& to, const segment& s, bounds& b) {
  const auto found = datatype::layout_of(s.type);
  TELPHER_TRY(found);
  const datatype::layout& l = **found;
  if (l.size == 0) return status::ok;
  b.include(s.displacement, s.count, l);
  // MPI_BOTTOM: each block may lie elsewhere.
  const bool mixed = !to.device && datatype::mixes_places(l, to.device + s.displacement);
  const memory::place where =
      memory::classify(to.device + s.displacement + l.blocks.front().offset);
  if (where.on_device()) b.owner = where.owner;
  if (l.one_run(s.count)) {
    add_run(to, where, s.displacement + l.blocks.front().offset, packed_bytes(l, s.count));
  } else if (!mixed && where.on_device() &&
             l.blocks.size() * static_cast<std::uint64_t>(s.count) > most_single_copies) {
    to.pieces.push_back({where, s.displacement, s.count, datatype::hold(&l), {}});
  } else {
    add_blocks(to, s.displacement, s.count, l, [&](std::int64_t at) {
      const memory::place here = mixed ? memory::classify(to.device + at) : where;
      if (here.on_device()) b.owner = here.owner;
      return here;
    });
  }
  return status::ok;
}

status host_images::place_image(image& to, const bounds& b) {
  const auto span = static_cast<std::size_t>(b.high - b.low);
  // Copies of pinned memory are faster, but an image that is mostly gaps should not take it.
  const bool dense = span <= 2 * b.data;
  // Enough to move the image past each address that is taken: the other images', MPI_BOTTOM and
  // MPI_IN_PLACE.
  const std::size_t room = (images_.size() + 3) * image_alignment;
  auto memory = memory::buffer::host(span + room, b.owner, dense);
  TELPHER_TRY(memory);
  const auto wanted = reinterpret_cast<std::uintptr_t>(to.device + b.low) % image_alignment;
  const auto at = reinterpret_cast<std::uintptr_t>(memory->data());
  char* first = static_cast<char*>(memory->data()) +
                (wanted + image_alignment - at % image_alignment) % image_alignment;
  // If the buffer is MPI_BOTTOM, this need not be an address in the memory.
  to.host = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(first) -
                                    static_cast<std::uintptr_t>(b.low));
  while (to.host == MPI_BOTTOM || to.host == MPI_IN_PLACE || stands_at(to.host))
    to.host += image_alignment;
  to.memory = std::move(*memory);
  for (strided& s : to.pieces) {
    TELPHER_TRY(
        memory::buffer::host(packed_bytes(*s.type, s.count), s.where.owner, true).into(s.packed));
  }
  // Kernels cannot use memory that could not be pinned.
  std::erase_if(to.pieces, [&](const strided& s) {
    if (s.packed.pinned()) return false;
    add_blocks(to, s.offset, s.count, *s.type, [&](std::int64_t) { return s.where; });
    return true;
  });
  return status::ok;
}

result<void*> host_images::add_image(void* buffer, const plan& p) {
  image fresh{.device = static_cast<char*>(buffer),
              .host = nullptr,
              .memory = {},
              .copy_in = p.copy_in,
              .copy_out = p.copy_out,
              .runs = {},
              .pieces = {}};
  bounds b;
  for (const segment& s : p.segments) TELPHER_TRY(add_segment(fresh, s, b));
  if (b.data == 0 || (!b.owner && !stands_at(buffer))) return buffer;
  TELPHER_TRY(place_image(fresh, b));
  images_.push_back(std::move(fresh));
  return static_cast<void*>(images_.back().host);
}

result<void*> host_images::add(void* buffer, const plan& p) noexcept {
  try {
    return add_image(buffer, p);
  } catch (const std::bad_alloc&) {
    return status::out_of_memory;
  }
}

bool host_images::stands_at(const void* address) const noexcept {
  return std::any_of(images_.begin(), images_.end(),
                     [&](const image& i) { return i.host == address; });
}

long long host_images::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const image& i : images_) {
    for (const run& r : i.runs) sum += r.bytes;
    for (const strided& s : i.pieces) sum += packed_bytes(*s.type, s.count);
  }
  return static_cast<long long>(sum);
}

// --- copying ---

/// The sum, if the base is no address of an object: MPI_BOTTOM, or what stands for it.
static char* at(char* base, std::ptrdiff_t offset) noexcept {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(base) +
                                 static_cast<std::uintptr_t>(offset));
}

/// A small image in one piece: by the kernel that stays, where it does. That takes one command and
/// no call of the driver.
status host_images::copy_by_kernel(const image& i, bool in) noexcept {
  if (i.runs.size() != 1 || !i.pieces.empty() || !i.memory.pinned()) return status::not_supported;
  const run& r = i.runs.front();
  if (!r.where.on_device() || !path::linger_sizes.holds(r.bytes)) return status::not_supported;
  char *const here = at(i.host, r.offset), *const there = at(i.device, r.offset);
  const auto held = ticket::progress().lock();
  return path::copier::copy_by_linger(r.where, in ? here : there, in ? there : here, r.bytes, !in);
}

/// Begins the copies of an image, or makes them: to the host, or to the device.
status host_images::copy_image(const image& i, bool in, copies& started) noexcept {
  if (const status s = copy_by_kernel(i, in); s != status::not_supported) return s;
  const auto role = in ? memory::stream_role::in : memory::stream_role::copy;
  for (const run& r : i.runs) {
    char *to = at(i.host, r.offset), *from = at(i.device, r.offset);
    if (!in) std::swap(to, from);
    if (!r.where.on_device()) {
      std::memcpy(to, from, r.bytes);
      continue;
    }
    auto s = started.stream(r.where, role);
    TELPHER_TRY(s);
    TELPHER_TRY(r.where.owner->copy(to, from, r.bytes, *s));
  }
  for (const strided& p : i.pieces) {
    auto s = started.stream(p.where, memory::stream_role::kernel);
    TELPHER_TRY(s);
    void *const packed = p.packed.data(), *const there = at(i.device, p.offset);
    if (in) {
      TELPHER_TRY(datatype::pack(*p.where.owner, *p.type, there, p.count, packed, *s));
      continue;
    }
    datatype::pack_host(*p.type, at(i.host, p.offset), 0, packed_bytes(*p.type, p.count), packed);
    TELPHER_TRY(datatype::unpack(*p.where.owner, *p.type, packed, there, p.count, *s));
  }
  return status::ok;
}

/// Begins all of them before it waits for any.
status host_images::copy_images(bool in) noexcept {
  copies started;
  status result = status::ok;
  for (const image& i : images_)
    if ((in ? i.copy_in : i.copy_out) && !failed(result)) result = copy_image(i, in, started);
  const status waited = started.wait();
  return failed(result) ? result : waited;
}

status host_images::copy_in() noexcept {
  path::count(counted_as_, static_cast<std::uint64_t>(bytes()));
  TELPHER_TRY(copy_images(true));
  for (const image& i : images_) {
    if (!i.copy_in) continue;
    for (const strided& p : i.pieces)
      datatype::unpack_host(*p.type, p.packed.data(), 0, packed_bytes(*p.type, p.count),
                            at(i.host, p.offset));
  }
  return status::ok;
}

status host_images::copy_out() noexcept {
  return copy_images(false);
}

}  // namespace telpher::staging
