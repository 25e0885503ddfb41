// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/kernels.hpp"

#include <sys/stat.h>

#include <sycl/sycl.hpp>

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
#include "kernel/reduction.hpp"

namespace telpher::device::sycl {
namespace {

namespace experimental = ::sycl::ext::oneapi::experimental;
using bundle = ::sycl::kernel_bundle<::sycl::bundle_state::executable>;

constexpr auto kernel_count = static_cast<std::size_t>(kernel::id::count_);

// The texts that are compiled, in the order of the units in CMakeLists.txt.
enum class unit : std::uint8_t { kernels, codecs, reductions, none };
constexpr const char* unit_names[] = {"kernels", "codecs", "reduce"};

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

std::string reduction_name(kernel::id k) {
#define TELPHER_QUOTED(name) #name,
  static constexpr const char* ops[] = {TELPHER_REDUCTION_OPS(TELPHER_QUOTED)};
  static constexpr const char* types[] = {TELPHER_VALUE_TYPES(TELPHER_QUOTED)};
#undef TELPHER_QUOTED
  const int pair = kernel::reduction_index(k);
  return std::string(ops[pair / kernel::value_types]) + ", " + types[pair % kernel::value_types];
}

/// One compilation: all kernels of a text, or one reduction.
struct order {
  explicit order(kernel::id k)
      : which(kernel::has_reduction(k) ? unit::reductions
                                       : rows[static_cast<std::size_t>(k)].where),
        only(kernel::has_reduction(k) ? k : kernel::id::count_) {}
  friend bool operator==(const order&, const order&) = default;

  bool is_reduction() const { return which == unit::reductions; }
  const source_file& text() const { return kernel_units()[static_cast<std::size_t>(which)]; }
  std::string name() const {
    return is_reduction() ? "the reduction (" + reduction_name(only) + ")" : text().name;
  }
  /// The text, preceded by the macro that selects a reduction.
  std::string source() const {
    return is_reduction()
               ? "#define TELPHER_REDUCTIONS(X) X(" + reduction_name(only) + ")\n" + text().text
               : text().text;
  }

  unit which;
  kernel::id only;
};

struct made_kernels {
  const place* where;
  order what;
  std::vector<std::optional<::sycl::kernel>> kernels;  // by id; for a reduction only the one
};

// The codecs' results must equal the CPU's bit by bit, so no floating-point optimisation is
// allowed.
const std::vector<std::string>& options() {
  static const auto& list = *new std::vector<std::string>{
      "-std=c++20", "-O3", "-ffp-model=precise", "-ffp-contract=off", "-DTELPHER_DEVICE_PASS",
      "-I."};
  return list;
}

// Everything that the compiled code depends on.
std::string identity_of(const ::sycl::device& d, const order& what) {
  std::string text = "SYCL " + std::to_string(__LIBSYCL_MAJOR_VERSION) + "." +
                     std::to_string(__LIBSYCL_MINOR_VERSION);
  for (const std::string& part : {d.get_info<::sycl::info::device::name>(),
                                  d.get_info<::sycl::info::device::driver_version>(),
                                  d.get_platform().get_info<::sycl::info::platform::name>(),
                                  d.get_platform().get_info<::sycl::info::platform::version>()})
    text += '\n' + part;
  for (const std::string& option : options()) text += '\n' + option;
  for (const source_file& f : kernel_headers()) text += std::string("\n#") + f.name + '\n' + f.text;
  return text + '\n' + what.source();
}

// Code for another device or release throws; the result is then empty.
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

std::optional<bundle> ahead_of_time(const place& where, const order& what) {
  const std::string path = folder_of(reinterpret_cast<const void*>(&kernel_of)) +
                           "/libtelpher-sycl-" + unit_names[static_cast<std::size_t>(what.which)] +
                           ".syclbin";
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  return open_bundle(where, content, path.c_str());
}

bundle compile(const place& where, const order& what) {
  const auto start = std::chrono::steady_clock::now();
  const std::string device = where.device.get_info<::sycl::info::device::name>();
  TELPHER_INFO("compiling %s for %s", what.name().c_str(), device.c_str());
  experimental::include_files headers;
  for (const source_file& f : kernel_headers()) headers.add(f.name, f.text);
  auto source = experimental::create_kernel_bundle_from_source(
      where.context, experimental::source_language::sycl, what.source(),
      experimental::properties{headers});
  bundle made = experimental::build(
      source, {where.device}, experimental::properties{experimental::build_options{options()}});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  TELPHER_INFO("%s for %s compiled in %.1f s", what.name().c_str(), device.c_str(), took.count());
  return made;
}

std::optional<bundle> find_or_compile(const place& where, const order& what) {
  if (auto b = ahead_of_time(where, what)) return b;
  kernel_store store(config().sycl_kernel_cache, identity_of(where.device, what));
  std::vector<char> content;
  for (const bool waited : {false, true}) {
    if (waited) store.lock();  // another rank may be compiling the same
    if (store.load(content))
      if (auto b = open_bundle(where, content, store.path().c_str())) return b;
  }
  ::sycl::device device = where.device;  // the query is not a const function
  if (!device.ext_oneapi_can_compile(experimental::source_language::sycl)) return std::nullopt;
  bundle made = compile(where, what);
  store.save(made.ext_oneapi_get_content());
  return made;
}

std::optional<::sycl::kernel> kernel_in(bundle& b, const std::string& name) {
  if (!b.ext_oneapi_has_kernel(name)) return std::nullopt;
  return b.ext_oneapi_get_kernel(name);
}

// "telpher_sum_f64"
std::string function_of(kernel::id reduction) {
  std::string name = "telpher_" + reduction_name(reduction);
  return name.replace(name.find(", "), 2, "_");
}

// If compilation fails this is remembered, because each attempt takes seconds.
made_kernels make(const place& where, const order& what) {
  made_kernels made{&where, what, {}};
  made.kernels.resize(what.is_reduction() ? 1 : kernel_count);
  std::string why = "neither a run-time compiler nor kernels compiled ahead of time";
  try {
    if (auto b = find_or_compile(where, what)) {
      why.clear();
      if (what.is_reduction()) made.kernels[0] = kernel_in(*b, function_of(what.only));
      for (std::size_t i = 0; i < kernel_count && !what.is_reduction(); ++i)
        made.kernels[i] = kernel_in(*b, rows[i].name);
    }
  } catch (const std::exception& e) {
    why = e.what();
  }
  if (!why.empty())
    TELPHER_WARN("%s cannot be had for %s (%s): %s", what.name().c_str(),
                 where.device.get_info<::sycl::info::device::name>().c_str(), why.c_str(),
                 what.is_reduction() ? "what needs it is staged"
                                     : "copies go one by one, and what needs a kernel fails");
  return made;
}

}  // namespace

const ::sycl::kernel* kernel_of(const place& where, kernel::id k) {
  struct kept {
    std::mutex mutex;
    std::list<made_kernels> made;  // a list: elements do not move
  };
  static auto* const all = new kept;
  const order wanted(k);
  if (wanted.which == unit::none) return nullptr;
  std::lock_guard lock(all->mutex);
  made_kernels* found = nullptr;
  for (made_kernels& m : all->made)
    if (m.where == &where && m.what == wanted) found = &m;
  if (!found) found = &all->made.emplace_back(make(where, wanted));
  const auto& kernel = found->kernels[wanted.is_reduction() ? 0 : static_cast<std::size_t>(k)];
  return kernel ? &*kernel : nullptr;
}

std::size_t parameter_bytes(kernel::id k) noexcept {
  if (kernel::has_reduction(k)) return sizeof(kernel::exchange);
  return rows[static_cast<std::size_t>(k)].parameter_bytes;
}

}  // namespace telpher::device::sycl
