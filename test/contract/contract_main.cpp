// SPDX-License-Identifier: BSD-3-Clause
// telpher-contract --backend NAME [case...], or --backend NAME --features FILE (features.hpp). The
// emulated device is linked into the program, so that its counters can be read; others are opened
// as plug-ins (TELPHER_PLUGIN_PATH). Without the device the program says so and ends with
// 'no tests' and the code 77.
#define CHECK_NO_MAIN
#include <cstdio>
#include <cstdlib>
#include <string>

#include "contract.hpp"
#include "device/emu/emu.hpp"
#include "device/registry.hpp"
#include "features.hpp"
#include "peer.hpp"

namespace contract {
namespace {

device::backend* chosen = nullptr;

void judge_leaks() {
  if (!subject_is_emulated()) return;
  const device::emu::counters c = device::emu::count();
  CHECK_EQ(c.streams, 0);
  CHECK_EQ(c.events, 0);
  CHECK_EQ(c.imports, 0);
  CHECK_EQ(c.allocations, 0);
  CHECK_EQ(c.pinned, 0);
  CHECK_EQ(c.managed, 0);
  CHECK_EQ(c.registered, 0);
}

bool choose(const std::string& name) {
  if (name == "emu") {
    chosen = device::emu::instance();
    return true;
  }
  setenv("TELPHER_BACKEND", name.c_str(), 1);
  device::discover();
  for (const char* why : device::absent_reasons()) std::fprintf(stderr, "%s\n", why);
  if (!device::backends().empty()) chosen = device::backends().front();
  return chosen != nullptr;
}

}  // namespace

device::backend& subject() {
  return *chosen;
}
bool subject_is_emulated() {
  return subject().owner() == device::vendor::emu;
}
int second_device() {
  return subject().device_count() > 1 ? 1 : 0;
}

}  // namespace contract

int main(int argc, char** argv) {
  std::string backend = "emu";
  if (argc > 2 && std::string(argv[1]) == "--backend") {
    backend = argv[2];
    argv += 2;
    argc -= 2;
  }
  if (!contract::choose(backend)) {
    std::printf("no device of %s here: no tests\n0 passed, 0 failed\n", backend.c_str());
    return 77;
  }
  contract::set_peer_backend(backend);
  if (argc > 2 && std::string(argv[1]) == "--features") return contract::write_features(argv[2]);
  if (argc > 2 && std::string(argv[1]) == "--peer") return contract::serve_peer(std::atoi(argv[2]));
  check::after_each().push_back(contract::judge_leaks);
  return check::run_all(argc, argv);
}
