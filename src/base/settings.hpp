// SPDX-License-Identifier: BSD-3-Clause
// The registry of settings. Every setting is one line of settings.def. That line generates the
// struct below, the parser of the TELPHER_* variables, `telpher info --settings` and
// docs/settings.md. Settings are read once, at the first use of config(). Later only
// adopt_job_settings changes them (and tests). settings.cpp is the only file that reads a setting
// from the environment.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telpher {

/// A duration in microseconds; settings accept "20us", "1.5ms", "2s", "500ns".
struct duration_us {
  double value = 0;
  auto operator<=>(const duration_us&) const = default;
};

/// A string literal as a template argument.
template <std::size_t Size>
struct literal {
  char text[Size];
  constexpr literal(const char (&from)[Size]) { std::copy_n(from, Size, text); }
};

/// One of the words in a list "a|b|c". `config().linger == "off"` compares two numbers; a word that
/// is not in the list does not compile.
template <literal List>
class one_of {
 public:
  static constexpr int none = -1;
  struct word {
    int position;
    consteval word(const char* text) : position(find(text)) {
      if (position == none) throw "the setting has no such choice";
    }
  };
  friend constexpr bool operator==(one_of a, word b) { return a.position_ == b.position; }

  constexpr int position() const { return position_; }
  constexpr std::string_view text() const {
    std::string_view rest(List.text);
    for (int i = 0; i < position_; ++i) rest.remove_prefix(rest.find('|') + 1);
    return rest.substr(0, rest.find('|'));
  }
  /// False if the list has no such word.
  constexpr bool assign(std::string_view text) {
    const int found = find(text);
    return found != none && (position_ = found, true);
  }

 private:
  // Works on a copy of List: under -fsanitize, GCC 12 does not accept an address in a template
  // argument as a constant.
  static constexpr int find(std::string_view text) {
    const literal list = List;
    std::string_view rest(list.text);
    for (int i = 0;; ++i) {
      const std::size_t end = rest.find('|');
      if (rest.substr(0, end) == text) return i;
      if (end == rest.npos) return none;
      rest.remove_prefix(end + 1);
    }
  }

  int position_ = 0;
};

/// One of the words in a list, or any other text, which is a name of the user's.
template <literal List>
class word_or_name {
 public:
  friend constexpr bool operator==(const word_or_name& a, typename one_of<List>::word b) {
    return !a.is_name_ && a.word_ == b;
  }
  const std::string& text() const { return text_; }
  void assign(const std::string& text) {
    is_name_ = !word_.assign(text);
    text_ = text;
  }

 private:
  one_of<List> word_;
  bool is_name_ = false;
  std::string text_;
};

/// What TELPHER_PATH takes.
inline constexpr char path_choices[] = "auto"
#define TELPHER_CHOICE_every(name) "|" #name
#define TELPHER_CHOICE_some(name) "|" #name
#define TELPHER_CHOICE_none(name)
#define TELPHER_PATH(name, choice, what) TELPHER_CHOICE_##choice(name)
#include "base/paths.def"
#undef TELPHER_PATH
    ;

/// Whom a setting is for; settings.def says what that means.
enum class audience : std::uint8_t { users, experts, measured, tests };

struct settings {
  template <literal>
  using boolean = bool;
  template <literal>
  using integer = long;
  template <literal>
  using size = std::size_t;  // bytes; accepts "64k", "1m", "2g", "inf"
  template <literal>
  using duration = duration_us;
  template <literal List>
  using choice = one_of<List>;
  template <literal List>
  using word = word_or_name<List>;
  template <literal>
  using text = std::string;

#define TELPHER_SETTING(who, type, name, default_text, allowed, folder, help) type<allowed> name{};
#include "base/settings.def"
#undef TELPHER_SETTING
};

/// One row of the registry, as `telpher info` prints it.
struct setting_row {
  audience who;
  const char* type;
  const char* name;  // "eager_limit"; the variable is TELPHER_EAGER_LIMIT
  const char* default_text;
  const char* allowed;  // range "0..1g", choices "a|b|c", or ""
  const char* folder;
  const char* help;
  std::string value;  // the value in force
  bool from_environment;
};

/// The settings in force. The first call reads the environment.
const settings& config();

/// Every setting with its value and origin, in the order of settings.def.
std::vector<setting_row> setting_rows();

/// Problems found while reading the environment: unknown variables (with the nearest known name)
/// and values out of range. A bad value is an error, an unknown variable a warning.
struct setting_problem {
  bool fatal;
  std::string text;
};
const std::vector<setting_problem>& setting_problems();

/// The values of the job-wide settings (TELPHER_JOB_SETTING) of this rank, as text to send to other
/// ranks. Equal values give equal texts, however the user wrote them.
std::string job_settings();

/// Replaces this rank's job-wide settings by those in another rank's job_settings() and returns
/// what changed. No other thread may read settings meanwhile.
struct replaced_setting {
  std::size_t index;  // index among the job-wide settings
  std::string variable;
  std::string here;  // the value that was replaced
  std::string there;
};
std::vector<replaced_setting> adopt_job_settings(const std::string& text);

/// The number of job-wide settings.
std::size_t job_setting_count() noexcept;

struct named_value {
  std::string name;  // "mapped_limit"
  std::string text;
};

/// Whether there is such a setting and the text is a value that it may have.
bool is_value(const named_value& v);

/// Whether a text is a size ("64k", "1.5m", "inf"); `bytes` is set if so.
bool is_size(const std::string& text, std::size_t& bytes);

/// Whether a tuned table may set it: it is in the table of measured costs.
bool is_measured(std::string_view name) noexcept;

/// Puts other defaults in force: those of a tuned table (base/tuning.hpp). Settings that the
/// environment names stay as they are. An empty list restores the built-in defaults. No other
/// thread may read settings meanwhile.
void put_defaults(const std::vector<named_value>& values);

/// For tests: reads the given "NAME=value" pairs instead of the environment and returns what they
/// give, without touching config().
settings parse_settings(const std::vector<std::string>& environment,
                        std::vector<setting_problem>& problems);

/// For tests: replaces the settings in force for the life of the object.
class scoped_settings {
 public:
  explicit scoped_settings(const std::vector<std::string>& environment);
  ~scoped_settings();
  scoped_settings(const scoped_settings&) = delete;
  scoped_settings& operator=(const scoped_settings&) = delete;

 private:
  settings saved_;
};

}  // namespace telpher
