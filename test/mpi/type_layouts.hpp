// SPDX-License-Identifier: BSD-3-Clause
// Derived datatypes and where their bytes lie: a type's byte map is found by packing host memory
// that holds its own offsets, and is the reference for what messages and packing must leave.
#pragma once

#include <functional>

#include "suite.hpp"

namespace mpi_test {

/// A committed type, freed with the object.
class datatype {
 public:
  datatype(const char* label, const std::function<void(MPI_Datatype*)>& make) : label_(label) {
    make(&type_);
    MPI_Type_commit(&type_);
  }
  datatype(datatype&& other) noexcept : label_(other.label_), type_(other.type_) {
    other.type_ = MPI_DATATYPE_NULL;
  }
  datatype& operator=(datatype&&) = delete;
  ~datatype() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  const char* label() const { return label_; }
  MPI_Datatype get() const { return type_; }

 private:
  const char* label_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

inline void make_struct(MPI_Datatype* out) {
  int lengths[3] = {1, 3, 2};
  MPI_Aint places[3] = {0, 8, 40};
  MPI_Datatype parts[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, places, parts, out);
}

inline void make_subarray(MPI_Datatype* out, int order) {
  int whole[3] = {6, 5, 8}, part[3] = {3, 2, 5}, start[3] = {1, 2, 3};
  MPI_Type_create_subarray(3, whole, part, start, order, MPI_FLOAT, out);
}

/// A vector of structs, resized so that elements interleave with gaps.
inline void make_nested(MPI_Datatype* out) {
  MPI_Datatype inner, rows;
  make_struct(&inner);
  MPI_Type_vector(3, 2, 3, inner, &rows);
  MPI_Type_create_resized(rows, 0, 700, out);
  MPI_Type_free(&inner);
  MPI_Type_free(&rows);
}

inline std::vector<datatype> make_types() {
  std::vector<datatype> list;
  const auto add = [&](const char* label, const std::function<void(MPI_Datatype*)>& make) {
    list.emplace_back(label, make);
  };
  add("contiguous doubles", [](MPI_Datatype* t) { MPI_Type_contiguous(5, MPI_DOUBLE, t); });
  add("vector of ints", [](MPI_Datatype* t) { MPI_Type_vector(6, 2, 5, MPI_INT, t); });
  add("vector of bytes", [](MPI_Datatype* t) { MPI_Type_vector(16, 1, 3, MPI_BYTE, t); });
  add("vector backwards", [](MPI_Datatype* t) { MPI_Type_vector(5, 3, -7, MPI_SHORT, t); });
  add("hvector", [](MPI_Datatype* t) { MPI_Type_create_hvector(4, 3, 41, MPI_INT, t); });
  add("indexed", [](MPI_Datatype* t) {
    int lengths[4] = {1, 4, 0, 2}, places[4] = {9, 0, 5, 15};
    MPI_Type_indexed(4, lengths, places, MPI_DOUBLE, t);
  });
  add("indexed block", [](MPI_Datatype* t) {
    int places[5] = {12, 3, 0, 20, 6};
    MPI_Type_create_indexed_block(5, 2, places, MPI_FLOAT, t);
  });
  add("hindexed, negative", [](MPI_Datatype* t) {
    int lengths[3] = {2, 5, 1};
    MPI_Aint places[3] = {-40, 3, 100};
    MPI_Type_create_hindexed(3, lengths, places, MPI_SHORT, t);
  });
  add("struct", make_struct);
  add("subarray, C order", [](MPI_Datatype* t) { make_subarray(t, MPI_ORDER_C); });
  add("subarray, Fortran order", [](MPI_Datatype* t) { make_subarray(t, MPI_ORDER_FORTRAN); });
  add("slab of a subarray", [](MPI_Datatype* t) {
    int whole[3] = {6, 5, 8}, part[3] = {2, 5, 8}, start[3] = {3, 0, 0};
    MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_FLOAT, t);
  });
  add("resized with gap", [](MPI_Datatype* t) { MPI_Type_create_resized(MPI_INT, -4, 24, t); });
  add("resized to interleave", [](MPI_Datatype* t) {
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 64, MPI_INT, &column);  // no overlap up to 64 of them
    MPI_Type_create_resized(column, 0, sizeof(int), t);
    MPI_Type_free(&column);
  });
  add("nested", make_nested);
  add("contiguous of vector", [](MPI_Datatype* t) {
    MPI_Datatype row;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &row);
    MPI_Type_contiguous(4, row, t);
    MPI_Type_free(&row);
  });
  add("duplicate of vector", [](MPI_Datatype* t) {
    MPI_Datatype row;
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &row);
    MPI_Type_dup(row, t);
    MPI_Type_free(&row);
  });
  return list;
}

/// Where `count` elements of a type lie: the span of bytes, where in it the buffer argument points,
/// and for each byte of the message its place in the span.
struct layout {
  layout(MPI_Datatype type, int count) : elements(count) {
    MPI_Aint lower, extent, true_lower, true_extent;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &true_extent);
    const MPI_Aint last = count > 0 ? (count - 1) * extent : 0;
    origin = static_cast<std::size_t>(true_lower < 0 ? -true_lower : 0);
    const MPI_Aint end = last + true_lower + true_extent;
    span = origin + static_cast<std::size_t>(count > 0 && end > 0 ? end : 0);
    int packed = 0, size = 0;
    MPI_Pack_size(count, type, MPI_COMM_SELF, &packed);
    MPI_Type_size(type, &size);
    place.assign(static_cast<std::size_t>(size) * static_cast<std::size_t>(count), 0);
    std::vector<unsigned char> memory(span + 1), message(static_cast<std::size_t>(packed) + 1);
    for (unsigned shift = 0; shift < 24; shift += 8) {
      for (std::size_t i = 0; i < span; ++i) memory[i] = static_cast<unsigned char>(i >> shift);
      int position = 0;
      MPI_Pack(memory.data() + origin, count, type, message.data(), packed, &position,
               MPI_COMM_SELF);
      for (std::size_t i = 0; i < place.size(); ++i)
        place[i] |= static_cast<std::size_t>(message[i]) << shift;
    }
  }

  int elements;
  std::size_t origin = 0, span = 0;
  std::vector<std::size_t> place;
};

struct side {
  kind memory;
  MPI_Datatype type;
  const layout* where;
};

inline void put(buffer& b, const layout& l, std::uint64_t id) {
  std::vector<unsigned char> message(l.place.size()), memory(l.span, 0x11);
  write_pattern(id, message.data(), message.size());
  for (std::size_t i = 0; i < message.size(); ++i) memory[l.place[i]] = message[i];
  b.write(memory.data(), memory.size());
}

inline std::string check(const buffer& b, const layout& l, std::uint64_t id, std::size_t received) {
  std::vector<unsigned char> message(received), wanted(l.span, guard_byte);
  write_pattern(id, message.data(), received);
  for (std::size_t i = 0; i < received; ++i) wanted[l.place[i]] = message[i];
  return b.compare(wanted.data());
}

template <class Body>
void with_all_kinds(Body&& body) {
  for (kind from : kinds())
    for (kind to : kinds()) body(from, to);
}

}  // namespace mpi_test
