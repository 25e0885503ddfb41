// SPDX-License-Identifier: BSD-3-Clause
#include "coll/handover.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/lasting.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/schedule/problem.hpp"
#include "datatype/datatype.hpp"
#include "path/direct.hpp"
#include "ticket/peers.hpp"

namespace telpher::coll {
namespace {

using path::measured_choice;

struct form {
  std::string operation;  // as in to_string(operation), but also of those that have no schedule
  bool blocks;
};

// Takes a name such as MPI_Iallgatherv or MPI_Allgatherv_init_c.
form form_of(std::string_view call) {
  call.remove_prefix(std::string_view("MPI_").size());
  if (call.ends_with("_c")) call.remove_suffix(2);
  const bool persistent = call.ends_with("_init"), nonblocking = call.front() == 'I';
  if (persistent) call.remove_suffix(5);
  if (nonblocking) call.remove_prefix(1);
  form f{std::string(call), !persistent && !nonblocking};
  f.operation.front() = static_cast<char>(f.operation.front() | 0x20);
  return f;
}

// Settings name those only that have schedules.
bool is_to_be_staged(const std::string& name) noexcept {
  operation what{};
  return from_string(name.c_str(), what) ? exchange::is_to_be_staged(what) : !exchange::enabled();
}

std::uint64_t bytes_of(const plan& p) noexcept {
  std::uint64_t sum = 0;
  for (const staging::segment& s : p.segments)
    if (const auto l = datatype::layout_of(s.type))
      sum += (*l)->size * static_cast<std::uint64_t>(s.count);
  return sum;
}

struct known {
  std::string operation;
  std::size_t size_class;
  measured_choice choice;
};
std::mutex guard;
lasting<std::vector<std::unique_ptr<known>>> all;

// Under the guard. May throw std::bad_alloc.
measured_choice& choice_for(std::string&& operation, std::size_t size_class) {
  const auto at = std::find_if(all->begin(), all->end(), [&](const auto& k) {
    return k->size_class == size_class && k->operation == operation;
  });
  if (at != all->end()) return (*at)->choice;
  return all->emplace_back(new known{std::move(operation), size_class, {}})->choice;
}

}  // namespace

handover::handover(const char* call, const plan& p) noexcept : call_(call) {
  if (!path::direct::host_says_so()) return;
  try {
    form f = form_of(call);
    if (is_to_be_staged(f.operation)) return;
    bytes_ = bytes_of(p);
    std::lock_guard lock(guard);
    measured_choice& c =
        choice_for(std::move(f.operation), static_cast<std::size_t>(std::bit_width(bytes_)));
    way_ = f.blocks ? c.next() : c.chosen().value_or(measured_choice::first);
    if (f.blocks && !c.chosen()) choice_ = &c;
  } catch (const std::bad_alloc&) {
    return;  // an image will do, if there is memory for one
  }
  began_ns_ = now_ns();
  if (as_they_are()) path::count(path::kind::coll_direct, bytes_);
}

void handover::end() noexcept {
  if (!choice_) return;
  std::lock_guard lock(guard);
  if (choice_->chosen()) return;  // by other threads' calls
  choice_->learn(way_, static_cast<double>(now_ns() - began_ns_));
  if (!config().explain || !choice_->chosen()) return;
  std::fprintf(stderr,
               "[telpher %d] %s of about %llu bytes by the host MPI: from device memory %.1f us, "
               "from host memory %.1f us with its copies\n",
               ticket::job().rank, call_, static_cast<unsigned long long>(bytes_),
               choice_->least(measured_choice::second) / 1e3,
               choice_->least(measured_choice::first) / 1e3);
}

int handover::calls_of_each() noexcept {
  constexpr int at_least = 3;
  return path::direct::host_says_so() ? 2 * measured_choice::trials : at_least;
}

}  // namespace telpher::coll
