// SPDX-License-Identifier: BSD-3-Clause
// Compressed collectives between two pretended nodes of equal size: values that crossed are within
// the codec's error and were changed by it, what did not cross is exact, allgather gives all ranks
// the same bits, and where a rank cannot compress nobody does. The settings of CMakeLists.txt force
// zfp for floats and doubles from 16 KiB on.
#include <cmath>

#include "suite.hpp"

namespace {

using namespace mpi_test;

constexpr int count = 6000;  // values of a block: more than one piece

template <class T>
std::vector<T> block(int id) {
  std::vector<T> made(count);
  for (int i = 0; i < count; ++i)
    made[static_cast<std::size_t>(i)] = static_cast<T>(std::sin(i / 50.0 + id) * 1000);
  return made;
}

template <class T>
void put(buffer& b, int at, const std::vector<T>& values) {
  copy(b.memory(), b.data() + static_cast<std::size_t>(at) * count * sizeof(T), values.data(),
       values.size() * sizeof(T));
}

template <class T>
std::vector<T> all_of(const buffer& b, int blocks) {
  std::vector<T> got(static_cast<std::size_t>(blocks) * count);
  copy(b.memory(), got.data(), b.data(), got.size() * sizeof(T));
  return got;
}

template <class T>
double worst_error(const std::vector<T>& got, int at, const std::vector<T>& wanted) {
  double worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const T found = got[static_cast<std::size_t>(at) * count + i];
    worst = std::max(worst, std::abs(static_cast<double>(found) - static_cast<double>(wanted[i])));
  }
  return worst;
}

enum class values { exact, compressed, either };

void expect_error(suite& s, double error, values wanted, int from) {
  const bool may = error == 0 ? wanted != values::compressed : wanted != values::exact && error < 1;
  if (!may)
    s.fail("block of rank %d: off by up to %g, %s", from, error,
           wanted == values::exact ? "it should be exact" : "compressed it is above 0 and below 1");
}

template <class T>
class checks {
 public:
  checks(suite& all, MPI_Datatype t) : s(all), type(t) {}

  /// The last rank has its blocks in memory of this kind and passes them as this type.
  void allgather(bool in_place, kind at_odd_rank, MPI_Datatype odd_type, int odd_count,
                 values wanted) {
    const bool odd = s.rank == s.ranks - 1;
    const kind k = odd ? at_odd_rank : kind::device;
    buffer out(k, count * sizeof(T)), in(k, static_cast<std::size_t>(s.ranks) * count * sizeof(T));
    in.clear();
    if (in_place)
      put(in, s.rank, block<T>(s.rank));
    else
      put(out, 0, block<T>(s.rank));
    MPI_Allgather(in_place ? MPI_IN_PLACE : out.data(), odd ? odd_count : count,
                  odd ? odd_type : type, in.data(), odd ? odd_count : count, odd ? odd_type : type,
                  MPI_COMM_WORLD);
    const std::vector<T> got = all_of<T>(in, s.ranks);
    for (int r = 0; r < s.ranks; ++r) expect_error(s, worst_error(got, r, block<T>(r)), wanted, r);
    std::vector<T> first = got;
    MPI_Bcast(first.data(), as_int(first.size()), type, 0, s.control);
    s.expect(first == got, "all ranks have the same bits");
  }

  void alltoall() {
    const std::size_t bytes = static_cast<std::size_t>(s.ranks) * count * sizeof(T);
    buffer out(kind::device, bytes), in(kind::device, bytes);
    in.clear();
    for (int r = 0; r < s.ranks; ++r) put(out, r, block<T>(s.rank * s.ranks + r));
    MPI_Alltoall(out.data(), count, type, in.data(), count, type, MPI_COMM_WORLD);
    const std::vector<T> got = all_of<T>(in, s.ranks);
    const auto node = [&](int r) { return 2 * r / s.ranks; };
    for (int r = 0; r < s.ranks; ++r)
      expect_error(s, worst_error(got, r, block<T>(r * s.ranks + s.rank)),
                   node(r) != node(s.rank) ? values::compressed : values::exact, r);
  }

  void all(const char* name) {
    MPI_Datatype whole;
    MPI_Type_contiguous(count, type, &whole);
    MPI_Type_commit(&whole);
    s.run(std::string("allgather of ") + name, [&] {
      for (const bool in_place : {false, true})
        for (int call = 0; call < 3; ++call)
          allgather(in_place, kind::device, type, count, values::compressed);
    });
    s.run(std::string("alltoall of ") + name, [&] {
      for (int call = 0; call < 3; ++call) alltoall();
    });
    // A vote on two levels that met host memory has all calls staged until the next.
    s.run(std::string("one rank cannot compress ") + name, [&] {
      for (int call = 0; call < 3; ++call) {
        allgather(false, kind::device, type, count, values::either);
        allgather(false, kind::host, type, count, values::exact);
        allgather(false, kind::device, whole, 1, values::exact);
      }
    });
    MPI_Type_free(&whole);
  }

 private:
  suite& s;
  MPI_Datatype type;
};

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  checks<float>(s, MPI_FLOAT).all("floats");
  checks<double>(s, MPI_DOUBLE).all("doubles");
  return s.finish();
}
