// SPDX-License-Identifier: BSD-3-Clause
// Steps of point-to-point communication: messages in every form of both ends, exchanges,
// partitions.
#include "../forms.hpp"
#include "program.hpp"

#include <algorithm>
#include <numeric>

namespace surface {

namespace {

struct group {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 0;
  explicit group(MPI_Comm c) : comm(c) {
    if (c == MPI_COMM_NULL) return;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
  }
};

/// What one rank does in a message.
struct end_of_message {
  bool sends = false, receives = false;
  elements out, in;
  std::size_t from = 0, to = 0;  // areas
  int source = 0, destination = 0, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  const send_form* send = nullptr;
  receive_form receive = receive_form::recv;
  bool any_source = false, any_tag = false;
};

void send_it(const end_of_message& e, running& r, const send_form& f) {
  const void* data = r.at[e.from];
  if (f.ready && e.source != e.destination)
    MPI_Recv(nullptr, 0, MPI_BYTE, e.destination, e.tag, r.s.control, MPI_STATUS_IGNORE);
  if (f.blocking != nullptr) {
    f.blocking(data, e.out.count, e.out.type, e.destination, e.tag, e.comm);
    return;
  }
  f.requesting(data, e.out.count, e.out.type, e.destination, e.tag, e.comm, r.add());
  if (f.persistent) r.start();
}

void check_probed(const end_of_message& e, running& r, const MPI_Status& status,
                  std::size_t bytes) {
  int got = -1;
  MPI_Get_elements(&status, MPI_BYTE, &got);
  r.s.expect_equal(got, static_cast<long long>(bytes), "probed bytes");
  r.s.expect_equal(status.MPI_SOURCE, e.source, "probed source");
  r.s.expect_equal(status.MPI_TAG, e.tag, "probed tag");
}

void receive_it(const end_of_message& e, running& r, std::size_t bytes) {
  void* data = r.at[e.to];
  const int n = e.in.count;
  const MPI_Datatype t = e.in.type;
  const int source = e.any_source ? MPI_ANY_SOURCE : e.source;
  const int tag = e.any_tag ? MPI_ANY_TAG : e.tag;
  MPI_Status status, probed;
  MPI_Message message;
  int flag = 0;
  if (r.model) {
    plain::Recv(data, n, t, source, tag, e.comm, &status);
    r.statuses.push_back(status);
    return;
  }
  switch (e.receive) {
    case receive_form::recv:
      MPI_Recv(data, n, t, source, tag, e.comm, &status);
      r.statuses.push_back(status);
      break;
    case receive_form::irecv:
      MPI_Irecv(data, n, t, source, tag, e.comm, r.add(true));
      break;
    case receive_form::recv_init:
      MPI_Recv_init(data, n, t, source, tag, e.comm, r.add(true));
      r.start();
      break;
    case receive_form::mrecv:
      MPI_Mprobe(source, tag, e.comm, &message, &probed);
      check_probed(e, r, probed, bytes);
      MPI_Mrecv(data, n, t, &message, &status);
      r.statuses.push_back(status);
      break;
    case receive_form::imrecv:
      MPI_Mprobe(source, tag, e.comm, &message, &probed);
      check_probed(e, r, probed, bytes);
      MPI_Imrecv(data, n, t, &message, r.add(true));
      break;
    case receive_form::probe_recv:
      MPI_Probe(source, tag, e.comm, &probed);
      check_probed(e, r, probed, bytes);
      MPI_Recv(data, n, t, probed.MPI_SOURCE, probed.MPI_TAG, e.comm, &status);
      r.statuses.push_back(status);
      break;
    case receive_form::iprobe_irecv:
      while (flag == 0) MPI_Iprobe(source, tag, e.comm, &flag, &probed);
      check_probed(e, r, probed, bytes);
      MPI_Irecv(data, n, t, probed.MPI_SOURCE, probed.MPI_TAG, e.comm, r.add(true));
      break;
    case receive_form::improbe:
      while (flag == 0) MPI_Improbe(source, tag, e.comm, &flag, &message, &probed);
      check_probed(e, r, probed, bytes);
      MPI_Mrecv(data, n, t, &message, &status);
      r.statuses.push_back(status);
      break;
  }
}

/// A send that may follow when its receive may not have been posted, in the form of the step.
const send_form& draw_send(random_numbers& random, form how, bool posted) {
  for (;;) {
    const send_form& f = send_forms[random.below(std::size(send_forms))];
    const form is = f.persistent ? form::persistent
                    : f.blocking ? form::blocking
                                 : form::nonblocking;
    if (is == how && (!f.ready || posted)) return f;
  }
}

const send_form& plain_send(form how) {
  const char* wanted = how == form::blocking      ? "Send"
                       : how == form::nonblocking ? "Isend"
                                                  : "Send_init";
  return *std::find_if(std::begin(send_forms), std::end(send_forms),
                       [&](const send_form& f) { return std::string_view(f.name) == wanted; });
}

receive_form draw_receive(random_numbers& random, form how) {
  constexpr receive_form later[] = {receive_form::irecv, receive_form::imrecv,
                                    receive_form::iprobe_irecv};
  constexpr receive_form now[] = {receive_form::recv, receive_form::mrecv, receive_form::probe_recv,
                                  receive_form::improbe};
  if (how == form::persistent) return receive_form::recv_init;
  return how == form::nonblocking ? later[random.below(3)] : now[random.below(4)];
}

/// In the model: the message is sent by a request, so that a rank may send to itself.
void run_message(const end_of_message& e, running& r, std::size_t bytes) {
  if (r.model) {
    if (e.sends) {
      plain::byte_list& out =
          r.packed.emplace_back(plain::packed(r.at[e.from], e.out.count, e.out.type));
      MPI_Isend(out.data(), as_int(out.size()), MPI_BYTE, e.destination, e.tag, e.comm, r.add());
    }
    if (e.receives) receive_it(e, r, bytes);
    return;
  }
  const bool receives_first = e.receives && posts(e.receive);
  if (receives_first) {
    receive_it(e, r, bytes);
    if (e.send->ready && !e.sends) MPI_Send(nullptr, 0, MPI_BYTE, e.source, e.tag, r.s.control);
  }
  if (e.sends) send_it(e, r, *e.send);
  if (e.receives && !receives_first) receive_it(e, r, bytes);
}

}  // namespace

std::unique_ptr<step> make_message(world& w, draw& d, form how) {
  const group g(w.comms[0]);  // whose ranks are those of `control`
  auto made = std::make_unique<step>(w.s);
  end_of_message e;
  e.comm = w.comms[0];
  e.source = as_int(d.shared.below(static_cast<std::size_t>(g.size)));
  e.destination = as_int(d.shared.below(static_cast<std::size_t>(g.size)));
  e.tag = w.next_tag++;
  e.any_source = d.shared.chance(25);  // the tag is this step's alone
  const MPI_Datatype basic = basic_type(d.shared);
  const int n = element_count(d.shared, basic);
  const placing where(d.shared);
  const bool itself = e.source == e.destination;
  // Blocking and probing forms of one's own messages would wait for themselves.
  form receiving = static_cast<form>(d.shared.below(2));
  if (how == form::persistent) receiving = form::persistent;
  e.receive =
      itself && how != form::persistent ? receive_form::irecv : draw_receive(d.shared, receiving);
  e.send = &draw_send(d.shared, how, posts(e.receive));
  const std::size_t bytes = static_cast<std::size_t>(n) * size_of(basic);
  const bool too_large = e.send->buffered && bytes > 20'000;
  if (too_large || (how == form::persistent && e.send->ready))  // a persistent one starts again
    e.send = &plain_send(how);
  e.sends = g.rank == e.source;
  e.receives = g.rank == e.destination;
  if (!e.sends && !e.receives) return nullptr;
  made->how = how;
  made->operations = itself ? 2 : 1;
  made->what = std::string(e.send->name) + " to " + name(e.receive) + ", " + std::to_string(bytes) +
               " bytes from " + std::to_string(e.source) + " to " + std::to_string(e.destination);
  if (e.sends) {
    e.out = made->types.draw(d.mine, basic, n);
    span s;
    s.add(e.out);
    e.from = made->add_area(s, where.of(g.rank, 0), d.mine.next());
    made->what += std::string(", ") + name(made->areas.back().where);
  }
  if (e.receives) {
    e.in = made->types.draw_room(d.mine, basic, n);
    span s;
    s.add(e.in);
    e.to = made->add_area(s, where.of(g.rank, 1), d.mine.next());
    made->what += std::string(" into ") + name(made->areas.back().where);
  }
  made->model = made->call = [e, bytes](running& r) { run_message(e, r, bytes); };
  return made;
}

namespace {

struct exchange {
  elements out, in;
  int to = 0, from = 0, tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  bool replaces = false;
};

void run_exchange(const exchange& e, running& r) {
  unsigned char* const out = r.at[0];
  MPI_Status status;
  if (r.model) {
    const elements& in = e.replaces ? e.out : e.in;
    plain::Sendrecv(out, e.out.count, e.out.type, e.to, e.tag, r.at[e.replaces ? 0 : 1], in.count,
                    in.type, e.from, e.tag, e.comm, &status);
    r.statuses.push_back(status);
    return;
  }
#if MPI_TEST_HAS_MPI_4
  if (r.how == form::nonblocking) {
    if (e.replaces)
      MPI_Isendrecv_replace(out, e.out.count, e.out.type, e.to, e.tag, e.from, e.tag, e.comm,
                            r.add(true));
    else
      MPI_Isendrecv(out, e.out.count, e.out.type, e.to, e.tag, r.at[1], e.in.count, e.in.type,
                    e.from, e.tag, e.comm, r.add(true));
    return;
  }
#endif
  if (e.replaces)
    MPI_Sendrecv_replace(out, e.out.count, e.out.type, e.to, e.tag, e.from, e.tag, e.comm, &status);
  else
    MPI_Sendrecv(out, e.out.count, e.out.type, e.to, e.tag, r.at[1], e.in.count, e.in.type, e.from,
                 e.tag, e.comm, &status);
  r.statuses.push_back(status);
}

}  // namespace

/// Everybody sends to a rank at one distance and receives from the other side, or from nobody.
std::unique_ptr<step> make_exchange(world& w, draw& d, form how) {
  const group g(w.comms[d.shared.below(w.comms.size())]);
  exchange e;
  e.comm = g.comm;
  e.tag = w.next_tag++;
  if (g.comm == MPI_COMM_NULL) return nullptr;
  const MPI_Datatype basic = basic_type(d.shared);
  const int n = element_count(d.shared, basic);
  const placing where(d.shared);
  const int shift = as_int(d.shared.below(4)) % g.size;
  // MPICH's MPI_Sendrecv_replace refuses derived types where a rank sends to itself.
  e.replaces = d.shared.chance(40) && shift != 0;
  const bool open_ends = d.shared.chance(20);
  auto made = std::make_unique<step>(w.s);
  e.to = (g.rank + shift) % g.size;
  e.from = (g.rank + g.size - shift) % g.size;
  if (open_ends && g.rank + shift >= g.size) e.to = MPI_PROC_NULL;
  if (open_ends && g.rank < shift) e.from = MPI_PROC_NULL;
  e.out = made->types.draw(d.mine, basic, n);
  span first, second;
  first.add(e.out);
  made->add_area(first, where.of(w.s.rank, 0), d.mine.next());
  if (!e.replaces) {
    e.in = made->types.draw_room(d.mine, basic, n);
    second.add(e.in);
    made->add_area(second, where.of(w.s.rank, 1), d.mine.next());
  }
  made->what = std::string(e.replaces ? "Sendrecv_replace" : "Sendrecv") + ", distance " +
               std::to_string(shift) + ", " + std::to_string(n) + " elements";
  for (const area& one : made->areas) made->what += std::string(", ") + name(one.where);
  made->how = how == form::blocking ? form::blocking : form::nonblocking;
  made->model = made->call = [e](running& r) { run_exchange(e, r); };
  return made;
}

std::unique_ptr<step> make_partitioned([[maybe_unused]] world& w, [[maybe_unused]] draw& d, form) {
#if MPI_TEST_HAS_MPI_4
  // Outside the job partitions are the host MPI's, which fail in many ways
  // (docs/use/limitations.md).
  const group g(w.comms[d.shared.below(w.has_session ? 2 : 3)]);
  const int tag = w.next_tag++;
  const MPI_Datatype basic = basic_type(d.shared);
  const int partitions[] = {1, 2, 3, 4, 6, 8, 12};
  const int out_partitions = partitions[d.shared.below(7)],
            in_partitions = partitions[d.shared.below(7)];
  const int n = 24 * (1 + element_count(d.shared, basic) / 24);
  const placing where(d.shared);
  if (g.comm == MPI_COMM_NULL) return nullptr;
  auto made = std::make_unique<step>(w.s);
  const int to = (g.rank + 1) % g.size, from = (g.rank + g.size - 1) % g.size;
  // A type of one partition at each end; as many to a partition as its count says.
  const elements out = made->types.draw(d.mine, basic, n / out_partitions),
                 in = made->types.draw(d.mine, basic, n / in_partitions);
  const elements all_out{out.type, out.count * out_partitions},
      all_in{in.type, in.count * in_partitions};
  span first, second;
  first.add(all_out);
  second.add(all_in);
  made->add_area(first, where.of(w.s.rank, 0), d.mine.next());
  made->add_area(second, where.of(w.s.rank, 1), d.mine.next());
  made->operations = 2;
  made->what = "partitions " + std::to_string(out_partitions) + " to " +
               std::to_string(in_partitions) + ", " + std::to_string(n) + " elements, " +
               name(made->areas[0].where) + " to " + name(made->areas[1].where);
  std::vector<int> order(static_cast<std::size_t>(out_partitions));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[d.mine.below(i)]);
  const MPI_Comm comm = g.comm;
  made->model = [=](running& r) {
    MPI_Status status;
    plain::Sendrecv(r.at[0], all_out.count, all_out.type, to, tag, r.at[1], all_in.count,
                    all_in.type, from, tag, comm, &status);
    r.statuses.push_back(status);
  };
  made->call = [=](running& r) {
    MPI_Request* const receive = r.add(true);
    MPI_Precv_init(r.at[1], in_partitions, in.count, in.type, from, tag, comm, MPI_INFO_NULL,
                   receive);
    r.start();
    MPI_Request* const send = r.add();
    MPI_Psend_init(r.at[0], out_partitions, out.count, out.type, to, tag, comm, MPI_INFO_NULL,
                   send);
    r.start();
    for (const int p : order) MPI_Pready(p, *send);
  };
  return made;
#else
  return nullptr;
#endif
}

}  // namespace surface
