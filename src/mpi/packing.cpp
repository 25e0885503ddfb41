// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/packing.hpp"

#include <cstdio>
#include <cstring>
#include <new>

#include "staging/host_images.hpp"
#include "datatype/external.hpp"
#include "memory/memory.hpp"
#include "mpi/entry.hpp"
#include "ticket/progress.hpp"

namespace telpher::mpi {
namespace {

std::byte* bytes_at(const void* address, MPI_Count offset) noexcept {
  return static_cast<std::byte*>(const_cast<void*>(address)) + offset;
}

int fail_short_of_room(const packing& p, MPI_Count bytes, MPI_Count position) noexcept {
  char what[128];
  std::snprintf(what, sizeof what, "%lld bytes at position %lld of a packed buffer of %lld",
                static_cast<long long>(bytes), static_cast<long long>(position),
                static_cast<long long>(p.room));
  return entry::fail(p.comm, p.call, status::truncated, what);
}

/// `unit`: of the canonical representation; 0: the bytes as they are.
status move(const packing& p, const datatype::elements& elements, const datatype::side& run,
            std::uint32_t unit) noexcept {
  if (p.to == packing::direction::pack)
    return unit == 0 ? datatype::gather(elements, run)
                     : datatype::gather_canonical(elements, run, unit);
  return unit == 0 ? datatype::scatter(run, elements)
                   : datatype::scatter_canonical(run, elements, unit);
}

bool move_on_device(const packing& p, std::uint32_t unit, MPI_Count& position, int* code) noexcept {
  const auto found = datatype::layout_of(p.type);
  if (p.count <= 0 || !found || (*found)->size == 0) return false;
  const datatype::layout& l = **found;
  if (!datatype::is_committed(l, p.type, ticket::job().control)) return false;
  if (p.typed == MPI_BOTTOM && datatype::mixes_places(l, p.typed)) {
    if (unit != 0) return false;
    *code = entry::fail(p.comm, p.call, status::not_supported,
                        "a type that lies in host and device memory");
    return true;
  }
  const auto bytes = static_cast<MPI_Count>(l.size) * p.count;
  std::byte* const typed = bytes_at(p.typed, 0);
  std::byte* const packed = bytes_at(p.packed, position);
  const datatype::elements elements{
      l, p.count, {memory::classify(typed + l.blocks.front().offset), typed}};
  const datatype::side run{memory::classify(packed), packed};
  if (!elements.at.where.on_device() && (unit != 0 || !run.where.on_device())) return false;

  auto held = ticket::progress().lock();
  if (position < 0 || bytes > p.room - position) {
    *code = fail_short_of_room(p, bytes, position);
    return true;
  }
  const status s = move(p, elements, run, unit);
  *code = s == status::ok ? MPI_SUCCESS : entry::fail(p.comm, p.call, s, "device memory");
  if (s == status::ok) position += bytes;
  return true;
}

}  // namespace

bool packed_on_device(const packing& p, MPI_Count& position, int* code) noexcept {
  if (memory::surely_host(p.typed) && memory::surely_host(p.packed)) return false;
  return move_on_device(p, 0, position, code);
}

// --- the canonical representation ---

bool canonical_on_device(const packing& p, const char* datarep, MPI_Count& position,
                         int* code) noexcept {
  if (memory::surely_host(p.typed) || p.count <= 0) return false;
  if (!datarep || std::strcmp(datarep, "external32") != 0) return false;
  std::uint32_t unit = 0;
  try {
    unit = datatype::canonical_unit(p.type);
  } catch (const std::bad_alloc&) {  // the host MPI does it
  }
  return unit != 0 && move_on_device(p, unit, position, code);
}

namespace {

// Bytes of the packed side that the call may read or write; 0: the host MPI knows what is wrong.
MPI_Count external_bytes(const packing& p, const char* datarep) noexcept {
  if (p.count == static_cast<int>(p.count)) {
    MPI_Aint bytes = 0;
    const int count = static_cast<int>(p.count);
    return pmpi::Pack_external_size(datarep, count, p.type, &bytes) == MPI_SUCCESS ? bytes : 0;
  }
  MPI_Count bytes = 0;
  return pmpi::Pack_external_size_c(datarep, p.count, p.type, &bytes) == MPI_SUCCESS ? bytes : 0;
}

// `is_kept`: what the host MPI does not write stays.
result<void*> stand_in(staging::host_images& images, const void* buffer,
                       const staging::segment& part, bool is_written, bool is_kept) {
  staging::plan plan{.segments = {part}, .copy_in = is_kept || !is_written, .copy_out = is_written};
  return images.add(const_cast<void*>(buffer), plan);
}

status stage_and_call(const packing& p, MPI_Count position, MPI_Count bytes,
                      const host_packing& host, int& code) {
  const bool packs = p.to == packing::direction::pack;
  staging::host_images images(path::kind::none);
  const auto typed = stand_in(images, p.typed, {0, p.count, p.type}, !packs, false);
  TELPHER_TRY(typed);
  // Open MPI 5.0.11's MPI_Pack_external writes 4 bytes of a long, its MPI_Pack_external_size
  // says 8.
  const auto packed = stand_in(images, p.packed, {position, bytes, MPI_BYTE}, packs, true);
  TELPHER_TRY(packed);
  TELPHER_TRY(images.copy_in());
  code = host(*typed, *packed);
  return code == MPI_SUCCESS ? images.copy_out() : status::ok;
}

}  // namespace

int external_by_host(const packing& p, const char* datarep, MPI_Count position,
                     const host_packing& host) noexcept {
  const auto as_given = [&] {
    return host(const_cast<void*>(p.typed), const_cast<void*>(p.packed));
  };
  if (memory::surely_host(p.typed) && memory::surely_host(p.packed)) return as_given();
  const MPI_Count bytes = p.count > 0 && position >= 0 ? external_bytes(p, datarep) : 0;
  if (bytes <= 0) return as_given();
  if (bytes > p.room - position) return fail_short_of_room(p, bytes, position);
  int code = MPI_SUCCESS;
  status s = status::out_of_memory;
  try {
    s = stage_and_call(p, position, bytes, host, code);
  } catch (const std::bad_alloc&) {
  }
  return s == status::ok ? code : entry::fail(p.comm, p.call, s, "device memory");
}

}  // namespace telpher::mpi
