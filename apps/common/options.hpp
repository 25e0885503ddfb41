// SPDX-License-Identifier: BSD-3-Clause
// A command line read by asking: every question names an option and its default, and finish()
// refuses what nobody asked for. Values follow as the next word or after '='.
#pragma once

#include <string>
#include <vector>

namespace apps {

class options {
 public:
  options(int argc, char** argv, const char* usage);

  bool flag(const std::string& name);
  std::string word(const std::string& name, const std::string& fallback);
  /// One of `choices`; the first is the default.
  std::string choice(const std::string& name, const std::vector<std::string>& choices);
  long number(const std::string& name, long fallback, long least, long most);
  /// Sizes as 8, 4k or 1m, in lists (1,8,1k) and ranges of powers of two (1:1m).
  std::vector<std::size_t> sizes(const std::string& name, const std::string& fallback);
  /// Throws for words that no question took; a call for help ends the program with the usage.
  void finish() const;

 private:
  std::vector<std::string> words_;
  std::vector<bool> used_;
  const char* usage_;
};

}  // namespace apps
