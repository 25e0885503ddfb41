// SPDX-License-Identifier: BSD-3-Clause
// Operations in the order of the program's streams. enqueue() makes the stream write a word when it
// gets to an operation, and wait for another one if it shall go on only when the operation is
// complete. The proxy, one thread of the process that starts with the first operation, looks at the
// first word, begins the operation, polls it, and writes the second.
//
// Protocol:
// - Callers hand items over under proxy's mutex; from there on the proxy's thread alone has them.
//   Callers on one stream take turns (order_mutex), so that items, writes and waits have one order.
//   No lock that the proxy takes is held during a call of the vendor's, which may wait for room in
//   a stream.
// - An operation has one number in both words of its stream. Numbers rise, and so do the words: a
//   stream writes the number of an item after its wait for the item before, so that at most one
//   operation for which a stream waits is under way there.
// - Items begin in the order of the enqueuing calls, as far as their streams have got there. Words
//   are looked at from the newest call to the oldest: a stream that waits for another one's event
//   writes its word later, so who sees it then sees all that the program ordered before.
// - A word says nothing of a stream whose work has failed. Where none comes for long, an event in a
//   stream of ours tells whether the device still works (health.hpp); if not, all that waits there
//   is over.
// - A stream has room for so much work. A call that finds it full waits in the vendor's library,
//   which may keep the proxy out of it as well: then nothing moves any more. So few operations for
//   which a stream waits are under way there at once (TELPHER_STREAM_AHEAD); the next call waits
//   before it gives the stream anything.
// - Before a device's first stream waits, our own streams there and their kernels are made: that
//   may wait for the device.
// - The proxy's word is written with release order after the operation is complete, its bytes in
//   the device's memory included. It is written after a failure, too: a stream never waits for ever
//   for an operation that is over.
// - In a graph a stream's values are constants. So each replay writes 1 to the first word of an
//   operation, which the proxy takes back before it begins, waits until the second is 1, and makes
//   that 0 itself. It waits for every operation, at least until that has begun, so that no replay
//   can overtake the one before. Replays write no numbers: the proxy looks at their words first and
//   begins what it has found in streams before what it has found in graphs, which is the order of
//   both kinds in one stream.
// - Nobody says when a graph is launched. So the thread stays awake while there is one, and calls
//   that would wait for the device are put off as if a stream waited (memory/held_streams.hpp).
#pragma once

#include <memory>

#include "base/status.hpp"

namespace telpher::stream {

/// What is enqueued. Called in the proxy's thread; codes are MPI's, 0 is success.
class operation {
 public:
  virtual ~operation() = default;
  /// The stream has got there. After an error the operation is over.
  virtual int begin() noexcept = 0;
  /// True once it is over.
  virtual bool poll(int& code) noexcept = 0;
  /// Null if it may begin again once it is over, in each replay of a graph; else why not.
  virtual const char* only_once() const noexcept { return nullptr; }
  /// It never began: the stream's work before it failed.
  virtual void abandon() noexcept {}
};

/// Why a call could not be enqueued; `why` is empty if it was.
struct refusal {
  status s = status::ok;
  const char* why = nullptr;
};

/// Puts `op` at the end of the program's stream. `holds`: what is given to the stream later waits
/// until it is over. While the stream is captured, each replay of the graph runs `op` again.
refusal enqueue(void* native, std::unique_ptr<operation> op, bool holds) noexcept;

/// Operations that are not over.
bool idle() noexcept;
/// The code of the stream's first operation that failed since it was asked last.
int take_failure(void* native) noexcept;
/// True in the proxy's thread.
bool in_proxy() noexcept;

/// Ends the thread; everything is over.
void stop() noexcept;

}  // namespace telpher::stream
