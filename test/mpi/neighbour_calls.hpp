// SPDX-License-Identifier: BSD-3-Clause
// One call of a neighbourhood collective or of MPI_Alltoallw in any form and memory. What each rank
// must get is computed from the neighbour lists, and not taken from the host MPI, whose
// non-blocking forms may be wrong. In device memory no call may be staged.
#pragma once

#include <algorithm>
#include <array>

#include "collective_calls.hpp"
#include "paths.hpp"
#include "topologies.hpp"

namespace mpi_test {

using what = collective_call;
inline constexpr std::array neighbour_calls{what::neighbor_allgather, what::neighbor_allgatherv,
                                            what::neighbor_alltoall, what::neighbor_alltoallv,
                                            what::neighbor_alltoallw};
inline bool gathers(what which) {
  return which == what::neighbor_allgather || which == what::neighbor_allgatherv;
}

/// A block is `count` elements of `type`, which covers `stride` ints of which it has every
/// `step`-th; blocks begin `spread` ints apart.
struct shape {
  int count;
  int step;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool derived() const { return step > 1; }
  int ints() const { return count * (derived() ? 4 : 1); }
  std::size_t span() const { return static_cast<std::size_t>(count * step * (derived() ? 4 : 1)); }
};

/// Four ints with gaps, or one int.
inline MPI_Datatype make_type(const shape& s) {
  MPI_Datatype strided = MPI_DATATYPE_NULL, made = MPI_DATATYPE_NULL;
  if (!s.derived()) {
    MPI_Type_dup(MPI_INT, &made);
    return made;
  }
  MPI_Type_vector(4, 1, s.step, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, static_cast<MPI_Aint>(sizeof(int)) * 4 * s.step, &made);
  MPI_Type_free(&strided);
  MPI_Type_commit(&made);
  return made;
}

/// The arrays of a call; programs let them go when a non-blocking call has returned.
struct arguments {
  std::vector<int> counts, places, byte_places;
  std::vector<MPI_Aint> bytes;
  std::vector<MPI_Datatype> types;
  arguments(std::size_t n, const shape& s)
      : counts(n, s.count), places(n), byte_places(n), bytes(n), types(n, s.type) {
    for (std::size_t i = 0; i < n; ++i) {
      places[i] = as_int(i) * s.count;
      byte_places[i] = as_int(i * s.span() * sizeof(int));
      bytes[i] = byte_places[i];
    }
  }
};

struct call {
  const topology& t;
  what which;
  shape s;

  std::size_t out_blocks(int rank) const { return gathers(which) ? 1 : t.to(rank).size(); }

  void make(form f, const void* from, void* to, const arguments& in, const arguments& out,
            MPI_Request* q) const {
    const bool all = which == what::alltoallw;
    call_arguments x;
    x.comm = t.comm;
    x.out = from;
    x.in = to;
    x.sent = x.received = s.count;
    x.out_type = x.in_type = s.type;
    x.out_counts = out.counts.data();
    x.in_counts = in.counts.data();
    x.out_places = (all ? out.byte_places : out.places).data();
    x.in_places = (all ? in.byte_places : in.places).data();
    x.out_bytes = out.bytes.data();
    x.in_bytes = in.bytes.data();
    x.out_types = out.types.data();
    x.in_types = in.types.data();
    make_call(which, f, x, q);
  }
};

inline int value(int rank, std::size_t block, int element, int round) {
  return rank * 1000003 + static_cast<int>(block) * 10007 + element * 13 + round;
}

inline constexpr int untouched = -7;

/// The ints of `blocks` blocks; `of(block, element)` is the content of each element.
template <class Of>
std::vector<int> image(const shape& s, std::size_t blocks, const Of& of) {
  std::vector<int> all(s.span() * blocks, untouched);
  for (std::size_t b = 0; b < blocks; ++b)
    for (int e = 0; e < s.ints(); ++e)
      all[b * s.span() + static_cast<std::size_t>(e * s.step)] = of(b, e);
  return all;
}

inline void write(buffer& to, const std::vector<int>& ints) {
  to.clear();
  to.write(reinterpret_cast<const unsigned char*>(ints.data()), ints.size() * sizeof(int));
}

/// One call's buffers, what they hold before and must hold after.
class exchange {
 public:
  exchange(suite& w, const call& c, kind from, kind to)
      : w_(w),
        c_(c),
        sources_(c.t.from(w.rank)),
        send_(from, c.out_blocks(w.rank) * c.s.span() * sizeof(int)),
        receive_(to, sources_.size() * c.s.span() * sizeof(int)) {}

  void load(int round) {
    write(send_, image(c_.s, c_.out_blocks(w_.rank),
                       [&](std::size_t b, int e) { return value(w_.rank, b, e, round); }));
    write(receive_, std::vector<int>(receive_.bytes() / sizeof(int), untouched));
  }

  void start(form f, MPI_Request* request) {
    arguments in(sources_.size(), c_.s), out(c_.out_blocks(w_.rank), c_.s);
    c_.make(f, send_.data(), receive_.data(), in, out, request);
    // Open MPI reads arrays of types once more at the end, as MPI allows.
    if (f == form::persistent || send_.memory() == kind::host)
      kept_.push_back(std::move(in)), kept_.push_back(std::move(out));
  }

  void check(int round) {
    const auto wanted = image(c_.s, sources_.size(), [&](std::size_t b, int e) {
      if (sources_[b] == MPI_PROC_NULL) return untouched;
      const std::size_t sent = gathers(c_.which) ? 0 : c_.t.block_for(w_.rank, b);
      return value(sources_[b], sent, e, round);
    });
    w_.expect_none(receive_.compare(reinterpret_cast<const unsigned char*>(wanted.data())));
  }

  bool hears_others() const {
    return std::any_of(sources_.begin(), sources_.end(),
                       [&](int r) { return r >= 0 && r != w_.rank; });
  }

 private:
  suite& w_;
  const call& c_;
  std::vector<int> sources_;
  buffer send_, receive_;
  std::vector<arguments> kept_;
};

struct memories {
  const char* name;
  kind even, odd;
};

inline std::vector<memories> all_memories() {
  if (kinds().back() != kind::device) return {{"host", kind::host, kind::host}};
  return {{"device", kind::device, kind::device},
          {"device ranks and host ranks", kind::device, kind::host},
          {"host", kind::host, kind::host}};
}

inline void expect_not_staged(suite& w, const exchange& x, const call& c) {
  if (c.s.count > 0 && x.hears_others()) w.expect(last_path() != "coll_staged", "it was staged");
}

/// One form of a call. The types and the arrays go as soon as MPI lets them; of the host MPI's own
/// calls they stay, since Open MPI uses freed types of persistent requests.
inline void check_form(suite& w, call c, form f, const memories& m) {
  const kind mine = w.rank % 2 == 0 ? m.even : m.odd;
  w.note("%s on a %s, %s, %s, %d elements, step %d", name_of(c.which), c.t.name.c_str(), m.name,
         form_names[static_cast<int>(f)], c.s.count, c.s.step);
  c.s.type = make_type(c.s);
  exchange x(w, c, mine, mine);
  MPI_Request request = MPI_REQUEST_NULL;
  x.load(0);
  x.start(f, &request);
  const bool by_host = m.even == kind::host && m.odd == kind::host;
  if (!by_host) MPI_Type_free(&c.s.type);
  for (int round = 0; round < (f == form::persistent ? 3 : 1); ++round) {
    if (f == form::persistent) x.load(round), MPI_Start(&request);
    if (f != form::blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
    x.check(round);
  }
  if (m.odd == kind::device) expect_not_staged(w, x, c);
  if (f == form::persistent) MPI_Request_free(&request);
  if (by_host) MPI_Type_free(&c.s.type);
}

}  // namespace mpi_test
