// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "stream.hpp"
#include "usage.hpp"

namespace telpher::bench {

namespace {

constexpr std::size_t largest_message = std::size_t{1} << 30;

class parser {
 public:
  parser(int argc, char** argv, bool talks) : count_(argc), words_(argv), talks_(talks) {}

  options run() {
    for (at_ = 1; at_ < count_; ++at_) take(words_[at_]);
    if (options_.commands.empty()) stop("no test is named");
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
        {"-s", "--sizes"},  {"-b", "--buffers"}, {"-i", "--iterations"}, {"-x", "--warm-up"},
        {"-w", "--window"}, {"-h", "--help"},    {"-D", "--derived"},    {"-f", "--full"}};
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
    if (word.size() == 1 && !options_.commands.empty()) return take_letter(word[0]);
    for (const std::string& one : split(word, ',')) {
      form how = form::blocking;
      if (form_of_all(one, how)) {
        for (const collective& c : collectives()) options_.commands.push_back(test_name(c, how));
        continue;
      }
      if (!known(one)) stop("there is no test " + one);
      options_.commands.push_back(one);
    }
  }

  // The two letters after a test, as in OSU's benchmarks.
  void take_letter(char letter) {
    if (++letters_ > 2) stop("there are two sides to give memory kinds for, D D or H D");
    (letters_ == 1 ? options_.leader_kind : options_.peer_kind) = memory_kind(letter);
  }

  // Abbreviation for all collectives of a form.
  static bool form_of_all(const std::string& word, form& how) {
    if (word != "collectives" && word != "icollectives" && word != "collectives_persistent")
      return false;
    how = word[0] == 'i' ? form::nonblocking : word.size() > 11 ? form::persistent : form::blocking;
    return true;
  }

  static bool known(const std::string& word) {
    const collective* which = nullptr;
    form how = form::blocking;
    bool found = word == "host" || word == "matrix" || find_collective(word, which, how);
    for (const test t : tests) found = found || word == name(t);
    surface_test surface{};
    return found || find_surface_test(word, surface);
  }

  bool take_flag(const std::string& word, bool has_value, const std::string& value) {
    if (word == "--validate") {
      if (has_value && value != "every" && value != "once")
        stop("--validate takes once or every, not " + value);
      options_.how.check = value == "every" ? checking::every : checking::once;
      return true;
    }
    if (word == "--percentiles") {
      take_percentiles(has_value ? value : "50,90,99");
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
    else if (word == "--full")
      options_.full = true;
    else if (word == "--enqueue")
      options_.enqueue = true;
    else if (word == "--persistent")
      options_.persistent = true;
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
        {"--min-time",
         [&](const std::string& v) { o.how.min_time = positive(v, 3600, "a number of seconds"); }},
        {"--progress",
         [&](const std::string& v) { o.say_every = positive(v, 3600, "a number of seconds"); }},
        {"--batches", [&](const std::string& v) { o.how.batches = int(number(v, 1, 100000)); }},
        {"--window", [&](const std::string& v) { o.window = int(number(v, 1, 65536)); }},
        {"--window-memory", [&](const std::string& v) { o.window_memory = size(v); }},
        {"--stream-work", [&](const std::string& v) { o.stream_work = size(v); }},
        {"--pairs", [&](const std::string& v) { o.pairs = int(number(v, 1, 65536)); }},
        {"--device", [this](const std::string& v) { take_devices(v); }},
        {"--alloc", [this](const std::string& v) { take_allocation(v); }},
        {"--json", [&](const std::string& v) { o.json = v; }},
        {"--derived", [this](const std::string& v) { take_derived(v); }},
        {"--root", [&](const std::string& v) { o.root = int(number(v, 0, 1000000)); }},
        {"--type", [this](const std::string& v) { take_type(v); }},
        {"--op", [this](const std::string& v) { take_operation(v); }},
        {"--neighbours", [this](const std::string& v) { take_neighbours(v); }},
        {"--win", [this](const std::string& v) { take_making(v); }},
        {"--faces", [this](const std::string& v) { take_faces(v); }},
        {"--file", [&](const std::string& v) { o.file = v; }},
        {"--test-calls", [&](const std::string& v) { o.test_calls = int(number(v, 0, 1000000)); }},
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

  double positive(const std::string& text, int most, const char* what) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !(value > 0) || value > most)
      stop("'" + text + "' is not " + what + " above 0 and at most " + std::to_string(most));
    return value;
  }

  std::size_t size(const std::string& text) {
    std::size_t value = 0;
    if (!parse_size(text, value)) stop("'" + text + "' is not a size such as 64k");
    return value;
  }

  void take_percentiles(const std::string& v) {
    for (const std::string& word : split(v, ','))
      options_.how.percentiles.push_back(positive(word, 100, "a percentile"));
  }

  void take_derived(const std::string& v) {
    const auto words = split(v, ':');
    derived& d = options_.type;
    if (words[0] == "contiguous" && words.size() == 1) {
      d.what = derived::kind::contiguous;
      return;
    }
    const bool subarray = words[0] == "subarray" && (words.size() == 3 || words.size() == 5);
    if (!subarray && ((words[0] != "vector" && words[0] != "indexed") || words.size() != 3))
      stop(
          "--derived takes contiguous, vector:BLOCK:STRIDE, indexed:BLOCK:STRIDE or "
          "subarray:BLOCK:ROW[:ROWS:PLANE], not " +
          v);
    d.what = subarray               ? derived::kind::subarray
             : words[0] == "vector" ? derived::kind::vector
                                    : derived::kind::indexed;
    if (words.size() == 5) take_subarray(words);
    d.block = size(words[1]);
    d.stride = size(words[2]);
    if (d.block == 0 || d.stride < d.block || d.stride > largest_message)
      stop("--derived " + v + ": the block must not be empty, nor longer than the stride");
  }

  // The stride of a subarray is that of its rows.
  void take_subarray(const std::vector<std::string>& words) {
    derived& d = options_.type;
    d.rows = size(words[3]);
    d.plane_rows = size(words[4]);
    if (d.rows == 0 || d.plane_rows < d.rows || d.plane_rows > largest_message)
      stop("--derived: a plane has no rows, or fewer than are taken of it");
  }

  void take_making(const std::string& v) {
    if (v != "create" && v != "allocate") stop("--win takes create or allocate, not " + v);
    options_.making = v == "create" ? window_making::create : window_making::allocate;
  }

  void take_faces(const std::string& v) {
    const auto words = split(v, ':');
    if (words.size() > 2) stop("--faces takes FACES[:WIDTH], not " + v);
    options_.faces = int(number(words[0], 1, 6));
    if (words.size() == 2) options_.halo_width = int(number(words[1], 1, 1000));
  }

  void take_type(const std::string& v) {
    if (!find_element(v, options_.reduced)) stop("there is no type " + v + " to reduce");
  }

  void take_operation(const std::string& v) {
    if (!find_operation(v, options_.op)) stop("there is no operation " + v);
  }

  void take_neighbours(const std::string& v) {
    const auto words = split(v, ':');
    if (words.size() > 2) stop("--neighbours takes DIMENSIONS[:RADIUS], not " + v);
    options_.dimensions = int(number(words[0], 1, 8));
    if (words.size() == 2) options_.radius = int(number(words[1], 1, 1000));
  }

  void take_sizes(const std::string& v) {
    options_.sizes.clear();
    const auto colon = v.find(':');
    if (colon == v.npos) {
      for (const std::string& word : split(v, ',')) options_.sizes.push_back(size(word));
      if (std::ranges::max(options_.sizes) > largest_message) stop("--sizes: " + v + ": above 1g");
      return;
    }
    options_.smallest = size(v.substr(0, colon));
    options_.largest = size(v.substr(colon + 1));
    if (options_.smallest > options_.largest || options_.largest > largest_message)
      stop("--sizes: " + v + " is not a range below 1g");
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
    if (v == "enqueued") return void(options_.by_hand = false);
    options_.telpher = options_.staged = options_.others = false;
    for (const std::string& one : split(v, ',')) {
      const bool both = one == "both" || one == "all";
      const bool other = one == "all" || one == "nccl" || one == "other";
      if (!both && !other && one != "telpher" && one != "staged") stop("there is no mode " + one);
      options_.telpher = options_.telpher || both || one == "telpher";
      options_.staged = options_.staged || both || one == "staged";
      options_.others = options_.others || other;
    }
    mode_given_ = true;
  }

  void take_devices(const std::string& v) {
    for (const std::string& word : split(v, ':'))
      options_.devices.push_back(int(number(word, 0, 1024)));
  }

  void take_allocation(const std::string& v) {
    for (const char* known : {"telpher", "malloc", "async", "vmm", "vmm-fd", "vmm-fd-pieces"})
      if (v == known) options_.allocation = v;
    if (options_.allocation != v) stop("there is no allocation " + v);
  }

  void finish() {
    if (options_.how.iterations > 0 && options_.how.batches > options_.how.iterations)
      options_.how.batches = int(options_.how.iterations);
    const bool host_only = options_.leader_kind == kind::host && options_.peer_kind == kind::host;
    if (host_only && !mode_given_) options_.staged = false;
    if (!options_.reduced.name) find_element("float", options_.reduced);
    const bool pairs_only =
        options_.persistent || options_.type.what != derived::kind::none || options_.limit;
    const bool collectives_only = !options_.telpher && !options_.staged;
    if (options_.enqueue) check_enqueue();
    if (!options_.enqueue && !options_.by_hand) stop("--mode enqueued is for --enqueue");
    for (const std::string& one : options_.commands) {
      if (!TELPHER_HAS_PERSISTENT_COLLECTIVES && one.ends_with("_persistent"))
        stop("this MPI has no persistent collectives: no " + one);
      const collective* which = nullptr;
      form how = form::blocking;
      const bool is_collective = find_collective(one, which, how);
      if (is_collective && pairs_only)
        stop("--persistent, --derived and --memory-copy-limit are for pairs of ranks; " + one +
             " is a collective");
      surface_test surface{};
      const bool is_surface = find_surface_test(one, surface);
      if (is_surface) check_surface(surface);
      if (!is_collective && !is_surface && collectives_only)
        stop("NCCL is measured beside collectives only");
      if (one == "host" && options_.commands.size() > 1) stop("host is a test for itself");
    }
  }

  void check_surface(surface_test t) {
    const std::string test = name(t);
    if (options_.persistent) stop("--persistent: " + test + " has no persistent form");
    if (options_.type.what != derived::kind::none && !packs(t))
      stop("--derived: " + test + " moves bytes; pack and unpack take derived types");
    if (options_.limit && t != surface_test::put_bw && t != surface_test::get_bw)
      stop("--memory-copy-limit is not for " + test);
  }

  void check_enqueue() {
    if (options_.persistent || mode_given_ || options_.limit || !options_.how.percentiles.empty())
      stop(
          "--enqueue is not for --persistent, --memory-copy-limit, --percentiles or a --mode but "
          "enqueued: single iterations are not seen, and it has modes of its own");
    for (const std::string& one : options_.commands) {
      const collective* which = nullptr;
      form how = form::blocking;
      const bool is_collective = find_collective(one, which, how);
      if (is_collective ? how == form::nonblocking || !stream::supports(*which, how)
                        : one != "latency" && one != "multi_lat")
        stop("--enqueue: there is no enqueued form of " + one);
    }
  }

  int count_;
  char** words_;
  bool talks_;
  int at_ = 0;
  int letters_ = 0;
  bool mode_given_ = false;
  options options_;
};

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= text.size();) {
    const auto end = std::min(text.find(separator, from), text.size());
    words.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return words;
}

bool parse_size(const std::string& text, std::size_t& out) {
  char* end = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  const std::string suffix(end);
  const std::string units = "kKmMgG";
  const std::size_t at = suffix.empty() ? 0 : units.find(suffix);
  if (at == units.npos || suffix.size() > 1) return false;
  const std::size_t shift = suffix.empty() ? 0 : 10 * (at / 2 + 1);
  if (value > (~0ull >> shift)) return false;
  out = value << shift;
  return true;
}

void select(options& o, const std::string& command) {
  o.command = command;
  o.which = nullptr;
  surface_test found{};
  o.surface = find_surface_test(command, found) ? std::optional(found) : std::nullopt;
  find_collective(command, o.which, o.form_of_call);
}

options parse_options(int argc, char** argv, bool talks) {
  return parser(argc, argv, talks).run();
}

}  // namespace telpher::bench
