// SPDX-License-Identifier: BSD-3-Clause
// Small files of text: read whole, and taken apart line by line and word by word. Not by iostreams:
// their locales would be a fifth of each library that has a C++ runtime of its own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telpher {

/// The whole file; false if it cannot be read, or has more than `most` bytes.
bool read_file(const std::string& path, std::string& text, std::size_t most = std::size_t{1} << 20);

/// Removes from `text` the part up to the next `end`, and `end` itself, and gives the part. False
/// if nothing is left.
bool take_part(std::string_view& text, std::string_view& part, char end = '\n') noexcept;

/// The words of a line, one after another. A word that is not of the kind asked for is not taken.
class words {
 public:
  explicit words(std::string_view line) noexcept : left_(line) {}
  bool take(std::string& word);
  bool take(int& number) noexcept;
  /// A finite number.
  bool take(double& number) noexcept;
  /// All that is left, without the blanks around it; false if that is nothing.
  bool take_rest(std::string& text);

 private:
  std::string_view next() noexcept;
  template <class Number>
  bool take_number(Number& number) noexcept;

  std::string_view left_;
};

}  // namespace telpher
