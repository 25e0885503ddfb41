// SPDX-License-Identifier: BSD-3-Clause
#include "base/tuning.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include "base/lasting.hpp"

namespace telpher::tuning {
namespace {

constexpr std::string_view first_line = "telpher-table 1";

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const auto end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

template <class Number>
bool number(const std::string& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value > 0;
}

bool take_setting(const std::vector<std::string>& words, table& out) {
  if (words.size() != 3) return false;
  if (!is_measured(words[1])) return false;
  out.settings.push_back({words[1], words[2]});
  return is_value(out.settings.back());
}

bool take_choice(const std::vector<std::string>& words, table& out) {
  if (words.size() < 5) return false;
  const bool built_in = words[4] == "builtin";
  if (words.size() != (built_in ? 5 : 6)) return false;
  choice c{words[1], any_size, 0, words[4], built_in ? "" : words[5]};
  if (words[0] == "replay_choice") c.of = calls::replayed;
  if (words[0] == "enqueued_choice") c.of = calls::enqueued;
  if (words[2] != "unlimited" && !number(words[2], c.most_bytes)) return false;
  if (!number(words[3], c.most_ranks)) return false;
  out.choices.push_back(c);
  return true;
}

bool take_line(std::string_view line, table& out) {
  if (line.empty() || line.front() == '#') return true;
  if (line.starts_with("machine ")) return out.machine.emplace_back(line.substr(8)), true;
  const auto words = words_of(line);
  if (words.empty()) return false;
  if (words.front() == "set") return take_setting(words, out);
  for (const char* known : {"choice", "replay_choice", "enqueued_choice"})
    if (words.front() == known) return take_choice(words, out);
  return false;
}

lasting<std::unique_ptr<const table>> kept;

}  // namespace

// FNV-1a: against damage, not against intent.
std::uint64_t sum_of(std::string_view text) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return sum;
}

bool parse(std::string_view text, table& out, std::string& why) {
  if (!text.starts_with(first_line) || text.size() == first_line.size() ||
      text[first_line.size()] != '\n') {
    why = "it does not begin with '" + std::string(first_line) + "'";
    return false;
  }
  const auto last = text.rfind("\ncheck ");
  if (last == std::string_view::npos ||
      text.substr(last + 1) != "check " + hexadecimal(sum_of(text.substr(0, last + 1))) + "\n") {
    why = "it is damaged: its last line is not the sum of the others";
    return false;
  }
  std::string_view rest = text.substr(first_line.size() + 1, last - first_line.size());
  for (int number = 2; !rest.empty(); ++number) {
    const auto end = std::min(rest.find('\n'), rest.size());
    if (!take_line(rest.substr(0, end), out)) {
      why = "line " + std::to_string(number) + " is not one of a table: '" +
            std::string(rest.substr(0, std::min<std::size_t>(end, 80))) + "'";
      return false;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  out.mark = static_cast<std::int64_t>(sum_of(text) >> 1) | 1;
  return true;
}

std::string file_of(const std::vector<std::string>& machine) {
  std::string all;
  for (const std::string& line : machine) all += line + '\n';
  return hexadecimal(sum_of(all)) + ".table";
}

const table* in_force() noexcept {
  return kept->get();
}

std::int64_t mark() noexcept {
  return in_force() ? in_force()->mark : 0;
}

void put_in_force(table t) {
  put_defaults(t.settings);
  *kept = std::make_unique<const table>(std::move(t));
}

void drop() noexcept {
  if (!in_force()) return;
  put_defaults({});
  kept->reset();
}

}  // namespace telpher::tuning
