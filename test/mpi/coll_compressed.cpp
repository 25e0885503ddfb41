// SPDX-License-Identifier: BSD-3-Clause
// Compressed collectives between pretended nodes: values that crossed are within the codec's error
// and were changed by it, sums are within the bound that the library reports, what did not cross is
// exact, allgather and allreduce give all ranks the same bits, and where a rank cannot compress
// nobody does. The settings of CMakeLists.txt force zfp for floats and doubles from 16 KiB on.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "suite.hpp"

namespace {

using namespace mpi_test;

constexpr int count = 6000;  // values of a block: more than one piece

template <class T>
std::vector<T> block(int id) {
  std::vector<T> made(count);
  for (int i = 0; i < count; ++i)
    made[static_cast<std::size_t>(i)] =
        static_cast<T>(std::sin(i / 50.0 + id) * 1000 + std::sin(i * 1.7 * (id + 1)) * 10);
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

/// The most by which the library says that a value is off.
double reported() {
  static const auto ask =
      reinterpret_cast<double (*)()>(dlsym(RTLD_DEFAULT, "telpher_compression_error"));
  return ask ? ask() : -1;
}

enum class reduction { allreduce, reduce_scatter_block, reduce_scatter };

enum class values { exact, compressed };

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

  /// What this rank gets of the sums, in one of the three calls; blocks of a reduce-scatter differ.
  std::vector<T> sums(reduction what, MPI_Op op, const std::vector<std::vector<T>>& inputs,
                      bool in_place, MPI_Comm comm) {
    const std::vector<T>& own = inputs[static_cast<std::size_t>(s.rank)];
    const std::size_t bytes = own.size() * sizeof(T);
    buffer out(kind::device, bytes), in(kind::device, bytes);
    in.clear();
    copy(kind::device, in_place ? in.data() : out.data(), own.data(), bytes);
    const void* from = in_place ? MPI_IN_PLACE : out.data();
    const std::vector<int> counts = counts_of(what, as_int(own.size()));
    if (what == reduction::allreduce)
      MPI_Allreduce(from, in.data(), as_int(own.size()), type, op, comm);
    else if (what == reduction::reduce_scatter)
      MPI_Reduce_scatter(from, in.data(), counts.data(), type, op, comm);
    else
      MPI_Reduce_scatter_block(from, in.data(), counts[0], type, op, comm);
    std::vector<T> got(own.size());
    copy(kind::device, got.data(), in.data(), bytes);
    got.resize(static_cast<std::size_t>(what == reduction::allreduce
                                            ? as_int(own.size())
                                            : counts[static_cast<std::size_t>(s.rank)]));
    return got;
  }

  std::vector<int> counts_of(reduction what, int n) const {
    std::vector<int> counts(static_cast<std::size_t>(s.ranks), n / s.ranks);
    if (what == reduction::reduce_scatter) {  // one is empty, the next one is long
      counts[1] += counts[0];
      counts[0] = 0;
    }
    return counts;
  }

  /// Against sums in double precision; `compressed`: something must differ by more than rounding.
  void check_sums(reduction what, bool in_place, values wanted, MPI_Comm comm) {
    std::vector<std::vector<T>> inputs;
    for (int r = 0; r < s.ranks; ++r) {
      inputs.push_back(block<T>(r));
      inputs.back().resize(static_cast<std::size_t>(count / s.ranks * s.ranks));
    }
    const std::vector<T> got = sums(what, MPI_SUM, inputs, in_place, comm);
    s.expect(got == sums(what, MPI_SUM, inputs, in_place, comm), "the same call, the same bits");
    const std::vector<int> counts = counts_of(what, as_int(inputs[0].size()));
    const auto first = static_cast<std::size_t>(
        what == reduction::allreduce ? 0
                                     : std::accumulate(counts.begin(), counts.begin() + s.rank, 0));
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      double sum = 0;
      for (const auto& in : inputs) sum += static_cast<double>(in[first + i]);
      worst = std::max(worst, std::abs(sum - static_cast<double>(got[i])));
    }
    const double rounding = 1000.0 * s.ranks * s.ranks * std::numeric_limits<T>::epsilon();
    const double bound = wanted == values::exact ? 0 : reported();
    if (worst > bound + rounding) s.fail("off by %g, the bound is %g", worst, bound);
    if (wanted == values::compressed && !got.empty() && worst <= rounding)
      s.fail("off by %g only: this was not compressed", worst);
    if (what != reduction::allreduce) return;
    std::vector<T> other = got;
    MPI_Bcast(other.data(), as_int(other.size()), type, 0, s.control);
    s.expect(other == got, "all ranks have the same bits");
    s.expect(bound <= 48 * s.ranks, "the bound is below a twentieth of the values");
  }

  void all_sums(const char* name) {
    const auto what = {reduction::allreduce, reduction::reduce_scatter_block,
                       reduction::reduce_scatter};
    s.run(std::string("sums of ") + name, [&] {
      for (const reduction r : what)
        for (const bool in_place : {false, true})
          check_sums(r, in_place, values::compressed, MPI_COMM_WORLD);
    });
    s.run(std::string("maxima of ") + name, [&] {
      std::vector<std::vector<T>> inputs;
      for (int r = 0; r < s.ranks; ++r) inputs.push_back(block<T>(r));
      std::vector<T> most = inputs[0];
      for (const auto& in : inputs)
        for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], in[i]);
      s.expect(sums(reduction::allreduce, MPI_MAX, inputs, false, MPI_COMM_WORLD) == most,
               "maxima are exact");
    });
    s.run(std::string("a communicator's key, ") + name, [&] {
      for (const bool off : {true, false}) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "telpher_compression", off ? "off" : "zfp:rate=12");
        MPI_Comm comm;
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
        MPI_Info_free(&info);
        check_sums(reduction::allreduce, false, off ? values::exact : values::compressed, comm);
        MPI_Comm_free(&comm);
      }
    });
  }

  /// Rank r sends `count` values to all but the last rank, which gets half of them.
  void alltoallv(int nodes) {
    std::vector<int> out(static_cast<std::size_t>(s.ranks), count), in = out, places;
    out.back() = count / 2;
    if (s.rank == s.ranks - 1) std::fill(in.begin(), in.end(), count / 2);
    for (int r = 0; r < s.ranks; ++r) places.push_back(r * count);
    const std::size_t bytes = static_cast<std::size_t>(s.ranks) * count * sizeof(T);
    buffer from(kind::device, bytes), to(kind::device, bytes);
    to.clear();
    for (int r = 0; r < s.ranks; ++r) put(from, r, block<T>(s.rank * s.ranks + r));
    MPI_Alltoallv(from.data(), out.data(), places.data(), type, to.data(), in.data(), places.data(),
                  type, MPI_COMM_WORLD);
    const std::vector<T> got = all_of<T>(to, s.ranks);
    for (int r = 0; r < s.ranks; ++r) {
      std::vector<T> sent = block<T>(r * s.ranks + s.rank);
      sent.resize(static_cast<std::size_t>(in[0]));
      const bool crossed = nodes * r / s.ranks != nodes * s.rank / s.ranks;
      expect_error(s, worst_error(got, r, sent), crossed ? values::compressed : values::exact, r);
    }
  }

  void alltoall(int nodes) {
    const std::size_t bytes = static_cast<std::size_t>(s.ranks) * count * sizeof(T);
    buffer out(kind::device, bytes), in(kind::device, bytes);
    in.clear();
    for (int r = 0; r < s.ranks; ++r) put(out, r, block<T>(s.rank * s.ranks + r));
    MPI_Alltoall(out.data(), count, type, in.data(), count, type, MPI_COMM_WORLD);
    const std::vector<T> got = all_of<T>(in, s.ranks);
    const auto node = [&](int r) { return nodes * r / s.ranks; };
    for (int r = 0; r < s.ranks; ++r)
      expect_error(s, worst_error(got, r, block<T>(r * s.ranks + s.rank)),
                   node(r) != node(s.rank) ? values::compressed : values::exact, r);
  }

  void all_blocks(const char* name, int nodes) {
    MPI_Datatype whole;
    MPI_Type_contiguous(count, type, &whole);
    MPI_Type_commit(&whole);
    s.run(std::string("allgather of ") + name, [&] {
      for (const bool in_place : {false, true})
        for (int call = 0; call < 3; ++call)
          allgather(in_place, kind::device, type, count, values::compressed);
    });
    s.run(std::string("alltoall of ") + name, [&] {
      for (int call = 0; call < 3; ++call) alltoall(nodes);
      for (int call = 0; call < 2; ++call) alltoallv(nodes);
    });
    s.run(std::string("one rank cannot compress ") + name, [&] {
      for (int call = 0; call < 3; ++call) {
        allgather(false, kind::device, type, count, values::compressed);
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
  const char* pretended = std::getenv("TELPHER_TEST_PRETENDED_NODES");
  const int nodes = pretended ? std::atoi(pretended) : 1;
  checks<double> doubles(s, MPI_DOUBLE);
  checks<float> floats(s, MPI_FLOAT);
  doubles.all_sums("doubles");  // the bound only grows: those of small errors come first
  floats.all_sums("floats");
  floats.all_blocks("floats", nodes);
  doubles.all_blocks("doubles", nodes);
  return s.finish();
}
