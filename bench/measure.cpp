// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <algorithm>
#include <cstdio>

namespace telpher::bench {

namespace {

constexpr int checked_iterations = 3;
constexpr long most_iterations = 20000;  // of one batch

// One mode's exchange with what was found so far.
class subject {
 public:
  subject(memory_source& source, const pairing& pair, const shape& s, mode how, bool check_all)
      : pair_(pair), how_(how), check_all_(check_all), work_(source, pair, s, how) {}

  /// Timed iterations, each checked if all are; the mean over pairs of the leaders' seconds.
  double batch(long iterations) {
    MPI_Barrier(pair_.comm);
    double seconds = 0;
    if (check_all_)
      for (long i = 0; i < iterations; ++i) seconds += checked_iteration();
    else
      seconds = work_.run(iterations);
    // Asked at once: what the rank receives later, if only here, is another message.
    if (how_ == mode::telpher) last_path_ = last_path();
    double sum = pair_.leads ? seconds : 0;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, pair_.comm);
    return sum / pair_.pairs;
  }

  double checked_iteration() {
    static std::uint64_t seed = 0;  // fresh for each iteration of each mode, the same on all ranks
    std::string wrong;
    const double seconds = work_.run_checked(++seed, wrong);
    checked_ = true;
    if (!wrong.empty() && right_)
      std::fprintf(stderr, "telpher: rank %d, %s: %s\n", pair_.rank, name(how_), wrong.c_str());
    right_ = right_ && wrong.empty();
    return seconds;
  }

  /// Warm-up, and from it the iterations of one batch.
  long calibrate(const plan& p) {
    if (p.warm_up > 0) batch(p.warm_up);
    if (p.iterations > 0) {
      if (p.warm_up < 0) batch(std::max(1l, p.iterations / 10));
      return std::max(1l, p.iterations / p.batches);
    }
    long n = 1;
    double seconds = whole_batch(n);
    while (seconds < p.min_time / 10 && n < most_iterations) {
      n *= 2;
      seconds = whole_batch(n);
    }
    const double each = std::max(seconds / static_cast<double>(n), 1e-9);
    return std::clamp(static_cast<long>(p.min_time / p.batches / each), 1l, most_iterations);
  }

  std::vector<double> batch_seconds;
  figure result;

  void agree() {
    int right = right_ ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, pair_.comm);
    result.right = right;
    result.checked = checked_;
    char path[64] = "-";
    std::snprintf(path, sizeof path, "%s", last_path_.c_str());
    MPI_Bcast(path, sizeof path, MPI_CHAR, pair_.pairs, pair_.comm);  // a receiver in every test
    result.path = path;
  }
  int messages() const { return work_.messages(); }

 private:
  // Seconds with all that goes with a batch, the checks too; the same on all ranks.
  double whole_batch(long iterations) {
    const double start = MPI_Wtime();
    batch(iterations);
    double seconds_taken = MPI_Wtime() - start;
    MPI_Bcast(&seconds_taken, 1, MPI_DOUBLE, 0, pair_.comm);
    return seconds_taken;
  }

  pairing pair_;
  mode how_;
  bool check_all_;
  bool checked_ = false;
  bool right_ = true;
  std::string last_path_ = "-";
  exchange work_;
};

void summarise(subject& s, const shape& sh, int pairs, long iterations) {
  const double ways = sh.what == test::bibw ? 2 : 1;
  const double halves = sh.what == test::latency ? 2 : 1;
  const double messages = static_cast<double>(iterations) * s.messages() * halves;
  figure& f = s.result;
  f.us = median(s.batch_seconds) / messages * 1e6;
  f.us_min = *std::min_element(s.batch_seconds.begin(), s.batch_seconds.end()) / messages * 1e6;
  f.rate = ways * pairs / f.us * 1e6;
  f.gbps = f.rate * static_cast<double>(sh.bytes) / 1e9;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<figure> measure(memory_source& source, const pairing& pair, const shape& s,
                            const std::vector<mode>& modes, const plan& p) {
  std::vector<std::unique_ptr<subject>> subjects;
  std::vector<long> iterations;
  for (mode m : modes) {
    subjects.push_back(std::make_unique<subject>(source, pair, s, m, p.check == checking::every));
    iterations.push_back(subjects.back()->calibrate(p));
  }
  for (int b = 0; b < p.batches; ++b)
    for (std::size_t i = 0; i < subjects.size(); ++i)
      subjects[i]->batch_seconds.push_back(subjects[i]->batch(iterations[i]));
  std::vector<figure> figures;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    for (int c = 0; p.check != checking::none && c < checked_iterations; ++c)
      subjects[i]->checked_iteration();
    summarise(*subjects[i], s, pair.pairs, iterations[i]);
    subjects[i]->agree();
    figures.push_back(subjects[i]->result);
  }
  return figures;
}

double copy_limit(memory_source& source, const pairing& pair, const shape& s, double min_time) {
  if (s.what == test::bibw || s.what == test::mbw_mr) return 0;
  int peer_device = source.device();
  MPI_Bcast(&peer_device, 1, MPI_INT, pair.pairs, pair.comm);
  double each = 0;
  if (pair.rank == 0) {
    const int own_device = source.device();
    window_buffer from(source, s.leader_kind, s.bytes, 1);
    const bool other = peer_device >= 0 && peer_device < source.device_count();
    if (other) source.choose_device(peer_device);
    {
      window_buffer to(source, s.peer_kind, s.bytes, 1);
      if (other) source.choose_device(own_device);
      const auto copy = [&](long n) {
        const double start = MPI_Wtime();
        for (long i = 0; i < n; ++i) {
          source.copy(to.slot(0), from.slot(0), s.bytes);
          source.wait();
        }
        return (MPI_Wtime() - start) / static_cast<double>(n);
      };
      each = copy(2);
      const long n =
          std::clamp(static_cast<long>(min_time / 11 / std::max(each, 1e-9)), 1l, 10000l);
      std::vector<double> batches;
      for (int b = 0; b < 5; ++b) batches.push_back(copy(n));
      each = median(batches);
    }
  }
  MPI_Bcast(&each, 1, MPI_DOUBLE, 0, pair.comm);
  return each;
}

}  // namespace telpher::bench
