// SPDX-License-Identifier: BSD-3-Clause
// One rank as `telpher doctor` sees it, compiled for each ABI against the host MPI alone: whether
// Telpher is in the process is what it finds out. `telpher-rank look` prints one line of JSON on
// what the process was given, and calls no MPI; `ring` sends device memory round the ring as a
// program does, and `host` by the host MPI's own function, which may end the process: that is the
// answer then. Of these rank 0 prints a line for each rank.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

extern char** environ;

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

/// The files whose names begin so among those that the process has mapped; one that was replaced
/// since is shown as deleted.
std::set<std::string> mapped(const std::string& beginning) {
  std::set<std::string> paths;
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[PATH_MAX + 256];
  while (maps && std::fgets(line, sizeof line, maps)) {
    const char* at = std::strchr(line, '/');
    if (!at) continue;
    const std::string path(at, std::strcspn(at, "\n"));
    if (path.compare(path.rfind('/') + 1, beginning.size(), beginning) == 0) paths.insert(path);
  }
  if (maps) std::fclose(maps);
  return paths;
}

std::string list(const std::set<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out += (out.empty() ? "" : ", ") + quoted(text);
  return "[" + out + "]";
}

/// The environment's variables whose names begin with one of these.
std::string variables(std::initializer_list<const char*> beginnings) {
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto begins = [&](const char* beginning) { return text.rfind(beginning, 0) == 0; };
    if (std::any_of(beginnings.begin(), beginnings.end(), begins) && text.find('=') != text.npos)
      found[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  std::string out;
  for (const auto& [name, value] : found)
    out += (out.empty() ? "" : ", ") + quoted(name) + ": " + quoted(value);
  return "{" + out + "}";
}

std::string space(const char* name) {
  struct stat info {};
  const std::string path = std::string("/proc/self/ns/") + name;
  return ::stat(path.c_str(), &info) == 0 ? std::to_string(info.st_ino) : "0";
}

template <class F>
F* function(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name));
}

constexpr std::size_t ring_bytes = 1 << 20;  // too large for the ways of small messages

struct device_memory {
  int (*copy)(void*, const void*, std::size_t) = nullptr;
  void* out = nullptr;
  void* in = nullptr;
  std::string why_not;

  device_memory() {
    const auto allocate = function<int(void**, std::size_t, int)>("telpher_malloc");
    copy = function<int(void*, const void*, std::size_t)>("telpher_memcpy");
    if (!allocate || !copy) {
      why_not = "Telpher is not in this process";
      return;
    }
    constexpr int on_device = 3;  // TELPHER_MEMORY_DEVICE
    if (allocate(&out, ring_bytes, on_device) != 0 || allocate(&in, ring_bytes, on_device) != 0)
      why_not = "no device memory can be had";
  }
};

using exchange_function = decltype(MPI_Sendrecv);

/// The host MPI's own function, by its library's handle: Telpher stands in front of the PMPI_
/// names, and of the queries, as well.
template <class F>
F* of_host(const char* name) {
  for (const auto& path : mapped("libmpi")) {
    void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    void* const found = library ? ::dlsym(library, name) : nullptr;
    if (found) return reinterpret_cast<F*>(found);
  }
  return nullptr;
}

exchange_function* exchange_of_host() {
  if (const auto found = of_host<exchange_function>("PMPI_Sendrecv")) return found;
  std::fprintf(stderr, "telpher-rank: no library of an MPI is in this process\n");
  std::exit(1);
}

/// Of which back ends the host MPI says that it takes their memory: MPICH and its descendants are
/// asked by a device type, Open MPI by name.
std::set<std::string> taken_by_host() {
  struct {
    const char* backend;
    int mpich_type;
    const char* query;
  } const kinds[] = {{"cuda", 0, "MPIX_Query_cuda_support"},
                     {"sycl", 1, "MPIX_Query_ze_support"},
                     {"hip", 2, "MPIX_Query_rocm_support"}};
  const auto by_type = of_host<int(int, int*)>("MPIX_GPU_query_support");
  std::set<std::string> found;
  for (const auto& kind : kinds) {
    int yes = 0;
    const auto by_name = of_host<int()>(kind.query);
    const bool takes =
        by_type ? by_type(kind.mpich_type, &yes) == MPI_SUCCESS && yes : by_name && by_name();
    if (takes) found.insert(kind.backend);
  }
  return found;
}

/// Sends device memory to the next rank and looks at what came; "" if it was right. All ranks do,
/// or none.
std::string ring(int rank, int size, exchange_function* exchange) {
  device_memory memory;  // kept: the process ends soon
  int ready = memory.why_not.empty() ? 1 : 0;
  int all_ready = 0;
  MPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all_ready) return ready ? "another rank could not" : memory.why_not;
  std::vector<char> host(ring_bytes, static_cast<char>(rank + 1));
  memory.copy(memory.out, host.data(), ring_bytes);
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  constexpr int count = static_cast<int>(ring_bytes);
  exchange(memory.out, count, MPI_BYTE, to, 7, memory.in, count, MPI_BYTE, from, 7, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  memory.copy(host.data(), memory.in, ring_bytes);
  for (const char c : host)
    if (c != static_cast<char>(from + 1))
      return "device memory arrived with other bytes than were sent";
  return "";
}

/// By the launcher's variables: it is asked before MPI_Init, or without it.
int launched_as() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PALS_RANKID", "FLUX_TASK_RANK", "PMI_RANK",
                           "PMIX_RANK", "SLURM_PROCID"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return -1;
}

/// What the first kernel driver that is there says of itself, "" without one.
std::string driver() {
  char line[512] = "";
  for (const char* path : {"/proc/driver/nvidia/version", "/sys/module/amdgpu/version"})
    if (std::FILE* const file = std::fopen(path, "r")) {
      const bool read = std::fgets(line, sizeof line, file) != nullptr;
      std::fclose(file);
      if (read) break;
    }
  return {line, std::strcspn(line, "\n")};
}

/// What this process was given. Needs no MPI, so that nothing that is wrong can keep it from being
/// told.
std::string look() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const auto version = function<int()>("telpher_version");
  return "{\"rank\": " + std::to_string(launched_as()) + ", \"host\": " + quoted(host) +
         ", \"pid\": " + std::to_string(::getpid()) +
         ", \"telphers\": " + list(mapped("libtelpher-")) +
         ", \"mpis\": " + list(mapped("libmpi")) +
         ", \"version\": " + std::to_string(version ? version() : 0) +
         ", \"settings\": " + variables({"TELPHER_"}) + ", \"slurm\": " +
         variables(
             {"SLURM_GPU", "SLURM_STEP_GPUS", "SLURM_NTASKS_PER_GPU", "SLURM_TRES_PER_TASK"}) +
         ", \"driver\": " + quoted(driver()) + ", \"pid_space\": " + space("pid") +
         ", \"ipc_space\": " + space("ipc") + "}";
}

std::string meet(int rank, int size, exchange_function* exchange) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  const auto backend = function<const char*()>("telpher_backend");
  const auto devices = function<int()>("telpher_device_count");
  return "{\"rank\": " + std::to_string(rank) + ", \"size\": " + std::to_string(size) +
         ", \"mpi\": " + quoted(version) + ", \"backend\": " + quoted(backend ? backend() : "") +
         ", \"devices\": " + std::to_string(devices ? devices() : 0) +
         ", \"host_takes\": " + list(taken_by_host()) +
         ", \"ring\": " + quoted(ring(rank, size, exchange)) + "}";
}

void meet_all(exchange_function* exchange) {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string own = meet(rank, size, exchange);
  constexpr std::size_t room = MPI_MAX_LIBRARY_VERSION_STRING + 1024;
  std::vector<char> line(room, '\0');
  std::memcpy(line.data(), own.data(), std::min(own.size(), room - 1));
  std::vector<char> all(rank == 0 ? room * static_cast<std::size_t>(size) : 1);
  MPI_Gather(line.data(), static_cast<int>(room), MPI_CHAR, all.data(), static_cast<int>(room),
             MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < size; ++r)
    std::printf("%s\n", &all[room * static_cast<std::size_t>(r)]);
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "look";
  if (what == "look")
    std::printf("%s\n", look().c_str());
  else
    meet_all(what == "host" ? exchange_of_host() : MPI_Sendrecv);
  return 0;
}
