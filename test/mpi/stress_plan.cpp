// SPDX-License-Identifier: BSD-3-Clause
#include "stress_plan.hpp"

#include <algorithm>
#include <map>

namespace stress_test {
namespace {

std::size_t random_size(random_numbers& random) {
  const std::size_t sort = random.below(100);
  if (sort < 5) return 480;
  if (sort < 8) return 479 + 2 * random.below(2);
  if (sort < 10) return 0;
  const std::size_t bits = sort < 85   ? random.below(13)
                           : sort < 97 ? random.below(17)
                                       : random.below(21);
  return random.below(std::size_t{1} << bits);
}

/// A message to oneself must not block. Neither must one in a wild pair: a later message of another
/// rank may take its receive, and the receiver might wait for this sender before it posts the next.
bool usable(const send_form& f, const message& m, pair_mode mode) {
  if (f.ready) return false;
  if (f.buffered)
    return m.bytes <= buffered_limit && (f.blocking == nullptr || m.source != m.destination);
  return f.blocking == nullptr || (m.source != m.destination && mode != pair_mode::wild);
}

message random_message(random_numbers& random, const batch& b, int ranks, int number) {
  message m{};
  m.source = as_int(random.below(static_cast<std::size_t>(ranks)));
  m.destination = as_int(random.below(static_cast<std::size_t>(ranks)));
  m.comm = random.below(communicators);
  m.bytes = m.room = random_size(random);
  if (random.chance(30)) m.room += random.below(1000);
  m.from = kinds()[random.below(kinds().size())];
  m.to = kinds()[random.below(kinds().size())];
  const pair_mode mode = b.mode(m.destination, m.comm);
  m.tag = mode == pair_mode::any_source ? 1000 + number : as_int(random.below(4));
  m.any_tag = mode == pair_mode::wild || (mode == pair_mode::any_tag && random.chance(60));
  m.any_source = mode == pair_mode::wild || mode == pair_mode::any_source;
  m.receive = receive_forms[random.below(std::size(receive_forms))];
  m.early = random.chance(40);
  do {
    m.send = &send_forms[random.below(std::size(send_forms))];
  } while (!usable(*m.send, m, mode));
  m.id = random.next();
  return m;
}

}  // namespace

std::tuple<int, std::size_t, int, int> order_key(const batch& b, const message& m) {
  switch (b.mode(m.destination, m.comm)) {
    case pair_mode::exact:
      return {m.destination, m.comm, m.source, m.tag};
    case pair_mode::any_tag:
      return {m.destination, m.comm, m.source, -1};
    case pair_mode::any_source:
      return {m.destination, m.comm, -1, m.tag};
    case pair_mode::wild:
      break;
  }
  return {m.destination, m.comm, -1, -1};
}

batch make_batch(random_numbers& random, int ranks) {
  batch b;
  b.modes.resize(static_cast<std::size_t>(ranks) * communicators);
  for (pair_mode& mode : b.modes) mode = static_cast<pair_mode>(random.below(4));
  std::map<std::tuple<int, std::size_t, int, int>, bool> all_early;
  std::vector<std::size_t> largest(b.modes.size(), 0);
  for (std::size_t i = 0; i < batch_size; ++i) {
    message m = random_message(random, b, ranks, as_int(i));
    // A receive is posted early only if all before it in its order are.
    bool& early = all_early.try_emplace(order_key(b, m), true).first->second;
    early = m.early = m.early && early;
    if (m.early && !posts(m.receive)) m.receive = receive_form::irecv;
    std::size_t& most = largest[static_cast<std::size_t>(m.destination) * communicators + m.comm];
    most = std::max(most, m.bytes);
    b.messages.push_back(m);
  }
  for (message& m : b.messages)
    if (b.mode(m.destination, m.comm) == pair_mode::wild)
      m.room = largest[static_cast<std::size_t>(m.destination) * communicators + m.comm];
  return b;
}

}  // namespace stress_test
