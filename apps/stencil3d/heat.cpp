// SPDX-License-Identifier: BSD-3-Clause
// The heat equation on a block for each rank, with a halo of one cell. The faces travel as derived
// datatypes straight from and to the field in device memory, by messages or by one neighbourhood
// collective, packed into device buffers by a kernel, packed and staged through pinned memory by
// hand, or packed and exchanged by matched requests in the order of the queue, for which the CPU
// waits at the end only. All give the same bits as a serial run of the whole domain.
#include <cstdio>
#include <stdexcept>

#include "common/ordered_requests.hpp"
#include "stencil3d/stencil3d.hpp"

namespace apps::stencil3d {
namespace {

struct settings {
  int n[3];
  int steps;
  bool periodic, check;
  std::string exchange;
};

constexpr double rate = 0.125;  // stable below 1/6, and exact in binary

/// The cells that a rank sends in a direction (`halo` false) or receives from there (true).
face face_of(const block3& b, int direction, bool halo) {
  face f{b, 0, 0, 0, b.nx, b.ny, b.nz};
  int* first[3] = {&f.x, &f.y, &f.z};
  int* size[3] = {&f.nx, &f.ny, &f.nz};
  const int d = direction / 2;
  const int end = direction % 2 ? *size[d] - 1 : 0;
  *first[d] = halo ? (direction % 2 ? end + 1 : -1) : end;
  *size[d] = 1;
  return f;
}

MPI_Datatype type_of(const face& f) {
  const block3& b = f.block;
  const int sizes[3] = {b.nz + 2 * b.halo, b.ny + 2 * b.halo, b.nx + 2 * b.halo};
  const int subsizes[3] = {f.nz, f.ny, f.nx};
  const int starts[3] = {f.z + b.halo, f.y + b.halo, f.x + b.halo};
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Fills the halo of a field from the neighbours.
class halo_exchange {
 public:
  virtual ~halo_exchange() = default;
  virtual void run(queue& q, array<double>& field) = 0;
  /// Nobody needs to wait for the queue, before or after.
  virtual bool in_order() const { return false; }
};

/// A type for each face of the field itself.
class face_types {
 public:
  explicit face_types(const block3& b) {
    for (int d = 0; d < directions; ++d) {
      send_[static_cast<unsigned>(d)] = type_of(face_of(b, d, false));
      receive_[static_cast<unsigned>(d)] = type_of(face_of(b, d, true));
    }
  }
  ~face_types() {
    for (auto* types : {&send_, &receive_})
      for (MPI_Datatype& type : *types) MPI_Type_free(&type);
  }
  face_types(const face_types&) = delete;
  face_types& operator=(const face_types&) = delete;

 protected:
  std::array<MPI_Datatype, directions> send_{}, receive_{};
};

class typed_exchange final : public halo_exchange, face_types {
 public:
  typed_exchange(const rank_grid& ranks, const block3& b) : face_types(b), ranks_(ranks) {}
  void run(queue& q, array<double>& field) override {
    q.wait();  // MPI knows nothing of queues
    for (unsigned d = 0; d < directions; ++d)
      MPI_Irecv(field.data(), 1, receive_[d], ranks_.neighbour[d], opposite(static_cast<int>(d)),
                ranks_.comm, pending_.next());
    for (unsigned d = 0; d < directions; ++d)
      MPI_Isend(field.data(), 1, send_[d], ranks_.neighbour[d], static_cast<int>(d), ranks_.comm,
                pending_.next());
    pending_.wait();
  }

 private:
  const rank_grid& ranks_;
  requests pending_;
};

/// All faces in one call. MPI counts a grid's neighbours along its dimensions: z, y, x.
class neighbour_exchange final : public halo_exchange, face_types {
 public:
  neighbour_exchange(const rank_grid& ranks, const block3& b) : face_types(b), ranks_(ranks) {
    once_.fill(1);
    for (auto* types : {&send_, &receive_})
      for (unsigned side : {0u, 1u}) std::swap((*types)[side], (*types)[4 + side]);
  }
  void run(queue& q, array<double>& field) override {
    q.wait();
    MPI_Neighbor_alltoallw(field.data(), once_.data(), here_.data(), send_.data(), field.data(),
                           once_.data(), here_.data(), receive_.data(), ranks_.comm);
  }

 private:
  const rank_grid& ranks_;
  std::array<int, directions> once_{};
  std::array<MPI_Aint, directions> here_{};
};

/// Device buffers for the faces, which kernels pack and unpack.
class face_buffers {
 public:
  face_buffers(const rank_grid& ranks, const block3& b) : ranks_(ranks) {
    for (int d = 0; d < directions; ++d) {
      const auto at = static_cast<unsigned>(d);
      faces_[at] = face_of(b, d, false);
      halos_[at] = face_of(b, d, true);
      offset_[at + 1] = offset_[at] + static_cast<std::size_t>(faces_[at].cells());
    }
    send_ = {offset_[directions], TELPHER_MEMORY_DEVICE};
    receive_ = {offset_[directions], TELPHER_MEMORY_DEVICE};
  }

 protected:
  void pack(queue& q, const array<double>& field) {
    for (unsigned d = 0; d < directions; ++d)
      if (ranks_.neighbour[d] != MPI_PROC_NULL)
        q.run(static_cast<std::size_t>(faces_[d].cells()),
              pack_face{send_.kernel() + offset_[d], field.kernel(), faces_[d]});
  }
  void unpack(queue& q, array<double>& field) {
    for (unsigned d = 0; d < directions; ++d)
      if (ranks_.neighbour[d] != MPI_PROC_NULL)
        q.run(static_cast<std::size_t>(halos_[d].cells()),
              unpack_face{receive_.kernel() + offset_[d], field.kernel(), halos_[d]});
  }

  const rank_grid& ranks_;
  std::array<face, directions> faces_{}, halos_{};
  std::array<std::size_t, directions + 1> offset_{};
  array<double> send_, receive_;
};

/// Sends the device buffers; with `staged` they go through pinned memory, one copy each way.
class packed_exchange final : public halo_exchange, face_buffers {
 public:
  packed_exchange(const rank_grid& ranks, const block3& b, bool staged)
      : face_buffers(ranks, b), staged_(staged) {
    if (!staged) return;
    host_send_ = {send_.size(), TELPHER_MEMORY_PINNED};
    host_receive_ = {send_.size(), TELPHER_MEMORY_PINNED};
  }

  void run(queue& q, array<double>& field) override {
    pack(q, field);
    if (staged_) q.copy(host_send_.data(), send_.kernel(), offset_[directions]);
    q.wait();
    messages(staged_ ? host_send_.data() : send_.data(),
             staged_ ? host_receive_.data() : receive_.data());
    if (staged_) q.copy(receive_.kernel(), host_receive_.data(), offset_[directions]);
    unpack(q, field);
  }

 private:
  void messages(const double* send, double* receive) {
    for (unsigned d = 0; d < directions; ++d)
      MPI_Irecv(receive + offset_[d], faces_[d].cells(), MPI_DOUBLE, ranks_.neighbour[d],
                opposite(static_cast<int>(d)), ranks_.comm, pending_.next());
    for (unsigned d = 0; d < directions; ++d)
      MPI_Isend(send + offset_[d], faces_[d].cells(), MPI_DOUBLE, ranks_.neighbour[d],
                static_cast<int>(d), ranks_.comm, pending_.next());
    pending_.wait();
  }

  const bool staged_;
  array<double> host_send_, host_receive_;
  requests pending_;
};

/// The same messages, matched once and exchanged in the order of the queue.
class matched_exchange final : public halo_exchange, face_buffers {
 public:
  matched_exchange(const rank_grid& ranks, const block3& b) : face_buffers(ranks, b) {
    for (unsigned d = 0; d < directions; ++d) {
      if (ranks.neighbour[d] == MPI_PROC_NULL) continue;
      const int cells = faces_[d].cells(), way = static_cast<int>(d);
      telpher_matched_recv_init(receive_.data() + offset_[d], cells, MPI_DOUBLE, ranks.neighbour[d],
                                opposite(way), ranks.comm, all_.next());
      telpher_matched_send_init(send_.data() + offset_[d], cells, MPI_DOUBLE, ranks.neighbour[d],
                                way, ranks.comm, all_.next());
    }
    all_.match();
  }

  void run(queue& q, array<double>& field) override {
    pack(q, field);
    all_.run(q);
    unpack(q, field);
  }
  bool in_order() const override { return true; }

 private:
  ordered_requests all_;
};

std::unique_ptr<halo_exchange> exchange_of(const std::string& way, const rank_grid& ranks,
                                           const block3& b) {
  if (way == "telpher") return std::make_unique<typed_exchange>(ranks, b);
  if (way == "neighbour") return std::make_unique<neighbour_exchange>(ranks, b);
  if (way == "matched") return std::make_unique<matched_exchange>(ranks, b);
  return std::make_unique<packed_exchange>(ranks, b, way == "staged");
}

/// The whole domain on one CPU.
std::vector<double> serial_run(const block3& whole, const settings& s) {
  std::vector<double> from(static_cast<std::size_t>(whole.cells()), 0.0), to = from;
  const auto each = [&](auto f) {
    for (int z = 0; z < whole.nz; ++z)
      for (int y = 0; y < whole.ny; ++y)
        for (int x = 0; x < whole.nx; ++x) f(x, y, z, static_cast<std::size_t>(whole.at(x, y, z)));
  };
  each([&](int x, int y, int z, std::size_t at) { from[at] = heat_at_begin(x, y, z); });
  for (int step = 0; step < s.steps; ++step) {
    if (s.periodic)
      for (int d = 0; d < directions; ++d) {
        const face inside = face_of(whole, d, false), outside = face_of(whole, opposite(d), true);
        for (index i = 0; i < static_cast<index>(inside.cells()); ++i)
          from[static_cast<std::size_t>(outside.cell(i))] =
              from[static_cast<std::size_t>(inside.cell(i))];
      }
    each([&](int, int, int, std::size_t at) {
      to[at] = heat_of(&from[at], whole.row(), whole.plane(), rate);
    });
    from.swap(to);
  }
  return from;
}

int count_differences(const rank_grid& ranks, const block3& b, const settings& s,
                      const std::vector<double>& mine) {
  const block3 whole{b.nx * ranks.size[0], b.ny * ranks.size[1], b.nz * ranks.size[2], 1};
  if (whole.cells() > 50'000'000)
    throw std::runtime_error("the domain is too large for a serial run on every rank: --no-check");
  const std::vector<double> right = serial_run(whole, s);
  int different = 0;
  for (int z = 0; z < b.nz; ++z)
    for (int y = 0; y < b.ny; ++y)
      for (int x = 0; x < b.nx; ++x) {
        const auto there = static_cast<std::size_t>(whole.at(
            x + ranks.place[0] * b.nx, y + ranks.place[1] * b.ny, z + ranks.place[2] * b.nz));
        different += mine[static_cast<std::size_t>(b.at(x, y, z))] != right[there];
      }
  return different;
}

struct timing {
  double all, exchanging;
};

timing march(queue& q, halo_exchange& halo, array<double>& field, const block3& b, int steps) {
  array<double> next(field.size(), TELPHER_MEMORY_DEVICE);
  q.copy(next.kernel(), field.kernel(), field.size());  // the halo at the domain's edge stays
  // What the first messages set up (memory opened at the neighbours, kernels loaded) is no step's.
  for (int i = 0; i < 3; ++i) halo.run(q, field);
  q.wait();
  MPI_Barrier(MPI_COMM_WORLD);
  timing t{-MPI_Wtime(), 0};
  for (int step = 0; step < steps; ++step) {
    if (!halo.in_order()) q.wait();
    t.exchanging -= MPI_Wtime();
    halo.run(q, field);
    if (!halo.in_order()) q.wait();
    t.exchanging += MPI_Wtime();
    q.run(static_cast<std::size_t>(b.inner()), heat_step{field.kernel(), next.kernel(), b, rate});
    field.swap(next);
  }
  q.wait();
  t.all += MPI_Wtime();
  return t;
}

}  // namespace

int run_heat(options& o) {
  const auto edge = [&](const char* name) { return static_cast<int>(o.number(name, 64, 1, 2048)); };
  const settings s{
      .n = {edge("--nx"), edge("--ny"), edge("--nz")},
      .steps = static_cast<int>(o.number("--steps", 50, 0, 1000000)),
      .periodic = o.flag("--periodic"),
      .check = !o.flag("--no-check"),
      .exchange = o.choice("--exchange", {"telpher", "neighbour", "packed", "staged", "matched"})};
  const std::string json = o.word("--json", "");
  o.finish();

  const gpu g;
  const rank_grid ranks(s.periodic);
  const block3 b{s.n[0], s.n[1], s.n[2], 1};
  queue q(g);
  array<double> field(static_cast<std::size_t>(b.cells()), TELPHER_MEMORY_DEVICE);
  q.run(field.size(), heat_begin{field.kernel(), b, ranks.place[0] * b.nx, ranks.place[1] * b.ny,
                                 ranks.place[2] * b.nz, ranks.size[0] * b.nx, ranks.size[1] * b.ny,
                                 ranks.size[2] * b.nz});
  const std::unique_ptr<halo_exchange> halo = exchange_of(s.exchange, ranks, b);
  const timing mine = march(q, *halo, field, b, s.steps);
  const int wrong = s.check ? count_differences(ranks, b, s, field.to_host()) : 0;

  const double all = largest(mine.all), exchanging = largest(mine.exchanging);
  const char* verdict = !s.check ? "-" : total(wrong) == 0 ? "right" : "WRONG";
  if (ranks.rank == 0)
    std::printf(
        "# stencil3d heat: %d x %d x %d ranks of %d x %d x %d cells, %s, %d steps\n"
        "exchange %s: total %.6f s (%.2f us/step), exchange %.6f s (%.2f us/step), check %s\n",
        ranks.size[0], ranks.size[1], ranks.size[2], b.nx, b.ny, b.nz, g.backend(), s.steps,
        s.exchange.c_str(), all, all / std::max(s.steps, 1) * 1e6, exchanging,
        exchanging / std::max(s.steps, 1) * 1e6, verdict);
  write_rows(json, {row()
                        .add("app", "stencil3d")
                        .add("mode", "heat")
                        .add("backend", g.backend())
                        .add("exchange", s.exchange)
                        .add("ranks", world_size())
                        .add("nx", b.nx)
                        .add("ny", b.ny)
                        .add("nz", b.nz)
                        .add("steps", s.steps)
                        .add("seconds", all)
                        .add("exchange_seconds", exchanging)
                        .add("check", verdict)});
  return wrong;
}

}  // namespace apps::stencil3d
