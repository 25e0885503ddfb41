// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>

namespace telpher {
namespace {

constexpr const char* blanks = " \t\r\n";

}  // namespace

bool read_file(const std::string& path, std::string& text, std::size_t most) {
  struct close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  text.clear();
  const std::unique_ptr<std::FILE, close> file(std::fopen(path.c_str(), "re"));
  if (!file) return false;
  char block[4096];
  while (const std::size_t bytes = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, bytes);
    if (text.size() > most) return false;
  }
  return std::ferror(file.get()) == 0;
}

bool take_part(std::string_view& text, std::string_view& part, char end) noexcept {
  if (text.empty()) return false;
  const auto at = text.find(end);
  part = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + 1);
  return true;
}

std::string_view words::next() noexcept {
  const auto first = left_.find_first_not_of(blanks);
  left_ = first == left_.npos ? std::string_view() : left_.substr(first);
  return left_.substr(0, left_.find_first_of(blanks));
}

bool words::take(std::string& word) {
  const std::string_view found = next();
  left_.remove_prefix(found.size());
  word = found;
  return !found.empty();
}

template <class Number>
bool words::take_number(Number& number) noexcept {
  const std::string_view word = next();
  Number found{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), found);
  if (error != std::errc() || end != word.data() + word.size()) return false;
  left_.remove_prefix(word.size());
  number = found;
  return true;
}

bool words::take(int& number) noexcept {
  return take_number(number);
}

bool words::take(double& number) noexcept {
  const std::string_view before = left_;
  double found = 0;
  if (!take_number(found) || !std::isfinite(found)) {
    left_ = before;
    return false;
  }
  number = found;
  return true;
}

bool words::take_rest(std::string& text) {
  const std::string_view left = next().empty() ? std::string_view() : left_;
  left_ = {};
  text = left.substr(0, left.find_last_not_of(blanks) + 1);
  return !text.empty();
}

}  // namespace telpher
