/* libcuda_library.c: the libraries of CUDA 12 and later: modules that belong to no context, and their
 * kernels. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "cuda/bundle.h"
#include "cuda/fatbin.h"
#include "cuda/libcuda_module.h"

#include <errno.h>

static VEC(CUlibrary) libraries;
static uint32_t library_serial;

/* Bytes of an image to copy because the program may free it; 0 where the size is unknown and the image must
 * stay where it is. */
static size_t image_bytes(const void *image)
{
    uint64_t body;
    if (fatbin_is_wrapper(image)) return 0;
    if (fatbin_is(image) || bundle_is(image)) {
        memcpy(&body, (const char *)image + 8, sizeof body);
        return fatbin_is(image) ? 16 + (size_t)body : (size_t)body;
    }
    return memcmp(image, "\177ELF", 4) ? strlen(image) + 1 : 0;
}

static CUresult library_load(CUlibrary *out, const char *name, const void *image, size_t len,
                             const void *origin, void *owned, unsigned count, const CUjit_option *names,
                             void **values)
{
    CUmodule m;
    CUresult r = cu_module_load(NULL, name, image, len, origin, count, names, values, &m);
    if (r) {
        free(owned);
        return r;
    }
    gpu_lock();
    CUlibrary l = handle_new(HANDLE_LIBRARY, sizeof *l);
    m->library = l;
    l->module = m;
    l->name = mem_strdup(name);
    l->image = image;
    l->len = len;
    l->owned = owned;
    vec_push(&libraries, l);
    gpu_unlock();
    *out = l;
    return CUDA_SUCCESS;
}

CU_API(cuLibraryLoadData,
       (CUlibrary * out, const void *image, CUjit_option *names, void **values, unsigned count,
        CUlibraryOption *options, void **option_values, unsigned option_count))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!out || !image) return CUDA_ERROR_INVALID_VALUE;
    bool preserved = false;
    for (unsigned i = 0; options && i < option_count; i++)
        preserved |= options[i] == CU_LIBRARY_BINARY_IS_PRESERVED && option_values && option_values[i];
    size_t bytes = preserved ? 0 : image_bytes(image);
    void *owned = bytes ? mem_alloc(bytes) : NULL;
    if (owned) memcpy(owned, image, bytes);
    char name[128]; /* for messages: the program, and the number of the library in the order of loading */
    gpu_lock();
    snprintf(name, sizeof name, "%s#%u", program_invocation_short_name, ++library_serial);
    gpu_unlock();
    return library_load(out, name, owned ? owned : image, 0, image, owned, count, names, values);
}

CU_API(cuLibraryLoadFromFile,
       (CUlibrary * out, const char *path, CUjit_option *names, void **values, unsigned count,
        CUlibraryOption *options, void **option_values, unsigned option_count))
{
    char *data;
    size_t len;
    CUresult r = cu_ready();
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    r = cu_read_file(path, &data, &len);
    return r ? r : library_load(out, path, data, len, data, data, count, names, values);
}

CU_API(cuLibraryUnload, (CUlibrary l))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!handle_is(l, HANDLE_LIBRARY)) return CUDA_ERROR_INVALID_HANDLE;
    gpu_lock();
    for (uint32_t i = 0; i < libraries.len; i++)
        if (libraries.data[i] == l) libraries.data[i] = libraries.data[--libraries.len];
    if (l->module) cu_module_destroy(l->module);
    free(l->owned);
    free(l->name);
    handle_free(l);
    gpu_unlock();
    return CUDA_SUCCESS;
}

static CUresult library_module(CUlibrary l, CUmodule *m)
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!handle_is(l, HANDLE_LIBRARY)) return CUDA_ERROR_INVALID_HANDLE;
    *m = l->module;
    return CUDA_SUCCESS;
}

CU_API(cuLibraryGetModule, (CUmodule * out, CUlibrary l))
{
    return out ? library_module(l, out) : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuLibraryGetKernel, (CUkernel * out, CUlibrary l, const char *name))
{
    CUmodule m;
    CUfunction f = NULL;
    CUresult r = library_module(l, &m);
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    r = cu_find_function(m, name, &f);
    /* A kernel and its function are one object: there is only one context to load it into. */
    *out = (CUkernel)(void *)f;
    return r;
}

CU_API(cuLibraryGetKernelCount, (unsigned *count, CUlibrary l))
{
    CUmodule m;
    CUresult r = library_module(l, &m);
    if (r) return r;
    if (!cu_module_emu(m)) return CUDA_ERROR_INVALID_HANDLE;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = emu_module_isa(cu_module_emu(m))->kernel_count;
    return CUDA_SUCCESS;
}

CU_API(cuLibraryEnumerateKernels, (CUkernel * out, unsigned count, CUlibrary l))
{
    CUmodule m;
    CUresult r = library_module(l, &m);
    if (r) return r;
    return out ? cu_enumerate_functions(m, (CUfunction *)(void *)out, count) : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuLibraryGetGlobal, (CUdeviceptr * address, size_t *bytes, CUlibrary l, const char *name))
{
    CUmodule m;
    CUresult r = library_module(l, &m);
    return r ? r : cu_find_global(m, name, address, bytes);
}

/* Managed variables live in device memory like all others: the host can reach that too. */
CU_API(cuLibraryGetManaged, (CUdeviceptr * address, size_t *bytes, CUlibrary l, const char *name))
{
    return cuLibraryGetGlobal(address, bytes, l, name);
}

CU_API(cuKernelGetFunction, (CUfunction * out, CUkernel k))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!cu_function(k)) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = cu_function(k);
    return CUDA_SUCCESS;
}

CU_API(cuKernelGetLibrary, (CUlibrary * out, CUkernel k))
{
    CUresult r = cu_ready();
    CUfunction f = cu_function(k);
    if (r) return r;
    if (!f || !out) return f ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
    for (uint32_t i = 0; i < libraries.len; i++) {
        if (libraries.data[i]->module != f->module) continue;
        *out = libraries.data[i];
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}
