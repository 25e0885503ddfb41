// SPDX-License-Identifier: BSD-3-Clause
// The solver on a device. Halo values arrive straight in the vectors' tails, dot products are
// summed over the ranks in device memory; with `staged` both go through pinned memory by hand. With
// `matched` all of it runs in the order of the queue: the scalars stay on the device, and the CPU
// waits for the last iteration only, or for each where it needs to know the residual.
#include <algorithm>
#include <cmath>

#include "cg/cg.hpp"
#include "common/ordered_requests.hpp"

namespace apps::cg {
namespace {

constexpr index dot_items = 1u << 14;
constexpr index sum_items = 1u << 7;

/// The results of dot products on the device; r'z of this iteration and of the one before.
enum scalar : std::size_t { rtz, other_rtz, pap, norm, scalars };

array<double> vector_of(std::size_t length) {
  return {length, TELPHER_MEMORY_DEVICE};
}

template <class T>
array<T> on_device(const std::vector<T>& host) {
  array<T> made(host.size(), TELPHER_MEMORY_DEVICE);
  if (!host.empty()) made.fill_from(host.data(), host.size());
  return made;
}

/// Adds the time until it ends to a clock.
class timed {
 public:
  explicit timed(double& clock) : clock_(clock) { clock_ -= MPI_Wtime(); }
  ~timed() { clock_ += MPI_Wtime(); }

 private:
  double& clock_;
};

}  // namespace

/// One grid: its matrix, its messages, and for the preconditioner its vectors.
struct solver::level {
  level(const geometry& geo, exchange_way way) : g(geo) {
    host_matrix m = build_matrix(geo);
    nonzeros = total(m.nonzeros);
    rows = static_cast<std::size_t>(geo.rows());
    halo = m.send_rows.size();
    values = on_device(m.values);
    columns = on_device(m.columns);
    send_rows = on_device(m.send_rows);
    diagonal.assign(m.values.begin() + static_cast<std::ptrdiff_t>(centre * rows),
                    m.values.begin() + static_cast<std::ptrdiff_t>((centre + 1) * rows));
    neighbours = std::move(m.neighbours);
    send = vector_of(halo);
    if (way == exchange_way::staged) {
      host_send = {halo, TELPHER_MEMORY_PINNED};
      host_receive = {halo, TELPHER_MEMORY_PINNED};
    }
    if (way == exchange_way::matched) match();
    for (int c = 0; c <= colours; ++c)
      first[static_cast<std::size_t>(c)] = static_cast<index>(geo.first_row(c));
    ax = vector_of(rows + halo);
  }

  /// Makes this the coarse grid of `fine`: its own right side and answer, and where its rows are.
  void serve(const level& fine) {
    std::vector<int> list(rows);
    for (int z = 0; z < g.n[2]; ++z)
      for (int y = 0; y < g.n[1]; ++y)
        for (int x = 0; x < g.n[0]; ++x)
          list[static_cast<std::size_t>(g.number(x, y, z))] = fine.g.number(2 * x, 2 * y, 2 * z);
    fine_row = on_device(list);
    right_side = vector_of(rows + halo);
    answer = vector_of(rows + halo);
  }

  void match() {
    receive = vector_of(halo);
    for (const neighbour& n : neighbours) {
      telpher_matched_recv_init(receive.data() + n.offset, n.count, MPI_DOUBLE, n.rank,
                                n.received_as, MPI_COMM_WORLD, messages.next());
      telpher_matched_send_init(send.data() + n.offset, n.count, MPI_DOUBLE, n.rank, n.sent_as,
                                MPI_COMM_WORLD, messages.next());
    }
    messages.match();
  }

  matrix_view matrix() const {
    return {values.kernel(), columns.kernel(), static_cast<index>(rows)};
  }

  geometry g;
  std::size_t rows = 0, halo = 0;
  long nonzeros = 0;
  array<double> values;
  array<int> columns, send_rows, fine_row;
  std::vector<double> diagonal;
  std::vector<neighbour> neighbours;
  std::array<index, colours + 1> first{};
  array<double> send, receive, host_send, host_receive, ax, right_side, answer;
  ordered_requests messages;
};

class solver::implementation {
 public:
  implementation(const gpu& g, const geometry& finest, int levels, exchange_way way)
      : staged_(way == exchange_way::staged),
        in_order_(way == exchange_way::matched),
        queue_(g),
        scalars_(vector_of(scalars)),
        host_scalar_(1, TELPHER_MEMORY_PINNED) {
    geometry next = finest;
    for (int l = 0; l < levels; ++l, next = next.coarser()) {
      levels_.push_back(std::make_unique<level>(next, way));
      if (l > 0) levels_.back()->serve(*levels_[static_cast<std::size_t>(l) - 1]);
    }
    parts_ = vector_of(dot_items);
    sums_ = vector_of(sum_items);
    r_ = vector_of(length());
    z_ = vector_of(length());
    p_ = vector_of(length());
    ap_ = vector_of(length());
    for (std::size_t s = 0; in_order_ && s < scalars; ++s) {
      sums_over_ranks_[s].add_sum(scalars_.data() + s);
      sums_over_ranks_[s].match();
    }
  }

  level& finest() { return *levels_[0]; }
  std::size_t length() const { return levels_[0]->rows + levels_[0]->halo; }

  // --- operations ---

  /// Brings a vector's tail up to date. The queue is idle afterwards, but in order it need not be.
  void exchange(level& l, const array<double>& x) {
    queue_.run(l.halo, gather{x.kernel(), l.send_rows.kernel(), l.send.kernel()});
    if (in_order_) {
      l.messages.run(queue_);
      queue_.copy(x.kernel() + l.rows, l.receive.kernel(), l.halo);
      return;
    }
    if (staged_) queue_.copy(l.host_send.data(), l.send.kernel(), l.halo);
    queue_.wait();
    const timed clock(time_.exchange);
    const double* send = staged_ ? l.host_send.data() : l.send.data();
    double* receive = staged_ ? l.host_receive.data() : x.data() + l.rows;
    for (const neighbour& n : l.neighbours)
      MPI_Irecv(receive + n.offset, n.count, MPI_DOUBLE, n.rank, n.received_as, MPI_COMM_WORLD,
                pending_.next());
    for (const neighbour& n : l.neighbours)
      MPI_Isend(send + n.offset, n.count, MPI_DOUBLE, n.rank, n.sent_as, MPI_COMM_WORLD,
                pending_.next());
    pending_.wait();
    if (!staged_) return;
    queue_.copy(x.kernel() + l.rows, l.host_receive.data(), l.halo);
    queue_.wait();
  }

  void multiply_by(level& l, const array<double>& x, array<double>& y) {
    exchange(l, x);
    queue_.run(l.rows, multiply{l.matrix(), x.kernel(), y.kernel()});
  }

  void smooth_symmetric(level& l, const array<double>& r, array<double>& x) {
    exchange(l, x);
    const auto sweep = [&](std::size_t c) {
      queue_.run(l.first[c + 1] - l.first[c],
                 smooth{l.matrix(), r.kernel(), x.kernel(), l.first[c]});
    };
    for (std::size_t c = 0; c < colours; ++c) sweep(c);
    for (std::size_t c = colours; c-- > 0;) sweep(c);
  }

  void multigrid(std::size_t number, const array<double>& r, array<double>& x) {
    level& l = *levels_[number];
    queue_.run(l.rows + l.halo, fill{x.kernel(), 0.0});
    smooth_symmetric(l, r, x);
    if (number + 1 == levels_.size()) return;
    level& coarse = *levels_[number + 1];
    multiply_by(l, x, l.ax);
    queue_.run(coarse.rows, restrict_residual{r.kernel(), l.ax.kernel(), coarse.fine_row.kernel(),
                                              coarse.right_side.kernel()});
    multigrid(number + 1, coarse.right_side, coarse.answer);
    queue_.run(coarse.rows, prolong{coarse.answer.kernel(), coarse.fine_row.kernel(), x.kernel()});
    smooth_symmetric(l, r, x);
  }

  double* scalar_at(scalar s) { return scalars_.kernel() + s; }

  /// The dot product of this rank's rows.
  void dot_here(const array<double>& x, const array<double>& y, scalar out) {
    const std::size_t rows = finest().rows;
    queue_.run(dot_items, dot_parts{x.kernel(), y.kernel(), rows, dot_items, parts_.kernel()});
    queue_.run(sum_items, sum_parts{parts_.kernel(), dot_items, sum_items, sums_.kernel()});
    queue_.run(1, sum_parts{sums_.kernel(), sum_items, 1, scalar_at(out)});
  }
  /// In order.
  void dot_into(const array<double>& x, const array<double>& y, scalar out) {
    dot_here(x, y, out);
    sums_over_ranks_[out].run(queue_);
  }
  double dot(const array<double>& x, const array<double>& y) {
    if (in_order_)
      dot_into(x, y, norm);
    else
      dot_here(x, y, norm);
    if (staged_) queue_.copy(host_scalar_.data(), scalar_at(norm), 1);
    if (!in_order_) {
      queue_.wait();
      const timed clock(time_.allreduce);
      MPI_Allreduce(MPI_IN_PLACE, staged_ ? host_scalar_.data() : scalars_.data() + norm, 1,
                    MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!staged_) {
      queue_.copy(host_scalar_.data(), scalar_at(norm), 1);
      queue_.wait();
    }
    return *host_scalar_.data();
  }

  void combine(double alpha, const array<double>& x, double beta, const array<double>& y,
               array<double>& w) {
    queue_.run(finest().rows, waxpby{alpha, x.kernel(), beta, y.kernel(), w.kernel()});
  }

  void add(const array<double>& x, double sign, scalar numerator, scalar denominator,
           const array<double>& y, array<double>& w) {
    queue_.run(finest().rows, add_scaled{x.kernel(), sign, scalar_at(numerator),
                                         scalar_at(denominator), y.kernel(), w.kernel()});
  }

  // --- the phases, each over when its clock stops ---

  template <class Work>
  void phase(double& clock, Work work) {
    const timed running(clock);
    work();
    queue_.wait();
  }
  double dot_phase(const array<double>& x, const array<double>& y) {
    const timed running(time_.ddot);
    return dot(x, y);
  }
  void combine_phase(double alpha, const array<double>& x, double beta, const array<double>& y,
                     array<double>& w) {
    phase(time_.waxpby, [&] { combine(alpha, x, beta, y, w); });
  }
  void multiply_phase(const array<double>& x, array<double>& y) {
    phase(time_.spmv, [&] { multiply_by(finest(), x, y); });
  }

  void precondition(bool by_multigrid) {
    if (by_multigrid)
      multigrid(0, r_, z_);
    else
      queue_.copy(z_.kernel(), r_.kernel(), finest().rows);
  }

  outcome solve(const array<double>& b, array<double>& x, const limits& l) {
    if (in_order_) return solve_in_order(b, x, l);
    const timed running(time_.total);
    multiply_phase(x, ap_);
    combine_phase(1.0, b, -1.0, ap_, r_);
    const double first = std::sqrt(dot_phase(r_, r_));
    outcome o{0, {1.0}};
    double rtz = 0;
    while (o.iterations < l.iterations && o.residuals.back() > l.tolerance) {
      phase(time_.mg, [&] { precondition(l.precondition); });
      const double before = rtz;
      if (o.iterations == 0) {
        combine_phase(1.0, z_, 0.0, z_, p_);
        rtz = dot_phase(r_, z_);
      } else {
        rtz = dot_phase(r_, z_);
        combine_phase(1.0, z_, rtz / before, p_, p_);
      }
      multiply_phase(p_, ap_);
      const double alpha = rtz / dot_phase(p_, ap_);
      combine_phase(1.0, x, alpha, p_, x);
      combine_phase(1.0, r_, -alpha, ap_, r_);
      o.residuals.push_back(std::sqrt(dot_phase(r_, r_)) / first);
      ++o.iterations;
    }
    return o;
  }

  /// The same steps. The norms of the residuals are collected on the device.
  outcome solve_in_order(const array<double>& b, array<double>& x, const limits& l) {
    const timed running(time_.total);
    const auto most = static_cast<std::size_t>(l.iterations) + 1;
    if (norms_.size() < most) norms_ = vector_of(most);
    array<double> host(most, TELPHER_MEMORY_PINNED);
    multiply_by(finest(), x, ap_);
    combine(1.0, b, -1.0, ap_, r_);
    outcome o;
    const auto keep_norm = [&] {
      dot_into(r_, r_, norm);
      queue_.copy(norms_.kernel() + o.iterations, scalar_at(norm), 1);
    };
    const auto residual_of = [&](int i) { return std::sqrt(host.data()[i] / host.data()[0]); };
    const auto read_norms = [&](int first, int end) {
      queue_.copy(host.data() + first, norms_.kernel() + first,
                  static_cast<std::size_t>(end - first));
      queue_.wait();
    };
    keep_norm();
    while (o.iterations < l.iterations) {
      precondition(l.precondition);
      const scalar now = o.iterations % 2 == 0 ? rtz : other_rtz,
                   before = o.iterations % 2 == 0 ? other_rtz : rtz;
      dot_into(r_, z_, now);
      if (o.iterations == 0)
        combine(1.0, z_, 0.0, z_, p_);
      else
        add(z_, 1.0, now, before, p_, p_);
      multiply_by(finest(), p_, ap_);
      dot_into(p_, ap_, pap);
      add(x, 1.0, now, pap, p_, x);
      add(r_, -1.0, now, pap, ap_, r_);
      ++o.iterations;
      keep_norm();
      if (l.tolerance <= 0) continue;
      read_norms(0, o.iterations + 1);
      if (residual_of(o.iterations) <= l.tolerance) break;
    }
    read_norms(0, o.iterations + 1);
    for (int i = 0; i <= o.iterations; ++i) o.residuals.push_back(residual_of(i));
    return o;
  }

  void scale_diagonal(const std::vector<double>* factors) {
    level& l = finest();
    std::vector<double> scaled = l.diagonal;
    for (std::size_t i = 0; factors && i < scaled.size(); ++i) scaled[i] *= (*factors)[i];
    check(telpher_memcpy(l.values.data() + centre * l.rows, scaled.data(),
                         scaled.size() * sizeof(double)),
          "telpher_memcpy");
  }

  void wait() { queue_.wait(); }

  const bool staged_, in_order_;
  queue queue_;
  std::vector<std::unique_ptr<level>> levels_;
  array<double> scalars_, host_scalar_, norms_, parts_, sums_, r_, z_, p_, ap_;
  std::array<ordered_requests, scalars> sums_over_ranks_;
  requests pending_;
  timing time_;
};

solver::solver(const gpu& g, const geometry& finest, int levels, exchange_way way)
    : hidden_(std::make_unique<implementation>(g, finest, levels, way)) {}
solver::~solver() = default;

std::size_t solver::length() const {
  return hidden_->length();
}
outcome solver::solve(const array<double>& b, array<double>& x, const limits& l) {
  return hidden_->solve(b, x, l);
}
void solver::apply(array<double>& x, array<double>& y) {
  hidden_->multiply_by(hidden_->finest(), x, y);
  hidden_->wait();
}
void solver::precondition(const array<double>& r, array<double>& z) {
  hidden_->multigrid(0, r, z);
  hidden_->wait();
}
double solver::dot(const array<double>& x, const array<double>& y) {
  return hidden_->dot(x, y);
}
void solver::scale_diagonal(const std::vector<double>* factors) {
  hidden_->scale_diagonal(factors);
}
int solver::levels() const {
  return static_cast<int>(hidden_->levels_.size());
}
long solver::nonzeros(int number) const {
  return hidden_->levels_[static_cast<std::size_t>(number)]->nonzeros;
}
timing& solver::time() {
  return hidden_->time_;
}

}  // namespace apps::cg
