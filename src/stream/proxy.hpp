// SPDX-License-Identifier: BSD-3-Clause
// Operations in the order of the program's streams. enqueue() records an event in the stream, and
// makes the stream wait for a word if it shall go on only when the operation is complete. The
// proxy, one thread of the process that starts with the first operation, begins an operation when
// its event is done, polls it, and writes the word.
//
// Protocol:
// - Callers hand items over under proxy's mutex; from there on the proxy's thread alone has them.
//   Callers on one stream take turns (order_mutex), so that items, events and waits have one order.
//   No lock that the proxy takes is held during a call of the vendor's, which may wait for room in
//   a stream.
// - Numbers of a stream's waits rise, and so does its word: the event of an item is recorded after
//   the wait before it, so that at most one operation for which a stream waits is under way there.
// - Items begin in the order of the enqueuing calls, as far as their events are done. Events are
//   looked at from the newest call to the oldest: who sees one done then sees all done that the
//   program ordered before it, by events between its streams as well.
// - A stream has room for so much work. A call that finds it full waits in the vendor's library,
//   which may keep the proxy out of it as well: then nothing moves any more. So few operations for
//   which a stream waits are under way there at once (TELPHER_STREAM_AHEAD); the next call waits
//   before it gives the stream anything.
// - Before a device's first stream waits, our own streams there and their kernels are made: that
//   may wait for the device.
// - The word is written with release order after the operation is complete, its bytes in the
//   device's memory included. It is written after a failure, too: a stream never waits for ever for
//   an operation that is over.
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
  /// It never began: the stream's work before it failed.
  virtual void abandon() noexcept {}
};

/// Why a call could not be enqueued; `why` is empty if it was.
struct refusal {
  status s = status::ok;
  const char* why = nullptr;
};

/// Puts `op` at the end of the program's stream. `holds`: what is given to the stream later waits
/// until it is over.
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
