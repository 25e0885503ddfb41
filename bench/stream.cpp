// SPDX-License-Identifier: BSD-3-Clause
#include "stream.hpp"

#include <dlfcn.h>

#include <cstring>

#include "telpher/telpher.h"

namespace telpher::bench {

namespace {

template <class F>
F* find(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_DEFAULT, name));
}

struct stream_functions {
#define TELPHER_FUNCTION(name) \
  decltype(&::telpher_##name) name = find<decltype(::telpher_##name)>("telpher_" #name)
  TELPHER_FUNCTION(stream_create);
  TELPHER_FUNCTION(stream_destroy);
  TELPHER_FUNCTION(stream_synchronize);
  TELPHER_FUNCTION(memset_async);
  TELPHER_FUNCTION(send_enqueue);
  TELPHER_FUNCTION(recv_enqueue);
  TELPHER_FUNCTION(match);
  TELPHER_FUNCTION(start_enqueue);
  TELPHER_FUNCTION(wait_enqueue);
  TELPHER_FUNCTION(barrier_enqueue);
  TELPHER_FUNCTION(bcast_enqueue);
  TELPHER_FUNCTION(gather_enqueue);
  TELPHER_FUNCTION(scatter_enqueue);
  TELPHER_FUNCTION(allgather_enqueue);
  TELPHER_FUNCTION(alltoall_enqueue);
  TELPHER_FUNCTION(reduce_enqueue);
  TELPHER_FUNCTION(allreduce_enqueue);
  TELPHER_FUNCTION(reduce_scatter_block_enqueue);
  TELPHER_FUNCTION(scan_enqueue);
  TELPHER_FUNCTION(exscan_enqueue);
#undef TELPHER_FUNCTION
};

const stream_functions& functions() {
  static const stream_functions found;
  return found;
}

// Both Telpher's codes and MPI's are 0 on success.
void check(int code, const char* call) {
  if (code) fail("%s: error %d", call, code);
}

struct enqueued_form {
  const char* name;
  int (*call)(const arguments&, void* native);
};

constexpr enqueued_form forms[] = {
    {"barrier", [](const arguments& a, void* s) { return functions().barrier_enqueue(a.comm, s); }},
    {"bcast",
     [](const arguments& a, void* s) {
       return functions().bcast_enqueue(a.receive, a.count, a.type, a.root, a.comm, s);
     }},
    {"gather",
     [](const arguments& a, void* s) {
       return functions().gather_enqueue(a.send, a.count, a.type, a.receive, a.count, a.type,
                                         a.root, a.comm, s);
     }},
    {"scatter",
     [](const arguments& a, void* s) {
       return functions().scatter_enqueue(a.send, a.count, a.type, a.receive, a.count, a.type,
                                          a.root, a.comm, s);
     }},
    {"allgather",
     [](const arguments& a, void* s) {
       return functions().allgather_enqueue(a.send, a.count, a.type, a.receive, a.count, a.type,
                                            a.comm, s);
     }},
    {"alltoall",
     [](const arguments& a, void* s) {
       return functions().alltoall_enqueue(a.send, a.count, a.type, a.receive, a.count, a.type,
                                           a.comm, s);
     }},
    {"reduce",
     [](const arguments& a, void* s) {
       return functions().reduce_enqueue(a.send, a.receive, a.count, a.type, a.op, a.root, a.comm,
                                         s);
     }},
    {"allreduce",
     [](const arguments& a, void* s) {
       return functions().allreduce_enqueue(a.send, a.receive, a.count, a.type, a.op, a.comm, s);
     }},
    {"reduce_scatter_block",
     [](const arguments& a, void* s) {
       return functions().reduce_scatter_block_enqueue(a.send, a.receive, a.count, a.type, a.op,
                                                       a.comm, s);
     }},
    {"scan",
     [](const arguments& a, void* s) {
       return functions().scan_enqueue(a.send, a.receive, a.count, a.type, a.op, a.comm, s);
     }},
    {"exscan",
     [](const arguments& a, void* s) {
       return functions().exscan_enqueue(a.send, a.receive, a.count, a.type, a.op, a.comm, s);
     }},
};

const enqueued_form* form_of(const collective& c) {
  for (const enqueued_form& f : forms)
    if (std::strcmp(f.name, c.name) == 0) return &f;
  return nullptr;
}

}  // namespace

stream::stream(memory_source& source, std::size_t work_bytes)
    : source_(source), work_bytes_(work_bytes) {
  check(functions().stream_create(&native_), "telpher_stream_create");
  if (work_bytes_ > 0) work_at_ = source_.allocate(kind::device, work_bytes_);
}

stream::~stream() {
  wait();
  if (work_at_) source_.release(kind::device, work_at_);
  functions().stream_destroy(native_);
}

bool stream::present(memory_source& source) {
  return functions().stream_create && functions().exscan_enqueue && source.device_count() > 0;
}

bool stream::supports(const collective& c, form how) {
  return how == form::persistent || form_of(c) != nullptr;
}

void stream::work() {
  if (work_at_)
    check(functions().memset_async(work_at_, 1, work_bytes_, native_), "telpher_memset_async");
}

void stream::wait() {
  check(functions().stream_synchronize(native_), "telpher_stream_synchronize");
}

void stream::send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  check(functions().send_enqueue(from, count, type, to, tag, comm, native_),
        "telpher_send_enqueue");
}

void stream::receive(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm) {
  check(functions().recv_enqueue(to, count, type, from, tag, comm, MPI_STATUS_IGNORE, native_),
        "telpher_recv_enqueue");
}

void stream::call(const collective& c, const arguments& a) {
  check(form_of(c)->call(a, native_), c.name);
}

void stream::match(MPI_Request request) {
  check(functions().match(1, &request), "telpher_match");
}

void stream::run(MPI_Request& request) {
  check(functions().start_enqueue(request, native_), "telpher_start_enqueue");
  check(functions().wait_enqueue(&request, MPI_STATUS_IGNORE, native_), "telpher_wait_enqueue");
}

}  // namespace telpher::bench
