// SPDX-License-Identifier: BSD-3-Clause
#include "path/compression.hpp"

#include <memory>
#include <new>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "codec/model.hpp"
#include "host_mpi/attribute.hpp"

namespace telpher::path {

using codec::element;

namespace {

constexpr const char* key = "telpher_compression";

// The choice of a communicator with the info key hangs on it. Most programs have none, and then
// nothing is asked.
host_mpi::comm_attribute<codec::choices> own_choices;

}  // namespace

codec::choices choices_of(MPI_Comm comm) noexcept {
  if (const codec::choices* own = own_choices.find(comm)) return *own;
  return codec::configured();
}

element element_of(MPI_Datatype type) noexcept {
  const struct {
    MPI_Datatype type;
    element kind;
  } known[] = {
      {MPI_FLOAT, element::f32},
      {MPI_DOUBLE, element::f64},
      {MPI_REAL, element::f32},
      {MPI_DOUBLE_PRECISION, element::f64},
      {MPI_REAL4, element::f32},
      {MPI_REAL8, element::f64},
      {MPI_INT, element::word32},
      {MPI_UNSIGNED, element::word32},
      {MPI_INT32_T, element::word32},
      {MPI_UINT32_T, element::word32},
      {MPI_INTEGER, element::word32},
      {MPI_LONG, element::word64},
      {MPI_UNSIGNED_LONG, element::word64},
      {MPI_LONG_LONG, element::word64},
      {MPI_UNSIGNED_LONG_LONG, element::word64},
      {MPI_INT64_T, element::word64},
      {MPI_UINT64_T, element::word64},
  };
  if (type == MPI_DATATYPE_NULL) return element::none;
  for (const auto& k : known)
    if (k.type == type) return k.kind;
  return element::none;
}

codec::plan plan_for(MPI_Comm comm, MPI_Datatype type, std::size_t bytes) noexcept {
  if (bytes < config().compression_threshold) return {};
  const codec::choices c = choices_of(comm);
  if (!c.any()) return {};
  const element kind = element_of(type);
  const codec::plan p = codec::plan_for(c.for_kind(kind), kind, bytes);
  return p && (config().compression_force || codec::pays(p)) ? p : codec::plan{};
}

void choose_by(MPI_Info info, MPI_Comm comm) noexcept {
  if (info == MPI_INFO_NULL) return;
  char text[256] = "";
  int there = 0;
  pmpi::Info_get(info, const_cast<char*>(key), sizeof text - 1, text, &there);
  if (!there) return;
  codec::choices c;
  if (const std::string why = codec::parse(text, c); !why.empty()) {
    TELPHER_ERROR("info key %s: %s", key, why.c_str());
    return;
  }
  auto own = std::unique_ptr<codec::choices>(new (std::nothrow) codec::choices(c));
  if (!own || !own_choices.attach(comm, std::move(own)))
    TELPHER_ERROR("info key %s cannot be kept for the communicator", key);
}

}  // namespace telpher::path
