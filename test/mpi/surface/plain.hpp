// SPDX-License-Identifier: BSD-3-Clause
// Calls as the model makes them: types are read here, from what MPI says that they were made of
// (MPI_Type_get_contents), and the host MPI moves bytes that lie together. So a defect of its
// engine of datatypes cannot pass for one of Telpher, nor hide one.
#pragma once

#include <vector>

#include "layouts.hpp"

namespace surface::plain {

using byte_list = std::vector<unsigned char>;

/// A type's bytes in the order of its type map; blocks that follow one another are one.
struct piece {
  MPI_Aint at;
  std::size_t bytes;
};
std::vector<piece> pieces_of(MPI_Datatype type);

byte_list packed(const void* from, int count, MPI_Datatype type);
/// As many bytes as there are; a message may be shorter than its buffer.
void unpack(const unsigned char* from, std::size_t bytes, void* to, int count, MPI_Datatype type);

// With the arguments of MPI's functions.
void Bcast(void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm);
void Gather(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt, int root,
            MPI_Comm comm);
void Gatherv(const void* s, int sn, MPI_Datatype st, void* t, const int* rc, const int* rd,
             MPI_Datatype rt, int root, MPI_Comm comm);
void Scatter(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt, int root,
             MPI_Comm comm);
void Scatterv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* t, int rn,
              MPI_Datatype rt, int root, MPI_Comm comm);
void Allgather(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
               MPI_Comm comm);
void Allgatherv(const void* s, int sn, MPI_Datatype st, void* t, const int* rc, const int* rd,
                MPI_Datatype rt, MPI_Comm comm);
void Alltoall(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
              MPI_Comm comm);
void Alltoallv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* t, const int* rc,
               const int* rd, MPI_Datatype rt, MPI_Comm comm);
void Alltoallw(const void* s, const int* sc, const int* sd, const MPI_Datatype* st, void* t,
               const int* rc, const int* rd, const MPI_Datatype* rt, MPI_Comm comm);

void Neighbor_allgather(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
                        MPI_Comm comm);
void Neighbor_allgatherv(const void* s, int sn, MPI_Datatype st, void* t, const int* rc,
                         const int* rd, MPI_Datatype rt, MPI_Comm comm);
void Neighbor_alltoall(const void* s, int sn, MPI_Datatype st, void* t, int rn, MPI_Datatype rt,
                       MPI_Comm comm);
void Neighbor_alltoallv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* t,
                        const int* rc, const int* rd, MPI_Datatype rt, MPI_Comm comm);
void Neighbor_alltoallw(const void* s, const int* sc, const MPI_Aint* sd, const MPI_Datatype* st,
                        void* t, const int* rc, const MPI_Aint* rd, const MPI_Datatype* rt,
                        MPI_Comm comm);

void Recv(void* t, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
          MPI_Status* status);
void Sendrecv(const void* s, int sn, MPI_Datatype st, int to, int send_tag, void* t, int rn,
              MPI_Datatype rt, int from, int receive_tag, MPI_Comm comm, MPI_Status* status);

// Reductions of the tests are of basic types, or of types that an operation of theirs reads.
template <class... A>
void Allreduce(A... a) {
  MPI_Allreduce(a...);
}
template <class... A>
void Reduce(A... a) {
  MPI_Reduce(a...);
}
template <class... A>
void Scan(A... a) {
  MPI_Scan(a...);
}
template <class... A>
void Exscan(A... a) {
  MPI_Exscan(a...);
}
template <class... A>
void Reduce_scatter(A... a) {
  MPI_Reduce_scatter(a...);
}
template <class... A>
void Reduce_scatter_block(A... a) {
  MPI_Reduce_scatter_block(a...);
}

}  // namespace surface::plain
