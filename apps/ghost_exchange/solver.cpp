// SPDX-License-Identifier: BSD-3-Clause
// The steps of one version. The exchange has two phases, left and right, then down and up, so that
// corners arrive without messages of their own.
#include "ghost_exchange/ghost_exchange.hpp"

namespace apps::ghost_exchange {
namespace {

/// Runs kernels at once, on the CPU: what a host-only program is.
class loops {
 public:
  explicit loops(const gpu*) {}
  template <class K>
  void run(std::int64_t items, const K& kernel) {
    for (std::int64_t i = 0; i < items; ++i) kernel(static_cast<index>(i));
  }
  template <class T>
  void copy(T* to, const T* from, std::size_t count) {
    std::copy(from, from + count, to);
  }
  void wait() {}
};

class device_work {
 public:
  explicit device_work(const gpu* g) : queue_(*g) {}
  template <class K>
  void run(std::int64_t items, const K& kernel) {
    queue_.run(static_cast<std::size_t>(items), kernel);
  }
  template <class T>
  void copy(T* to, const T* from, std::size_t count) {
    queue_.copy(to, from, count);
  }
  void wait() { queue_.wait(); }

 private:
  queue queue_;
};

template <class F>
class storage;

template <>
class storage<flat_field> {
 public:
  storage(const problem& p, telpher_memory kind) : cells_(p.cells(), kind), problem_(p) {}
  flat_field view() const { return {cells_.kernel(), problem_.halo, problem_.row()}; }
  std::vector<double> to_host() const { return cells_.to_host(); }
  void swap(storage& other) { cells_.swap(other.cells_); }

 private:
  array<double> cells_;
  problem problem_;
};

template <>
class storage<row_field> {
 public:
  storage(const problem& p, telpher_memory kind)
      : cells_(p.cells(), kind),
        rows_(static_cast<std::size_t>(p.nj + 2 * p.halo), kind),
        halo_(p.halo) {
    for (std::size_t j = 0; j < rows_.size(); ++j)
      rows_.data()[j] = cells_.kernel() + j * static_cast<std::size_t>(p.row());
  }
  row_field view() const { return {rows_.kernel(), halo_}; }
  std::vector<double> to_host() const { return cells_.to_host(); }
  void swap(storage& other) {
    cells_.swap(other.cells_);
    rows_.swap(other.rows_);
  }

 private:
  array<double> cells_;
  array<double*> rows_;  // memory that the CPU may touch
  int halo_;
};

/// One neighbour in one phase: what goes there and what comes from there.
struct side {
  int neighbour;
  box send, receive;
};

/// The two sides of a phase: towards smaller coordinates, then larger.
struct phase {
  side sides[2];
};

phase left_and_right(const problem& p) {
  const int i = p.place_i(), j = p.place_j(), rank = world_rank();
  // Rows outside the domain belong to the corners' way, too.
  const int first = p.corners && j == 0 ? -p.halo : 0;
  const int end = p.corners && j == p.py - 1 ? p.nj + p.halo : p.nj;
  const auto columns = [&](int from) { return box{first, from, end - first, p.halo}; };
  return {{{i > 0 ? rank - 1 : MPI_PROC_NULL, columns(0), columns(-p.halo)},
           {i < p.px - 1 ? rank + 1 : MPI_PROC_NULL, columns(p.ni - p.halo), columns(p.ni)}}};
}

phase down_and_up(const problem& p) {
  const int j = p.place_j(), rank = world_rank();
  const int first = p.corners ? -p.halo : 0;
  const auto rows = [&](int from) { return box{from, first, p.halo, p.ni - 2 * first}; };
  return {{{j > 0 ? rank - p.px : MPI_PROC_NULL, rows(0), rows(-p.halo)},
           {j < p.py - 1 ? rank + p.px : MPI_PROC_NULL, rows(p.nj - p.halo), rows(p.nj)}}};
}

struct buffers {
  buffers(std::size_t cells, telpher_memory kind, bool staged)
      : send(cells, kind), receive(cells, kind) {
    if (!staged) return;
    host_send = {cells, TELPHER_MEMORY_PINNED};
    host_receive = {cells, TELPHER_MEMORY_PINNED};
  }
  array<double> send, receive;            // both sides of a phase, one after the other
  array<double> host_send, host_receive;  // where they are staged by hand
};

template <class F, class Work>
class solver {
 public:
  solver(const version& v, const problem& p, const gpu* g)
      : version_(v), problem_(p), work_(g), inner_work_(g), x_(p, v.field), next_(p, v.field) {
    const box all{-p.halo, -p.halo, p.nj + 2 * p.halo, p.ni + 2 * p.halo};
    for (auto* field : {&x_, &next_})
      work_.run(all.cells(),
                begin<F>{field->view(), all, p.nj, p.ni, p.place_j() * p.nj, p.place_i() * p.ni});
    work_.wait();
    if (v.allocate_once) kept_ = std::make_unique<buffers>(make_buffers());
  }

  outcome run() {
    MPI_Barrier(MPI_COMM_WORLD);
    const double started = MPI_Wtime();
    for (int step = 0; step < problem_.steps; ++step) {
      timed(time_.boundary, [&] { boundary(); });
      if (version_.overlap)
        advance_beside_exchange();
      else {
        timed(time_.ghost_update, [&] { ghost_update(); });
        timed(time_.advancement, [&] { advance({0, 0, problem_.nj, problem_.ni}, work_); });
      }
      x_.swap(next_);
    }
    time_.total = MPI_Wtime() - started;
    boundary();
    ghost_update();
    return {time_, x_.to_host()};
  }

 private:
  template <class Section>
  void timed(double& clock, Section section) {
    const double started = MPI_Wtime();
    section();
    work_.wait();
    clock += MPI_Wtime() - started;
  }

  void boundary() {
    const problem& p = problem_;
    const auto edge = [&](bool there, box cells, bool in_row, int last) {
      if (there) work_.run(cells.cells(), outflow<F>{x_.view(), cells, in_row, last});
    };
    const int h = p.halo;
    edge(p.place_i() == 0, {0, -h, p.nj, h}, true, p.ni - 1);
    edge(p.place_i() == p.px - 1, {0, p.ni, p.nj, h}, true, p.ni - 1);
    edge(p.place_j() == 0, {-h, -h, h, p.row()}, false, p.nj - 1);
    edge(p.place_j() == p.py - 1, {p.nj, -h, h, p.row()}, false, p.nj - 1);
    work_.wait();
  }

  bool staged() const { return problem_.staged && version_.buffers == TELPHER_MEMORY_DEVICE; }

  buffers make_buffers() const {
    const problem& p = problem_;
    const int longest = std::max(p.nj + 2 * p.halo, p.row());
    return {2 * static_cast<std::size_t>(longest) * static_cast<std::size_t>(p.halo),
            version_.buffers, staged()};
  }

  void ghost_update() {
    std::unique_ptr<buffers> own;
    if (!kept_) own = std::make_unique<buffers>(make_buffers());
    buffers& b = kept_ ? *kept_ : *own;
    exchange(left_and_right(problem_), b);
    exchange(down_and_up(problem_), b);
  }

  void exchange(const phase& ph, buffers& b) {
    const auto part = static_cast<std::size_t>(ph.sides[0].send.cells());
    for (std::size_t s = 0; s < 2; ++s)
      if (ph.sides[s].neighbour != MPI_PROC_NULL)
        work_.run(static_cast<std::int64_t>(part),
                  pack<F>{b.send.kernel() + s * part, x_.view(), ph.sides[s].send});
    if (staged()) work_.copy(b.host_send.data(), b.send.kernel(), 2 * part);
    work_.wait();
    const double* send = staged() ? b.host_send.data() : b.send.data();
    double* receive = staged() ? b.host_receive.data() : b.receive.data();
    for (std::size_t s = 0; s < 2; ++s)
      MPI_Irecv(receive + s * part, static_cast<int>(part), MPI_DOUBLE, ph.sides[s].neighbour, 0,
                MPI_COMM_WORLD, pending_.next());
    for (std::size_t s = 0; s < 2; ++s)
      MPI_Isend(send + s * part, static_cast<int>(part), MPI_DOUBLE, ph.sides[s].neighbour, 0,
                MPI_COMM_WORLD, pending_.next());
    pending_.wait();
    if (staged()) work_.copy(b.receive.kernel(), b.host_receive.data(), 2 * part);
    for (std::size_t s = 0; s < 2; ++s)
      if (ph.sides[s].neighbour != MPI_PROC_NULL)
        work_.run(static_cast<std::int64_t>(part),
                  unpack<F>{b.receive.kernel() + s * part, x_.view(), ph.sides[s].receive});
    work_.wait();
  }

  void advance(const box& cells, Work& work) {
    if (cells.nj > 0 && cells.ni > 0)
      work.run(cells.cells(), blur<F>{x_.view(), next_.view(), cells});
  }

  /// The inner cells need no halo: they run in a queue of their own while messages travel.
  void advance_beside_exchange() {
    const int nj = problem_.nj, ni = problem_.ni;
    advance({1, 1, nj - 2, ni - 2}, inner_work_);
    timed(time_.ghost_update, [&] { ghost_update(); });
    timed(time_.advancement, [&] {
      advance({0, 0, 1, ni}, work_);
      if (nj > 1) advance({nj - 1, 0, 1, ni}, work_);
      advance({1, 0, nj - 2, 1}, work_);
      if (ni > 1) advance({1, ni - 1, nj - 2, 1}, work_);
      inner_work_.wait();
    });
  }

  const version& version_;
  const problem problem_;
  Work work_, inner_work_;
  storage<F> x_, next_;
  std::unique_ptr<buffers> kept_;
  requests pending_;
  timing time_;
};

}  // namespace

outcome run(const version& v, const problem& p, const gpu* g) {
  outcome o = v.field == TELPHER_MEMORY_HOST ? solver<row_field, loops>(v, p, g).run()
              : v.flat                       ? solver<flat_field, device_work>(v, p, g).run()
                                             : solver<row_field, device_work>(v, p, g).run();
  timing& t = o.time;
  t = {largest(t.advancement), largest(t.boundary), largest(t.ghost_update), largest(t.total)};
  return o;
}

int count_differences(const problem& p, const std::vector<double>& field) {
  const int whole_j = p.nj * p.py, whole_i = p.ni * p.px;
  const std::int64_t row = whole_i + 2;
  std::vector<double> cells(static_cast<std::size_t>(row * (whole_j + 2)), 0.0), next = cells;
  flat_field x{cells.data(), 1, row}, to{next.data(), 1, row};
  const auto each = [&](auto f) {
    for (int j = 0; j < whole_j; ++j)
      for (int i = 0; i < whole_i; ++i) f(j, i);
  };
  const auto nearest = [](int at, int count) { return std::clamp(at, 0, count - 1); };
  each([&](int j, int i) { x.at(j, i) = value_at_begin(j, i); });
  for (int step = 0; step < p.steps; ++step) {
    for (int j = -1; j <= whole_j; ++j)
      for (int i = -1; i <= whole_i; ++i)
        x.at(j, i) = x.at(nearest(j, whole_j), nearest(i, whole_i));
    each([&](int j, int i) { to.at(j, i) = blurred(x, j, i); });
    std::swap(x, to);
  }
  int different = 0;
  for (int j = -p.halo; j < p.nj + p.halo; ++j)
    for (int i = -p.halo; i < p.ni + p.halo; ++i) {
      const bool corner = (j < 0 || j >= p.nj) && (i < 0 || i >= p.ni);
      if (corner && !p.corners) continue;
      const auto at = static_cast<std::size_t>(j + p.halo) * static_cast<std::size_t>(p.row()) +
                      static_cast<std::size_t>(i + p.halo);
      different += field[at] != x.at(nearest(p.place_j() * p.nj + j, whole_j),
                                     nearest(p.place_i() * p.ni + i, whole_i));
    }
  return different;
}

}  // namespace apps::ghost_exchange
