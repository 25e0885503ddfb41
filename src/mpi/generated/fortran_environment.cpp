// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Initialization, datatypes, communicators, topologies, processes (chapters 5, 7, 8, 11):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_Type_free(MPI_Datatype* datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Type_free(datatype) : pmpi::Type_free(datatype);
}

int PMPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
              int* position, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, comm)
      : pmpi::Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

int PMPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
                MPI_Datatype datatype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm)
      : pmpi::Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

int PMPI_Pack_external(const char* datarep, const void* inbuf, int incount, MPI_Datatype datatype,
                       void* outbuf, MPI_Aint outsize, MPI_Aint* position) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position)
      : pmpi::Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

int PMPI_Unpack_external(const char* datarep, const void* inbuf, MPI_Aint insize,
                         MPI_Aint* position, void* outbuf, int outcount, MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype)
      : pmpi::Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

int PMPI_Barrier(MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Barrier(comm) : pmpi::Barrier(comm);
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ibarrier(comm, request) : pmpi::Ibarrier(comm, request);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_dup(comm, newcomm) : pmpi::Comm_dup(comm, newcomm);
}

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_dup_with_info(comm, info, newcomm)
      : pmpi::Comm_dup_with_info(comm, info, newcomm);
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_idup(comm, newcomm, request) : pmpi::Comm_idup(comm, newcomm, request);
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_create(comm, group, newcomm) : pmpi::Comm_create(comm, group, newcomm);
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_create_group(comm, group, tag, newcomm)
      : pmpi::Comm_create_group(comm, group, tag, newcomm);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_split(comm, color, key, newcomm)
      : pmpi::Comm_split(comm, color, key, newcomm);
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_split_type(comm, split_type, key, info, newcomm)
      : pmpi::Comm_split_type(comm, split_type, key, info, newcomm);
}

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_set_info(comm, info) : pmpi::Comm_set_info(comm, info);
}

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_get_info(comm, info_used) : pmpi::Comm_get_info(comm, info_used);
}

int PMPI_Comm_free(MPI_Comm* comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_free(comm) : pmpi::Comm_free(comm);
}

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, MPI_Comm* newintercomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm)
          : pmpi::Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag,
                                   newintercomm);
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Intercomm_merge(intercomm, high, newintracomm)
      : pmpi::Intercomm_merge(intercomm, high, newintracomm);
}

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm* comm_cart) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart)
      : pmpi::Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart);
}

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                      int reorder, MPI_Comm* comm_graph) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph)
      : pmpi::Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph);
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int reorder, MPI_Comm* comm_dist_graph) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree,
                                       destinations, destweights, info, reorder, comm_dist_graph)
                                           : pmpi::Dist_graph_create_adjacent(comm_old, indegree,
                                                                              sources,
                                                                              sourceweights,
                                                                              outdegree,
                                                                              destinations,
                                                                              destweights, info,
                                                                              reorder,
                                                                              comm_dist_graph);
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info,
                           int reorder, MPI_Comm* comm_dist_graph) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info, reorder,
                              comm_dist_graph)
                                  : pmpi::Dist_graph_create(comm_old, n, sources, degrees,
                                                            destinations, weights, info, reorder,
                                                            comm_dist_graph);
}

int PMPI_Init(int* argc, char*** argv) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Init(argc, argv) : pmpi::Init(argc, argv);
}

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Init_thread(argc, argv, required, provided)
      : pmpi::Init_thread(argc, argv, required, provided);
}

int PMPI_Finalize() {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Finalize() : pmpi::Finalize();
}

int PMPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes)
          : pmpi::Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm,
                             array_of_errcodes);
}

int PMPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                             const int array_of_maxprocs[], const MPI_Info array_of_info[],
                             int root, MPI_Comm comm, MPI_Comm* intercomm,
                             int array_of_errcodes[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
                                array_of_info, root, comm, intercomm, array_of_errcodes)
                                    : pmpi::Comm_spawn_multiple(count, array_of_commands,
                                                                array_of_argv, array_of_maxprocs,
                                                                array_of_info, root, comm,
                                                                intercomm, array_of_errcodes);
}

int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_accept(port_name, info, root, comm, newcomm)
      : pmpi::Comm_accept(port_name, info, root, comm, newcomm);
}

int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                      MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_connect(port_name, info, root, comm, newcomm)
      : pmpi::Comm_connect(port_name, info, root, comm, newcomm);
}

int PMPI_Comm_disconnect(MPI_Comm* comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_disconnect(comm) : pmpi::Comm_disconnect(comm);
}

int PMPI_Comm_join(int fd, MPI_Comm* intercomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_join(fd, intercomm) : pmpi::Comm_join(fd, intercomm);
}

#if TELPHER_HOST_HAS_Barrier_init  // MPI 4.0

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Barrier_init(comm, info, request) : pmpi::Barrier_init(comm, info, request);
}

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                             MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_idup_with_info(comm, info, newcomm, request)
      : pmpi::Comm_idup_with_info(comm, info, newcomm, request);
}

int PMPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm)
      : pmpi::Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
}

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char* stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader,
                                         stringtag, info, errhandler, newintercomm)
                                             : pmpi::Intercomm_create_from_groups(local_group,
                                                                                  local_leader,
                                                                                  remote_group,
                                                                                  remote_leader,
                                                                                  stringtag, info,
                                                                                  errhandler,
                                                                                  newintercomm);
}

int PMPI_Session_finalize(MPI_Session* session) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Session_finalize(session) : pmpi::Session_finalize(session);
}

#endif  // TELPHER_HOST_HAS_Barrier_init

#if TELPHER_HOST_HAS_Pack_c  // large counts, MPI 4.0

int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
                MPI_Count outsize, MPI_Count* position, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm)
      : pmpi::Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm)
      : pmpi::Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

int PMPI_Pack_external_c(const char* datarep, const void* inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
                         MPI_Count* position) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position)
      : pmpi::Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

int PMPI_Unpack_external_c(const char* datarep, const void* inbuf, MPI_Count insize,
                           MPI_Count* position, void* outbuf, MPI_Count outcount,
                           MPI_Datatype datatype) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, datatype)
          : pmpi::Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

#endif  // TELPHER_HOST_HAS_Pack_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
