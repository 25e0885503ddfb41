/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for an MPI library: all that libtelpher sees of it before it refuses is its soname. */
int PMPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}

int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
