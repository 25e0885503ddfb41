// SPDX-License-Identifier: BSD-3-Clause
#include "coll/vendor/library.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "base/library.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"

namespace telpher::coll::vendor {
namespace {

constexpr int oldest = 21000;  // 2.10, the first with bfloat16

/// The file to open, or "".
std::string wanted(device::backend& owner) {
  const auto& setting = config().ccl;
  const device::collective_library own = owner.collectives();
  const bool forced = setting == "on" || config().coll_transport == "vendor";
  if (setting == "off" || (setting == "auto" && !own.measured && !forced)) return {};
  if (setting == "auto" || setting == "on") return own.file ? own.file : "";
  return setting.text();
}

}  // namespace

bool library::open(std::string& why) {
  const telpher::library opened = telpher::library::open(file, why);
  if (!opened) return false;
  const auto find = [&](const char* symbol, auto*& function) {
    if (!opened.find(symbol, function)) why = std::string("it has no ") + symbol;
  };
  find("ncclGetErrorString", error_string);
#define TELPHER_CCL_CALL(name, symbol, ...) find(symbol, name);
#include "coll/vendor/interface.def"
#undef TELPHER_CCL_CALL
  if (!why.empty()) return false;
  const int code = get_version(&version);
  if (code != success) why = std::string("ncclGetVersion: ") + error_string(code);
  if (code == success && version < oldest) why = "too old: version " + std::to_string(version);
  return why.empty();
}

const library* library::for_backend(device::backend& owner) noexcept {
  static std::mutex guard;
  static auto* opened = new std::map<std::string, std::unique_ptr<library>>;
  try {
    const std::string file = wanted(owner);
    if (file.empty()) return nullptr;
    const std::lock_guard lock(guard);
    const auto [at, fresh] = opened->try_emplace(file);
    if (!fresh) return at->second.get();
    auto made = std::make_unique<library>();
    made->file = file;
    std::string why;
    if (made->open(why)) {
      TELPHER_INFO("%s, version %d, for collectives", file.c_str(), made->version);
      at->second = std::move(made);
    } else if (config().ccl == "auto") {
      TELPHER_INFO("%s is not used for collectives: %s", file.c_str(), why.c_str());
    } else {
      TELPHER_WARN("%s is not used for collectives: %s", file.c_str(), why.c_str());
    }
    return at->second.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace telpher::coll::vendor
