// SPDX-License-Identifier: BSD-3-Clause
#include "plain.hpp"

#include <algorithm>
#include <functional>

namespace surface::plain {

namespace {

unsigned char* moved(const void* address, MPI_Aint by) {
  return static_cast<unsigned char*>(const_cast<void*>(address)) + by;
}

int size_of_comm(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}
int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

// --- collectives: what each rank has for each, by one exchange ---

/// Blocks of `type`, for or from each rank.
struct block {
  void* at = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};
using block_of = std::function<block(int rank)>;

block_of regular(const void* base, int count, MPI_Datatype type) {
  return [=](int rank) {
    return block{moved(base, static_cast<MPI_Aint>(rank) * count * extent_of(type)), count, type};
  };
}
block_of irregular(const void* base, const int* counts, const int* places, MPI_Datatype type) {
  return [=](int rank) {
    return block{moved(base, places[rank] * extent_of(type)), counts[rank], type};
  };
}
block_of same(const void* base, int count, MPI_Datatype type) {
  return [=](int) { return block{moved(base, 0), count, type}; };
}
/// The block of one rank alone, whatever `of` says of others.
block_of only(int one, block_of of) {
  return [one, of = std::move(of)](int rank) { return rank == one ? of(rank) : block{}; };
}
block_of without(int one, block_of of) {
  return [one, of = std::move(of)](int rank) { return rank == one ? block{} : of(rank); };
}
const block_of nothing = [](int) { return block{}; };

void exchange(const block_of& out, const block_of& in, MPI_Comm comm) {
  const auto ranks = static_cast<std::size_t>(size_of_comm(comm));
  std::vector<int> sent(ranks), came(ranks), from(ranks), to(ranks);
  byte_list all;
  for (std::size_t r = 0; r < ranks; ++r) {
    const block b = out(static_cast<int>(r));
    const byte_list one = packed(b.at, b.count, b.type);
    from[r] = as_int(all.size());
    sent[r] = as_int(one.size());
    all.insert(all.end(), one.begin(), one.end());
  }
  MPI_Alltoall(sent.data(), 1, MPI_INT, came.data(), 1, MPI_INT, comm);
  std::size_t end = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    to[r] = as_int(end);
    end += static_cast<std::size_t>(came[r]);
  }
  byte_list got(end + 1);
  all.reserve(all.size() + 1);
  MPI_Alltoallv(all.data(), sent.data(), from.data(), MPI_BYTE, got.data(), came.data(), to.data(),
                MPI_BYTE, comm);
  for (std::size_t r = 0; r < ranks; ++r) {
    const block b = in(static_cast<int>(r));
    unpack(got.data() + to[r], static_cast<std::size_t>(came[r]), b.at, b.count, b.type);
  }
}

void gather(const void* s, const block& own, const block_of& blocks, int root, MPI_Comm comm) {
  const bool here = rank_in(comm) == root, in_place = s == MPI_IN_PLACE;
  const block_of out = only(root, same(own.at, own.count, own.type));
  exchange(in_place ? nothing : out,
           !here      ? nothing
           : in_place ? without(root, blocks)
                      : blocks,
           comm);
}

void scatter(const block_of& blocks, const void* t, const block& own, int root, MPI_Comm comm) {
  const bool here = rank_in(comm) == root, in_place = t == MPI_IN_PLACE;
  const block_of in = only(root, same(own.at, own.count, own.type));
  exchange(!here      ? nothing
           : in_place ? without(root, blocks)
                      : blocks,
           in_place ? nothing : in, comm);
}

void allgather(const void* s, const block& own, const block_of& blocks, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const block mine = s == MPI_IN_PLACE ? blocks(rank) : own;
  exchange(same(mine.at, mine.count, mine.type), blocks, comm);
}

// --- neighbours: the host MPI's own matching of blocks, with bytes ---

struct block_list {
  std::vector<block> blocks;
  std::vector<int> counts, places;
  byte_list bytes;

  void add(const block& b) {
    const byte_list one = packed(b.at, b.count, b.type);
    blocks.push_back(b);
    counts.push_back(as_int(one.size()));
    places.push_back(as_int(bytes.size()));
    bytes.insert(bytes.end(), one.begin(), one.end());
    bytes.reserve(bytes.size() + 1);
  }
};

struct degrees {
  explicit degrees(MPI_Comm comm) {
    int topology = 0, weighted = 0;
    MPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
      MPI_Cartdim_get(comm, &in);
      in = out = 2 * in;
    } else {
      MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    }
  }
  int in = 0, out = 0;
};

// A block that nobody sends keeps its bytes.
void neighbours(const block_of& out, const block_of& in, MPI_Comm comm) {
  const degrees d(comm);
  block_list sent, received;
  sent.bytes.reserve(1);
  received.bytes.reserve(1);
  for (int k = 0; k < d.out; ++k) sent.add(out(k));
  for (int k = 0; k < d.in; ++k) received.add(in(k));
  MPI_Neighbor_alltoallv(sent.bytes.data(), sent.counts.data(), sent.places.data(), MPI_BYTE,
                         received.bytes.data(), received.counts.data(), received.places.data(),
                         MPI_BYTE, comm);
  for (std::size_t k = 0; k < received.blocks.size(); ++k) {
    const block& b = received.blocks[k];
    unpack(received.bytes.data() + received.places[k], static_cast<std::size_t>(received.counts[k]),
           b.at, b.count, b.type);
  }
}

template <class Place>
block_of of_types(const void* base, const int* counts, const Place* places,
                  const MPI_Datatype* types) {
  return [=](int k) { return block{moved(base, places[k]), counts[k], types[k]}; };
}

}  // namespace

void Bcast(void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  const block_of all = same(buffer, n, type);
  exchange(rank_in(comm) == root ? without(root, all) : nothing,
           rank_in(comm) == root ? nothing : only(root, all), comm);
}
void Gather(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt, int root,
            MPI_Comm comm) {
  gather(s, {moved(s, 0), sn, st}, regular(t, rn, rt), root, comm);
}
void Gatherv(const void* s, int sn, MPI_Datatype st, void* t, const int* rc, const int* rd,
             MPI_Datatype rt, int root, MPI_Comm comm) {
  gather(s, {moved(s, 0), sn, st}, irregular(t, rc, rd, rt), root, comm);
}
void Scatter(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt, int root,
             MPI_Comm comm) {
  scatter(regular(s, sn, st), t, {t, rn, rt}, root, comm);
}
void Scatterv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* t, int rn,
              MPI_Datatype rt, int root, MPI_Comm comm) {
  scatter(irregular(s, sc, sd, st), t, {t, rn, rt}, root, comm);
}
void Allgather(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
               MPI_Comm comm) {
  allgather(s, {moved(s, 0), sn, st}, regular(t, rn, rt), comm);
}
void Allgatherv(const void* s, int sn, MPI_Datatype st, void* t, const int* rc, const int* rd,
                MPI_Datatype rt, MPI_Comm comm) {
  allgather(s, {moved(s, 0), sn, st}, irregular(t, rc, rd, rt), comm);
}
void Alltoall(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
              MPI_Comm comm) {
  const block_of in = regular(t, rn, rt);
  exchange(s == MPI_IN_PLACE ? in : regular(s, sn, st), in, comm);
}
void Alltoallv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* t, const int* rc,
               const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  const block_of in = irregular(t, rc, rd, rt);
  exchange(s == MPI_IN_PLACE ? in : irregular(s, sc, sd, st), in, comm);
}
void Alltoallw(const void* s, const int* sc, const int* sd, const MPI_Datatype* st, void* t,
               const int* rc, const int* rd, const MPI_Datatype* rt, MPI_Comm comm) {
  const block_of in = of_types(t, rc, rd, rt);
  exchange(s == MPI_IN_PLACE ? in : of_types(s, sc, sd, st), in, comm);
}

void Neighbor_allgather(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
                        MPI_Comm comm) {
  neighbours(same(s, sn, st), regular(t, rn, rt), comm);
}
void Neighbor_allgatherv(const void* s, int sn, MPI_Datatype st, void* t, const int* rc,
                         const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  neighbours(same(s, sn, st), irregular(t, rc, rd, rt), comm);
}
void Neighbor_alltoall(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
                       MPI_Comm comm) {
  neighbours(regular(s, sn, st), regular(t, rn, rt), comm);
}
void Neighbor_alltoallv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* t,
                        const int* rc, const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  neighbours(irregular(s, sc, sd, st), irregular(t, rc, rd, rt), comm);
}
void Neighbor_alltoallw(const void* s, const int* sc, const MPI_Aint* sd, const MPI_Datatype* st,
                        void* t, const int* rc, const MPI_Aint* rd, const MPI_Datatype* rt,
                        MPI_Comm comm) {
  neighbours(of_types(s, sc, sd, st), of_types(t, rc, rd, rt), comm);
}

// --- messages ---

void Recv(void* t, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Status* status) {
  Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, t, n, type, source, tag, comm, status);
}

void Sendrecv(const void* s, int sn, MPI_Datatype st, int to, int send_tag, void* t, int rn,
              MPI_Datatype rt, int from, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  byte_list out = packed(s, sn, st), in(static_cast<std::size_t>(rn) * size_of(rt) + 1);
  int bytes = 0;
  MPI_Sendrecv(out.data(), as_int(out.size()), MPI_BYTE, to, send_tag, in.data(),
               as_int(in.size() - 1), MPI_BYTE, from, receive_tag, comm, status);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  unpack(in.data(), static_cast<std::size_t>(bytes), t, rn, rt);
}

}  // namespace surface::plain
