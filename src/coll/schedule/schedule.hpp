// SPDX-License-Identifier: BSD-3-Clause
// A collective's schedule as data: what one rank does, step by step, for one call. Made by an
// algorithm (coll/algorithms), checked by the verifier, priced by the simulator, run by an
// executor; none of them knows more of an algorithm than this. Nothing here knows MPI or a device.
//
// Spans. A span is a run of elements in one of a rank's spaces. Spans are atoms: what a step reads
// in another rank's space, or in its own scratch space, is exactly one span that one step wrote, or
// a span of a rank's input. An executor may therefore cut every span into slices in one fixed way
// and let slice b of a step wait for slice b of other ranks only. A message is whole: all slices of
// the rank's steps before a send or receive are done before it. So steps before a message may use
// other spans than steps behind it, at one rank, or at several that are ordered by signals.
//
// Order. Steps run in the order of the list, and a rank's own steps see each other. Between ranks
// only signal and wait order: what rank p did before its k-th signal to q is seen by q after its
// k-th wait for p. At the start a rank may touch its own spaces only, unless all ranks share a
// node: there nobody begins before all have come (coll/exchange/agreement.hpp), so all spaces may
// be touched. At the end of the call its input and output belong to the program again, so a peer
// that reads or writes them must have said that it is done. A send does not hold up the steps after
// it. Only a step that overwrites what is being sent waits for it.
#pragma once

#include <cstdint>
#include <vector>

namespace telpher::coll {

/// input: the send buffer (with MPI_IN_PLACE the receive buffer). output: the receive buffer.
/// scratch: the rank's part of the communicator's workspace.
enum class space : std::uint8_t { input, output, scratch };

struct span {
  std::int32_t rank = 0;
  space where = space::input;
  std::uint64_t offset = 0;  // elements
  std::uint64_t count = 0;   // elements

  friend bool operator==(const span&, const span&) = default;
};

enum class step_kind : std::uint8_t {
  copy,     // to = sources[0]
  reduce,   // to = sources[0] op sources[1] op …, from the left
  signal,   // to `peer`
  wait,     // for `peer`
  send,     // sources[0], own, as a message to `peer` (another node)
  receive,  // into `to`, own, the next message from `peer`
};

struct step {
  step_kind kind = step_kind::copy;
  std::int32_t peer = -1;
  span to;
  std::vector<span> sources;
};

struct schedule {
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::uint64_t scratch = 0;  // elements of scratch space that every rank must have
  std::vector<step> steps;
  std::vector<std::size_t> stages;  // the steps with which a stage begins; not the first
};

}  // namespace telpher::coll
