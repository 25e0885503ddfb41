// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Initialization, datatypes, communicators, topologies, processes (chapters 5, 7, 8, 11),
// in the sections of MPI 4.0.
#include "datatype/datatype.hpp"
#include "host_mpi/attribute.hpp"
#include "mpi/entry.hpp"
#include "mpi/info_key.hpp"
#include "mpi/lineage.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/message_channel.hpp"
#include "mpi/names.hpp"
#include "mpi/packing.hpp"
#include "mpi/sessions.hpp"
#include "mpi/spawn.hpp"
#include "mpi/topologies.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 5.2 Pack and unpack
TELPHER_MPI(Pack,
            (const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize,
             int* position, MPI_Comm comm),
            (inbuf, incount, datatype, outbuf, outsize, position, comm)) {
  if (!entry::active())
    return pmpi::Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {inbuf, outbuf});
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::pack, "MPI_Pack", inbuf,
                                           incount, datatype, outbuf, outsize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

// 5.2 Pack and unpack
TELPHER_MPI(Unpack,
            (const void* inbuf, int insize, int* position, void* outbuf, int outcount,
             MPI_Datatype datatype, MPI_Comm comm),
            (inbuf, insize, position, outbuf, outcount, datatype, comm)) {
  if (!entry::active())
    return pmpi::Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {inbuf, outbuf});
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::unpack, "MPI_Unpack", outbuf,
                                           outcount, datatype, inbuf, insize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

// 5.3 Canonical pack and unpack
TELPHER_MPI(Pack_external,
            (const char* datarep, const void* inbuf, int incount, MPI_Datatype datatype,
             void* outbuf, MPI_Aint outsize, MPI_Aint* position),
            (datarep, inbuf, incount, datatype, outbuf, outsize, position)) {
  if (!entry::active())
    return pmpi::Pack_external(datarep, inbuf, incount, datatype, outbuf, outsize, position);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {inbuf, outbuf});
  return mpi::pack_external("MPI_Pack_external", datarep, inbuf, incount, datatype, outbuf, outsize,
                            position);
}

// 5.3 Canonical pack and unpack
TELPHER_MPI(Unpack_external,
            (const char* datarep, const void* inbuf, MPI_Aint insize, MPI_Aint* position,
             void* outbuf, int outcount, MPI_Datatype datatype),
            (datarep, inbuf, insize, position, outbuf, outcount, datatype)) {
  if (!entry::active())
    return pmpi::Unpack_external(datarep, inbuf, insize, position, outbuf, outcount, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {inbuf, outbuf});
  return mpi::unpack_external("MPI_Unpack_external", datarep, inbuf, insize, position, outbuf,
                              outcount, datatype);
}

// 6.3 Barrier synchronization
TELPHER_MPI(Barrier, (MPI_Comm comm), (comm)) {
  if (!entry::active()) return pmpi::Barrier(comm);
  entry::blocking_call guard;
  return pmpi::Barrier(comm);
}

// 6.12 Nonblocking collective operations
TELPHER_MPI(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request)) {
  if (!entry::active()) return pmpi::Ibarrier(comm, request);
  entry::keep_order(comm);
  return pmpi::Ibarrier(comm, request);
}

// 7.4 Communicator management
TELPHER_MPI(Comm_dup, (MPI_Comm comm, MPI_Comm* newcomm), (comm, newcomm)) {
  if (!entry::active()) return entry::noting(pmpi::Comm_dup(comm, newcomm), newcomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Comm_dup(comm, newcomm), newcomm);
  if (code == MPI_SUCCESS) mpi::by_messages::topology_made(*newcomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newcomm);
  return code;
}

// 7.4 Communicator management
TELPHER_MPI(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm),
            (comm, info, newcomm)) {
  if (!entry::active())
    return entry::noting(pmpi::Comm_dup_with_info(comm, info, newcomm), newcomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Comm_dup_with_info(comm, info, newcomm), newcomm);
  if (code == MPI_SUCCESS) mpi::by_messages::topology_made(*newcomm);
  if (code == MPI_SUCCESS) mpi::take_keys(info, *newcomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newcomm);
  return code;
}

// 7.4 Communicator management
TELPHER_MPI(Comm_idup, (MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request),
            (comm, newcomm, request)) {
  if (!entry::active()) return pmpi::Comm_idup(comm, newcomm, request);
  entry::keep_order(comm);
  return pmpi::Comm_idup(comm, newcomm, request);
}

// 7.4 Communicator management
TELPHER_MPI(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm),
            (comm, group, newcomm)) {
  if (!entry::active()) return entry::noting(pmpi::Comm_create(comm, group, newcomm), newcomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Comm_create(comm, group, newcomm), newcomm);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm, *newcomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newcomm);
  return code;
}

// 7.4 Communicator management
TELPHER_MPI(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm),
            (comm, group, tag, newcomm)) {
  if (!entry::active())
    return entry::noting(pmpi::Comm_create_group(comm, group, tag, newcomm), newcomm);
  entry::blocking_call guard;
  const host_mpi::no_duplicate none;
  const int code = entry::noting(pmpi::Comm_create_group(comm, group, tag, newcomm), newcomm);
  if (code == MPI_SUCCESS) mpi::lineage::made_among(mpi::lineage::of_group(comm, tag), *newcomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newcomm);
  return code;
}

// 7.4 Communicator management
TELPHER_MPI(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* newcomm),
            (comm, color, key, newcomm)) {
  if (!entry::active()) return entry::noting(pmpi::Comm_split(comm, color, key, newcomm), newcomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Comm_split(comm, color, key, newcomm), newcomm);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm, *newcomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newcomm);
  return code;
}

// 7.4 Communicator management
TELPHER_MPI(Comm_split_type,
            (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm),
            (comm, split_type, key, info, newcomm)) {
  if (!entry::active())
    return entry::noting(pmpi::Comm_split_type(comm, split_type, key, info, newcomm), newcomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Comm_split_type(comm, split_type, key, info, newcomm),
                                 newcomm);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm, *newcomm);
  if (code == MPI_SUCCESS) mpi::take_keys(info, *newcomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newcomm);
  return code;
}

// 7.4 Communicator management
TELPHER_MPI(Comm_set_info, (MPI_Comm comm, MPI_Info info), (comm, info)) {
  if (!entry::active()) return pmpi::Comm_set_info(comm, info);
  entry::blocking_call guard;
  const int code = pmpi::Comm_set_info(comm, info);
  if (code == MPI_SUCCESS) mpi::take_keys(info, comm);
  return code;
}

// 7.4 Communicator management
TELPHER_MPI(Comm_get_info, (MPI_Comm comm, MPI_Info* info_used), (comm, info_used)) {
  if (!entry::active()) return pmpi::Comm_get_info(comm, info_used);
  return mpi::comm_get_info(comm, info_used);
}

// 7.4 Communicator management
TELPHER_MPI(Comm_free, (MPI_Comm* comm), (comm)) {
  if (!entry::active()) return pmpi::Comm_free(comm);
  entry::comm_freed(*comm);
  entry::blocking_call guard;
  return pmpi::Comm_free(comm);
}

// 7.6 Inter-communication
TELPHER_MPI(Intercomm_create,
            (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
             MPI_Comm* newintercomm),
            (local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm)) {
  if (!entry::active())
    return entry::noting(pmpi::Intercomm_create(local_comm, local_leader, peer_comm, remote_leader,
                                                tag, newintercomm), newintercomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Intercomm_create(local_comm, local_leader, peer_comm,
                                                        remote_leader, tag, newintercomm),
                                 newintercomm);
  if (code == MPI_SUCCESS) mpi::lineage::made_among(mpi::lineage::of_number(tag), *newintercomm);
  return code;
}

// 7.6 Inter-communication
TELPHER_MPI(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm* newintracomm),
            (intercomm, high, newintracomm)) {
  if (!entry::active())
    return entry::noting(pmpi::Intercomm_merge(intercomm, high, newintracomm), newintracomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Intercomm_merge(intercomm, high, newintracomm),
                                 newintracomm);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(intercomm, *newintracomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newintracomm);
  return code;
}

// 8.5 Topology constructors
TELPHER_MPI(Cart_create,
            (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
             MPI_Comm* comm_cart), (comm_old, ndims, dims, periods, reorder, comm_cart)) {
  if (!entry::active())
    return entry::noting(pmpi::Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart),
                         comm_cart);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Cart_create(comm_old, ndims, dims, periods, reorder,
                                                   comm_cart), comm_cart);
  if (code == MPI_SUCCESS) mpi::topologies::order_cart(ndims, dims, periods, reorder, comm_cart);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm_old, *comm_cart);
  if (code == MPI_SUCCESS) mpi::by_messages::topology_made(*comm_cart);
  if (code == MPI_SUCCESS) entry::comm_made(*comm_cart);
  return code;
}

// 8.5 Topology constructors
TELPHER_MPI(Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm),
            (comm, remain_dims, newcomm)) {
  if (!entry::active()) return entry::noting(pmpi::Cart_sub(comm, remain_dims, newcomm), newcomm);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Cart_sub(comm, remain_dims, newcomm), newcomm);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm, *newcomm);
  if (code == MPI_SUCCESS) mpi::by_messages::topology_made(*newcomm);
  if (code == MPI_SUCCESS) entry::comm_made(*newcomm);
  return code;
}

// 8.5 Topology constructors
TELPHER_MPI(Graph_create,
            (MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
             MPI_Comm* comm_graph), (comm_old, nnodes, index, edges, reorder, comm_graph)) {
  if (!entry::active())
    return entry::noting(pmpi::Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph),
                         comm_graph);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Graph_create(comm_old, nnodes, index, edges, reorder,
                                                    comm_graph), comm_graph);
  if (code == MPI_SUCCESS) mpi::topologies::order_graph(nnodes, index, edges, reorder, comm_graph);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm_old, *comm_graph);
  if (code == MPI_SUCCESS) mpi::by_messages::topology_made(*comm_graph);
  if (code == MPI_SUCCESS) entry::comm_made(*comm_graph);
  return code;
}

// 8.5 Topology constructors
TELPHER_MPI(Dist_graph_create_adjacent,
            (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
             int outdegree, const int destinations[], const int destweights[], MPI_Info info,
             int reorder, MPI_Comm* comm_dist_graph),
            (comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info,
             reorder, comm_dist_graph)) {
  if (!entry::active())
    return entry::noting(pmpi::Dist_graph_create_adjacent(comm_old, indegree, sources,
                                                          sourceweights, outdegree, destinations,
                                                          destweights, info, reorder,
                                                          comm_dist_graph), comm_dist_graph);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Dist_graph_create_adjacent(comm_old, indegree, sources,
                                                                  sourceweights, outdegree,
                                                                  destinations, destweights, info,
                                                                  reorder, comm_dist_graph),
                                 comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::topologies::order_adjacent_graph(info, reorder, comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm_old, *comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::by_messages::topology_made(*comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::take_keys(info, *comm_dist_graph);
  if (code == MPI_SUCCESS) entry::comm_made(*comm_dist_graph);
  return code;
}

// 8.5 Topology constructors
TELPHER_MPI(Dist_graph_create,
            (MPI_Comm comm_old, int n, const int sources[], const int degrees[],
             const int destinations[], const int weights[], MPI_Info info, int reorder,
             MPI_Comm* comm_dist_graph),
            (comm_old, n, sources, degrees, destinations, weights, info, reorder,
             comm_dist_graph)) {
  if (!entry::active())
    return entry::noting(pmpi::Dist_graph_create(comm_old, n, sources, degrees, destinations,
                                                 weights, info, reorder, comm_dist_graph),
                         comm_dist_graph);
  entry::blocking_call guard;
  const int code = entry::noting(pmpi::Dist_graph_create(comm_old, n, sources, degrees,
                                                         destinations, weights, info, reorder,
                                                         comm_dist_graph), comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::topologies::order_dist_graph(info, reorder, comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::lineage::made_from(comm_old, *comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::by_messages::topology_made(*comm_dist_graph);
  if (code == MPI_SUCCESS) mpi::take_keys(info, *comm_dist_graph);
  if (code == MPI_SUCCESS) entry::comm_made(*comm_dist_graph);
  return code;
}

// 9.3 Error handling
TELPHER_MPI(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler), (comm, errhandler)) {
  if (!entry::active()) return pmpi::Comm_set_errhandler(comm, errhandler);
  const auto held = ticket::progress().lock();
  return pmpi::Comm_set_errhandler(comm, errhandler);
}

// 9.3 Error handling
TELPHER_MPI(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* errhandler), (comm, errhandler)) {
  if (!entry::active()) return pmpi::Comm_get_errhandler(comm, errhandler);
  const auto held = ticket::progress().lock();
  return pmpi::Comm_get_errhandler(comm, errhandler);
}

// 11.2 The World Model
TELPHER_MPI(Init, (int* argc, char*** argv), (argc, argv)) {
  return entry::init(argc, argv);
}

// 11.2 The World Model
TELPHER_MPI(Init_thread, (int* argc, char*** argv, int required, int* provided),
            (argc, argv, required, provided)) {
  return entry::init_thread(argc, argv, required, provided);
}

// 11.2 The World Model
TELPHER_MPI(Finalize, (), ()) {
  return entry::finalize();
}

// 11.8 Process manager interface
TELPHER_MPI(Comm_spawn,
            (const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
             MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]),
            (command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes)) {
  if (!entry::active())
    return entry::noting(pmpi::Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm,
                                          array_of_errcodes), intercomm);
  return mpi::comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
}

// 11.8 Process manager interface
TELPHER_MPI(Comm_spawn_multiple,
            (int count, char* array_of_commands[], char** array_of_argv[],
             const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm,
             MPI_Comm* intercomm, int array_of_errcodes[]),
            (count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm,
             intercomm, array_of_errcodes)) {
  if (!entry::active())
    return entry::noting(pmpi::Comm_spawn_multiple(count, array_of_commands, array_of_argv,
                                                   array_of_maxprocs, array_of_info, root, comm,
                                                   intercomm, array_of_errcodes), intercomm);
  return mpi::comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
                                  array_of_info, root, comm, intercomm, array_of_errcodes);
}

// 11.9 Establishing communication
TELPHER_MPI(Comm_accept,
            (const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm),
            (port_name, info, root, comm, newcomm)) {
  if (!entry::active())
    return entry::noting(pmpi::Comm_accept(port_name, info, root, comm, newcomm), newcomm);
  entry::blocking_call guard;
  return entry::noting(pmpi::Comm_accept(port_name, info, root, comm, newcomm), newcomm);
}

// 11.9 Establishing communication
TELPHER_MPI(Comm_connect,
            (const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm),
            (port_name, info, root, comm, newcomm)) {
  if (!entry::active())
    return entry::noting(pmpi::Comm_connect(port_name, info, root, comm, newcomm), newcomm);
  entry::blocking_call guard;
  return entry::noting(pmpi::Comm_connect(port_name, info, root, comm, newcomm), newcomm);
}

// 11.10 Other functionality
TELPHER_MPI(Comm_disconnect, (MPI_Comm* comm), (comm)) {
  if (!entry::active()) return pmpi::Comm_disconnect(comm);
  entry::comm_freed(*comm);
  entry::blocking_call guard;
  return pmpi::Comm_disconnect(comm);
}

// 11.10 Other functionality
TELPHER_MPI(Comm_join, (int fd, MPI_Comm* intercomm), (fd, intercomm)) {
  if (!entry::active()) return entry::noting(pmpi::Comm_join(fd, intercomm), intercomm);
  entry::blocking_call guard;
  return entry::noting(pmpi::Comm_join(fd, intercomm), intercomm);
}

#if TELPHER_HOST_HAS_Barrier_init  // MPI 4.0

// 6.13 Persistent collective operations
TELPHER_MPI(Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request* request),
            (comm, info, request)) {
  if (!entry::active()) return pmpi::Barrier_init(comm, info, request);
  entry::keep_order(comm);
  return pmpi::Barrier_init(comm, info, request);
}

// 7.4 Communicator management
TELPHER_MPI(Comm_idup_with_info,
            (MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request),
            (comm, info, newcomm, request)) {
  if (!entry::active()) return pmpi::Comm_idup_with_info(comm, info, newcomm, request);
  entry::keep_order(comm);
  return pmpi::Comm_idup_with_info(comm, info, newcomm, request);
}

// 7.4 Communicator management
TELPHER_MPI(Comm_create_from_group,
            (MPI_Group group, const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
             MPI_Comm* newcomm), (group, stringtag, info, errhandler, newcomm)) {
  return sessions::comm_create_from_group(group, stringtag, info, errhandler, newcomm);
}

// 7.6 Inter-communication
TELPHER_MPI(Intercomm_create_from_groups,
            (MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
             const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
             MPI_Comm* newintercomm),
            (local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler,
             newintercomm)) {
  return sessions::intercomm_create_from_groups(local_group, local_leader, remote_group,
                                                remote_leader, stringtag, info, errhandler,
                                                newintercomm);
}

// 11.3 The Sessions Model
TELPHER_MPI(Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session),
            (info, errhandler, session)) {
  return sessions::init(info, errhandler, session);
}

// 11.3 The Sessions Model
TELPHER_MPI(Session_get_info, (MPI_Session session, MPI_Info* info_used), (session, info_used)) {
  return mpi::session_get_info(session, info_used);
}

// 11.3 The Sessions Model
TELPHER_MPI(Session_finalize, (MPI_Session* session), (session)) {
  return sessions::finalize(session);
}

#endif  // TELPHER_HOST_HAS_Barrier_init

#if TELPHER_HOST_HAS_Pack_c  // large counts, MPI 4.0

// 5.2 Pack and unpack
TELPHER_MPI(Pack_c,
            (const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
             MPI_Count outsize, MPI_Count* position, MPI_Comm comm),
            (inbuf, incount, datatype, outbuf, outsize, position, comm)) {
  if (!entry::active())
    return pmpi::Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {inbuf, outbuf});
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::pack, "MPI_Pack_c", inbuf,
                                           incount, datatype, outbuf, outsize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Pack_c(inbuf, incount, datatype, outbuf, outsize, position, comm);
}

// 5.2 Pack and unpack
TELPHER_MPI(Unpack_c,
            (const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
             MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm),
            (inbuf, insize, position, outbuf, outcount, datatype, comm)) {
  if (!entry::active())
    return pmpi::Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {inbuf, outbuf});
  if (int code = 0; mpi::packed_on_device({mpi::packing::direction::unpack, "MPI_Unpack_c", outbuf,
                                           outcount, datatype, inbuf, insize, comm}, *position,
                                          &code))
    return code;
  return pmpi::Unpack_c(inbuf, insize, position, outbuf, outcount, datatype, comm);
}

// 5.3 Canonical pack and unpack
TELPHER_MPI(Pack_external_c,
            (const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype,
             void* outbuf, MPI_Count outsize, MPI_Count* position),
            (datarep, inbuf, incount, datatype, outbuf, outsize, position)) {
  if (!entry::active())
    return pmpi::Pack_external_c(datarep, inbuf, incount, datatype, outbuf, outsize, position);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {inbuf, outbuf});
  return mpi::pack_external("MPI_Pack_external_c", datarep, inbuf, incount, datatype, outbuf,
                            outsize, position);
}

// 5.3 Canonical pack and unpack
TELPHER_MPI(Unpack_external_c,
            (const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position,
             void* outbuf, MPI_Count outcount, MPI_Datatype datatype),
            (datarep, inbuf, insize, position, outbuf, outcount, datatype)) {
  if (!entry::active())
    return pmpi::Unpack_external_c(datarep, inbuf, insize, position, outbuf, outcount, datatype);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {inbuf, outbuf});
  return mpi::unpack_external("MPI_Unpack_external_c", datarep, inbuf, insize, position, outbuf,
                              outcount, datatype);
}

#endif  // TELPHER_HOST_HAS_Pack_c

}  // extern "C"
