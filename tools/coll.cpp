// SPDX-License-Identifier: BSD-3-Clause
// telpher-coll, behind `telpher coll`: lists the catalogue, verifies algorithms for given rank
// counts, and simulates them on a machine's description. Needs no GPU and no MPI.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "schedules/flat_ring.hpp"
#include "schedules/samples.hpp"
#include "schedules/simulate.hpp"
#include "schedules/verify.hpp"

using namespace telpher::coll;

namespace {

constexpr const char* usage =
    "telpher coll list [--json]\n"
    "telpher coll verify [--ranks 1-257] [--operation NAME] [--algorithm NAMES] [--json]\n"
    "telpher coll simulate --machine FILE --operation NAME [--algorithm NAMES] [--ranks 64,128]\n"
    "                      [--bytes 4k-256m] [--compress RATIO] [--csv|--json]\n"
    "NAMES and numbers are lists with commas; 2-8192 of --ranks in simulate and all ranges of\n"
    "--bytes go by powers of two.\n";

using options = std::map<std::string, std::string>;

[[noreturn]] void stop(const std::string& text) {
  std::fprintf(stderr, "telpher coll: %s\n%s", text.c_str(), usage);
  std::exit(2);
}

options parse(int argc, char** argv) {
  options all;
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    const bool known = name == "--ranks" || name == "--operation" || name == "--algorithm" ||
                       name == "--machine" || name == "--bytes" || name == "--compress";
    if (name == "--csv" || name == "--json")
      all[name] = "yes";
    else if (known && i + 1 < argc)
      all[name] = argv[++i];
    else
      stop("not understood: " + name);
  }
  return all;
}

std::string value(const options& all, const std::string& name, const std::string& otherwise) {
  const auto found = all.find(name);
  return found == all.end() ? otherwise : found->second;
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(by, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::uint64_t number(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t n = std::strtoull(text.c_str(), &end, 10);
  const std::string unit = end;
  if (end == text.c_str() || (!unit.empty() && (unit.size() > 1 || !std::strchr("kmg", unit[0]))))
    stop("no number: " + text);
  const int shift = unit.empty() ? 0 : unit == "k" ? 10 : unit == "m" ? 20 : 30;
  return n << shift;
}

std::vector<std::uint64_t> numbers(const std::string& text, bool by_powers) {
  std::vector<std::uint64_t> all;
  for (const std::string& part : split(text, ',')) {
    const auto ends = split(part, '-');
    const std::uint64_t last = number(ends.back());
    for (std::uint64_t n = number(ends.front()); n <= last; n = by_powers && n > 0 ? 2 * n : n + 1)
      all.push_back(n);
  }
  return all;
}

bool wanted(const options& all, const algorithm& a) {
  const std::string what = value(all, "--operation", "");
  const auto names = split(value(all, "--algorithm", ""), ',');
  return (what.empty() || what == to_string(a.what)) &&
         (names[0].empty() || std::find(names.begin(), names.end(), a.name) != names.end());
}

/// Ends the program if --algorithm names one that there is not, of --operation if that is given.
void check_names(const options& all) {
  const std::string what = value(all, "--operation", "");
  std::string known;
  std::vector<std::string> names;
  for (const algorithm& a : with_flat_ring()) {
    if (!what.empty() && what != to_string(a.what)) continue;
    if (std::find(names.begin(), names.end(), a.name) != names.end()) continue;
    names.push_back(a.name);
    known += (known.empty() ? "" : ", ") + names.back();
  }
  if (names.empty()) stop("no operation " + what);
  for (const std::string& one : split(value(all, "--algorithm", ""), ','))
    if (!one.empty() && std::find(names.begin(), names.end(), one) == names.end())
      stop("no algorithm " + one + (what.empty() ? "" : " of " + what) + "; there are " + known);
}

// --- as JSON ---

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

/// The beginning of an object, which `more` goes on with.
std::string about(const algorithm& a, const std::string& more) {
  return "{\"operation\": " + quoted(to_string(a.what)) + ", \"algorithm\": " + quoted(a.name) +
         ", " + more + "}";
}

void print_list(const std::vector<std::string>& objects) {
  for (std::size_t i = 0; i < objects.size(); ++i)
    std::printf("%s%s", i == 0 ? "[" : ",\n ", objects[i].c_str());
  std::printf("%s]\n", objects.empty() ? "[" : "");
}

// --- list ---

int list(const options& all) {
  const bool json = all.count("--json") > 0;
  std::vector<std::string> objects;
  if (!json) std::printf("%-22s %-20s %s\n", "operation", "algorithm", "restrictions");
  const std::pair<restriction, const char*> names[] = {
      {one_node, "one node"},
      {commutative_only, "commutative operations"},
      {node_order, "node order unless commutative"},
      {nodes_power_of_two, "2^k nodes"},
      {not_in_place, "not in place"},
      {no_gaps, "no gaps in elements"},
      {packed, "(packed transport)"},
  };
  for (const algorithm& a : algorithms()) {
    std::string text;
    for (const auto& [bit, name] : names)
      if ((a.restrictions & bit) != 0)
        text += (text.empty() ? "" : ", ") + (json ? quoted(name) : std::string(name));
    if (json)
      objects.push_back(about(a, "\"restrictions\": [" + text + "]"));
    else
      std::printf("%-22s %-20s %s\n", to_string(a.what), a.name, text.c_str());
  }
  if (json) print_list(objects);
  return 0;
}

// --- verify ---

/// How many problems of that size were tried; stops at the first mistake, which `mistake` then
/// tells.
int verify_size(const algorithm& a, std::int32_t ranks, std::string& mistake) {
  const bool small = ranks <= 17;
  int tried = 0;
  auto shapes = sample_nodes(ranks);
  if ((a.restrictions & one_node) != 0)
    shapes.resize(1);
  else if (ranks > 32)  // nodes of four, uneven nodes, interleaved nodes: what is left takes hours
    shapes = {shapes[2], shapes[shapes.size() - 3], shapes[shapes.size() - 2]};
  for (const auto& nodes : shapes)
    for (problem& p :
         sample_problems(a.what, ranks, small ? sample_depth::full : sample_depth::sparse, nodes)) {
      p.commutative = (a.restrictions & commutative_only) != 0;
      if (!allows(a, p)) continue;
      std::vector<schedule> all;
      for (std::int32_t r = 0; r < ranks; ++r) all.push_back(a.make(p, r));
      const std::string error = verify(p, all);
      ++tried;
      if (error.empty()) continue;
      mistake = std::to_string(ranks) + " ranks, count " + std::to_string(p.count) + ", root " +
                std::to_string(p.root) + (p.in_place ? ", in place" : "") +
                (p.mapped ? "" : ", workspace") + ": " + error;
      return tried;
    }
  return tried;
}

int verify_all(const options& all) {
  check_names(all);
  const auto ranks = numbers(value(all, "--ranks", "1-17"), false);
  const bool json = all.count("--json") > 0;
  std::vector<std::string> objects;
  int passed = 0;
  int failed = 0;
  for (const algorithm& a : with_flat_ring()) {
    if (!wanted(all, a)) continue;
    int tried = 0;
    std::string mistake;
    for (const std::uint64_t n : ranks)
      if (mistake.empty()) tried += verify_size(a, static_cast<std::int32_t>(n), mistake);
    ++(mistake.empty() ? passed : failed);
    if (json)
      objects.push_back(
          about(a, "\"problems\": " + std::to_string(tried) + ", \"mistake\": " + quoted(mistake)));
    else if (mistake.empty())
      std::printf("ok %s %s, %d problems\n", to_string(a.what), a.name, tried);
    else
      std::printf("FAILED %s %s, %s\n", to_string(a.what), a.name, mistake.c_str());
    std::fflush(stdout);
  }
  if (json)
    print_list(objects);
  else
    std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

// --- simulate ---

machine read_machine(const std::string& path) {
  std::string text;
  if (!telpher::read_file(path, text)) stop("cannot read " + path);
  machine m;
  std::string error;
  if (!parse_machine(text, m, error)) stop(path + ": " + error);
  return m;
}

problem make_problem(operation what, std::int32_t ranks, std::uint64_t bytes, const machine& m) {
  problem p;
  p.what = what;
  p.ranks = ranks;
  p.granule = 4;
  const bool of_blocks = what != operation::allreduce && what != operation::bcast &&
                         what != operation::reduce && what != operation::scan &&
                         what != operation::exscan;
  // --bytes is the whole vector, or all blocks of a rank together.
  p.count = std::max<std::uint64_t>(bytes / 4 / (of_blocks ? static_cast<unsigned>(ranks) : 1), 1);
  for (std::int32_t r = 0; r < ranks; ++r) p.node_of.push_back(r / m.gpus);
  return p;
}

symmetry symmetry_of(const algorithm& a, const problem& p, const machine& m) {
  if ((a.restrictions & between_nodes) == 0 || is_rooted(a.what) || p.ranks % m.gpus != 0)
    return symmetry::none;
  return (a.restrictions & nodes_power_of_two) != 0 ? symmetry::mirrored : symmetry::shifted;
}

/// The best time over a few chunk sizes, for algorithms that go in chunks.
double price(const algorithm& a, problem p, const machine& m, double compression) {
  pricing how;
  how.compression = compression;
  how.nodes = symmetry_of(a, p, m);
  double best = -1;
  for (const std::uint64_t parts : {1u, 4u, 16u}) {
    p.chunk = (p.count + parts - 1) / parts;
    if (parts > 1 && p.chunk < 4096u * static_cast<unsigned>(m.gpus)) break;
    const double us = simulate(p, a.make, m, how);
    if (us < 0) stop(std::string(a.name) + " does not end; verify it");
    if (best < 0 || us < best) best = us;
  }
  return best;
}

/// Bus bandwidth: algorithm bandwidth times the bytes that must cross a rank's link per byte.
double bus_factor(operation what, std::int32_t ranks) {
  const double n = ranks;
  if (what == operation::allreduce) return 2 * (n - 1) / n;
  if (what == operation::bcast || what == operation::reduce) return 1;
  return (n - 1) / n;
}

enum class form { table, csv, json };

constexpr const char* row_forms[] = {
    "%-20s %-20s %6d %12llu %6g %12.2f %10.3f %10.3f\n", "%s,%s,%d,%llu,%g,%.2f,%.3f,%.3f\n",
    "{\"operation\": \"%s\", \"algorithm\": \"%s\", \"ranks\": %d, \"bytes\": %llu, \"ratio\": %g, "
    "\"us\": %.2f, \"alg_gbps\": %.3f, \"bus_gbps\": %.3f}"};

std::string row_of(form f, const algorithm& a, std::int32_t ranks, std::uint64_t bytes, double us,
                   double compression) {
  const double gbps = static_cast<double>(bytes) / us * 1e-3;
  char text[512];
  std::snprintf(text, sizeof text, row_forms[static_cast<int>(f)], to_string(a.what), a.name, ranks,
                static_cast<unsigned long long>(bytes), compression, us, gbps,
                gbps * bus_factor(a.what, ranks));
  return text;
}

int simulate_all(options all) {
  all.try_emplace("--operation", "allreduce");
  const machine m = read_machine(value(all, "--machine", ""));
  operation what = operation::allreduce;
  const std::string name = all["--operation"];
  if (!from_string(name.c_str(), what) || is_v_form(what)) stop("no operation " + name);
  check_names(all);
  const form f = all.count("--json") ? form::json : all.count("--csv") ? form::csv : form::table;
  std::vector<std::string> objects;
  const double compression = std::atof(value(all, "--compress", "1").c_str());
  if (!(compression >= 1)) stop("--compress takes a ratio of 1 or more");
  if (f == form::csv) std::printf("operation,algorithm,ranks,bytes,ratio,us,alg_gbps,bus_gbps\n");
  if (f == form::table)
    std::printf("%-20s %-20s %6s %12s %6s %12s %10s %10s\n", "operation", "algorithm", "ranks",
                "bytes", "ratio", "us", "alg_gbps", "bus_gbps");
  for (const std::uint64_t ranks : numbers(value(all, "--ranks", "8"), true))
    for (const std::uint64_t bytes : numbers(value(all, "--bytes", "4k-256m"), true))
      for (const algorithm& a : with_flat_ring()) {
        if (a.what != what || !wanted(all, a)) continue;
        const problem p = make_problem(what, static_cast<std::int32_t>(ranks), bytes, m);
        if (!allows(a, p)) continue;
        objects.push_back(row_of(f, a, p.ranks, bytes, price(a, p, m, compression), compression));
        if (f != form::json) std::fputs(objects.back().c_str(), stdout);
      }
  if (f == form::json) print_list(objects);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "list") return list(parse(argc, argv));
  if (what == "verify") return verify_all(parse(argc, argv));
  if (what == "simulate") return simulate_all(parse(argc, argv));
  if (what == "--help") return std::fputs(usage, stdout) < 0;
  stop(what.empty() ? "list, verify or simulate" : "no subcommand " + what);
}
