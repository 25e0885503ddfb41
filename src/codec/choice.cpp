// SPDX-License-Identifier: BSD-3-Clause
#include "codec/choice.hpp"

#include <bit>
#include <charconv>
#include <cmath>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/word_hash.hpp"
#include "codec/codec.hpp"

namespace telpher::codec {
namespace {

constexpr const char* forms =
    "; it takes off, zfp[:rate=R,nx=N,ny=N] or mpc[:stride=N], each with float=, double= or other= "
    "in "
    "front of it or none, and ';' between several";

std::string quoted(std::string_view text) {
  std::string out(1, '\'');  // appended, because GCC 12 warns about operator+ here
  out.append(text).push_back('\'');
  return out;
}

/// Removes the text before `separator` from the front of `text` and returns it.
std::string_view cut(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  const std::string_view front = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return front;
}

template <class T>
bool number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string set_option(choice& c, std::string_view option) {
  std::string_view value = option;
  const std::string_view name = cut(value, '=');
  const bool zfp = c.how == method::zfp;
  bool good = false;
  if (zfp && name == "rate")
    good = number(value, c.rate) && c.rate >= 1 && c.rate <= 64;
  else if (zfp && name == "nx")
    good = number(value, c.row) && c.row > 0;
  else if (zfp && name == "ny")
    good = number(value, c.column) && c.column > 0;
  else if (!zfp && name == "stride")
    good = number(value, c.stride) && c.stride >= 1 && c.stride <= 256;
  else
    return std::string(to_string(c.how)) + " has no option " + quoted(name);
  return good ? "" : quoted(value) + " is no value of " + std::string(name);
}

std::string parse_codec(std::string_view text, choice& out) {
  choice c;
  const std::string_view name = cut(text, ':');
  if (name == "zfp")
    c.how = method::zfp;
  else if (name == "mpc")
    c.how = method::mpc;
  else if (name != "off")
    return "there is no codec " + quoted(name);
  if (name == "off" && !text.empty()) return "off has no options";
  while (!text.empty())
    if (std::string why = set_option(c, cut(text, ',')); !why.empty()) return why;
  if (c.column != 0 && c.row == 0) return "ny needs nx";
  out = c;
  return "";
}

/// Removes the element kind from the front of an entry, if there is one, and returns it.
std::string_view take_kind(std::string_view& entry) {
  for (const std::string_view kind : {"float=", "double=", "other="}) {
    if (entry.substr(0, kind.size()) != kind) continue;
    entry.remove_prefix(kind.size());
    return kind;
  }
  return {};
}

}  // namespace

std::string parse(std::string_view text, choices& out) {
  choices read;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view entry = cut(rest, ';');
    const std::string_view kind = take_kind(entry);
    choice c;
    if (const std::string why = parse_codec(entry, c); !why.empty()) return why + forms;
    if (c.how != method::none && !the_coder())
      return "this build is without codecs: nothing is compressed; set it to off, or build with "
             "TELPHER_CODECS=ON";
    if (kind == "other=" && c.how == method::zfp)
      return std::string("zfp compresses float and double only").append(forms);
    if (kind.empty() || kind == "float=") read.f32 = c;
    if (kind.empty() || kind == "double=") read.f64 = c;
    if (kind == "other=" || (kind.empty() && c.how != method::zfp)) read.other = c;
  }
  if (read.f32.how == method::zfp && read.f32.rate > 32) read.f32.how = method::none;
  out = read;
  return "";
}

std::uint64_t fingerprint(const choices& c) noexcept {
  word_hash hash;
  for (const choice* one : {&c.f32, &c.f64, &c.other})
    hash.add_all({static_cast<std::uint64_t>(one->how), std::bit_cast<std::uint64_t>(one->rate),
                  one->row, one->column, std::uint64_t{one->stride}});
  return hash.value();
}

const choices& configured() noexcept {
  static const choices one = [] {
    choices c;
    if (const std::string why = parse(config().compression, c); !why.empty())
      TELPHER_ERROR("TELPHER_COMPRESSION: %s", why.c_str());
    return c;
  }();
  return one;
}

}  // namespace telpher::codec
