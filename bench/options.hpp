// SPDX-License-Identifier: BSD-3-Clause
// The command line of telpher-bench. It is checked completely before anything is measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exchange.hpp"
#include "one_sided.hpp"
#include "pattern.hpp"
#include "surface.hpp"

namespace telpher::bench {

struct options {
  std::vector<std::string> commands;  // all tests, in turn
  std::string command;                // the current one, set by select()
  std::vector<std::size_t> sizes;     // as listed; empty: powers of two from smallest to largest
  std::size_t smallest = 1;
  std::size_t largest = 0;  // 0: 4 MiB for pairs, 1 MiB for collectives
  std::size_t window_memory = 64u << 20;
  int window = 64;
  int pairs = 0;  // 0: half of the ranks
  kind leader_kind = kind::device;
  kind peer_kind = kind::device;
  bool telpher = true;
  bool staged = true;
  bool others = true;  // NCCL, if available, or what else stands beside a test
  std::string allocation = "telpher";
  std::vector<int> devices;     // rank i uses devices[i % size]; empty: by local rank
  bool enqueue = false;         // in the order of a stream
  bool by_hand = true;          // beside it
  std::size_t stream_work = 0;  // bytes
  bool limit = false;
  bool csv = false;
  bool full = false;  // fastest and slowest rank, iterations
  std::string json;
  double say_every = 10;  // seconds between lines on how far it is
  plan how;
  // pairs of ranks
  bool persistent = false;
  derived type;
  // collectives
  const collective* which = nullptr;  // null: the test is not a collective
  form form_of_call = form::blocking;
  int root = 0;
  element reduced{};
  MPI_Op op = MPI_SUM;
  int dimensions = 1, radius = 1;  // for neighbourhood collectives
  int test_calls = 0;
  // one-sided communication, halos, files
  std::optional<surface_test> surface;  // the test, if it is one of these
  window_making making = window_making::create;
  int faces = 6;
  int halo_width = 4;  // cells
  std::string file;    // empty: a temporary one
};

/// Ends the job with the usage and the cause if the arguments are invalid. `talks`: this rank
/// prints.
options parse_options(int argc, char** argv, bool talks);

/// Makes a test of the list the current one.
void select(options& o, const std::string& command);

/// Whether the command line asks for calls that enqueue; for use before MPI_Init.
bool early_enqueue(int argc, char** argv);

/// The CUDA device that the command line gives this rank; for use before MPI_Init. The rank comes
/// from the launcher's environment variables. -1 if the memory is not CUDA's or the rank is
/// unknown.
int early_cuda_device(int argc, char** argv);

std::vector<std::string> split(const std::string& text, char separator);

/// Parses sizes such as "64k"; false if it is not a size.
bool parse_size(const std::string& text, std::size_t& out);

}  // namespace telpher::bench
