// SPDX-License-Identifier: BSD-3-Clause
// The arrays of counts and places of non-blocking collectives belong to the program again when the
// call has returned.
#include "coll_formulas.hpp"

namespace {

using namespace mpi_test;

/// The arrays of a call, which become the program's again when it has returned: the host MPIs have
/// read them then. Rank 0 passes device memory, so that its call may be initiated there later.
template <class Count, class Place>
class arrays {
 public:
  static constexpr int n = 3;  // elements of a block
  explicit arrays(const group& g) : g_(g) {}

  /// `call` initiates it, with the counts and displacements; `what` has the same result.
  template <class Call>
  std::string check(call_kind what, kind others, const Call& call) {
    const kind k = g_.rank == 0 ? kind::device : others;
    const int all = n * g_.ranks;
    numbers send(k, all), receive(k, all);
    send.set([&](int i) { return value(g_.rank, i, 0); });
    std::vector<Count> counts(g_.world.size(), n);
    std::vector<Place> places(g_.world.size());
    for (std::size_t r = 0; r < places.size(); ++r) places[r] = static_cast<Place>(n * r);
    MPI_Request request = MPI_REQUEST_NULL;
    if (g_.rank != 0) hear_first();
    call(send.data(), receive.data(), counts.data(), places.data(), &request);
    if (k == kind::device) {
      std::fill(counts.begin(), counts.end(), 1 << 20);
      std::fill(places.begin(), places.end(), -1);
    }
    if (g_.rank == 0) tell_others();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return wrong(what, receive);
  }

 private:
  // Rank 0 has returned from its call before the others make theirs.
  void tell_others() {
    for (int r = 1; r < g_.ranks; ++r) MPI_Send(nullptr, 0, MPI_INT, r, 5, g_.comm);
  }
  void hear_first() { MPI_Recv(nullptr, 0, MPI_INT, 0, 5, g_.comm, MPI_STATUS_IGNORE); }

  std::string wrong(call_kind what, numbers& receive) {
    const int me = g_.rank;
    const auto first = [&](auto of) {  // the rest was not written
      return receive.compare([&](int i) { return i < n ? of(i) : untouched; });
    };
    switch (what) {
      case call_kind::allgather:
      case call_kind::gather:
        if (what == call_kind::gather && me != 0) return "";
        return receive.compare([&](int i) { return value(i / n, i % n, 0); });
      case call_kind::alltoall:
        return receive.compare([&](int i) { return value(i / n, me * n + i % n, 0); });
      case call_kind::scatter:
        return first([&](int i) { return value(0, me * n + i, 0); });
      default:  // reduce_scatter
        return first([&](int i) {
          int sum = 0;
          for (int r = 0; r < g_.ranks; ++r) sum += value(r, me * n + i, 0);
          return sum;
        });
    }
  }

  static constexpr int untouched = static_cast<int>(guard_byte * 0x01010101u);
  const group& g_;
};

/// Every v form; `end` is "" or the _c of MPI_Count.
#define MPI_TEST_V_FORMS(s, g, others, Count, Place, end)                              \
  {                                                                                    \
    const int n = arrays<Count, Place>::n;                                             \
    const MPI_Datatype t = MPI_INT;                                                    \
    arrays<Count, Place> of(g);                                                        \
    s.expect_none(of.check(call_kind::allgather, others,                               \
                           [&](auto* a, auto* b, auto* c, auto* d, MPI_Request* q) {   \
                             MPI_Iallgatherv##end(a, n, t, b, c, d, t, g.comm, q);     \
                           }));                                                        \
    s.expect_none(of.check(call_kind::alltoall, others,                                \
                           [&](auto* a, auto* b, auto* c, auto* d, MPI_Request* q) {   \
                             MPI_Ialltoallv##end(a, c, d, t, b, c, d, t, g.comm, q);   \
                           }));                                                        \
    s.expect_none(of.check(call_kind::gather, others,                                  \
                           [&](auto* a, auto* b, auto* c, auto* d, MPI_Request* q) {   \
                             MPI_Igatherv##end(a, n, t, b, c, d, t, 0, g.comm, q);     \
                           }));                                                        \
    s.expect_none(of.check(call_kind::scatter, others,                                 \
                           [&](auto* a, auto* b, auto* c, auto* d, MPI_Request* q) {   \
                             MPI_Iscatterv##end(a, c, d, t, b, n, t, 0, g.comm, q);    \
                           }));                                                        \
    s.expect_none(of.check(call_kind::count_, others,                                  \
                           [&](auto* a, auto* b, auto* c, auto*, MPI_Request* q) {     \
                             MPI_Ireduce_scatter##end(a, b, c, t, MPI_SUM, g.comm, q); \
                           }));                                                        \
  }

}  // namespace

void check_arrays(mpi_test::suite& s) {
  const group g(MPI_COMM_WORLD);
  for (const kind others : {kind::host, kind::device}) {
    MPI_TEST_V_FORMS(s, g, others, int, int, )
#if MPI_VERSION >= 4
    MPI_TEST_V_FORMS(s, g, others, MPI_Count, MPI_Aint, _c)
#endif
  }
}
