// SPDX-License-Identifier: BSD-3-Clause
// The registry of settings. Every setting is one line of settings.def. That line generates the
// struct below, the parser of the TELPHER_* variables, `telpher info --settings` and
// docs/settings.md. Settings are read once, at the first use of config(). Later only
// adopt_job_settings changes them (and tests). settings.cpp is the only file that reads a setting
// from the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace telpher {

/// A duration in microseconds; settings accept "20us", "1.5ms", "2s", "500ns".
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
  std::string value;  // the value in force
  bool from_environment;
  bool for_users;  // settings_for_users.def
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

/// Puts other defaults in force: those of a tuned table (base/tuning.hpp). What the environment
/// names stays. An empty list puts the built-in ones back. Not while others read settings.
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
