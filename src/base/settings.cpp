// SPDX-License-Identifier: BSD-3-Clause
#include "base/settings.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/log.hpp"

extern char** environ;

namespace telpher {
namespace {

struct row {
  audience who;
  const char* type;
  const char* name;
  const char* default_text;
  const char* allowed;
  const char* folder;
  const char* help;
};

constexpr row registry[] = {
#define TELPHER_SETTING(who, type, name, default_text, allowed, folder, help) \
  {audience::who, #type, #name, default_text, allowed, folder, help},
#include "base/settings.def"
#undef TELPHER_SETTING
};

constexpr std::string_view prefix = "TELPHER_";

// Set by launchers or read by the tools; they are not settings of the library.
constexpr std::string_view foreign[] = {"TELPHER_LAUNCHED", "TELPHER_HOME", "TELPHER_PRELOAD"};

std::string variable_of(const char* name) {
  std::string variable(prefix);
  for (const char* c = name; *c; ++c)
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  return variable;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Sizes such as "64k", "1.5m" and "inf"; units are powers of 1024.
bool parse(const std::string& text, std::size_t& value) {
  const std::string t = lower(text);
  if (t == "inf") {
    value = std::numeric_limits<std::size_t>::max();
    return true;
  }
  char* end = nullptr;
  const double number = std::strtod(t.c_str(), &end);
  if (end == t.c_str() || number < 0 || !std::isfinite(number)) return false;
  double unit = 1;
  if (*end == 'k')
    unit = 1024.0, ++end;
  else if (*end == 'm')
    unit = 1024.0 * 1024, ++end;
  else if (*end == 'g')
    unit = 1024.0 * 1024 * 1024, ++end;
  if (*end == 'b') ++end;
  if (*end != '\0' || number * unit > 9e18) return false;
  value = static_cast<std::size_t>(number * unit);
  return true;
}

bool parse(const std::string& text, long& value) {
  char* end = nullptr;
  value = std::strtol(text.c_str(), &end, 10);
  return end != text.c_str() && *end == '\0';
}

bool parse(const std::string& text, bool& value) {
  const std::string t = lower(text);
  for (const char* yes : {"1", "on", "yes", "true", "y"})
    if (t == yes) return value = true, true;
  for (const char* no : {"0", "off", "no", "false", "n"})
    if (t == no) return value = false, true;
  return false;
}

bool parse(const std::string& text, duration_us& value) {
  const std::string t = lower(text);
  char* end = nullptr;
  const double number = std::strtod(t.c_str(), &end);
  if (end == t.c_str() || number < 0 || !std::isfinite(number)) return false;
  const std::string unit(end);
  if (unit == "ns")
    value.value = number / 1e3;
  else if (unit == "us")
    value.value = number;
  else if (unit == "ms")
    value.value = number * 1e3;
  else if (unit == "s")
    value.value = number * 1e6;
  else
    return false;
  return true;
}

bool parse(const std::string& text, std::string& value) {
  value = text;
  return true;
}

template <literal List>
bool parse(const std::string& text, one_of<List>& value) {
  return value.assign(text);
}

template <literal List>
bool parse(const std::string& text, word_or_name<List>& value) {
  return value.assign(text), true;
}

template <class T>
bool within(const T& value, const std::string& allowed) {
  const auto dots = allowed.find("..");
  if (dots == std::string::npos) return true;  // no numbers
  T low{}, high{};
  return parse(allowed.substr(0, dots), low) && parse(allowed.substr(dots + 2), high) &&
         low <= value && value <= high;
}
template <literal List>
bool within(one_of<List>, const std::string&) {
  return true;
}
template <literal List>
bool within(const word_or_name<List>&, const std::string&) {
  return true;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest(const std::string& variable) {
  std::string best;
  std::size_t distance = std::numeric_limits<std::size_t>::max();
  for (const row& r : registry) {
    const std::string candidate = variable_of(r.name);
    if (const auto d = edit_distance(variable, candidate); d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

const std::string* find(const std::vector<std::string>& environment, const std::string& variable,
                        std::string& storage) {
  for (const std::string& entry : environment)
    if (entry.compare(0, variable.size(), variable) == 0 && entry[variable.size()] == '=')
      return storage = entry.substr(variable.size() + 1), &storage;
  return nullptr;
}

template <class T>
bool accepted(const row& r, const std::string& text, T& value) {
  return parse(text, value) && within(value, r.allowed);
}

template <class T>
void take(T& target, const row& r, const std::vector<std::string>& environment,
          std::vector<setting_problem>& problems) {
  if (!parse(r.default_text, target))
    problems.push_back({true, std::string("bad default of ") + r.name});
  std::string storage;
  const std::string* text = find(environment, variable_of(r.name), storage);
  if (!text) return;
  T value{};
  if (accepted(r, *text, value)) {
    target = value;
    return;
  }
  problems.push_back({true, variable_of(r.name) + "=" + *text + " is not a valid " + r.type +
                                (*r.allowed ? std::string("; allowed: ") + r.allowed : "") +
                                "; using " + r.default_text});
}

// The row of a setting of type T. It shows the default if the variable's text was not accepted.
template <class T>
setting_row shown(const row& r, const std::vector<std::string>& environment) {
  std::string storage;
  const std::string* text = find(environment, variable_of(r.name), storage);
  T value{};
  const bool in_force = text && accepted(r, *text, value);
  return {r.who,     r.type,   r.name, r.default_text,
          r.allowed, r.folder, r.help, in_force ? *text : r.default_text,
          in_force};
}

void find_unknown(const std::vector<std::string>& environment,
                  std::vector<setting_problem>& problems) {
  for (const std::string& entry : environment) {
    if (entry.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string variable = entry.substr(0, entry.find('='));
    const bool known =
        std::any_of(std::begin(registry), std::end(registry),
                    [&](const row& r) { return variable_of(r.name) == variable; }) ||
        std::find(std::begin(foreign), std::end(foreign), variable) != std::end(foreign);
    if (!known)
      problems.push_back(
          {false, variable + " is not a setting; the nearest is " + nearest(variable)});
  }
}

std::vector<std::string> process_environment() {
  std::vector<std::string> entries;
  for (char** e = environ; e && *e; ++e)
    if (std::strncmp(*e, prefix.data(), prefix.size()) == 0) entries.emplace_back(*e);
  return entries;
}

// --- settings as text, to send to other ranks ---

std::string text_of(bool value) {
  return value ? "on" : "off";
}
std::string text_of(long value) {
  return std::to_string(value);
}
std::string text_of(std::size_t value) {
  return value == std::numeric_limits<std::size_t>::max() ? "inf" : std::to_string(value);
}
std::string text_of(const std::string& value) {
  return value;
}
template <literal List>
std::string text_of(one_of<List> value) {
  return std::string(value.text());
}
template <literal List>
std::string text_of(const word_or_name<List>& value) {
  return value.text();
}

struct loaded {
  std::vector<std::string> environment = process_environment();
  settings values;
  std::vector<setting_problem> problems;

  loaded() {
    values = parse_settings(environment, problems);
    // The choices are the levels in their order.
    log::configure(static_cast<log::level>(values.log.position()), values.log_file.c_str());
  }
};

loaded& in_force() {
  static loaded* one = new loaded;  // never destroyed: wrappers may run after static destructors
  return *one;
}

}  // namespace

settings parse_settings(const std::vector<std::string>& environment,
                        std::vector<setting_problem>& problems) {
  settings s;
  const row* r = registry;
#define TELPHER_SETTING(who, type, name, default_text, allowed, folder, help) \
  take(s.name, *r++, environment, problems);
#include "base/settings.def"
#undef TELPHER_SETTING
  find_unknown(environment, problems);
  return s;
}

const settings& config() {
  return in_force().values;
}

const std::vector<setting_problem>& setting_problems() {
  return in_force().problems;
}

std::vector<setting_row> setting_rows() {
  const std::vector<std::string> environment = process_environment();
  std::vector<setting_row> rows;
  const row* r = registry;
#define TELPHER_SETTING(who, type, name, default_text, allowed, folder, help) \
  rows.push_back(shown<settings::type<allowed>>(*r++, environment));
#include "base/settings.def"
#undef TELPHER_SETTING
  return rows;
}

// Each value ends with a zero byte; no environment variable can contain one.
std::string job_settings() {
  std::string text;
#define TELPHER_SETTING(who, type, name, default_text, allowed, folder, help)
#define TELPHER_JOB_SETTING(who, type, name, default_text, allowed, folder, help) \
  text += text_of(in_force().values.name) + '\0';
#include "base/settings.def"
#undef TELPHER_SETTING
  return text;
}

std::size_t job_setting_count() noexcept {
  std::size_t count = 0;
#define TELPHER_SETTING(who, type, name, default_text, allowed, folder, help)
#define TELPHER_JOB_SETTING(who, type, name, default_text, allowed, folder, help) ++count;
#include "base/settings.def"
#undef TELPHER_SETTING
  return count;
}

std::vector<replaced_setting> adopt_job_settings(const std::string& text) {
  std::vector<replaced_setting> replaced;
  std::size_t at = 0, index = 0;
  const auto adopt = [&](const char* name, auto& value) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    const std::string there = text.substr(at, end - at), here = text_of(value);
    at = std::min(end + 1, text.size());
    if (there != here && parse(there, value))
      replaced.push_back({index, variable_of(name), here, there});
    ++index;
  };
#define TELPHER_SETTING(who, type, name, default_text, allowed, folder, help)
#define TELPHER_JOB_SETTING(who, type, name, default_text, allowed, folder, help) \
  adopt(#name, in_force().values.name);
#include "base/settings.def"
#undef TELPHER_SETTING
  return replaced;
}

bool is_value(const named_value& v) {
  std::vector<setting_problem> problems;
  parse_settings({variable_of(v.name.c_str()) + '=' + v.text}, problems);
  return problems.empty();
}

bool is_size(const std::string& text, std::size_t& bytes) {
  return parse(text, bytes);
}

bool is_measured(std::string_view name) noexcept {
  return std::any_of(std::begin(registry), std::end(registry),
                     [&](const row& r) { return r.who == audience::measured && r.name == name; });
}

void put_defaults(const std::vector<named_value>& values) {
  std::vector<std::string> environment = in_force().environment;
  for (const named_value& v : values)
    environment.push_back(variable_of(v.name.c_str()) + '=' + v.text);
  std::vector<setting_problem> said_already;
  in_force().values = parse_settings(environment, said_already);
}

scoped_settings::scoped_settings(const std::vector<std::string>& environment)
    : saved_(in_force().values) {
  std::vector<setting_problem> problems;
  in_force().values = parse_settings(environment, problems);
}

scoped_settings::~scoped_settings() {
  in_force().values = saved_;
}

}  // namespace telpher
