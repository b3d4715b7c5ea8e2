/* libcuda_module.h: inside libcuda.so.1: what modules, libraries and the linker share. */
#ifndef HEDDLE_LIBCUDA_MODULE_H
#define HEDDLE_LIBCUDA_MODULE_H

#include "cuda/libcuda.h"

/* ---- libcuda_module.c ---- */

/* The loaded code of a module, or NULL where the handle is not a module or its device memory is gone. */
struct emu_module *cu_module_emu(CUmodule m);
CUresult cu_find_global(CUmodule m, const char *name, CUdeviceptr *address, size_t *bytes);
/* Writes the first `count` functions of the module. */
CUresult cu_enumerate_functions(CUmodule m, CUfunction *out, unsigned count);
/* Loads an image with the options of the just-in-time compiler. ctx is NULL for the module of a library.
 * origin: where the program has the image. */
CUresult cu_module_load(CUcontext ctx, const char *name, const void *image, size_t len, const void *origin,
                        unsigned count, const CUjit_option *names, void **values, CUmodule *out);
/* Reads a file that is not empty. The caller frees *data. */
CUresult cu_read_file(const char *path, char **data, size_t *len);

/* ---- libcuda_jit.c: options of the just-in-time compiler ---- */

struct cu_jit {
    struct gpu_load_options options;
    struct strbuf log;
};
void cu_jit_read(struct cu_jit *j, unsigned count, const CUjit_option *names, void **values);
/* Fills the program's log buffers with what a load or a link left behind, and frees the log. The options say
 * on return how much was written. */
void cu_jit_finish(struct cu_jit *j, CUresult r, unsigned count, const CUjit_option *names, void **values);

#endif
