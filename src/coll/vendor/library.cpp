// SPDX-License-Identifier: BSD-3-Clause
#include "coll/vendor/library.hpp"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/lasting.hpp"
#include "base/library.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"

namespace telpher::coll::vendor {
namespace {

constexpr int oldest = 21000;  // 2.10, the first with bfloat16

struct opened_file {
  std::string name;
  std::unique_ptr<library> made;  // null: it cannot be used
};
std::mutex guard;
lasting<std::vector<opened_file>> files;

/// The file to open, or "".
std::string wanted(device::backend& owner) {
  const auto& setting = config().ccl;
  const device::vendor_libraries own = owner.libraries();
  const bool forced = setting == "on" || config().coll_transport == "vendor";
  if (setting == "off" || (setting == "auto" && !own.measured && !forced)) return {};
  if (setting == "auto" || setting == "on") return own.collectives ? own.collectives : "";
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
  try {
    const std::string file = wanted(owner);
    if (file.empty()) return nullptr;
    const std::lock_guard lock(guard);
    for (const opened_file& one : *files)
      if (one.name == file) return one.made.get();
    opened_file& fresh = files->emplace_back(opened_file{file, nullptr});
    auto made = std::make_unique<library>();
    made->file = file;
    std::string why;
    if (made->open(why)) {
      TELPHER_INFO("%s, version %d, for collectives", file.c_str(), made->version);
      fresh.made = std::move(made);
    } else if (config().ccl == "auto") {
      TELPHER_INFO("%s is not used for collectives: %s", file.c_str(), why.c_str());
    } else {
      TELPHER_WARN("%s is not used for collectives: %s", file.c_str(), why.c_str());
    }
    return fresh.made.get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace telpher::coll::vendor
