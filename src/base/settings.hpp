// SPDX-License-Identifier: BSD-3-Clause
// The registry of settings. Every knob is one line of settings.def; from it come the struct below,
// the parser of TELPHER_* variables, `telpher info --settings` and docs/settings.md. Settings are
// read once, before anything else of Telpher runs, and do not change afterwards. This is the only
// file that calls getenv for a setting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telpher {

/// A duration with its unit in the name; settings accept "20us", "1.5ms", "2s", "500ns".
struct duration_us {
  double value = 0;
};

struct settings {
  using boolean = bool;
  using integer = long;
  using size = std::size_t;  // bytes; accepts "64k", "1m", "2g", "inf"
  using duration = duration_us;
  using choice = std::string;  // one of a list
  using text = std::string;

#define TELPHER_SETTING(type, name, default_text, allowed, folder, help) type name{};
#include "base/settings.def"
#undef TELPHER_SETTING
};

/// One row of the registry, as `telpher info` prints it.
struct setting_row {
  const char* type;
  const char* name;  // "eager_limit"; the variable is TELPHER_EAGER_LIMIT
  const char* default_text;
  const char* allowed;  // range "0..1g", choices "a|b|c", or ""
  const char* folder;
  const char* help;
  std::string value;  // as in force
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

/// The values in force here of the settings that a job must have alike (TELPHER_JOB_SETTING), as
/// text for other ranks; equal values give equal texts, however they were written.
std::string job_settings();

/// Puts the values of another rank's job_settings() in force. Not while others read them.
struct replaced_setting {
  std::size_t index;  // among these settings
  std::string variable;
  std::string here;  // the value that was replaced
  std::string there;
};
std::vector<replaced_setting> adopt_job_settings(const std::string& text);

/// How many there are.
std::size_t job_setting_count() noexcept;

/// For tests: reads the given "NAME=value" pairs instead of the environment and returns what they
/// give, without touching config().
settings parse_settings(const std::vector<std::string>& environment,
                        std::vector<setting_problem>& problems);

/// For tests: puts other settings in force for the life of the object.
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
