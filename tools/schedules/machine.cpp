// SPDX-License-Identifier: BSD-3-Clause
// The reader of machine descriptions.
#include "schedules/machine.hpp"

#include "base/text.hpp"

namespace telpher::coll {
namespace {

struct key {
  const char* name;
  double machine::*value;
  bool needed;
};

constexpr key keys[] = {
    {"pair_gbps", &machine::pair_gbps, true},     {"port_gbps", &machine::port_gbps, true},
    {"memory_gbps", &machine::memory_gbps, true}, {"signal_us", &machine::signal_us, false},
    {"launch_us", &machine::launch_us, false},    {"handover_us", &machine::handover_us, false},
    {"nic_gbps", &machine::nic_gbps, true},       {"nic_us", &machine::nic_us, false},
    {"message_us", &machine::message_us, false},  {"encode_gbps", &machine::encode_gbps, true},
    {"decode_gbps", &machine::decode_gbps, true},
};

bool parse_pair(words& in, machine& m) {
  std::int32_t a = -1;
  std::int32_t b = -1;
  double gbps = 0;
  const auto exists = [](std::int32_t g) { return g >= 0 && g < machine::most_gpus; };
  if (!in.take(a) || !in.take(b) || !in.take(gbps) || !exists(a) || !exists(b) || !(gbps > 0))
    return false;
  m.pairs[static_cast<std::size_t>(a * machine::most_gpus + b)] = gbps;
  m.pairs[static_cast<std::size_t>(b * machine::most_gpus + a)] = gbps;
  return true;
}

bool parse_line(const std::string& word, words& in, machine& m) {
  if (word == "pair") return parse_pair(in, m);
  if (word == "gpus") return in.take(m.gpus);
  if (word == "nics") return in.take(m.nics);
  for (const key& k : keys)
    if (word == k.name) return in.take(m.*k.value) && m.*k.value >= 0;
  return false;
}

}  // namespace

bool parse_machine(const std::string& text, machine& m, std::string& error) {
  std::string_view lines = text, line;
  while (take_part(lines, line)) {
    words in(line);
    std::string word;
    if (!in.take(word) || word[0] == '#') continue;
    if (parse_line(word, in, m)) continue;
    error = "not understood: " + std::string(line);
    return false;
  }
  if (m.gpus < 1 || m.gpus > machine::most_gpus || m.nics < 1 || m.nics > m.gpus) {
    error = "gpus must be 1 to " + std::to_string(machine::most_gpus) + ", nics 1 to gpus";
    return false;
  }
  for (const key& k : keys)
    if (k.needed && !(m.*k.value > 0)) {
      error = std::string(k.name) + " is missing";
      return false;
    }
  return true;
}

}  // namespace telpher::coll
