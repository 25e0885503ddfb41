// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Tool information interface (chapter 15),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"
#include "mpi/names.hpp"
#include "mpi/tool_variables.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 15.3 The MPI tool information interface
TELPHER_MPI(T_cvar_get_num, (int* num_cvar), (num_cvar)) {
  return mpi_t::cvar_get_num(num_cvar);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_cvar_get_info,
            (int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
             MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope),
            (cvar_index, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind,
             scope)) {
  return mpi_t::cvar_get_info(cvar_index, name, name_len, verbosity, datatype, enumtype, desc,
                              desc_len, bind, scope);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_cvar_get_index, (const char* name, int* cvar_index), (name, cvar_index)) {
  return mpi_t::cvar_get_index(name, cvar_index);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_cvar_handle_alloc,
            (int cvar_index, void* obj_handle, MPI_T_cvar_handle* handle, int* count),
            (cvar_index, obj_handle, handle, count)) {
  return mpi_t::cvar_handle_alloc(cvar_index, obj_handle, handle, count);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_cvar_handle_free, (MPI_T_cvar_handle* handle), (handle)) {
  return mpi_t::cvar_handle_free(handle);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_cvar_read, (MPI_T_cvar_handle handle, void* buf), (handle, buf)) {
  return mpi_t::cvar_read(handle, buf);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_cvar_write, (MPI_T_cvar_handle handle, const void* buf), (handle, buf)) {
  return mpi_t::cvar_write(handle, buf);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_get_num, (int* num_pvar), (num_pvar)) {
  return mpi_t::pvar_get_num(num_pvar);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_get_info,
            (int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
             MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
             int* readonly, int* continuous, int* atomic),
            (pvar_index, name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len,
             bind, readonly, continuous, atomic)) {
  return mpi_t::pvar_get_info(pvar_index, name, name_len, verbosity, var_class, datatype, enumtype,
                              desc, desc_len, bind, readonly, continuous, atomic);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_get_index, (const char* name, int var_class, int* pvar_index),
            (name, var_class, pvar_index)) {
  return mpi_t::pvar_get_index(name, var_class, pvar_index);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_handle_alloc,
            (MPI_T_pvar_session session, int pvar_index, void* obj_handle,
             MPI_T_pvar_handle* handle, int* count),
            (session, pvar_index, obj_handle, handle, count)) {
  return mpi_t::pvar_handle_alloc(session, pvar_index, obj_handle, handle, count);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_handle_free, (MPI_T_pvar_session session, MPI_T_pvar_handle* handle),
            (session, handle)) {
  return mpi_t::pvar_handle_free(session, handle);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
            (session, handle)) {
  return mpi_t::pvar_start(session, handle);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
            (session, handle)) {
  return mpi_t::pvar_stop(session, handle);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf),
            (session, handle, buf)) {
  return mpi_t::pvar_read(session, handle, buf);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_write, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf),
            (session, handle, buf)) {
  return mpi_t::pvar_write(session, handle, buf);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
            (session, handle)) {
  return mpi_t::pvar_reset(session, handle);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf),
            (session, handle, buf)) {
  return mpi_t::pvar_readreset(session, handle, buf);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_category_get_cvars, (int cat_index, int len, int indices[]),
            (cat_index, len, indices)) {
  return mpi_t::category_get_cvars(cat_index, len, indices);
}

// 15.3 The MPI tool information interface
TELPHER_MPI(T_category_get_pvars, (int cat_index, int len, int indices[]),
            (cat_index, len, indices)) {
  return mpi_t::category_get_pvars(cat_index, len, indices);
}

}  // extern "C"
