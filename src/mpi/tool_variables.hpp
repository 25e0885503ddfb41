// SPDX-License-Identifier: BSD-3-Clause
// Telpher in the MPI tool information interface (MPI 4.1, chapter 15.3): its settings are control
// variables, its counters are performance variables, beside those of the host MPI.
//
// Ours have the first indices and the host MPI's follow, because the host MPI may add variables at
// any time and no index may change. Handles of ours point into an array of this library, all
// others are the host MPI's. Nothing here communicates, so that it also serves before MPI_Init and
// where Telpher is not active.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi_t {

int cvar_get_num(int* num) noexcept;
int cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* type,
                  MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) noexcept;
int cvar_get_index(const char* name, int* index) noexcept;
int cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count) noexcept;
int cvar_handle_free(MPI_T_cvar_handle* handle) noexcept;
int cvar_read(MPI_T_cvar_handle handle, void* buf) noexcept;
int cvar_write(MPI_T_cvar_handle handle, const void* buf) noexcept;

int pvar_get_num(int* num) noexcept;
int pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class,
                  MPI_Datatype* type, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                  int* readonly, int* continuous, int* atomic) noexcept;
int pvar_get_index(const char* name, int var_class, int* index) noexcept;
int pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                      MPI_T_pvar_handle* handle, int* count) noexcept;
int pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) noexcept;
int pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) noexcept;
int pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) noexcept;
int pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) noexcept;
int pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* buf) noexcept;
int pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) noexcept;
int pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buf) noexcept;

int category_get_cvars(int category, int len, int* indices) noexcept;
int category_get_pvars(int category, int len, int* indices) noexcept;

}  // namespace telpher::mpi_t
