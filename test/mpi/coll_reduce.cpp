// SPDX-License-Identifier: BSD-3-Clause
// Reductions: every predefined operation over the types it takes, every collective that reduces, in
// place and not, operations of the program's own, and MPI_Reduce_local. Values are small integers,
// so that every order of evaluation gives the same bits. An argument coll_… names the path that
// must run what devices reduce.
#include "collective.hpp"

namespace {

using namespace mpi_test;

/// A type with its values: `fill` writes small ones, so that products over the ranks are exact.
struct number_type {
  const char* name;
  MPI_Datatype type;
  std::size_t bytes;
  void (*fill)(unsigned char*, std::size_t, std::uint64_t);
};

template <class T>
void fill_numbers(unsigned char* to, std::size_t bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    const T value = static_cast<T>(mix(seed + i) % 3);
    std::memcpy(to + i, &value, sizeof(T));
  }
}

/// Halves 0, 1 and 2, of the format whose 1 and 2 have these bits.
template <std::uint16_t one, std::uint16_t two>
[[maybe_unused]] void fill_halves(unsigned char* to, std::size_t bytes, std::uint64_t seed) {
  constexpr std::uint16_t values[] = {0, one, two};
  for (std::size_t i = 0; i + 2 <= bytes; i += 2)
    std::memcpy(to + i, &values[mix(seed + i) % 3], 2);
}

template <class T>
void fill_pairs(unsigned char* to, std::size_t bytes, std::uint64_t seed) {
  struct pair {
    T value;
    int index;
  };
  std::memset(to, 0, bytes);
  for (std::size_t i = 0; i + sizeof(pair) <= bytes; i += sizeof(pair)) {
    const T value = static_cast<T>(mix(seed + i) % 3);
    const int index = static_cast<int>(mix(seed + i + 1) % 5);
    std::memcpy(to + i + offsetof(pair, value), &value, sizeof value);
    std::memcpy(to + i + offsetof(pair, index), &index, sizeof index);
  }
}

const std::vector<number_type>& integers() {
  static const std::vector<number_type> all = {
      {"int8", MPI_INT8_T, 1, fill_numbers<std::int8_t>},
      {"uint16", MPI_UINT16_T, 2, fill_numbers<std::uint16_t>},
      {"int", MPI_INT, 4, fill_numbers<int>},
      {"unsigned long", MPI_UNSIGNED_LONG, sizeof(long), fill_numbers<unsigned long>},
  };
  return all;
}
const std::vector<number_type>& reals() {
  static const std::vector<number_type> all = {
      {"float", MPI_FLOAT, 4, fill_numbers<float>},
      {"double", MPI_DOUBLE, 8, fill_numbers<double>},
  };
  return all;
}
/// MPICH 5.0.2 itself stops at an assertion for other operations than the sum on these.
const std::vector<number_type>& halves() {
  static const std::vector<number_type> all = {
#ifdef MPIX_C_FLOAT16
      {"half", MPIX_C_FLOAT16, 2, fill_halves<0x3c00, 0x4000>},
#endif
#ifdef MPIX_BFLOAT16
      {"bfloat16", MPIX_BFLOAT16, 2, fill_halves<0x3f80, 0x4000>},
#endif
  };
  return all;
}
const std::vector<number_type>& pairs() {
  static const std::vector<number_type> all = {
      {"float and int", MPI_FLOAT_INT, 8, fill_pairs<float>},
      {"double and int", MPI_DOUBLE_INT, 16, fill_pairs<double>},
      {"short and int", MPI_SHORT_INT, 8, fill_pairs<short>},
      {"two ints", MPI_2INT, 8, fill_pairs<int>},
  };
  return all;
}
const number_type byte_type{"byte", MPI_BYTE, 1, fill_numbers<unsigned char>};
const number_type complex_type{"complex", MPI_C_DOUBLE_COMPLEX, 16, fill_numbers<double>};

struct operation {
  const char* name;
  MPI_Op op;
  std::vector<number_type> types;
};

std::vector<number_type> joined(std::vector<number_type> a, const std::vector<number_type>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<operation> operations() {
  const auto numbers = joined(integers(), reals());
  // A product of complex numbers has zeros whose sign depends on the order.
  const auto sums = joined(joined(numbers, {complex_type}), halves());
  const auto bits = joined(integers(), {byte_type});
  return {{"MAX", MPI_MAX, numbers},       {"MIN", MPI_MIN, numbers},
          {"SUM", MPI_SUM, sums},          {"PROD", MPI_PROD, numbers},
          {"LAND", MPI_LAND, integers()},  {"LOR", MPI_LOR, integers()},
          {"LXOR", MPI_LXOR, integers()},  {"BAND", MPI_BAND, bits},
          {"BOR", MPI_BOR, bits},          {"BXOR", MPI_BXOR, bits},
          {"MAXLOC", MPI_MAXLOC, pairs()}, {"MINLOC", MPI_MINLOC, pairs()}};
}

struct reduction {
  operation o;
  number_type t;
  int count;
};

std::string label(const char* name, const reduction& x) {
  return std::string(name) + " " + x.o.name + " of " + std::to_string(x.count) + " " + x.t.name;
}

std::vector<collective> vector_forms(const suite& w, const reduction& x) {
  const std::size_t span = static_cast<std::size_t>(x.count) * x.t.bytes;
  const int n = x.count, root = w.ranks - 1;
  const bool here = w.rank == root;
  const MPI_Datatype t = x.t.type;
  const MPI_Op op = x.o.op;
  const MPI_Comm comm = MPI_COMM_WORLD;
  return {
      {label("Allreduce", x), span, span,
       MPI_TEST_FORMS(Allreduce, Iallreduce, s, r, n, t, op, comm), x.t.fill},
      {label("Allreduce in place", x), 0, span,
       MPI_TEST_FORMS(Allreduce, Iallreduce, MPI_IN_PLACE, r, n, t, op, comm), x.t.fill},
      {label("Reduce", x), span, span, MPI_TEST_FORMS(Reduce, Ireduce, s, r, n, t, op, root, comm),
       x.t.fill},
      {label("Reduce in place", x), span, span,
       MPI_TEST_FORMS(Reduce, Ireduce, here ? MPI_IN_PLACE : s, r, n, t, op, root, comm), x.t.fill},
      {label("Scan", x), span, span, MPI_TEST_FORMS(Scan, Iscan, s, r, n, t, op, comm), x.t.fill},
      {label("Scan in place", x), 0, span,
       MPI_TEST_FORMS(Scan, Iscan, MPI_IN_PLACE, r, n, t, op, comm), x.t.fill},
      {label("Exscan", x), span, span, MPI_TEST_FORMS(Exscan, Iexscan, s, r, n, t, op, comm),
       x.t.fill},
  };
}

std::vector<collective> scattered_forms(const suite& w, const reduction& x,
                                        const std::vector<int>& blocks) {
  const std::size_t span = static_cast<std::size_t>(x.count) * x.t.bytes;
  std::size_t all = 0;
  for (const int n : blocks) all += static_cast<std::size_t>(n) * x.t.bytes;
  const std::size_t own =
      static_cast<std::size_t>(blocks[static_cast<std::size_t>(w.rank)]) * x.t.bytes;
  const int n = x.count;
  const int* counts = blocks.data();
  const MPI_Datatype t = x.t.type;
  const MPI_Op op = x.o.op;
  const MPI_Comm comm = MPI_COMM_WORLD;
  return {
      {label("Reduce_scatter_block", x), span * static_cast<std::size_t>(w.ranks), span,
       MPI_TEST_FORMS(Reduce_scatter_block, Ireduce_scatter_block, s, r, n, t, op, comm), x.t.fill},
      {label("Reduce_scatter", x), all, own,
       MPI_TEST_FORMS(Reduce_scatter, Ireduce_scatter, s, r, counts, t, op, comm), x.t.fill},
  };
}

std::vector<int> uneven_blocks(const suite& w, int count) {
  std::vector<int> blocks(static_cast<std::size_t>(w.ranks));
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<int>(i % 3) * count;
  return blocks;
}

void check_all(suite& w, const std::vector<collective>& list, const std::string& path = {}) {
  collective_test test(w, path);
  for (const collective& c : list) test.check(c);
}

collective local(const reduction& x) {
  const std::size_t span = static_cast<std::size_t>(x.count) * x.t.bytes;
  const MPI_Datatype t = x.t.type;
  const MPI_Op op = x.o.op;
  const int n = x.count;
  return {label("Reduce_local", x),
          span,
          span,
          [=](const void* s, void* r) { MPI_Reduce_local(s, r, n, t, op); },
          nullptr,
          nullptr,
          x.t.fill};
}

// Composition of x -> m * x + c modulo 2^16, m in the low half: associative, not commutative.
void compose(void* in, void* inout, int* n, MPI_Datatype*) {
  const auto* first = static_cast<const std::uint32_t*>(in);
  auto* second = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < *n; ++i) {
    const std::uint32_t m = first[i] & 0xffff, c = first[i] >> 16;
    const std::uint32_t then = second[i] & 0xffff, plus = second[i] >> 16;
    second[i] = ((m * then) & 0xffff) | ((c * then + plus) << 16);
  }
}

void fill_bits(unsigned char* to, std::size_t bytes, std::uint64_t seed) {
  write_pattern(seed, to, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  suite w(&argc, &argv, 1);
  const std::string path = take_wanted_path(w);
  for (const operation& o : operations())
    w.run(std::string("operation/") + o.name, [&] {
      for (const number_type& t : o.types) {
        const reduction x{o, t, 37};
        const auto forms = vector_forms(w, x);
        collective_test(w, path).check(forms[0]);
        collective_test(w, path).check(forms[3]);
        collective_test(w).check(local(x));
      }
    });
  const operation sum = operations()[2];
  for (const int count : {0, 1, 5000})
    w.run("all forms/" + std::to_string(count), [&] {
      const reduction x{sum, integers()[2], count};
      const auto blocks = uneven_blocks(w, count);
      check_all(w, vector_forms(w, x), path);
      check_all(w, scattered_forms(w, x, blocks), path);
    });
  w.run("operation of the program", [&] {
    MPI_Op own = MPI_OP_NULL;
    MPI_Op_create(compose, 0, &own);
    const reduction x{{"own", own, {}}, {"map", MPI_UINT32_T, 4, fill_bits}, 100};
    check_all(w, vector_forms(w, x));
    collective_test(w).check(local(x));
    MPI_Op_free(&own);
  });
  w.run("open together", [&] {
    collective_test(w).check_open_together(vector_forms(w, {sum, reals()[1], 4000}));
  });
  w.run("large", [&] { collective_test(w).check(vector_forms(w, {sum, reals()[1], 100000})[0]); });
  return w.finish();
}
