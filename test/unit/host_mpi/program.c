/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of the MPI that it is linked with. */
int MPI_Init(int* argc, char*** argv);

int main(int argc, char** argv) { return MPI_Init(&argc, &argv); }
