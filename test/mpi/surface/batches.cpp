// SPDX-License-Identifier: BSD-3-Clause
#include "batches.hpp"

#include <algorithm>
#include <numeric>

namespace surface {

namespace {

constexpr sort sorts[] = {{"message", make_message, 30},
                          {"exchange", make_exchange, 8},
                          {"partitioned", make_partitioned, 4},
                          {"movement", make_movement, 24},
                          {"reduction", make_reduction, 14},
                          {"neighbours", make_neighbours, 7},
                          {"packing", make_packing, 8},
                          {"window", make_window, 3},
                          {"file", make_file, 1}};

bool is_open(const step& one) {
  return std::any_of(one.real.requests.begin(), one.real.requests.end(),
                     [](const open_request& q) { return q.open; });
}

}  // namespace

batches::batches(world& w, const std::vector<std::string>& words) : s_(w.s), w_(w) {
  const bool windows = s_.makes_windows();
  for (const sort& one : sorts) {
    if (one.make == make_window && !windows) continue;
    if (words.empty() || std::find(words.begin(), words.end(), one.name) != words.end())
      chosen_.insert(chosen_.end(), one.weight, &one);
  }
}

auto batches::draw_plan(random_numbers& plan) const -> std::vector<planned> {
  std::vector<planned> list;
  const std::size_t size = 4 + plan.below(40);
  std::vector<std::size_t> persistent;
  for (std::size_t i = 0; i < size; ++i) {
    if (!persistent.empty() && plan.chance(15)) {
      const std::size_t again = persistent[plan.below(persistent.size())];
      list.push_back({list[again].which, again, form::persistent, 0});
      continue;
    }
    const auto how = static_cast<form>(plan.below(3));
    list.push_back({chosen_[plan.below(chosen_.size())], std::nullopt, how, plan.next()});
    if (how == form::persistent) persistent.push_back(i);
  }
  return list;
}

void batches::note(const char* doing, const step& one) {
  s_.note("seed %llu, step %zu: %s %s", static_cast<unsigned long long>(seed_), position_, doing,
          one.what.c_str());
}

void batches::run_model(step& one) {
  note("model of", one);
  running r{s_, form::blocking, true};
  for (area& a : one.areas) {
    a.wanted = a.before;
    a.wanted.reserve(a.wanted.size() + 1);
    r.at.push_back(a.wanted.data() - a.low);
  }
  one.model(r);
  for (open_request& q : r.requests) {
    MPI_Wait(&q.request, &q.status);
    if (q.receives) r.statuses.push_back(q.status);
  }
  one.model_statuses = r.statuses;
}

void batches::load(step& one) {
  for (area& a : one.areas) {
    a.memory->clear();
    a.memory->write(a.before.data(), a.before.size());
  }
  one.real.statuses.clear();
}

void batches::begin(step& one) {
  note("begin of", one);
  for (area& a : one.areas) a.memory = shelf_.take(a.where, a.before.size(), own_);
  load(one);
  operations_ += one.operations;
  one.real.how = one.how;
  for (area& a : one.areas) one.real.at.push_back(a.memory->data() - a.low);
  one.call(one.real);
  if (one.may_free_types && own_.chance(40)) one.types.free();
  if (!is_open(one)) check(one);
}

/// A persistent step once more.
void batches::repeat(step& one) {
  if (one.how != form::persistent) return;
  bool starts = false;
  for (open_request& q : one.real.requests) {
    starts |= q.persistent;
    if (!q.persistent || !q.open) continue;
    note("wait for", one);
    MPI_Wait(&q.request, &q.status);
    closed(one, q);
  }
  if (!starts) return;
  load(one);
  note("another start of", one);
  operations_ += one.operations;
  for (open_request& q : one.real.requests) {
    MPI_Start(&q.request);
    q.open = true;
  }
}

void batches::closed(step& one, open_request& q) {
  q.open = false;
  if (q.receives) one.real.statuses.push_back(q.status);
  if (!is_open(one)) check(one);
}

bool batches::complete_some() {
  std::vector<std::pair<step*, open_request*>> open, some;
  for (std::size_t i = 0; i < steps_.size() && i <= position_; ++i)
    if (steps_[i])
      for (open_request& q : steps_[i]->real.requests)
        if (q.open) open.emplace_back(steps_[i].get(), &q);
  if (open.empty()) return false;
  for (const auto& one : open)
    if (own_.chance(50)) some.push_back(one);
  if (some.empty()) some.push_back(open[own_.below(open.size())]);
  for (std::size_t i = some.size(); i > 1; --i) std::swap(some[i - 1], some[own_.below(i)]);
  s_.note("seed %llu, step %zu: completion of %zu, the first %s",
          static_cast<unsigned long long>(seed_), position_, some.size(),
          some[0].first->what.c_str());
  std::vector<MPI_Request> requests;
  for (const auto& one : some) requests.push_back(one.second->request);
  std::vector<MPI_Status> statuses(some.size());
  // MPICH 5.0.2's MPI_Testall reports errors that there are not where collectives are among them.
  const bool collective = s_.mpich && std::any_of(some.begin(), some.end(), [](const auto& one) {
                            return one.first->collective;
                          });
  const std::vector<int> ended = complete(requests, statuses, collective);
  for (std::size_t i = 0; i < some.size(); ++i) some[i].second->request = requests[i];
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const auto& [one, q] = some[static_cast<std::size_t>(ended[i])];
    q->status = statuses[i];
    closed(*one, *q);
  }
  return true;
}

std::vector<int> batches::complete(std::vector<MPI_Request>& requests,
                                   std::vector<MPI_Status>& statuses, bool collective) {
  const int n = as_int(requests.size());
  std::vector<int> ended(requests.size(), 0);
  int count = 1, flag = 0;
  switch (own_.below(collective ? 8 : 9)) {
    case 0:
      MPI_Wait(&requests[0], &statuses[0]);
      break;
    case 1:
      MPI_Waitany(n, requests.data(), &ended[0], &statuses[0]);
      break;
    case 2:
      MPI_Waitsome(n, requests.data(), &count, ended.data(), statuses.data());
      break;
    case 3:
    case 4:
      MPI_Waitall(n, requests.data(), statuses.data());
      std::iota(ended.begin(), ended.end(), 0);
      count = n;
      break;
    case 5:
      MPI_Test(&requests[0], &count, &statuses[0]);
      break;
    case 6:
      MPI_Testany(n, requests.data(), &ended[0], &count, &statuses[0]);
      break;
    case 7:
      MPI_Testsome(n, requests.data(), &count, ended.data(), statuses.data());
      break;
    default:
      MPI_Testall(n, requests.data(), &flag, statuses.data());
      std::iota(ended.begin(), ended.end(), 0);
      count = flag != 0 ? n : 0;
  }
  ended.resize(static_cast<std::size_t>(count));
  return ended;
}

void batches::check(step& one) {
  note("check of", one);
  for (std::size_t i = 0; i < one.areas.size(); ++i) {
    area& a = one.areas[i];
    if (a.undefined_from < a.wanted.size())
      mpi_test::copy(a.where, a.wanted.data() + a.undefined_from,
                     a.memory->data() + a.undefined_from, a.wanted.size() - a.undefined_from);
    const std::string problem = a.memory->compare(a.wanted.data());
    if (!problem.empty())
      s_.fail("%s, %s area %zu%s (seed %llu, step %zu of %zu: %s)", problem.c_str(), name(a.where),
              i, a.of.c_str(), static_cast<unsigned long long>(seed_), position_, steps_.size(),
              one.what.c_str());
  }
  for (std::size_t i = 0; i < one.real.statuses.size() && i < one.model_statuses.size(); ++i)
    check_status(one.real.statuses[i], one.model_statuses[i]);
  s_.expect_equal(static_cast<long long>(one.real.statuses.size()),
                  static_cast<long long>(one.model_statuses.size()), "receives");
}

void batches::check_status(const MPI_Status& got, const MPI_Status& wanted) {
  int bytes = -1, wanted_bytes = -1;
  MPI_Get_elements(&got, MPI_BYTE, &bytes);
  MPI_Get_elements(&wanted, MPI_BYTE, &wanted_bytes);
  s_.expect_equal(bytes, wanted_bytes, "bytes in the status");
  s_.expect_equal(got.MPI_SOURCE, wanted.MPI_SOURCE, "source in the status");
  s_.expect_equal(got.MPI_TAG, wanted.MPI_TAG, "tag in the status");
}

void batches::end(step& one) {
  check(one);  // nothing came later
  for (open_request& q : one.real.requests)
    if (q.request != MPI_REQUEST_NULL) MPI_Request_free(&q.request);
  for (area& a : one.areas) shelf_.put_back(std::move(*a.memory), a.before.size());
}

void batches::run(std::uint64_t seed) {
  random_numbers plan(mix(seed));
  own_ = random_numbers(mix(seed) + 1000 + static_cast<std::uint64_t>(s_.rank));
  seed_ = seed;
  w_.next_tag = 0;
  const std::vector<planned> list = draw_plan(plan);
  steps_.clear();
  for (const planned& p : list) {
    draw d(p.seed, s_.rank);
    steps_.push_back(p.again ? nullptr : p.which->make(w_, d, p.how));
  }
  for (position_ = 0; position_ < steps_.size(); ++position_)
    if (steps_[position_]) run_model(*steps_[position_]);
  for (position_ = 0; position_ < steps_.size(); ++position_) {
    s_.still_alive();
    const auto& again = list[position_].again;
    if (!again) ++done_[list[position_].which->name];
    step* const one = steps_[again ? *again : position_].get();
    if (one) again ? repeat(*one) : begin(*one);
    if (own_.chance(30)) complete_some();
  }
  while (complete_some()) continue;
  for (position_ = 0; position_ < steps_.size(); ++position_)
    if (steps_[position_]) end(*steps_[position_]);
  steps_.clear();
  s_.note("seed %llu, behind the batch", static_cast<unsigned long long>(seed_));
}

}  // namespace surface
