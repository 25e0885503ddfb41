// SPDX-License-Identifier: BSD-3-Clause
#include "pairs.hpp"

#include <algorithm>

namespace telpher::bench {

namespace {

figure figure_of(const timing& t, const plan& p, const exchange& work, const shape& s, int pairs) {
  const double ways = s.what == test::bibw ? 2 : 1;
  const double halves = one_at_a_time(s.what) ? 2 : 1;
  figure f = common_figure(t, p, work.messages() * halves);
  f.rate = ways * pairs / f.us * 1e6;
  f.gbps = f.rate * static_cast<double>(s.bytes) / 1e9;
  return f;
}

}  // namespace

std::vector<figure> measure(memory_source& source, const pairing& pair, const shape& s,
                            const std::vector<mode>& modes, const plan& p) {
  std::vector<contender> contenders;
  std::vector<const exchange*> exchanges;
  for (mode m : modes) {
    auto work = std::make_unique<exchange>(source, pair, s, m);
    exchanges.push_back(work.get());
    contenders.push_back({m, std::move(work)});
  }
  // The first peer receives in every test.
  const observers who{pair.comm, pair.rank, pair.pairs, pair.leads, pair.pairs};
  const auto timings = take_turns(who, contenders, p);
  std::vector<figure> figures;
  for (std::size_t i = 0; i < timings.size(); ++i)
    figures.push_back(figure_of(timings[i], p, *exchanges[i], s, pair.pairs));
  return figures;
}

double copy_limit(memory_source& source, const pairing& pair, const shape& s, double min_time) {
  if (s.what != test::latency && s.what != test::bw) return 0;
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
