// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/compression.hpp"

#include "base/log.hpp"
#include "base/settings.hpp"
#include "codec/model.hpp"

namespace telpher::mpi {

using codec::element;

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

codec::plan plan_for(const codec::choices& c, MPI_Datatype type, std::size_t bytes) noexcept {
  if (bytes < config().compression_threshold || !c.any()) return {};
  const element kind = element_of(type);
  const codec::plan p = codec::plan_for(c.of(kind), kind, bytes);
  return p && (config().compression_force || codec::pays(p)) ? p : codec::plan{};
}

bool read_choices(MPI_Info info, codec::choices& out) noexcept {
  if (info == MPI_INFO_NULL) return false;
  char text[256] = "";
  int there = 0;
  pmpi::Info_get(info, "telpher_compression", sizeof text - 1, text, &there);
  if (!there) return false;
  const std::string why = codec::parse(text, out);
  if (!why.empty()) TELPHER_ERROR("info key telpher_compression: %s", why.c_str());
  return why.empty();
}

}  // namespace telpher::mpi
