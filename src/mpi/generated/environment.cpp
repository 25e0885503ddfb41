// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Initialization, datatypes, communicators, topologies, processes (chapters 5, 7, 8, 11),
// in the sections of MPI 4.0.
#include "datatype/datatype.hpp"
#include "mpi/entry.hpp"
#include "mpi/info_key.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/packing.hpp"
#include "mpi/spawn.hpp"

using namespace telpher;

extern "C" {

// 5.1 Derived datatypes
int MPI_Type_free(MPI_Datatype* datatype) {
  if (!entry::active()) return pmpi::Type_free(datatype);
  datatype::forget(*datatype);
  return pmpi::Type_free(datatype);
}

// 5.2 Pack and unpack
int MPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
             int* position, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::pack, "MPI_Pack", inbuf,
                                           incount, datatype, outbuf, outsize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

// 5.2 Pack and unpack
int MPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount,
               MPI_Datatype datatype, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::unpack, "MPI_Unpack", outbuf,
                                           outcount, datatype, inbuf, insize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

// 5.3 Canonical pack and unpack
int MPI_Pack_external(const char* datarep, const void* inbuf, int incount, MPI_Datatype datatype,
                      void* outbuf, MPI_Aint outsize, MPI_Aint* position) {
  if (!entry::active())
    return pmpi::Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
  if (int error = entry::refuse_device_memory(MPI_COMM_SELF, "MPI_Pack_external", {inbuf, outbuf}))
    return error;
  return pmpi::Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

// 5.3 Canonical pack and unpack
int MPI_Unpack_external(const char* datarep, const void* inbuf, MPI_Aint insize, MPI_Aint* position,
                        void* outbuf, int outcount, MPI_Datatype datatype) {
  if (!entry::active())
    return pmpi::Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
  if (int error = entry::refuse_device_memory(MPI_COMM_SELF, "MPI_Unpack_external",
                                              {inbuf, outbuf}))
    return error;
  return pmpi::Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

// 6.3 Barrier synchronization
int MPI_Barrier(MPI_Comm comm) {
  if (!entry::active()) return pmpi::Barrier(comm);
  entry::blocking_call guard;
  return pmpi::Barrier(comm);
}

// 6.12 Nonblocking collective operations
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Ibarrier(comm, request);
  entry::keep_order(comm);
  return pmpi::Ibarrier(comm, request);
}

// 7.4 Communicator management
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_dup(comm, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_dup(comm, newcomm);
}

// 7.4 Communicator management
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_dup_with_info(comm, info, newcomm);
  return mpi::comm_dup_with_info(comm, info, newcomm);
}

// 7.4 Communicator management
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Comm_idup(comm, newcomm, request);
  entry::keep_order(comm);
  return pmpi::Comm_idup(comm, newcomm, request);
}

// 7.4 Communicator management
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_create(comm, group, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_create(comm, group, newcomm);
}

// 7.4 Communicator management
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_create_group(comm, group, tag, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_create_group(comm, group, tag, newcomm);
}

// 7.4 Communicator management
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_split(comm, color, key, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_split(comm, color, key, newcomm);
}

// 7.4 Communicator management
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_split_type(comm, split_type, key, info, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_split_type(comm, split_type, key, info, newcomm);
}

// 7.4 Communicator management
int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  if (!entry::active()) return pmpi::Comm_set_info(comm, info);
  return mpi::comm_set_info(comm, info);
}

// 7.4 Communicator management
int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  if (!entry::active()) return pmpi::Comm_get_info(comm, info_used);
  return mpi::comm_get_info(comm, info_used);
}

// 7.4 Communicator management
int MPI_Comm_free(MPI_Comm* comm) {
  if (!entry::active()) return pmpi::Comm_free(comm);
  entry::comm_freed(*comm);
  entry::blocking_call guard;
  return pmpi::Comm_free(comm);
}

// 7.6 Inter-communication
int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                         int remote_leader, int tag, MPI_Comm* newintercomm) {
  if (!entry::active())
    return pmpi::Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag,
                                  newintercomm);
  entry::blocking_call guard;
  return pmpi::Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag,
                                newintercomm);
}

// 7.6 Inter-communication
int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  if (!entry::active()) return pmpi::Intercomm_merge(intercomm, high, newintracomm);
  entry::blocking_call guard;
  return pmpi::Intercomm_merge(intercomm, high, newintracomm);
}

// 8.5 Topology constructors
int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                    int reorder, MPI_Comm* comm_cart) {
  if (!entry::active())
    return pmpi::Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart);
  entry::blocking_call guard;
  return pmpi::Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart);
}

// 8.5 Topology constructors
int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                     int reorder, MPI_Comm* comm_graph) {
  if (!entry::active())
    return pmpi::Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph);
  entry::blocking_call guard;
  return pmpi::Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph);
}

// 8.5 Topology constructors
int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                   const int sourceweights[], int outdegree,
                                   const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm* comm_dist_graph) {
  if (!entry::active())
    return pmpi::Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree,
                                            destinations, destweights, info, reorder,
                                            comm_dist_graph);
  entry::blocking_call guard;
  return pmpi::Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree,
                                          destinations, destweights, info, reorder,
                                          comm_dist_graph);
}

// 8.5 Topology constructors
int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                          const int destinations[], const int weights[], MPI_Info info, int reorder,
                          MPI_Comm* comm_dist_graph) {
  if (!entry::active())
    return pmpi::Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info,
                                   reorder, comm_dist_graph);
  entry::blocking_call guard;
  return pmpi::Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info,
                                 reorder, comm_dist_graph);
}

// 11.2 The World Model
int MPI_Init(int* argc, char*** argv) {
  return entry::init(argc, argv);
}

// 11.2 The World Model
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return entry::init_thread(argc, argv, required, provided);
}

// 11.2 The World Model
int MPI_Finalize() {
  return entry::finalize();
}

// 11.8 Process manager interface
int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                   MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  if (!entry::active())
    return pmpi::Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm,
                            array_of_errcodes);
  return mpi::comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
}

// 11.8 Process manager interface
int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                            const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  if (!entry::active())
    return pmpi::Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
                                     array_of_info, root, comm, intercomm, array_of_errcodes);
  return mpi::comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
                                  array_of_info, root, comm, intercomm, array_of_errcodes);
}

// 11.9 Establishing communication
int MPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                    MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_accept(port_name, info, root, comm, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_accept(port_name, info, root, comm, newcomm);
}

// 11.9 Establishing communication
int MPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                     MPI_Comm* newcomm) {
  if (!entry::active()) return pmpi::Comm_connect(port_name, info, root, comm, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_connect(port_name, info, root, comm, newcomm);
}

// 11.10 Other functionality
int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (!entry::active()) return pmpi::Comm_disconnect(comm);
  entry::comm_freed(*comm);
  entry::blocking_call guard;
  return pmpi::Comm_disconnect(comm);
}

// 11.10 Other functionality
int MPI_Comm_join(int fd, MPI_Comm* intercomm) {
  if (!entry::active()) return pmpi::Comm_join(fd, intercomm);
  entry::blocking_call guard;
  return pmpi::Comm_join(fd, intercomm);
}

#if TELPHER_HOST_HAS_Barrier_init  // MPI 4.0

// 6.13 Persistent collective operations
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (!entry::active()) return pmpi::Barrier_init(comm, info, request);
  entry::keep_order(comm);
  return pmpi::Barrier_init(comm, info, request);
}

// 7.4 Communicator management
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  if (!entry::active()) return pmpi::Comm_idup_with_info(comm, info, newcomm, request);
  entry::keep_order(comm);
  return pmpi::Comm_idup_with_info(comm, info, newcomm, request);
}

// 7.4 Communicator management
int MPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                               MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  if (!entry::active())
    return pmpi::Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
  entry::blocking_call guard;
  return pmpi::Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
}

// 7.6 Inter-communication
int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                     MPI_Group remote_group, int remote_leader,
                                     const char* stringtag, MPI_Info info,
                                     MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  if (!entry::active())
    return pmpi::Intercomm_create_from_groups(local_group, local_leader, remote_group,
                                              remote_leader, stringtag, info, errhandler,
                                              newintercomm);
  entry::blocking_call guard;
  return pmpi::Intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader,
                                            stringtag, info, errhandler, newintercomm);
}

// 11.3 The Sessions Model
int MPI_Session_finalize(MPI_Session* session) {
  if (!entry::active()) return pmpi::Session_finalize(session);
  entry::blocking_call guard;
  return pmpi::Session_finalize(session);
}

#endif  // TELPHER_HOST_HAS_Barrier_init

#if TELPHER_HOST_HAS_Pack_c  // large counts, MPI 4.0

// 5.2 Pack and unpack
int MPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
               MPI_Count outsize, MPI_Count* position, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm);
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::pack, "MPI_Pack_c", inbuf,
                                           incount, datatype, outbuf, outsize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

// 5.2 Pack and unpack
int MPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                 MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm) {
  if (!entry::active())
    return pmpi::Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm);
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::unpack, "MPI_Unpack_c", outbuf,
                                           outcount, datatype, inbuf, insize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

// 5.3 Canonical pack and unpack
int MPI_Pack_external_c(const char* datarep, const void* inbuf, MPI_Count incount,
                        MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
                        MPI_Count* position) {
  if (!entry::active())
    return pmpi::Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position);
  if (int error = entry::refuse_device_memory(MPI_COMM_SELF, "MPI_Pack_external_c",
                                              {inbuf, outbuf}))
    return error;
  return pmpi::Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position);
}

// 5.3 Canonical pack and unpack
int MPI_Unpack_external_c(const char* datarep, const void* inbuf, MPI_Count insize,
                          MPI_Count* position, void* outbuf, MPI_Count outcount,
                          MPI_Datatype datatype) {
  if (!entry::active())
    return pmpi::Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, datatype);
  if (int error = entry::refuse_device_memory(MPI_COMM_SELF, "MPI_Unpack_external_c",
                                              {inbuf, outbuf}))
    return error;
  return pmpi::Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, datatype);
}

#endif  // TELPHER_HOST_HAS_Pack_c

}  // extern "C"
