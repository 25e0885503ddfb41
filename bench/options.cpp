// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

namespace telpher::bench {

namespace {

constexpr std::size_t largest_message = std::size_t{1} << 30;

constexpr const char* usage =
    "usage: mpirun -n 2 telpher-bench-<abi> latency|bw|bibw|mbw_mr|host [options]\n"
    "  -s, --sizes MIN:MAX        message sizes, powers of two between them (1:4m), or as "
    "listed:\n"
    "                             8,1k,64k\n"
    "  -b, --buffers A:B          memory of the first and the second rank of a pair: D device, H "
    "host,\n"
    "                             M managed, P pinned (D:D)\n"
    "      --mode MODE            telpher (buffers passed to MPI), staged (by hand through host "
    "memory)\n"
    "                             or both, in turn (both; telpher where all buffers are host "
    "memory)\n"
    "  -i, --iterations N         timed iterations for each size (as many as --min-time takes)\n"
    "  -x, --warm-up N            iterations before (by time)\n"
    "      --min-time SECONDS     timed for each size and mode (0.25)\n"
    "      --batches N            the median of N batches is reported (11)\n"
    "  -w, --window N             messages in flight of bw, bibw, mbw_mr (64)\n"
    "      --window-memory SIZE   most memory of a window's slots on one rank (64m)\n"
    "      --pairs N              pairs of ranks of mbw_mr (half of the ranks)\n"
    "      --validate[=every]     check every byte: of three more iterations, or of every timed "
    "one\n"
    "      --device A:B:...       device of each rank, taken round (by local rank)\n"
    "      --alloc KIND           device memory from telpher, or from CUDA's driver: malloc, "
    "async,\n"
    "                             vmm, vmm-fd (telpher)\n"
    "      --memory-copy-limit    print what one plain copy of the bytes takes\n"
    "      --json FILE            also write rows, machine, versions and settings; - is stdout\n"
    "      --csv                  print comma-separated rows\n";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= text.size();) {
    const auto end = std::min(text.find(separator, from), text.size());
    words.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

// The value of `--name value` or `--name=value`, or "".
std::string value_of(int argc, char** argv, const std::string& name) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == name && i + 1 < argc) return argv[i + 1];
    if (word.starts_with(name + '=')) return word.substr(name.size() + 1);
  }
  return "";
}

class parser {
 public:
  parser(int argc, char** argv, bool talks) : count_(argc), words_(argv), talks_(talks) {}

  options run() {
    for (at_ = 1; at_ < count_; ++at_) take(words_[at_]);
    if (options_.command.empty()) stop("no test is named");
    finish();
    return options_;
  }

 private:
  using handler = std::function<void(const std::string&)>;

  [[noreturn]] void stop(const std::string& why) {
    if (talks_) std::fprintf(stderr, "%stelpher-bench: %s\n", usage, why.c_str());
    MPI_Finalize();
    std::exit(2);
  }

  void take(std::string word) {
    static const std::map<std::string, std::string> long_names = {
        {"-s", "--sizes"},   {"-b", "--buffers"}, {"-i", "--iterations"},
        {"-x", "--warm-up"}, {"-w", "--window"},  {"-h", "--help"}};
    if (word.empty() || word[0] != '-') return take_command(word);
    std::string value;
    bool has_value = false;
    if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
      has_value = true;
    }
    if (const auto name = long_names.find(word); name != long_names.end()) word = name->second;
    if (take_flag(word, has_value, value)) return;
    const auto handlers = valued();
    const auto found = handlers.find(word);
    if (found == handlers.end()) stop("there is no option " + word);
    if (!has_value) {
      if (++at_ == count_) stop(word + " needs a value");
      value = words_[at_];
    }
    found->second(value);
  }

  void take_command(const std::string& word) {
    if (!options_.command.empty()) stop("two tests are named: " + options_.command + ", " + word);
    for (const char* known : {"latency", "bw", "bibw", "mbw_mr", "host"})
      if (word == known) options_.command = word;
    if (options_.command.empty()) stop("there is no test " + word);
  }

  bool take_flag(const std::string& word, bool has_value, const std::string& value) {
    if (word == "--validate") {
      if (has_value && value != "every" && value != "once")
        stop("--validate takes once or every, not " + value);
      options_.how.check = value == "every" ? checking::every : checking::once;
      return true;
    }
    if (word == "--help") {
      if (talks_) std::fputs(usage, stdout);
      MPI_Finalize();
      std::exit(0);
    }
    if (word == "--csv")
      options_.csv = true;
    else if (word == "--memory-copy-limit")
      options_.limit = true;
    else
      return false;
    return true;
  }

  std::map<std::string, handler> valued() {
    options& o = options_;
    return {
        {"--sizes", [this](const std::string& v) { take_sizes(v); }},
        {"--buffers", [this](const std::string& v) { take_buffers(v); }},
        {"--mode", [this](const std::string& v) { take_mode(v); }},
        {"--iterations", [&](const std::string& v) { o.how.iterations = number(v, 1, 100000000); }},
        {"--warm-up", [&](const std::string& v) { o.how.warm_up = number(v, 0, 100000000); }},
        {"--min-time", [&](const std::string& v) { o.how.min_time = seconds(v); }},
        {"--batches", [&](const std::string& v) { o.how.batches = int(number(v, 1, 100000)); }},
        {"--window", [&](const std::string& v) { o.window = int(number(v, 1, 65536)); }},
        {"--window-memory", [&](const std::string& v) { o.window_memory = size(v); }},
        {"--pairs", [&](const std::string& v) { o.pairs = int(number(v, 1, 65536)); }},
        {"--device", [this](const std::string& v) { take_devices(v); }},
        {"--alloc", [this](const std::string& v) { take_allocation(v); }},
        {"--json", [&](const std::string& v) { o.json = v; }},
    };
  }

  long number(const std::string& text, long low, long high) {
    char* end = nullptr;
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end || value < low || value > high)
      stop("'" + text + "' is not a number from " + std::to_string(low) + " to " +
           std::to_string(high));
    return value;
  }

  double seconds(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(value > 0) || value > 3600)
      stop("'" + text + "' is not a number of seconds");
    return value;
  }

  std::size_t size(const std::string& text) {
    std::size_t value = 0;
    if (!parse_size(text, value)) stop("'" + text + "' is not a size such as 64k");
    return value;
  }

  void take_sizes(const std::string& v) {
    options_.sizes.clear();
    if (v.find(':') == std::string::npos) return take_listed_sizes(v);
    const auto colon = v.find(':');
    options_.smallest = size(v.substr(0, colon));
    options_.largest = size(v.substr(colon + 1));
    if (options_.smallest > options_.largest || options_.largest > largest_message)
      stop("--sizes: " + v + " is not a range below 1g");
  }

  void take_listed_sizes(const std::string& v) {
    for (const std::string& word : split(v, ',')) {
      options_.sizes.push_back(size(word));
      if (options_.sizes.back() > largest_message) stop("--sizes: " + word + " is above 1g");
    }
  }

  kind memory_kind(char letter) {
    if (letter != 'D' && letter != 'H' && letter != 'M' && letter != 'P')
      stop(std::string("--buffers: there is no memory kind ") + letter);
    return static_cast<kind>(letter);
  }

  void take_buffers(const std::string& v) {
    if (v.size() != 3 || v[1] != ':') stop("--buffers takes two letters such as D:H, not " + v);
    options_.leader_kind = memory_kind(v[0]);
    options_.peer_kind = memory_kind(v[2]);
  }

  void take_mode(const std::string& v) {
    if (v != "telpher" && v != "staged" && v != "both") stop("there is no mode " + v);
    options_.telpher = v != "staged";
    options_.staged = v != "telpher";
    mode_given_ = true;
  }

  void take_devices(const std::string& v) {
    for (const std::string& word : split(v, ':'))
      options_.devices.push_back(int(number(word, 0, 1024)));
  }

  void take_allocation(const std::string& v) {
    for (const char* known : {"telpher", "malloc", "async", "vmm", "vmm-fd"})
      if (v == known) options_.allocation = v;
    if (options_.allocation != v) stop("there is no allocation " + v);
  }

  void finish() {
    if (options_.how.iterations > 0 && options_.how.batches > options_.how.iterations)
      options_.how.batches = int(options_.how.iterations);
    const bool host_only = options_.leader_kind == kind::host && options_.peer_kind == kind::host;
    if (host_only && !mode_given_) options_.staged = false;
  }

  int count_;
  char** words_;
  bool talks_;
  int at_ = 0;
  bool mode_given_ = false;
  options options_;
};

}  // namespace

bool parse_size(const std::string& text, std::size_t& out) {
  char* end = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  const std::string suffix(end);
  int shift = 0;
  if (suffix == "k" || suffix == "K")
    shift = 10;
  else if (suffix == "m" || suffix == "M")
    shift = 20;
  else if (suffix == "g" || suffix == "G")
    shift = 30;
  else if (!suffix.empty())
    return false;
  if (value > (~0ull >> shift)) return false;
  out = value << shift;
  return true;
}

int early_cuda_device(int argc, char** argv) {
  const std::string allocation = value_of(argc, argv, "--alloc");
  const std::string devices = value_of(argc, argv, "--device");
  if (allocation.empty() || allocation == "telpher" || devices.empty()) return -1;
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    const char* rank = std::getenv(variable);
    if (!rank) continue;
    const auto listed = split(devices, ':');
    return std::atoi(listed[std::strtoul(rank, nullptr, 10) % listed.size()].c_str());
  }
  return -1;
}

options parse_options(int argc, char** argv, bool talks) {
  return parser(argc, argv, talks).run();
}

}  // namespace telpher::bench
