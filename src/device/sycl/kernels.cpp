// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/kernels.hpp"

#include <sys/stat.h>

#include <sycl/sycl.hpp>

#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "device/sycl/kernel_source.hpp"
#include "device/sycl/kernel_store.hpp"

namespace telpher::device::sycl {
namespace {

namespace experimental = ::sycl::ext::oneapi::experimental;
using bundle = ::sycl::kernel_bundle<::sycl::bundle_state::executable>;

constexpr auto kernel_count = static_cast<std::size_t>(kernel::id::count_);

// What is compiled at a time; in the order of CMakeLists.txt's units.
enum class unit : std::uint8_t { kernels, codecs, none };
constexpr const char* unit_names[] = {"kernels", "codecs"};

struct kernel_row {
  const char* name;
  std::size_t parameter_bytes;
  unit where;
};
constexpr kernel_row rows[] = {
#define TELPHER_KERNEL(name) {"telpher_" #name, sizeof(kernel::name), unit::kernels},
#define TELPHER_CODEC_KERNEL(name) {"telpher_" #name, sizeof(kernel::name), unit::codecs},
#define TELPHER_POLLING_KERNEL(name) {"telpher_" #name, sizeof(kernel::name), unit::none},
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
};
static_assert(std::size(rows) == kernel_count);

struct unit_kernels {
  const place* where;
  unit which;
  std::array<std::optional<::sycl::kernel>, kernel_count> kernels;
};

// The codecs' results are the CPU's bit by bit: no sum or product of floating point may change.
const std::vector<std::string>& options() {
  static const std::vector<std::string> list{"-std=c++20", "-O3", "-ffp-model=precise",
                                             "-ffp-contract=off", "-I."};
  return list;
}

const source_file& text_of(unit which) {
  return kernel_units()[static_cast<std::size_t>(which)];
}

// All that the compiled code depends on.
std::string identity_of(const ::sycl::device& d, unit which) {
  std::string text = "SYCL " + std::to_string(__LIBSYCL_MAJOR_VERSION) + "." +
                     std::to_string(__LIBSYCL_MINOR_VERSION);
  for (const std::string& part : {d.get_info<::sycl::info::device::name>(),
                                  d.get_info<::sycl::info::device::driver_version>(),
                                  d.get_platform().get_info<::sycl::info::platform::name>(),
                                  d.get_platform().get_info<::sycl::info::platform::version>()})
    text += '\n' + part;
  for (const std::string& option : options()) text += '\n' + option;
  for (const source_file& f : kernel_headers()) text += std::string("\n#") + f.name + '\n' + f.text;
  return text + '\n' + text_of(which).text;
}

// Code of another device or release is an exception, which is an answer here.
std::optional<bundle> open_bundle(const place& where, std::vector<char>& content,
                                  const char* origin) {
  try {
    return experimental::get_kernel_bundle<::sycl::bundle_state::executable>(
        where.context, {where.device}, ::sycl::span<char>(content.data(), content.size()));
  } catch (const std::exception& e) {
    TELPHER_INFO("compiled kernels in %s are of no use here: %s", origin, e.what());
    return std::nullopt;
  }
}

std::optional<bundle> ahead_of_time(const place& where, unit which) {
  const std::string path = folder_of(reinterpret_cast<const void*>(&kernel_of)) +
                           "/libtelpher-sycl-" + unit_names[static_cast<std::size_t>(which)] +
                           ".syclbin";
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  return open_bundle(where, content, path.c_str());
}

bundle compile(const place& where, unit which) {
  const auto start = std::chrono::steady_clock::now();
  const std::string device = where.device.get_info<::sycl::info::device::name>();
  TELPHER_INFO("compiling %s for %s", text_of(which).name, device.c_str());
  experimental::include_files headers;
  for (const source_file& f : kernel_headers()) headers.add(f.name, f.text);
  auto source = experimental::create_kernel_bundle_from_source(
      where.context, experimental::source_language::sycl, text_of(which).text,
      experimental::properties{headers});
  bundle made = experimental::build(
      source, {where.device}, experimental::properties{experimental::build_options{options()}});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  TELPHER_INFO("%s for %s compiled in %.1f s", text_of(which).name, device.c_str(), took.count());
  return made;
}

std::optional<bundle> find_or_compile(const place& where, unit which) {
  if (auto b = ahead_of_time(where, which)) return b;
  kernel_store store(config().sycl_kernel_cache, identity_of(where.device, which));
  std::vector<char> content;
  for (const bool waited : {false, true}) {
    if (waited) store.lock();  // another rank may be compiling the same
    if (store.load(content))
      if (auto b = open_bundle(where, content, store.path().c_str())) return b;
  }
  ::sycl::device device = where.device;  // the question is no const function
  if (!device.ext_oneapi_can_compile(experimental::source_language::sycl)) return std::nullopt;
  bundle made = compile(where, which);
  store.save(made.ext_oneapi_get_content());
  return made;
}

// A place without kernels is remembered as such: trying again would cost seconds each time.
unit_kernels make(const place& where, unit which) {
  unit_kernels made{&where, which, {}};
  std::string why = "neither a run-time compiler nor kernels compiled ahead of time";
  try {
    if (auto b = find_or_compile(where, which)) {
      why.clear();
      for (std::size_t i = 0; i < kernel_count; ++i)
        if (b->ext_oneapi_has_kernel(rows[i].name))
          made.kernels[i] = b->ext_oneapi_get_kernel(rows[i].name);
    }
  } catch (const std::exception& e) {
    why = e.what();
  }
  if (!why.empty())
    TELPHER_WARN(
        "%s gives no kernels for %s (%s): copies go one by one, and what needs a kernel fails",
        text_of(which).name, where.device.get_info<::sycl::info::device::name>().c_str(),
        why.c_str());
  return made;
}

}  // namespace

const ::sycl::kernel* kernel_of(const place& where, kernel::id k) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::list<unit_kernels>;  // a list: kernels stay where they are
  const unit which = rows[static_cast<std::size_t>(k)].where;
  if (which == unit::none) return nullptr;
  std::lock_guard lock(*mutex);
  unit_kernels* found = nullptr;
  for (unit_kernels& u : *all)
    if (u.where == &where && u.which == which) found = &u;
  if (!found) found = &all->emplace_back(make(where, which));
  const auto& kernel = found->kernels[static_cast<std::size_t>(k)];
  return kernel ? &*kernel : nullptr;
}

std::size_t parameter_bytes(kernel::id k) noexcept {
  return rows[static_cast<std::size_t>(k)].parameter_bytes;
}

}  // namespace telpher::device::sycl
