// SPDX-License-Identifier: BSD-3-Clause
// A batch: the steps that one seed gives, first by the model, then for real, with as many of them
// under way at once as their forms allow. Each step is compared when its last request has ended,
// and once more when the batch has: nothing may come later.
#pragma once

#include <map>

#include "program.hpp"
#include "shelf.hpp"

namespace surface {

/// A sort of steps, drawn as often as its weight says.
struct sort {
  const char* name;
  maker make;
  unsigned weight;
};

class batches {
 public:
  /// `words`: names of sorts to draw from; none: all.
  batches(world& w, const std::vector<std::string>& words);
  /// The same at all ranks.
  void run(std::uint64_t seed);
  /// Steps so far, by sort; those of persistent requests count once.
  const std::map<std::string, long>& done() const { return done_; }
  /// Sends, receives, collectives, accesses of windows and files, and packs of this rank.
  long operations() const { return operations_; }

 private:
  struct planned {
    const sort* which;
    std::optional<std::size_t> again;  // a persistent step that is started again
    form how;
    std::uint64_t seed;
  };
  std::vector<planned> draw_plan(random_numbers& plan) const;
  void note(const char* doing, const step& one);
  void run_model(step& one);
  void load(step& one);
  void begin(step& one);
  void repeat(step& one);
  void closed(step& one, open_request& q);
  bool complete_some();
  std::vector<int> complete(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses,
                            bool collective);
  void check(step& one);
  void check_status(const MPI_Status& got, const MPI_Status& wanted);
  void end(step& one);

  suite& s_;
  world& w_;
  random_numbers own_{0};  // this rank's
  std::vector<const sort*> chosen_;
  std::vector<std::unique_ptr<step>> steps_;  // null: another rank's, or a repetition
  shelf shelf_;
  std::map<std::string, long> done_;
  long operations_ = 0;
  std::size_t position_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace surface
