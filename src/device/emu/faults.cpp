// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/faults.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

#include "base/log.hpp"
#include "base/settings.hpp"

namespace telpher::device::emu {
namespace {

constexpr std::string_view names[] = {"malloc",   "pinned",   "memcpy", "launch", "ipc_get",
                                      "ipc_open", "register", "event",  "kernel", "die"};
static_assert(std::size(names) == static_cast<std::size_t>(fault_point::count_));

}  // namespace

fault_table& fault_table::instance() noexcept {
  static fault_table* one = [] {
    auto* made = new fault_table;
    made->set(config().test_emu_faults.c_str());
    return made;
  }();
  return *one;
}

void fault_table::set(const char* text) noexcept {
  for (row& r : rows_) {
    r.calls = 0;
    r.first = 0;
    r.after = false;
  }
  armed_ = false;
  while (*text) {
    const std::size_t length = std::strcspn(text, ",");
    if (length > 0 && !set_one(text, length))
      TELPHER_ERROR(
          "'%.*s' is not a fault: call:n or call:n+ with call one of malloc, pinned, "
          "memcpy, launch, ipc_get, ipc_open, register, event, kernel, die",
          static_cast<int>(length), text);
    text += length;
    if (*text == ',') ++text;
  }
}

bool fault_table::set_one(const char* entry, std::size_t length) noexcept {
  std::string_view text(entry, length);
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = text.substr(0, colon);
  std::string_view number = text.substr(colon + 1);
  const bool after = number.ends_with('+');
  if (after) number.remove_suffix(1);
  long first = 0;
  const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), first);
  if (problem != std::errc{} || end != number.data() + number.size() || first < 1) return false;
  for (int i = 0; i < points; ++i) {
    if (names[i] != name) continue;
    rows_[i].after = after;
    rows_[i].first = first;
    armed_ = true;
    return true;
  }
  return false;
}

bool fault_table::strikes_slow(fault_point p) noexcept {
  row& r = rows_[static_cast<int>(p)];
  const long call = r.calls.fetch_add(1) + 1;
  const long first = r.first;
  const bool strikes = first != 0 && (r.after ? call >= first : call == first);
  if (strikes) ++struck_;
  return strikes;
}

}  // namespace telpher::device::emu
