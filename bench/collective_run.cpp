// SPDX-License-Identifier: BSD-3-Clause
#include "collective_run.hpp"

#include <algorithm>
#include <cmath>

namespace telpher::bench {

namespace {

constexpr long overlap_iterations = 100;
constexpr int message_tag = 4;

bool significant(collective::significant s, const data_plan& p) {
  return s == collective::significant::everywhere || p.rank == p.root;
}

volatile double changing = 1;

// A fixed number of dependent operations. A compiler that knew where they begin would do them
// before they are timed, or never.
void compute(long loops) {
  double x = changing;
  for (long i = 0; i < loops; ++i) x = x * 0.999999 + 1e-6;
  changing = x;
}

// Algorithm and bus bandwidth as nccl-tests define them.
void set_bandwidth(figure& f, const collective_shape& s, const data_plan& p) {
  using traffic = collective::traffic;
  const double n = p.size;
  const int blocks = std::max(p.send_blocks(), p.receive_blocks());
  const auto block = static_cast<double>(p.block_bytes);
  const double bytes = s.which->counts == traffic::none         ? 0
                       : s.which->counts == traffic::all_blocks ? block * blocks
                                                                : block;
  const double factor = s.which->counts == traffic::allreduce ? 2 * (n - 1) / n
                        : s.which->counts == traffic::all_blocks && !s.which->among_neighbours()
                            ? (n - 1) / n
                            : 1;
  f.gbps = bytes / f.us / 1e3;
  f.bus_gbps = f.gbps * factor;
  f.rate = 1e6 / f.us;
}

void add_overlap(figure& f, collective_work& work, const collective_shape& s, long iterations) {
  static computing dummy;
  const auto own = work.run_overlapped(iterations, dummy, f.us / 1e6);
  double sums[2] = {own.seconds, own.computed};
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, s.comm);
  f.us_overlapped = sums[0] / work.data().size * 1e6;
  f.us_compute = sums[1] / work.data().size * 1e6;
  f.overlap = std::clamp(100 - (f.us_overlapped - f.us_compute) / f.us * 100, 0.0, 100.0);
}

}  // namespace

// --- computing ---

computing::computing() {
  constexpr long loops = 2000000;
  compute(loops / 10);
  double best = 1;
  for (int i = 0; i < 3; ++i) {
    const double start = MPI_Wtime();
    compute(loops);
    best = std::min(best, MPI_Wtime() - start);
  }
  loops_per_second_ = loops / best;
}

void computing::run(double seconds) {
  compute(static_cast<long>(seconds * loops_per_second_));
}

// --- the work ---

collective_work::collective_work(memory_source& source, const collective_shape& s, mode how,
                                 nccl* other)
    : source_(source), shape_(s), how_(how), nccl_(other) {
  plan_.which = s.which;
  plan_.type = s.type;
  plan_.op = s.op;
  plan_.root = s.root;
  plan_.around = s.around;
  MPI_Comm_rank(s.comm, &plan_.rank);
  MPI_Comm_size(s.comm, &plan_.size);
  if (s.which->among_neighbours()) plan_.neighbours = s.around.neighbours(plan_.rank);
  plan_.block_bytes = s.bytes;
  if (s.which->comes_from == collective::origin::reduced_for_me)
    plan_.block_bytes /= static_cast<std::size_t>(plan_.size);

  const bool sends = significant(s.which->sends, plan_);
  const bool receives = significant(s.which->receives, plan_);
  send_ = make(s.own_kind, plan_.send_blocks(), sends);
  receive_ = make(s.own_kind, plan_.receive_blocks(), receives);
  if (how == mode::staged && s.own_kind != kind::host) {
    staged_send_ = make(kind::pinned, plan_.send_blocks(), sends);
    staged_receive_ = make(kind::pinned, plan_.receive_blocks(), receives);
  }
  copies_in_ = s.which->in_buffer ? plan_.rank == s.root : send_ != nullptr;
  copies_out_ = receive_ && !(s.which->in_buffer && plan_.rank == s.root);

  const auto address = [](const auto& staged, const auto& own) {
    return staged ? staged->slot(0) : own ? own->slot(0) : nullptr;
  };
  call_.send = address(staged_send_, send_);
  call_.receive = address(staged_receive_, receive_);
  call_.type = s.which->reduces() ? s.type.type : MPI_BYTE;
  call_.count = static_cast<int>(plan_.block_bytes / (s.which->reduces() ? s.type.bytes : 1));
  call_.op = s.op;
  call_.root = s.root;
  call_.comm = s.comm;
  call_.set_blocks(std::max(plan_.send_blocks(), plan_.receive_blocks()));
  if (how == mode::nccl && !s.which->reduces()) plan_.type = {"char", MPI_SIGNED_CHAR, 1};
  if (in_stream(how)) stream_ = std::make_unique<stream>(source, s.stream_work);
  if (s.how == form::persistent && how != mode::nccl)
    s.which->call(call_, form::persistent, &request_);
  if (s.how == form::persistent && how == mode::enqueued) stream::match(request_);
}

collective_work::~collective_work() {
  if (stream_) stream_->wait();  // which may use the request
  if (shape_.how == form::persistent && how_ != mode::nccl) MPI_Request_free(&request_);
}

std::unique_ptr<window_buffer> collective_work::make(kind k, int blocks, bool is_significant) {
  if (blocks == 0 || !is_significant) return nullptr;
  return std::make_unique<window_buffer>(source_, k,
                                         plan_.block_bytes * static_cast<std::size_t>(blocks), 1);
}

void collective_work::begin() {
  if (stream_) stream_->work();
  if (how_ == mode::enqueued && shape_.how == form::persistent) return stream_->run(request_);
  if (how_ == mode::enqueued) return stream_->call(*shape_.which, call_);
  if (stream_) stream_->wait();
  if (staged_send_ && copies_in_)
    source_.copy(staged_send_->slot(0), send_->slot(0), send_->bytes());
  else if (staged_receive_ && copies_in_ && shape_.which->in_buffer)
    source_.copy(staged_receive_->slot(0), receive_->slot(0), receive_->bytes());
  if (how_ == mode::nccl) return;
  if (how_ == mode::messages) return post_messages();
  if (shape_.how == form::persistent)
    MPI_Start(&request_);
  else
    shape_.which->call(call_, shape_.how, &request_);
}

// What the call does, as a program writes it that has no such call.
void collective_work::post_messages() {
  const auto block = [this](void* buffer, std::size_t index) {
    return static_cast<std::byte*>(buffer) + index * plan_.block_bytes;
  };
  const std::size_t neighbours = plan_.neighbours.size();
  messages_.assign(2 * neighbours, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < neighbours; ++i)
    MPI_Irecv(block(receive_->slot(0), i), call_.count, call_.type, plan_.neighbours[i],
              message_tag, call_.comm, &messages_[i]);
  const bool same = plan_.send_blocks() == 1;
  for (std::size_t i = 0; i < neighbours; ++i)
    MPI_Isend(block(send_->slot(0), same ? 0 : i), call_.count, call_.type, plan_.neighbours[i],
              message_tag, call_.comm, &messages_[neighbours + i]);
}

void collective_work::end() {
  if (how_ == mode::nccl)
    nccl_->run(plan_, call_);
  else if (how_ == mode::messages)
    MPI_Waitall(static_cast<int>(messages_.size()), messages_.data(), MPI_STATUSES_IGNORE);
  else if (how_ != mode::enqueued && shape_.how != form::blocking)
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  if (staged_receive_ && copies_out_)
    source_.copy(receive_->slot(0), staged_receive_->slot(0), receive_->bytes());
}

void collective_work::once() {
  begin();
  end();
}

// One after the other, as in the program's stream: a barrier would wait for it.
double collective_work::run_in_stream(long iterations) {
  MPI_Barrier(shape_.comm);
  const double start = MPI_Wtime();
  for (long i = 0; i < iterations; ++i) once();
  stream_->wait();
  return MPI_Wtime() - start;
}

double collective_work::run(long iterations, std::vector<double>* each) {
  if (stream_) return run_in_stream(iterations);
  double seconds = 0;
  for (long i = 0; i < iterations; ++i) {
    MPI_Barrier(shape_.comm);
    const double start = MPI_Wtime();
    once();
    const double taken = MPI_Wtime() - start;
    seconds += taken;
    if (each) each->push_back(taken);
  }
  return seconds;
}

double collective_work::run_checked(std::uint64_t seed, std::string& wrong) {
  const auto own = plan_.sent(seed);
  if (receive_) receive_->write(0, ~seed);
  if (send_)
    send_->write(0, own);
  else if (shape_.which->in_buffer && copies_in_)
    receive_->write(0, own);
  MPI_Barrier(shape_.comm);
  const double start = MPI_Wtime();
  once();
  if (stream_) stream_->wait();
  const double seconds = MPI_Wtime() - start;
  if (receive_)
    if (const auto expected = plan_.expected(seed); !expected.empty())
      receive_->holds(0, expected, wrong);
  return seconds;
}

collective_work::overlapped collective_work::run_overlapped(long iterations, computing& work,
                                                            double seconds) {
  if (shape_.stream_work > 0) return run_beside_device(iterations, seconds);
  overlapped sums;
  const int parts = shape_.test_calls + 1;
  for (long i = 0; i < iterations; ++i) {
    MPI_Barrier(shape_.comm);
    const double start = MPI_Wtime();
    begin();
    for (int part = 0; part < parts; ++part) {
      const double before = MPI_Wtime();
      work.run(seconds / parts);
      sums.computed += MPI_Wtime() - before;
      int done = 0;
      if (part + 1 < parts && request_ != MPI_REQUEST_NULL)
        MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    }
    end();
    sums.seconds += MPI_Wtime() - start;
  }
  sums.seconds /= static_cast<double>(iterations);
  sums.computed /= static_cast<double>(iterations);
  return sums;
}

// The device works in a stream of the program's, in pieces that take about as long as the call.
collective_work::overlapped collective_work::run_beside_device(long iterations, double seconds) {
  constexpr long sample = 20;
  stream device(source_, shape_.stream_work);
  const auto start_work = [&](long pieces) {
    for (long i = 0; i < pieces; ++i) device.work();
  };
  const auto work_alone = [&](long pieces) {
    const double start = MPI_Wtime();
    start_work(pieces);
    device.wait();
    return MPI_Wtime() - start;
  };
  work_alone(1);
  const long pieces = std::max(1l, std::lround(seconds / work_alone(sample) * sample));
  overlapped sums;
  for (long i = 0; i < iterations; ++i) {
    sums.computed += work_alone(pieces);
    MPI_Barrier(shape_.comm);
    const double start = MPI_Wtime();
    begin();
    start_work(pieces);
    end();
    device.wait();
    sums.seconds += MPI_Wtime() - start;
  }
  sums.seconds /= static_cast<double>(iterations);
  sums.computed /= static_cast<double>(iterations);
  return sums;
}

// --- measuring ---

std::vector<figure> measure(memory_source& source, const collective_shape& s,
                            const std::vector<mode>& modes, nccl* other, const plan& p) {
  std::vector<contender> contenders;
  std::vector<collective_work*> works;
  for (mode m : modes) {
    auto work = std::make_unique<collective_work>(source, s, m, other);
    works.push_back(work.get());
    contenders.push_back({m, std::move(work)});
  }
  const data_plan& data = works.front()->data();
  const observers who{s.comm, data.rank, data.size, true, 0};
  const auto timings = take_turns(who, contenders, p);
  std::vector<figure> figures;
  for (std::size_t i = 0; i < timings.size(); ++i) {
    figure f = common_figure(timings[i], p, 1);
    set_bandwidth(f, s, data);
    const long most = std::max(1l, static_cast<long>(p.min_time / 2 / (f.us / 1e6)));
    if (s.how == form::nonblocking && modes[i] != mode::nccl)
      add_overlap(f, *works[i], s, std::min({overlap_iterations, timings[i].iterations, most}));
    figures.push_back(f);
  }
  return figures;
}

}  // namespace telpher::bench
