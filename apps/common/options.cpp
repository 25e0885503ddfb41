// SPDX-License-Identifier: BSD-3-Clause
#include "common/options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace apps {
namespace {

std::size_t size_of(const std::string& text) {
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 10);
  const std::string unit = end;
  const int shift = unit.empty() ? 0 : unit == "k" ? 10 : unit == "m" ? 20 : unit == "g" ? 30 : -1;
  if (end == text.c_str() || shift < 0 || value > (SIZE_MAX >> shift))
    throw std::runtime_error("'" + text + "' is no size; write 8, 4k or 1m");
  return static_cast<std::size_t>(value) << shift;
}

}  // namespace

options::options(int argc, char** argv, const char* usage)
    : words_(argv + 1, argv + argc), used_(words_.size()), usage_(usage) {}

bool options::flag(const std::string& name) {
  const auto at = std::find(words_.begin(), words_.end(), name);
  if (at == words_.end()) return false;
  used_[static_cast<std::size_t>(at - words_.begin())] = true;
  return true;
}

std::string options::word(const std::string& name, const std::string& fallback) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i].starts_with(name + "=")) {
      used_[i] = true;
      return words_[i].substr(name.size() + 1);
    }
    if (words_[i] != name) continue;
    if (i + 1 == words_.size()) throw std::runtime_error(name + " wants a value");
    used_[i] = used_[i + 1] = true;
    return words_[i + 1];
  }
  return fallback;
}

std::string options::choice(const std::string& name, const std::vector<std::string>& choices) {
  const std::string chosen = word(name, choices.front());
  if (std::find(choices.begin(), choices.end(), chosen) != choices.end()) return chosen;
  std::string known;
  for (const auto& c : choices) known += " " + c;
  throw std::runtime_error(name + " " + chosen + ": there are" + known);
}

long options::number(const std::string& name, long fallback, long least, long most) {
  const std::string text = word(name, std::to_string(fallback));
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '\0' || value < least || value > most)
    throw std::runtime_error(name + " " + text + ": a number from " + std::to_string(least) +
                             " to " + std::to_string(most) + " is wanted");
  return value;
}

std::vector<std::size_t> options::sizes(const std::string& name, const std::string& fallback) {
  const std::string text = word(name, fallback) + ",";
  std::vector<std::size_t> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t comma = text.find(',', begin);
    const std::string part = text.substr(begin, comma - begin);
    const std::size_t colon = part.find(':');
    const std::size_t first = size_of(part.substr(0, colon));
    const std::size_t last = colon == std::string::npos ? first : size_of(part.substr(colon + 1));
    if (first == 0 || last > (std::size_t{1} << 30))
      throw std::runtime_error(name + ": sizes from 1 to 1g are wanted");
    for (std::size_t size = first; size <= last; size *= 2) found.push_back(size);
    begin = comma + 1;
  }
  return found;
}

void options::finish() const {
  for (std::size_t i = 0; i < words_.size(); ++i)
    if (!used_[i]) throw std::runtime_error("'" + words_[i] + "' is not understood\n" + usage_);
}

}  // namespace apps
