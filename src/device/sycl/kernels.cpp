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

struct kernel_row {
  const char* name;
  std::size_t parameter_bytes;
};
constexpr kernel_row rows[] = {
#define TELPHER_KERNEL(name) {"telpher_" #name, sizeof(kernel::name)},
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
};
static_assert(std::size(rows) == kernel_count);

struct place_kernels {
  const place* where;
  std::array<std::optional<::sycl::kernel>, kernel_count> kernels;
};

const std::vector<std::string>& options() {
  static const std::vector<std::string> list{"-std=c++20", "-O3", "-I."};
  return list;
}

// All that the compiled code depends on.
std::string identity_of(const ::sycl::device& d) {
  std::string text = "SYCL " + std::to_string(__LIBSYCL_MAJOR_VERSION) + "." +
                     std::to_string(__LIBSYCL_MINOR_VERSION);
  for (const std::string& part : {d.get_info<::sycl::info::device::name>(),
                                  d.get_info<::sycl::info::device::driver_version>(),
                                  d.get_platform().get_info<::sycl::info::platform::name>(),
                                  d.get_platform().get_info<::sycl::info::platform::version>()})
    text += '\n' + part;
  for (const std::string& option : options()) text += '\n' + option;
  for (const source_file& f : kernel_headers()) text += std::string("\n#") + f.name + '\n' + f.text;
  return text + '\n' + kernel_unit();
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

std::optional<bundle> ahead_of_time(const place& where) {
  const std::string path =
      folder_of(reinterpret_cast<const void*>(&kernel_of)) + "/libtelpher-sycl.syclbin";
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  return open_bundle(where, content, path.c_str());
}

bundle compile(const place& where) {
  const auto start = std::chrono::steady_clock::now();
  const std::string device = where.device.get_info<::sycl::info::device::name>();
  TELPHER_INFO("compiling kernels for %s", device.c_str());
  experimental::include_files headers;
  for (const source_file& f : kernel_headers()) headers.add(f.name, f.text);
  auto source = experimental::create_kernel_bundle_from_source(
      where.context, experimental::source_language::sycl, kernel_unit(),
      experimental::properties{headers});
  bundle made = experimental::build(
      source, {where.device}, experimental::properties{experimental::build_options{options()}});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  TELPHER_INFO("kernels for %s compiled in %.1f s", device.c_str(), took.count());
  return made;
}

std::optional<bundle> find_or_compile(const place& where) {
  if (auto b = ahead_of_time(where)) return b;
  kernel_store store(config().sycl_kernel_cache, identity_of(where.device));
  std::vector<char> content;
  for (const bool waited : {false, true}) {
    if (waited) store.lock();  // another rank may be compiling the same
    if (store.load(content))
      if (auto b = open_bundle(where, content, store.path().c_str())) return b;
  }
  ::sycl::device device = where.device;  // the question is no const function
  if (!device.ext_oneapi_can_compile(experimental::source_language::sycl)) return std::nullopt;
  bundle made = compile(where);
  store.save(made.ext_oneapi_get_content());
  return made;
}

// A place without kernels is remembered as such: trying again would cost seconds each time.
place_kernels make(const place& where) {
  place_kernels made{&where, {}};
  std::string why = "neither a run-time compiler nor kernels compiled ahead of time";
  try {
    if (auto b = find_or_compile(where)) {
      why.clear();
      for (std::size_t i = 0; i < kernel_count; ++i)
        if (b->ext_oneapi_has_kernel(rows[i].name))
          made.kernels[i] = b->ext_oneapi_get_kernel(rows[i].name);
    }
  } catch (const std::exception& e) {
    why = e.what();
  }
  if (!why.empty())
    TELPHER_WARN("no kernels for %s (%s): copies go one by one, and what needs a kernel fails",
                 where.device.get_info<::sycl::info::device::name>().c_str(), why.c_str());
  return made;
}

}  // namespace

const ::sycl::kernel* kernel_of(const place& where, kernel::id k) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::list<place_kernels>;  // a list: kernels stay where they are
  std::lock_guard lock(*mutex);
  place_kernels* found = nullptr;
  for (place_kernels& p : *all)
    if (p.where == &where) found = &p;
  if (!found) found = &all->emplace_back(make(where));
  const auto& kernel = found->kernels[static_cast<std::size_t>(k)];
  return kernel ? &*kernel : nullptr;
}

std::size_t parameter_bytes(kernel::id k) noexcept {
  return rows[static_cast<std::size_t>(k)].parameter_bytes;
}

}  // namespace telpher::device::sycl
