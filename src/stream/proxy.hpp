// SPDX-License-Identifier: BSD-3-Clause
// Operations in the order of the program's streams. enqueue() gives the stream a write of a word,
// `reached`, which it executes when it gets to the operation. If the stream shall go on only when
// the operation is over (`holds`), it then waits for a second word, `over`. The proxy is one thread
// of the process, which starts with the first operation. It looks at `reached`, begins the
// operation, polls it, and writes `over`.
//
// Protocol:
// - An item is an operation with its words. Callers hand items over under the proxy's mutex. From
//   then on only the proxy's thread uses them. Callers on one stream take turns (order_mutex), so
//   items, writes and waits have one order.
// - A call of the vendor's library may wait for room in a stream, so no lock that the proxy needs
//   may be held during it. The proxy's mutex is not. A stream's order_mutex is, and the proxy takes
//   that only if what it runs enqueues in turn (an error handler of the program).
// - An operation has one number, which is written to both words of its stream. Numbers rise, and so
//   do the words. A stream writes the number of an item after its wait for the item before. So at
//   most one operation for which a stream waits is under way there.
// - An item begins only when its stream has reached it. Of those that are reached, the oldest call
//   begins first. The proxy reads the `reached` words from the newest call to the oldest. If a
//   stream waits for another one's event, it writes its word after the other. So if the proxy sees
//   the later word, it then also sees the words of all that the program ordered before.
// - A stream whose work has failed writes no word. If nothing moves for long, an event in a stream
//   of ours tells whether the device still works (health.hpp). If not, all items that wait on that
//   device are over.
// - A stream has room for a limited amount of work. A call that finds it full waits in the vendor's
//   library, and may keep the proxy out of that library. Then nothing would move any more. So only
//   few operations for which a stream waits may be enqueued in it at once (TELPHER_STREAM_AHEAD).
//   The next call waits before it gives the stream anything.
// - Making a stream or loading a kernel may wait for the device, and thus for a stream that waits
//   for us. So our own streams and kernels are made before the first operation of a stream.
// - `over` is written with release order after the operation is over. By then the bytes that it has
//   moved are in the device's memory. It is written after a failure, too, so no stream waits for
//   ever.
// - A launched operation is a kernel of ours in the stream (launched). It is under way when the
//   call returns, so it has no words and does not wait for its turn at the proxy. The kernel holds
//   the stream. The proxy polls the operation until it is over. If the device fails, it never is:
//   then it is abandoned like those that wait.
// - In a graph the values that a stream writes are constants. So an operation in a graph has two
//   words of its own, and its replays use no numbers. Each replay writes 1 to `reached`. The proxy
//   sets it back to 0 before it begins the operation. The replay waits until `over` is 1, and sets
//   it back to 0 itself. It waits for every operation, whatever `holds` says, so no replay can
//   overtake the one before. (The start of a persistent request is over once that has begun.)
// - The proxy looks at the words of graphs before those of streams, but begins what it has found in
//   streams first. What a program enqueued in a stream before it launched a graph there is found by
//   then, so both kinds keep the order of the stream.
// - Nobody tells Telpher when a graph is launched. So the thread stays awake while there is one.
//   Calls that would wait for the device are put off as if a stream waited
//   (memory/held_streams.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "device/adopted_stream.hpp"

namespace telpher::stream {

/// What is enqueued. The proxy's thread calls begin(), poll() and abandon(), and destroys it when
/// it is over; codes are MPI's, 0 is success. A failure is noted for the stream before abandon()
/// and before the destructor, so that a program which learns of it there finds it at the stream.
class operation {
 public:
  virtual ~operation() = default;
  /// The stream has reached the operation. After an error the operation is over.
  virtual int begin() noexcept = 0;
  /// True once the operation is over. `code` is MPI_SUCCESS before. A launched operation that has
  /// failed may say so before it is over.
  virtual bool poll(int& code) noexcept = 0;
  /// Null if the operation may be captured, and so begin again in each replay of a graph; else the
  /// reason why not. Called by the thread that enqueues.
  virtual const char* only_once() const noexcept { return nullptr; }
  /// For the stall report: what it waits for.
  virtual void describe(char* text, std::size_t bytes) const noexcept {
    if (bytes > 0) *text = 0;
  }
  /// The operation will never begin, or never end, because the stream's work has failed.
  virtual void abandon() noexcept {}
};

/// One whose kernel is given to the stream by the thread that enqueues it.
class launched : public operation {
 public:
  virtual status launch(device::stream s) noexcept = 0;
  /// Of one that the stream does not wait for: whether the stream has got to it.
  virtual bool is_reached() const noexcept { return true; }
  int begin() noexcept final { return 0; }
};

/// Why a call could not be enqueued; `why` is null if it was.
struct refusal {
  status s = status::ok;
  const char* why = nullptr;
};

/// Puts `op` at the end of the program's stream. `holds`: what is given to the stream later waits
/// until `op` is over. While the stream is captured, each replay of the graph runs `op` again.
refusal enqueue(void* native, std::unique_ptr<operation> op, bool holds) noexcept;

/// Launches `op` in the stream, which is not captured. `holds`: its kernel waits for others. If
/// this is refused, op->abandon() has been called.
refusal launch(device::adopted_stream& s, void* native, std::unique_ptr<launched> op,
               bool holds) noexcept;

/// Whether there are graphs with operations in them.
bool any_graphs() noexcept;
/// Counts the proxy's looks at what is under way.
std::uint64_t looks() noexcept;

/// Whether all operations are over.
bool idle() noexcept;
/// The code of the stream's first operation that has failed since the last call; 0 if none has.
int take_failure(void* native) noexcept;
/// True in the proxy's thread.
bool in_proxy() noexcept;

/// When the job starts. The thread starts with the first operation.
void start() noexcept;
/// Ends the thread. To be called when all operations are over.
void stop() noexcept;

}  // namespace telpher::stream
