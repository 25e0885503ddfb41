/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * telpher.h: what Telpher offers beside MPI, for C, C++ and foreign-function interfaces. A program that
 * only passes device pointers to MPI calls needs none of it. The functions live in
 * libtelpher-<abi>.so; link with it (in front of the MPI library) to use them.
 *
 * Functions return 0 or a negative telpher error code; telpher_error_string explains it. All may be
 * called before MPI_Init and after MPI_Finalize, from any thread.
 */
#ifndef TELPHER_TELPHER_H
#define TELPHER_TELPHER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TELPHER_VERSION_MAJOR 0
#define TELPHER_VERSION_MINOR 1
#define TELPHER_VERSION_PATCH 0

enum telpher_error {
  TELPHER_SUCCESS = 0,
  TELPHER_ERR_ARGUMENT = -1,    /* a null pointer, a device that is not there */
  TELPHER_ERR_NO_DEVICE = -2,   /* no back end is active; telpher info says why */
  TELPHER_ERR_MEMORY = -3,      /* host or device memory ran out */
  TELPHER_ERR_DEVICE = -4,      /* the vendor's runtime failed; the log has its text */
  TELPHER_ERR_UNSUPPORTED = -5  /* the active back end cannot do this */
};

enum telpher_memory {
  TELPHER_MEMORY_HOST = 0,   /* malloc and friends, or memory unknown to every back end */
  TELPHER_MEMORY_PINNED = 1, /* host memory that devices can reach */
  TELPHER_MEMORY_MANAGED = 2,/* migrates between host and device */
  TELPHER_MEMORY_DEVICE = 3  /* memory of a device; the CPU must not touch it */
};

/* Version of the library in the process, as major * 10000 + minor * 100 + patch. */
int telpher_version(void);
const char* telpher_error_string(int error);

/* The active back end: "cuda", "hip", "sycl", "emu", or "none". */
const char* telpher_backend(void);
int telpher_device_count(void);
/* Makes another of this process's back ends the active one, for all threads, by its name. */
int telpher_choose_backend(const char* name);
/* Chooses the device of this thread's next telpher_malloc; the default is chosen by local rank. */
int telpher_set_device(int device);
int telpher_get_device(int* device);

/* Memory of the active back end; `kind` is one of telpher_memory (HOST gives page-aligned memory). */
int telpher_malloc(void** address, size_t bytes, enum telpher_memory kind);
int telpher_free(void* address);
/* Copies between any two kinds of memory, and fills; both have completed when they return. */
int telpher_memcpy(void* to, const void* from, size_t bytes);
int telpher_memset(void* to, int byte, size_t bytes);
/* What kind of memory an address is, and on which device (-1 for host memory); either may be null. */
int telpher_classify(const void* address, enum telpher_memory* kind, int* device);
/* Where a kernel of the program finds the bytes at `address`: there, on every GPU. On the emulated
 * device, whose kernels are functions of this process, it is another address, which the CPU may use. */
int telpher_kernel_address(void* address, void** for_kernels);

/*
 * SYCL only, where memory belongs to a context: a program that allocates in a context of its own, not its
 * platform's default context, names it here once, before it passes such memory to MPI. `queue` points to a
 * sycl::queue of that context. Telpher never puts work into it: it makes queues of its own in the same
 * context. TELPHER_ERR_UNSUPPORTED for other back ends, which need no such call.
 */
int telpher_register_queue(const void* queue);

/*
 * The function to call for an MPI function's name ("MPI_Send"): Telpher's where it has one, else the MPI
 * library's; null where neither has. For programs that open the MPI library themselves and take functions
 * from its handle (dlopen and dlsym, ctypes, Julia's ccall), which no preloaded library sees: find this
 * function with dlsym(RTLD_DEFAULT, "telpher_symbol"), and take MPI's functions from here.
 */
void* telpher_symbol(const char* name);

#ifdef __cplusplus
}
#endif

#endif
