// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "memory.hpp"

namespace telpher::bench {

namespace {

constexpr int checked_iterations = 3;
constexpr long most_iterations = 20000;  // per batch

// Different for each iteration of each mode, the same on all ranks that take part.
std::uint64_t last_seed = 0;

// One contender and its results so far.
class subject {
 public:
  subject(const observers& who, contender& c, const plan& p) : who_(who), contender_(c), plan_(p) {}

  /// Timed iterations, each checked if checking is set to all. Returns the mean seconds of the
  /// ranks that count.
  double batch(long iterations) {
    MPI_Barrier(who_.comm);
    double seconds = 0;
    if (plan_.check == checking::every)
      for (long i = 0; i < iterations; ++i) seconds += checked_iteration();
    else
      seconds = contender_.work->run(iterations, plan_.percentiles.empty() ? nullptr : &samples_);
    // Asked at once, because later this rank may receive other messages.
    const bool ours = contender_.how == mode::telpher || contender_.how == mode::enqueued;
    if (ours && who_.path_from >= 0) last_path_ = last_path();
    own_seconds_ += seconds;
    double sum = who_.counts ? seconds : 0;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, who_.comm);
    return sum / who_.counted;
  }

  double checked_iteration() {
    std::string wrong;
    const double seconds = contender_.work->run_checked(++last_seed, wrong);
    checked_ = true;
    if (!wrong.empty() && right_)
      std::fprintf(stderr, "telpher: rank %d, %s: %s\n", who_.rank, name(contender_.how),
                   wrong.c_str());
    right_ = right_ && wrong.empty();
    return seconds;
  }

  /// Warms up, and derives the number of iterations of a batch from the time that this took.
  void calibrate() {
    iterations_ = calibrated();
    own_seconds_ = 0;
    samples_.clear();
  }

  void timed_batch() { batch_seconds_.push_back(batch(iterations_)); }

  timing result() {
    timing t;
    const auto n = static_cast<double>(iterations_);
    const auto batches = static_cast<long>(batch_seconds_.size());
    t.iterations = iterations_ * batches;
    t.median = median(batch_seconds_) / n;
    t.best = *std::min_element(batch_seconds_.begin(), batch_seconds_.end()) / n;
    rank_range(t, own_seconds_ / n / static_cast<double>(batches));
    t.percentiles = percentiles();
    agree(t);
    return t;
  }

 private:
  // A device's clocks rise under load, and libraries set themselves up in their first calls. So
  // each mode is warmed up before the program's first figure of it.
  void warm_up_mode() {
    static unsigned warmed = 0;
    const unsigned mode = 1u << static_cast<unsigned>(contender_.how);
    int all_warm = (std::exchange(warmed, warmed | mode) & mode) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &all_warm, 1, MPI_INT, MPI_LAND, who_.comm);
    if (all_warm) return;
    double seconds = 0;
    while (seconds < std::min(0.3, plan_.min_time * 4)) seconds += whole_batch(1);
  }

  long calibrated() {
    if (plan_.warm_up > 0) batch(plan_.warm_up);
    if (plan_.warm_up < 0 && plan_.iterations <= 0) warm_up_mode();
    if (plan_.iterations > 0) {
      if (plan_.warm_up < 0) batch(std::max(1l, plan_.iterations / 10));
      return std::max(1l, plan_.iterations / plan_.batches);
    }
    // The first message of a size opens memory and sets up its path; its time does not predict the
    // next.
    if (plan_.warm_up < 0) batch(1);
    long n = 1;
    double seconds = whole_batch(n);
    while (seconds < plan_.min_time / 10 && n < most_iterations) {
      n *= 2;
      seconds = whole_batch(n);
    }
    const double each = std::max(seconds / static_cast<double>(n), 1e-9);
    return std::clamp(static_cast<long>(plan_.min_time / plan_.batches / each), 1l,
                      most_iterations);
  }

  // Seconds of a batch including the checks; the same on all ranks.
  double whole_batch(long iterations) {
    const double start = MPI_Wtime();
    batch(iterations);
    double seconds_taken = MPI_Wtime() - start;
    MPI_Bcast(&seconds_taken, 1, MPI_DOUBLE, 0, who_.comm);
    return seconds_taken;
  }

  void rank_range(timing& t, double own) {
    double ends[2] = {who_.counts ? -own : -HUGE_VAL, who_.counts ? own : -HUGE_VAL};
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MAX, who_.comm);
    t.fastest_rank = -ends[0];
    t.slowest_rank = ends[1];
  }

  std::vector<double> percentiles() {
    if (plan_.percentiles.empty() || samples_.empty()) return {};
    if (!who_.counts) samples_.assign(samples_.size(), 0.0);
    MPI_Allreduce(MPI_IN_PLACE, samples_.data(), static_cast<int>(samples_.size()), MPI_DOUBLE,
                  MPI_MAX, who_.comm);
    std::sort(samples_.begin(), samples_.end());
    std::vector<double> found;
    for (const double p : plan_.percentiles) {
      const double place = std::ceil(p / 100 * static_cast<double>(samples_.size())) - 1;
      found.push_back(samples_[static_cast<std::size_t>(std::max(0.0, place))]);
    }
    return found;
  }

  void agree(timing& t) {
    int right = right_ ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, who_.comm);
    t.right = right;
    t.checked = checked_;
    if (who_.path_from < 0) return;
    char path[64] = "-";
    std::snprintf(path, sizeof path, "%s", last_path_.c_str());
    MPI_Bcast(path, sizeof path, MPI_CHAR, who_.path_from, who_.comm);
    t.path = path;
  }

  const observers& who_;
  contender& contender_;
  const plan& plan_;
  long iterations_ = 1;
  std::vector<double> batch_seconds_;
  std::vector<double> samples_;
  double own_seconds_ = 0;
  bool checked_ = false;
  bool right_ = true;
  std::string last_path_ = "-";
};

}  // namespace

const char* name(mode m) noexcept {
  static constexpr const char* names[] = {"telpher",  "staged", "nccl",   "enqueued", "by hand",
                                          "messages", "copy",   "packed", "host"};
  return names[static_cast<int>(m)];
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<timing> take_turns(const observers& who, std::vector<contender>& contenders,
                               const plan& p) {
  // Ranks that took no part in an earlier measurement have an older seed.
  MPI_Allreduce(MPI_IN_PLACE, &last_seed, 1, MPI_UINT64_T, MPI_MAX, who.comm);
  std::vector<subject> subjects;
  for (contender& c : contenders) subjects.emplace_back(who, c, p).calibrate();
  for (int b = 0; b < p.batches; ++b)
    for (subject& s : subjects) s.timed_batch();
  std::vector<timing> found;
  for (subject& s : subjects) {
    for (int c = 0; p.check != checking::none && c < checked_iterations; ++c) s.checked_iteration();
    found.push_back(s.result());
  }
  return found;
}

}  // namespace telpher::bench
