/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * telpher.h: Telpher's own functions, for C, C++ and foreign-function interfaces. A program that
 * only passes device pointers to MPI calls does not need them. The functions are in
 * libtelpher-<abi>.so; link with it (in front of the MPI library) to use them.
 *
 * Functions of type int return 0 or a negative telpher error code, which telpher_error_string
 * explains; telpher_version and telpher_device_count return a number. All may be called before
 * MPI_Init and after MPI_Finalize, from any thread. Sizes are in bytes.
 */
#ifndef TELPHER_TELPHER_H
#define TELPHER_TELPHER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TELPHER_VERSION_MAJOR 0
#define TELPHER_VERSION_MINOR 1
#define TELPHER_VERSION_PATCH 0

enum telpher_error {
  TELPHER_SUCCESS = 0,
  TELPHER_ERR_ARGUMENT = -1,    /* a null pointer, a device that does not exist */
  TELPHER_ERR_NO_DEVICE = -2,   /* no back end is active; telpher info says why */
  TELPHER_ERR_MEMORY = -3,      /* host or device memory ran out */
  TELPHER_ERR_DEVICE = -4,      /* the vendor's runtime failed; the log has its text */
  TELPHER_ERR_UNSUPPORTED = -5  /* the active back end cannot do this */
};

enum telpher_memory {
  TELPHER_MEMORY_HOST = 0,   /* malloc and the like, or memory unknown to every back end */
  TELPHER_MEMORY_PINNED = 1, /* host memory that devices can access */
  TELPHER_MEMORY_MANAGED = 2,/* migrates between host and device */
  TELPHER_MEMORY_DEVICE = 3  /* memory of a device; the CPU must not access it */
};

/* Version of the library in the process, as major * 10000 + minor * 100 + patch. */
int telpher_version(void);
const char* telpher_error_string(int error);

/* The active back end: "cuda", "hip", "sycl", "emu", or "none". */
const char* telpher_backend(void);
/* The number of its devices; 0 if no back end is active. */
int telpher_device_count(void);
/* Makes the named back end of this process the active one, for all threads. TELPHER_ERR_NO_DEVICE
 * if it was not opened or has no device. */
int telpher_choose_backend(const char* name);
/* Chooses the device, from 0 on, for this thread's later telpher_malloc and telpher_stream_create.
 * The default is the rank's number on its node, modulo the number of devices. */
int telpher_set_device(int device);
int telpher_get_device(int* device);

/* Memory of the active back end; `kind` is one of telpher_memory (HOST gives page-aligned memory,
 * also without a back end). 0 bytes give a null address. telpher_free takes addresses of
 * telpher_malloc, and null; TELPHER_ERR_ARGUMENT for others. */
int telpher_malloc(void** address, size_t bytes, enum telpher_memory kind);
int telpher_free(void* address);
/* Copies between any two kinds of memory, and fills each byte. Both are complete on return.
 * TELPHER_ERR_UNSUPPORTED for a copy between device or managed memory of two back ends. */
int telpher_memcpy(void* to, const void* from, size_t bytes);
int telpher_memset(void* to, int byte, size_t bytes);
/* The kind of memory of an address, and the device of device memory (-1 for every other kind).
 * Either pointer may be null. */
int telpher_classify(const void* address, enum telpher_memory* kind, int* device);
/* The address at which a kernel of the program finds the bytes of `address`. On a GPU it is
 * `address`. Kernels of the emulated device are functions of this process: there it differs for
 * device memory, and the CPU may use it. */
int telpher_kernel_address(void* address, void** for_kernels);

/*
 * Streams of the active back end, for programs that are written for every back end. The handle is
 * the vendor's own: a cudaStream_t, a hipStream_t, or a pointer to an in-order sycl::queue, which
 * must live as long as the stream is used. Except for telpher_stream_destroy, every call below also
 * takes a handle from elsewhere. Null is the default stream of the calling thread's device; SYCL
 * has none. Copies and fills return at once; what is given to a stream runs in its order.
 */
int telpher_stream_create(void** stream);
int telpher_stream_destroy(void* stream);
int telpher_stream_synchronize(void* stream);
int telpher_memcpy_async(void* to, const void* from, size_t bytes, void* stream);
int telpher_memset_async(void* to, int byte, size_t bytes, void* stream);
/* telpher_stream_wait_value: the stream's later work begins when the word is `value` or more.
 * telpher_stream_write_value: the stream writes `value` to the word when its earlier work is done.
 * The word is in pinned memory. Values must stay below 2^31, because CUDA compares by the sign of
 * the difference. */
int telpher_stream_wait_value(void* stream, uint32_t* word, uint32_t value);
int telpher_stream_write_value(void* stream, uint32_t* word, uint32_t value);

/* The emulated device only: launches a kernel, which is a function of this process there, in the
 * order of the stream. Its blocks are called one after the other, at least one. The `bytes` bytes
 * of parameters, at most 4000, are copied (aligned to 16). TELPHER_ERR_UNSUPPORTED for other back
 * ends. telpher_launch of device.h is one form for CUDA, HIP and the emulated device. */
int telpher_emulated_launch(void (*kernel)(const void* parameters, unsigned block, unsigned blocks),
                            const void* parameters, size_t bytes, unsigned blocks, void* stream);

/*
 * SYCL only, where memory belongs to a context. A program that allocates in a context of its own,
 * not in its platform's default context, names the context here once, before it passes such memory
 * to MPI. `queue` points to a sycl::queue of that context. Telpher never puts work into this queue:
 * it makes queues of its own in the same context. TELPHER_ERR_UNSUPPORTED for other back ends,
 * which need no such call; TELPHER_ERR_NO_DEVICE if there is no back end.
 */
int telpher_register_queue(const void* queue);

/*
 * The function to call for an MPI function's name ("MPI_Send"): Telpher's if it has one, else the
 * MPI library's; null if neither has one. For programs that open the MPI library themselves and
 * take functions from its handle (dlopen and dlsym, ctypes, Julia's ccall): a preloaded library
 * does not see their calls. They find this function with dlsym(RTLD_DEFAULT, "telpher_symbol") and
 * get MPI's functions from it.
 */
void* telpher_symbol(const char* name);

#ifdef __cplusplus
}
#endif

/* MPI in the order of streams, and windows for kernels, if mpi.h was included before. */
#ifdef MPI_VERSION
#include "stream.h"
#include "window.h"
#endif

#endif
