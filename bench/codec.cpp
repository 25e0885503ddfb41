// SPDX-License-Identifier: BSD-3-Clause
// telpher-bench-codec: how fast a device encodes and decodes, by codec, type, dimensions, rate and
// size. Each figure stands beside a copy of the same bytes on the same device in the same run, so
// it can be read as a share of the memory bandwidth. No MPI, one process, one device. See
// docs/use/compression.md.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "codec/choice.hpp"
#include "codec/codec.hpp"
#include "device/registry.hpp"

using namespace telpher;

namespace {

constexpr const char* usage =
    "usage: telpher-bench-codec [options]   (telpher bench codec)\n"
    "  -s, --sizes LIST      bytes before compression: 1m,64m (1m,16m,64m)\n"
    "  -r, --rates LIST      bits of a value for zfp (4,8,16)\n"
    "  -d, --dims LIST       dimensions for zfp (1,2,3)\n"
    "  -c, --codecs LIST     zfp, mpc (both)\n"
    "      --min-time S      timed for each figure (0.1)\n"
    "      --device N        which device (0)\n"
    "      --json FILE       also write rows; - is stdout\n";

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "telpher-bench-codec: %s\n", why.c_str());
  std::exit(2);
}

void must(status s, const char* what) {
  if (s != status::ok) fail(std::string(what) + ": " + to_string(s));
}

template <class T>
T must(result<T> r, const char* what) {
  must(r.error(), what);
  return *r;
}

struct options {
  std::vector<std::size_t> sizes{1u << 20, 16u << 20, 64u << 20};
  std::vector<double> rates{4, 8, 16};
  std::vector<int> dims{1, 2, 3};
  std::vector<std::string> codecs{"zfp", "mpc"};
  double min_time = 0.1;
  int device = 0;
  std::string json;
};

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= list.size();) {
    const auto end = std::min(list.find(',', from), list.size());
    out.push_back(list.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

double number(const std::string& text, double low, double high) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (*end == 'k') value *= 1024, ++end;
  if (*end == 'm') value *= 1 << 20, ++end;
  if (*end == 'g') value *= 1 << 30, ++end;
  if (text.empty() || *end || !(value >= low && value <= high)) fail("'" + text + "' is no value");
  return value;
}

template <class T>
std::vector<T> numbers(const std::string& list, double low, double high) {
  std::vector<T> out;
  for (const std::string& word : words(list))
    out.push_back(static_cast<T>(number(word, low, high)));
  return out;
}

options parse(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-h" || word == "--help") std::fputs(usage, stdout), std::exit(0);
    if (i + 1 == argc) fail(word + " is no option, or needs a value; --help lists them");
    const std::string value = argv[++i];
    if (word == "-s" || word == "--sizes")
      o.sizes = numbers<std::size_t>(value, 4096, 16.0 * (1 << 30));
    else if (word == "-r" || word == "--rates")
      o.rates = numbers<double>(value, 1, 64);
    else if (word == "-d" || word == "--dims")
      o.dims = numbers<int>(value, 1, 3);
    else if (word == "-c" || word == "--codecs")
      o.codecs = words(value);
    else if (word == "--min-time")
      o.min_time = number(value, 1e-3, 60);
    else if (word == "--device")
      o.device = static_cast<int>(number(value, 0, 1024));
    else if (word == "--json")
      o.json = value;
    else
      fail("there is no option " + word + "; --help lists them");
  }
  return o;
}

struct row {
  std::string codec, type;
  int dims;
  double rate;
  std::size_t bytes, coded;
  double encode, decode, copy;  // in 1e9 plain bytes per second
  double error;                 // the largest error found
};

/// Device memory for one size, and the stream that all work runs in.
class rig {
 public:
  rig(device::backend& b, int device, double min_time)
      : backend_(b), device_(device), min_time_(min_time) {
    stream_ = must(b.create_stream(device), "stream");
    report_ = static_cast<codec::report*>(must(b.allocate_pinned(4096), "pinned memory"));
  }
  ~rig() {
    static_cast<void>(backend_.release_pinned(report_));
    backend_.destroy_stream(stream_);
  }
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  row measure(const codec::plan& p, const std::vector<std::byte>& content) {
    row r{};
    void* values = allocate(content.size());
    void* back = allocate(content.size());
    void* coded = allocate(codec::most_bytes(p));
    void* workspace = allocate(codec::the_coder()->workspace_bytes(p));
    must(backend_.copy(values, content.data(), content.size(), stream_), "copy");
    r.copy =
        speed(content.size(), [&] { return backend_.copy(back, values, content.size(), stream_); });
    r.encode = speed(content.size(), [&] {
      return codec::the_coder()->encode(backend_, stream_, p, values, coded, workspace, report_);
    });
    r.coded = codec::the_coder()->coded_bytes(p, *report_);
    r.decode = speed(content.size(), [&] {
      return codec::the_coder()->decode(backend_, stream_, p, coded, r.coded, back);
    });
    r.bytes = content.size();
    r.error = error(p, content, back);
    for (void* one : {values, back, coded, workspace})
      must(backend_.release(device_, one), "release");
    return r;
  }

 private:
  void* allocate(std::size_t bytes) {
    return must(backend_.allocate(device_, bytes), "device memory");
  }

  /// The best of several batches, each long enough to be timed.
  template <class Work>
  double speed(std::size_t bytes, const Work& work) {
    using clock = std::chrono::steady_clock;
    must(work(), "warm-up");
    must(backend_.synchronise(stream_), "warm-up");
    double best = 1e9, spent = 0;
    for (int count = 1; spent < min_time_ || best == 1e9;) {
      const auto begin = clock::now();
      for (int i = 0; i < count; ++i) must(work(), "launch");
      must(backend_.synchronise(stream_), "synchronise");
      const double took = std::chrono::duration<double>(clock::now() - begin).count();
      spent += took;
      if (took < min_time_ / 10) {
        count *= 2;
        continue;
      }
      best = std::min(best, took / count);
    }
    return static_cast<double>(bytes) / best / 1e9;
  }

  double error(const codec::plan& p, const std::vector<std::byte>& content, const void* back) {
    std::vector<std::byte> found(content.size());
    must(backend_.copy(found.data(), back, found.size(), stream_), "copy");
    must(backend_.synchronise(stream_), "copy");
    double worst = 0;
    const bool wide = p.kind == codec::element::f64;
    for (std::size_t at = 0; at < content.size(); at += wide ? 8 : 4) {
      double a, b;
      float c, d;
      std::memcpy(&a, &content[at], wide ? 8 : 4), std::memcpy(&b, &found[at], wide ? 8 : 4);
      std::memcpy(&c, &content[at], 4), std::memcpy(&d, &found[at], 4);
      worst = std::max(worst, wide ? std::abs(a - b) : std::abs(double{c} - double{d}));
    }
    return worst;
  }

  device::backend& backend_;
  int device_;
  double min_time_;
  device::stream stream_;
  codec::report* report_;
};

/// A smooth field with some noise; values are about 1.
template <class T>
std::vector<std::byte> field(std::size_t bytes) {
  std::vector<std::byte> made(bytes / sizeof(T) * sizeof(T));
  std::uint64_t noise = 1;
  for (std::size_t i = 0; i < made.size() / sizeof(T); ++i) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    const auto x = static_cast<double>(i % 4096), y = static_cast<double>(i / 4096);
    const T v = static_cast<T>(std::sin(x / 97) * std::cos(y / 61) +
                               1e-5 * static_cast<double>(noise >> 40) / (1 << 24));
    std::memcpy(&made[i * sizeof(T)], &v, sizeof v);
  }
  return made;
}

/// Square-ish arrays: rows of 1024 in two dimensions, planes of 64 x 64 in three.
codec::plan plan_of(const std::string& name, codec::element kind, int dims, double rate,
                    std::size_t bytes) {
  codec::choice c;
  c.how = name == "zfp" ? codec::method::zfp : codec::method::mpc;
  c.rate = rate;
  c.row = dims == 1 ? 0 : dims == 2 ? 1024 : 64;
  c.column = dims == 3 ? 64 : 0;
  const codec::plan p = codec::plan_for(c, kind, bytes);
  return p && p.dims == dims ? p : codec::plan{};
}

void print(const row& r) {
  std::printf("%-4s %-6s %dD %6.2f %12zu %7.2f %10.2f %10.2f %10.2f %7.3f %7.3f  %.3g\n",
              r.codec.c_str(), r.type.c_str(), r.dims, r.rate, r.bytes,
              static_cast<double>(r.bytes) / static_cast<double>(r.coded), r.encode, r.decode,
              r.copy, r.encode / r.copy, r.decode / r.copy, r.error);
  std::fflush(stdout);
}

void write_json(const std::string& file, const std::string& backend, const std::string& device,
                const std::vector<row>& rows) {
  std::FILE* out = file == "-" ? stdout : std::fopen(file.c_str(), "w");
  if (!out) fail("cannot write " + file);
  std::fprintf(out, "{\"backend\": \"%s\", \"device\": \"%s\", \"rows\": [", backend.c_str(),
               device.c_str());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const row& r = rows[i];
    std::fprintf(out,
                 "%s\n {\"test\": \"codec\", \"codec\": \"%s\", \"type\": \"%s\", \"dims\": %d, "
                 "\"rate\": %g, \"bytes\": %zu, \"coded_bytes\": %zu, \"encode_gbps\": %.4g, "
                 "\"decode_gbps\": %.4g, \"copy_gbps\": %.4g, \"encode_of_copy\": %.4g, "
                 "\"decode_of_copy\": %.4g, \"worst_error\": %.6g}",
                 i ? "," : "", r.codec.c_str(), r.type.c_str(), r.dims, r.rate, r.bytes, r.coded,
                 r.encode, r.decode, r.copy, r.encode / r.copy, r.decode / r.copy, r.error);
  }
  std::fprintf(out, "\n]}\n");
  if (out != stdout) std::fclose(out);
}

class series {
 public:
  series(device::backend& b, const options& o) : options_(o), rig_(b, o.device, o.min_time) {}

  std::vector<row> run() {
    for (const std::size_t bytes : options_.sizes) {
      run_type("float", codec::element::f32, field<float>(bytes));
      run_type("double", codec::element::f64, field<double>(bytes));
    }
    return std::move(rows_);
  }

 private:
  void run_type(const char* type, codec::element kind, const std::vector<std::byte>& content) {
    for (const std::string& name : options_.codecs) {
      if (name == "mpc") {
        run_one(name, type, plan_of(name, kind, 1, 0, content.size()), 0, content);
        continue;
      }
      for (const int dims : options_.dims)
        for (const double rate : options_.rates)
          run_one(name, type, plan_of(name, kind, dims, rate, content.size()), rate, content);
    }
  }

  void run_one(const std::string& name, const char* type, const codec::plan& p, double rate,
               const std::vector<std::byte>& content) {
    if (!p) return;  // this rate saves nothing, or the size does not fit the dimensions
    row r = rig_.measure(p, content);
    r.codec = name;
    r.type = type;
    r.dims = p.dims;
    r.rate = rate;
    print(r);
    rows_.push_back(r);
  }

  const options& options_;
  rig rig_;
  std::vector<row> rows_;
};

}  // namespace

int main(int argc, char** argv) {
  const options o = parse(argc, argv);
  for (const std::string& name : o.codecs)
    if (name != "zfp" && name != "mpc") fail("there is no codec " + name);
  device::discover();
  if (device::backends().empty())
    fail("no device was found; TELPHER_BACKEND=emu takes emulated ones");
  device::backend& b = *device::backends().front();
  series work(b, o);  // starts the device, which then tells its properties
  device::device_properties about{};
  must(b.properties(o.device, about), "device");
  std::printf("# %s, %s; GB/s of 1e9 plain bytes\n", b.name(), about.name);
  std::printf("%-4s %-6s %2s %6s %12s %7s %10s %10s %10s %7s %7s  %s\n", "", "type", "", "rate",
              "bytes", "to 1", "encode", "decode", "copy", "e/copy", "d/copy", "error");
  const std::vector<row> rows = work.run();
  if (!o.json.empty()) write_json(o.json, b.name(), about.name, rows);
  return rows.empty() ? 1 : 0;
}
