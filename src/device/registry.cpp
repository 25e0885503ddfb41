// SPDX-License-Identifier: BSD-3-Clause
#include "device/registry.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "device/plugin.hpp"

namespace telpher::device {
namespace {

/// A back end is opened if a device node of the vendor's kernel driver and its user library exist.
/// The emulated device needs neither; it is opened only when named.
struct candidate {
  const char* name;
  std::array<const char*, 2> nodes;      // one of them exists
  std::array<const char*, 4> libraries;  // one of them opens
  bool must_be_named;
  // When named, it needs no device node: its runtime has other kinds of devices (SYCL), or the
  // plug-in of its name serves another vendor's devices (HIP on CUDA).
  bool needs_no_node = false;
  // When not named, it is opened only if the program itself has loaded one of the libraries.
  bool comes_with_program = false;
};

constexpr candidate candidates[] = {
    {"cuda", {"/dev/nvidiactl", "/dev/nvidia0"}, {"libcuda.so.1"}, false},
    {"hip",
     {"/dev/kfd"},
     {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5", "libamdhip64.so"},
     false,
     true},
    {"sycl", {"/dev/dri"}, {"libsycl.so.9", "libsycl.so.8"}, false, true, true},
    {"emu", {}, {}, true},
};

struct discovery {
  std::once_flag once;
  std::vector<backend*> opened;
  std::deque<std::string> reason_texts;  // a deque: the pointers below stay valid
  std::vector<const char*> reasons;

  void absent(const char* name, const std::string& why) {
    reason_texts.push_back(std::string(name) + ": " + why);
    reasons.push_back(reason_texts.back().c_str());
    TELPHER_INFO("no back end %s", reasons.back());
  }
};

discovery& found() {
  static auto* one = new discovery;  // never destroyed: used until the process ends
  return *one;
}

bool node_exists(const candidate& c, std::string& why) {
  if (!c.nodes[0]) return true;
  for (const char* node : c.nodes)
    if (node && ::access(node, F_OK) == 0) return true;
  why = std::string("there is no ") + c.nodes.front();
  return false;
}

// A vendor's library may already be mapped under another path; otherwise the loader searches for
// it. Opening it only runs its constructors. The runtime starts with the program's first call.
bool library_opens(const candidate& c, std::string& why) {
  if (!c.libraries[0]) return true;
  if (c.comes_with_program) {
    for (const char* name : c.libraries)
      if (name && library::already_open(name)) return true;
    why = std::string("the program does not use ") + c.libraries.front();
    return false;
  }
  for (const char* name : c.libraries) {
    std::string one_why;
    if (!name) break;
    if (library::open(name, one_why)) return true;
    if (why.empty()) why = one_why;
  }
  return false;
}

backend* open_plugin(const std::string& name, std::string& why) {
  const std::string& set = config().plugin_path;
  const std::string folder =
      set.empty() ? folder_of(reinterpret_cast<const void*>(&discover)) : set;
  const std::string file = folder + "/libtelpher-" + name + ".so";
  const library plugin = library::open(file, why);
  if (!plugin) return nullptr;
  create_function* create = nullptr;
  if (!plugin.find(create_symbol, create)) {
    why = "the plug-in in " + folder + " exports no " + create_symbol;
    return nullptr;
  }
  built_from_function* built = nullptr;
  const bool says = plugin.find(built_from_symbol, built);
  why = misfit(own_build(), says ? built() : nullptr, file);
  if (!why.empty()) return nullptr;
  backend* made = create(interface_version);
  if (!made) why = file + " found no driver";
  return made;
}

/// The words of TELPHER_BACKEND.
std::vector<std::string> wanted_names() {
  std::vector<std::string> names;
  std::string_view text = config().backend, name;
  while (take_part(text, name, ','))
    if (!name.empty()) names.emplace_back(name);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A name that Telpher does not know is the name of a third party's plug-in.
void open_foreign(const std::string& name, discovery& d) {
  for (const candidate& c : candidates)
    if (name == c.name) return;
  if (name == "auto" || name == "none") return;
  std::string why;
  if (backend* b = open_plugin(name, why)) {
    TELPHER_INFO("back end %s opened", name.c_str());
    d.opened.push_back(b);
    return;
  }
  TELPHER_ERROR(
      "TELPHER_BACKEND names '%s', which is none of auto, none, cuda, hip, sycl and emu, nor a "
      "plug-in: %s",
      name.c_str(), why.c_str());
  d.absent(name.c_str(), why);
}

void consider(const candidate& c, discovery& d) {
  const std::vector<std::string> wanted = wanted_names();
  const bool named = contains(wanted, c.name), any = contains(wanted, "auto");
  if (!named && (!any || c.must_be_named))
    return d.absent(
        c.name, any ? "must be named by TELPHER_BACKEND" : "TELPHER_BACKEND=" + config().backend);
  std::string why;
  if (!(named && c.needs_no_node) && (!node_exists(c, why) || !library_opens(c, why)))
    return d.absent(c.name, why);
  backend* b = open_plugin(c.name, why);
  if (!b) {
    // The machine has this vendor's devices, or the user asked for them: somebody must know that
    // they are not used.
    TELPHER_WARN("cannot open back end %s: %s; its device memory will not be recognised", c.name,
                 why.c_str());
    return d.absent(c.name, why);
  }
  TELPHER_INFO("back end %s opened", c.name);
  d.opened.push_back(b);
}

}  // namespace

void discover() noexcept {
  discovery& d = found();
  std::call_once(d.once, [&d] {
    for (const candidate& c : candidates) consider(c, d);
    for (const std::string& name : wanted_names()) open_foreign(name, d);
  });
}

std::span<backend* const> backends() noexcept {
  return found().opened;
}

backend* find(vendor owner) noexcept {
  for (backend* b : backends())
    if (b->owner() == owner) return b;
  return nullptr;
}

namespace {

std::atomic<backend*> chosen_backend{nullptr};

}  // namespace

backend* active_backend() noexcept {
  if (backend* chosen = chosen_backend.load(std::memory_order_acquire)) return chosen;
  discover();
  for (backend* b : backends())
    if (b->device_count() > 0) return b;
  return nullptr;
}

bool choose_backend(const char* name) noexcept {
  discover();
  for (backend* b : backends())
    if (std::strcmp(b->name(), name) == 0 && b->device_count() > 0) {
      chosen_backend.store(b, std::memory_order_release);
      return true;
    }
  return false;
}

namespace {
std::atomic<bool> some_was_reset{false};
}

void look_for_resets() noexcept {
  for (backend* b : backends())
    if (b->was_reset()) some_was_reset.store(true, std::memory_order_relaxed);
  if (any_was_reset()) TELPHER_INFO("the program has reset a device before the end of the job");
}

bool any_was_reset() noexcept {
  return some_was_reset.load(std::memory_order_relaxed);
}

std::span<const char* const> absent_reasons() noexcept {
  return found().reasons;
}

}  // namespace telpher::device
