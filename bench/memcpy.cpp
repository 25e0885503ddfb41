// SPDX-License-Identifier: BSD-3-Clause
// telpher-memcpy: the time of one copy between host and device, for each kind of host memory and
// each way of copying. Both directions; a copy is complete on return. For every size the bytes of
// each way are compared once. docs/measure/bench.md describes the output. Exit code 1: bytes were
// wrong.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "device/registry.hpp"
#include "kernel/one_copy.hpp"
#include "memory/allocations.hpp"
#include "memory/windows.hpp"

namespace {

using namespace telpher;
using byte_copy = std::function<bool(void*, const void*, std::size_t)>;

constexpr int batches = 11;
constexpr const char* usage =
    "usage: telpher-memcpy [--backend NAME] [--device N] [-s MIN:MAX | -s SIZE,SIZE,...]\n"
    "                      [--min-time SECONDS] [--json FILE]\n";

struct options {
  std::string backend;
  int device = 0;
  std::vector<std::size_t> sizes;
  double min_time = 0.02;  // seconds timed for each size, way and direction
  std::string json;
};

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "%stelpher-memcpy: %s\n", usage, why.c_str());
  std::exit(2);
}

// --- the command line ---

std::size_t size_of(const std::string& text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  const std::string suffix = end;
  const char* known = "kmg";
  const char* at = suffix.size() == 1 ? std::strchr(known, suffix[0]) : nullptr;
  if (end == text.c_str() || (!suffix.empty() && !at)) stop("'" + text + "' is not a size");
  const auto bytes = static_cast<std::size_t>(value) << (at ? 10 * (at - known + 1) : 0);
  if (bytes == 0 || bytes > std::size_t{1} << 30) stop("sizes are from 1 to 1g");
  return bytes;
}

std::vector<std::size_t> sizes_of(const std::string& text) {
  std::vector<std::size_t> out;
  if (const auto colon = text.find(':'); colon != std::string::npos) {
    const std::size_t last = size_of(text.substr(colon + 1));
    for (std::size_t s = size_of(text.substr(0, colon)); s <= last; s *= 2) out.push_back(s);
    return out;
  }
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    out.push_back(size_of(text.substr(from, comma - from)));
    from = comma + 1;
  }
  return out;
}

options parse(int argc, char** argv) {
  options o;
  o.sizes = sizes_of("1:4m");
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") std::fputs(usage, stdout), std::exit(0);
    if (i + 1 == argc) stop(word + " needs a value, or is not known");
    const std::string value = argv[++i];
    if (word == "--backend")
      o.backend = value;
    else if (word == "--device")
      o.device = std::atoi(value.c_str());
    else if (word == "-s" || word == "--sizes")
      o.sizes = sizes_of(value);
    else if (word == "--min-time")
      o.min_time = std::atof(value.c_str());
    else if (word == "--json")
      o.json = value;
    else
      stop("there is no option " + word);
  }
  if (!(o.min_time > 0)) stop("--min-time takes a number of seconds");
  return o;
}

// --- the ways of copying ---

/// A way to copy, and which host memory it uses.
struct way {
  const char* name;
  char* host;
  byte_copy to_device, to_host;  // empty: not available on this device
};

class machine {
 public:
  machine(device::backend& owner, int device, std::size_t room)
      : owner_(owner), where_{&owner, device}, room_(room) {
    auto memory = owner.allocate(device, room);
    auto stream = owner.create_stream(device);
    auto pinned = owner.allocate_pinned(room + offset);
    if (!memory || !stream || !pinned) stop("the device gives no memory");
    device_ = static_cast<char*>(*memory);
    pinned_ = static_cast<char*>(*pinned);
    stream_ = *stream;
    plain_ = static_cast<char*>(std::malloc(room + offset));
    aligned_ = static_cast<char*>(std::aligned_alloc(page, (room + page - 1) / page * page));
    if (!plain_ || !aligned_) stop("out of host memory");
    std::memset(plain_, 1, room + offset);
    std::memset(aligned_, 1, room);
    std::memset(pinned_, 1, room + offset);
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  ~machine() {
    memory::allocations::instance().clear(memory::facet::kind::window);
    owner_.destroy_stream(stream_);
    static_cast<void>(owner_.release(where_.device, device_));
    static_cast<void>(owner_.release_pinned(pinned_));
    std::free(plain_);
    std::free(aligned_);
  }

  char* device_bytes() const { return device_; }

  std::vector<way> ways() {
    const byte_copy driver = [this](void* to, const void* from, std::size_t bytes) {
      return owner_.copy(to, from, bytes, stream_) == status::ok && wait();
    };
    const byte_copy kernel = [this](void* to, const void* from, std::size_t bytes) {
      const auto k = kernel::one_copy(to, from, bytes);
      return owner_.launch(kernel::id::copy_batch, &k, k.count, kernel::one_copy_threads,
                           stream_) == status::ok &&
             wait();
    };
    return {{"malloc", unaligned(plain_), driver, driver},
            {"aligned", aligned_, driver, driver},
            {"pinned", pinned_ + offset, driver, driver},
            {"pinned aligned", pinned_, driver, driver},
            mapped(),
            {"kernel", pinned_, kernel, kernel}};
  }

  bool read_back(char* to, std::size_t bytes) {
    return owner_.copy(to, device_, bytes, stream_) == status::ok && wait();
  }
  bool write_there(const char* from, std::size_t bytes) {
    return owner_.copy(device_, from, bytes, stream_) == status::ok && wait();
  }

 private:
  static constexpr std::size_t page = 4096, offset = 16;

  // The alignment that malloc guarantees and no more; large blocks begin 16 bytes into a page
  // anyway.
  static char* unaligned(char* p) {
    return reinterpret_cast<std::uintptr_t>(p) % page == 0 ? p + offset : p;
  }
  bool wait() { return owner_.synchronise(stream_) == status::ok; }

  way mapped() {
    way w{"mapped", aligned_, nullptr, nullptr};
    const auto info = memory::describe(where_, device_);
    if (!info) return w;
    const auto window = memory::open_window(where_, *info, device_);
    if (!window) return w;
    w.to_device = [window](void*, const void* from, std::size_t bytes) {
      window.store(from, bytes);
      return true;
    };
    w.to_host = [window](void* to, const void*, std::size_t bytes) {
      window.load(to, bytes);
      return true;
    };
    return w;
  }

  device::backend& owner_;
  memory::place where_;
  std::size_t room_;
  char *device_ = nullptr, *pinned_ = nullptr, *plain_ = nullptr, *aligned_ = nullptr;
  device::stream stream_;
};

// --- measuring ---

struct figure {
  double us = 0, us_min = 0;  // median and best of the batches
  bool right = true;
};

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

bool same_bytes(machine& m, const way& w, bool to_device, std::size_t bytes) {
  static unsigned seed = 0;
  std::vector<char> sent(bytes), found(bytes, 0);
  ++seed;
  for (std::size_t i = 0; i < bytes; ++i)
    sent[i] = static_cast<char>((i * 131 + i / 255 + seed * 37) & 0xff);
  if (to_device) {
    std::memcpy(w.host, sent.data(), bytes);
    if (!w.to_device(m.device_bytes(), w.host, bytes) || !m.read_back(found.data(), bytes))
      return false;
  } else {
    if (!m.write_there(sent.data(), bytes) || !w.to_host(w.host, m.device_bytes(), bytes))
      return false;
    std::memcpy(found.data(), w.host, bytes);
  }
  return found == sent;
}

figure measure(machine& m, const way& w, bool to_device, std::size_t bytes, double min_time) {
  const byte_copy& copy = to_device ? w.to_device : w.to_host;
  void* const to = to_device ? m.device_bytes() : w.host;
  const void* const from = to_device ? w.host : m.device_bytes();
  figure f;
  f.right = same_bytes(m, w, to_device, bytes);
  for (int i = 0; i < 3; ++i) f.right = copy(to, from, bytes) && f.right;
  const auto trial = clock::now();
  f.right = copy(to, from, bytes) && f.right;
  const double one = std::max(seconds_since(trial), 1e-8);
  const long repeats = std::clamp(static_cast<long>(min_time / batches / one), 1L, 100000L);
  std::vector<double> found;
  for (int b = 0; b < batches; ++b) {
    const auto start = clock::now();
    for (long i = 0; i < repeats; ++i) f.right = copy(to, from, bytes) && f.right;
    found.push_back(seconds_since(start) / static_cast<double>(repeats) * 1e6);
  }
  std::sort(found.begin(), found.end());
  f.us = found[batches / 2];
  f.us_min = found.front();
  return f;
}

void add_row(std::string& rows, const char* test, const way& w, std::size_t bytes,
             const figure& f) {
  char text[320];
  std::snprintf(text, sizeof text,
                "%s  {\"test\": \"%s\", \"bytes\": %zu, \"mode\": \"%s\", \"us\": %.4f, "
                "\"us_min\": %.4f, \"gbps\": %.6f, \"validated\": %s}",
                rows.empty() ? "" : ",\n", test, bytes, w.name, f.us, f.us_min,
                static_cast<double>(bytes) / f.us / 1e3, f.right ? "true" : "false");
  rows += text;
}

bool run_direction(machine& m, const options& o, bool to_device, std::string& rows) {
  const char* test = to_device ? "memcpy_h2d" : "memcpy_d2h";
  const auto ways = m.ways();
  std::printf("# %s, median of batches in us\n# %-10s",
              to_device ? "host to device" : "device to host", "bytes");
  for (const way& w : ways) std::printf(" %15s", w.name);
  std::printf("\n");
  bool right = true;
  for (const std::size_t bytes : o.sizes) {
    std::printf("%-12zu", bytes);
    for (const way& w : ways) {
      if (!w.to_host) {
        std::printf(" %15s", "-");
        continue;
      }
      const figure f = measure(m, w, to_device, bytes, o.min_time);
      std::printf(f.right ? " %15.2f" : " %9.2f WRONG", f.us);
      add_row(rows, test, w, bytes, f);
      right = right && f.right;
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return right;
}

bool write_json(const options& o, device::backend& owner, const std::string& rows) {
  if (o.json.empty()) return true;
  device::device_properties p{};
  static_cast<void>(owner.properties(o.device, p));
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::FILE* out = o.json == "-" ? stdout : std::fopen(o.json.c_str(), "w");
  if (!out) return false;
  std::fprintf(out,
               "{\"about\": {\"machine\": \"%s\", \"backend\": \"%s\", \"device_name\": \"%s\"},\n"
               "\"rows\": [\n%s]}\n",
               host, owner.name(), p.name, rows.c_str());
  return out == stdout || std::fclose(out) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const options o = parse(argc, argv);
  if (!o.backend.empty()) ::setenv("TELPHER_BACKEND", o.backend.c_str(), 1);
  // lib/ lies next to the programs' folder, both in the build folder and where they are installed.
  const std::string folder = folder_of(reinterpret_cast<const void*>(&parse));
  ::setenv("TELPHER_PLUGIN_PATH", (folder + "/../lib").c_str(), 0);
  device::discover();
  device::backend* owner = nullptr;
  for (device::backend* b : device::backends())
    if (!owner && b->device_count() > 0) owner = b;
  if (!owner) stop("no device was found; --backend emu takes an emulated one");
  if (o.device < 0 || o.device >= owner->device_count()) stop("there is no such device");
  machine m(*owner, o.device, *std::max_element(o.sizes.begin(), o.sizes.end()));
  std::printf("# back end %s, device %d\n", owner->name(), o.device);
  std::string rows;
  const bool right = run_direction(m, o, true, rows) & run_direction(m, o, false, rows);
  if (!write_json(o, *owner, rows)) stop("cannot write " + o.json);
  return right ? 0 : 1;
}
