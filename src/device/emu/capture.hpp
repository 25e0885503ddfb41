// SPDX-License-Identifier: BSD-3-Clause
// Captures and graphs, for tests: the emulated device has no interface of a vendor's. Streams are
// what telpher_stream_create gives; 0 is success.
#pragma once

extern "C" {

[[gnu::visibility("default")]] int telpher_emu_begin_capture(void* stream);
/// The graph; null if the stream was not captured, or its capture has failed.
[[gnu::visibility("default")]] void* telpher_emu_end_capture(void* stream);
/// What a call that is not allowed during a capture does: the capture fails, and so does all that
/// is given to the stream until its end.
[[gnu::visibility("default")]] int telpher_emu_invalidate_capture(void* stream);
[[gnu::visibility("default")]] int telpher_emu_launch_graph(void* graph, void* stream);
[[gnu::visibility("default")]] void telpher_emu_destroy_graph(void* graph);
}
