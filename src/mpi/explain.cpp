// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/explain.hpp"

#include <cstdio>
#include <string>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/tuning.hpp"
#include "codec/accounting.hpp"
#include "codec/choice.hpp"
#include "device/registry.hpp"
#include "memory/imported.hpp"
#include "mpi/tuned.hpp"
#include "path/table.hpp"
#include "ticket/progress.hpp"

namespace telpher::explain {
namespace {

void print_line(const std::string& line) noexcept {
  std::fprintf(stderr, "[telpher %d] %s\n", ticket::job().world_rank, line.c_str());
}

std::string host_mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  pmpi::Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  return all.substr(0, all.find('\n'));
}

std::string size_text(std::size_t bytes) {
  if (bytes == static_cast<std::size_t>(-1)) return "any size";
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

void explain_devices() {
  for (device::backend* b : device::backends())
    for (int d = 0; d < b->device_count(); ++d) {
      device::device_properties p{};
      if (b->properties(d, p) == status::ok)
        print_line(std::string(b->name()) + " device " + std::to_string(d) + ": " + p.name);
    }
  for (const char* why : device::absent_reasons()) print_line(std::string("not used: ") + why);
}

void explain_table() {
  std::string facts;
  for (const std::string& line : tuned::machine()) facts += (facts.empty() ? "" : "; ") + line;
  print_line("machine: " + facts);
  const tuning::table* t = tuning::in_force();
  if (!t) return print_line("table: built-in");
  print_line("table: " + t->file + ", " + std::to_string(t->choices.size()) + " choices");
  for (const named_value& v : t->settings) print_line("  " + v.name + ' ' + v.text);
}

void explain_paths() {
  const settings& s = config();
  if (path::forced() != path::kind::none)
    print_line(std::string("path forced: ") + to_string(path::forced()));
  print_line("device messages go the first of these ways that can serve them:");
  for (const path::record* r : path::all_paths()) {
    std::string sizes;
    if (r->sizes.least) sizes = " from " + size_text(config().*r->sizes.least);
    if (r->sizes.most) sizes += " up to " + size_text(config().*r->sizes.most);
    print_line("  " + std::string(to_string(r->name)) + sizes + ": " + description(r->name));
  }
  print_line(std::string("  below 480 B: ") + (ticket::peers().small_tickets()
                                                   ? "announced too"
                                                   : "eager (not every rank has a device)"));
  if (codec::configured().any())
    print_line("  compressed by " + s.compression + " from " + size_text(s.compression_threshold) +
               (s.compression_force ? " on" : " on, where the model says that it pays"));
  print_line("sends up to " + size_text(s.eager_limit) + " do not wait for a late receiver");
}

}  // namespace

void started() noexcept {
  const host_mpi::job& job = ticket::job();
  if (job.world_rank == 0)
    TELPHER_INFO(
        "%s; %s", host_mpi_version().c_str(),
        job.any_device ? "active" : "no device in this job: calls go straight to the host MPI");
  if (!config().explain || job.world_rank != 0) return;
  print_line("host MPI: " + host_mpi_version());
  print_line(std::to_string(job.world_size) + " ranks, " + std::to_string(job.node.size()) +
             " on this node");
  if (!job.any_device)
    return print_line("no device in this job: every call goes straight to the host MPI");
  explain_devices();
  explain_table();
  explain_paths();
}

void waits() noexcept {
  constexpr const char* what =
      "a session's communicator has not all processes of mpi://WORLD: device memory goes through "
      "host memory on those made before one that has";
  TELPHER_INFO("%s", what);
  if (config().explain && ticket::job().world_rank == 0) print_line(what);
}

// Also on the log where no statistics are asked for, because a lossy codec may have changed values.
void explain_compression() {
  for (const codec::method m : {codec::method::zfp, codec::method::mpc}) {
    const std::string line = codec::summary(m);
    if (line.empty()) continue;
    if (config().statistics)
      print_line("compression, " + line);
    else
      TELPHER_INFO("compression, %s", line.c_str());
  }
}

void ending() noexcept {
  explain_compression();
  if (!config().statistics) return;
  for (int k = 1; k < static_cast<int>(path::kind::count_); ++k) {
    const auto kind = static_cast<path::kind>(k);
    const path::usage u = path::used(kind);
    if (u.messages == 0) continue;
    print_line(std::string(to_string(kind)) + ": " + std::to_string(u.messages) + " messages, " +
               std::to_string(u.bytes) + " bytes");
  }
  const auto c = memory::allocations::instance().count(memory::facet::kind::imported);
  print_line("ipc cache: " + std::to_string(c.hits) + " hits, " + std::to_string(c.opens) +
             " opened, " + std::to_string(c.closes) + " closed, " + std::to_string(c.ended) +
             " stale, " + std::to_string(memory::refused_imports()) + " refused");
}

}  // namespace telpher::explain
