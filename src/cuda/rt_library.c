/* rt_library.c: cudaLibrary_t: device code loaded at run time (CUDA 12.8 and later). A library is a binary
 * that was not registered by the program; its kernels are found by name. */
#include "cuda/rt_api.h"
#include "cuda/rt_module.h"

static cudaError_t library_load(struct gpu *g, cudaLibrary_t *out, const void *code, size_t bytes)
{
    if (!out || !code) return cudaErrorInvalidValue;
    struct rt_binary *b = mem_zalloc(sizeof(*b));
    struct rt_state *s = rt_state();
    char name[32];
    snprintf(name, sizeof(name), "library#%u", ++s->binary_count);
    b->name = mem_strdup(name);
    rt_object_add(b, RT_BINARY);
    vec_push(&s->binaries, b);
    b->code = code;
    b->code_bytes = bytes;
    cudaError_t e = rt_binary_load(g, b);
    if (e)
        rt_binary_free(g, b);
    else
        *out = b;
    return e;
}

/* Options tune a compiler that Heddle does not have; CUDA defines none that a library needs to work. */
CUDART(cudaLibraryLoadData,
       (cudaLibrary_t * out, const void *code, void *jit_options, void **jit_values, unsigned jit_count,
        void *library_options, void **library_values, unsigned library_count))
{
    RT_CALL(library_load(g, out, code, 0));
}

static void *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    struct strbuf text = {0};
    char piece[65536];
    for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;) strbuf_add(&text, piece, n);
    fclose(f);
    *bytes = text.len;
    return text.data;
}

static cudaError_t library_load_file(struct gpu *g, cudaLibrary_t *out, const char *path)
{
    size_t bytes;
    if (!out || !path) return cudaErrorInvalidValue;
    void *data = read_file(path, &bytes);
    if (!data) return cudaErrorFileNotFound;
    cudaError_t e = library_load(g, out, data, bytes);
    if (e)
        free(data);
    else
        (*out)->owned = data;
    return e;
}
CUDART(cudaLibraryLoadFromFile,
       (cudaLibrary_t * out, const char *path, void *jit_options, void **jit_values, unsigned jit_count,
        void *library_options, void **library_values, unsigned library_count))
{
    RT_CALL(library_load_file(g, out, path));
}

static struct rt_binary *library_find(cudaLibrary_t library)
{
    struct rt_binary *b = rt_object_find(library, RT_BINARY);
    return b && b->code ? b : NULL;
}

static cudaError_t library_unload(struct gpu *g, cudaLibrary_t library)
{
    struct rt_binary *b = library_find(library);
    if (!b) return cudaErrorInvalidResourceHandle;
    rt_binary_free(g, b);
    return cudaSuccess;
}
CUDART(cudaLibraryUnload, (cudaLibrary_t library)) { RT_CALL(library_unload(g, library)); }

static struct rt_kernel *kernel_named(struct rt_binary *b, const char *name)
{
    for (uint32_t i = 0; i < b->kernels.len; i++)
        if (!strcmp(b->kernels.data[i]->name, name)) return b->kernels.data[i];
    return rt_binary_add_kernel(b, NULL, name);
}

static cudaError_t library_kernel(struct gpu *g, cudaKernel_t *out, cudaLibrary_t library, const char *name)
{
    struct rt_binary *b = library_find(library);
    if (!out || !name) return cudaErrorInvalidValue;
    if (!b) return cudaErrorInvalidResourceHandle;
    cudaError_t e = rt_binary_load(g, b);
    if (e) return e;
    if (!emu_find_kernel(gpu_module_emu(b->module), name)) return cudaErrorSymbolNotFound;
    *out = kernel_named(b, name);
    return cudaSuccess;
}
CUDART(cudaLibraryGetKernel, (cudaKernel_t * out, cudaLibrary_t library, const char *name))
{
    RT_CALL(library_kernel(g, out, library, name));
}

static cudaError_t library_kernels(struct gpu *g, cudaKernel_t *out, unsigned room, unsigned *count,
                                   cudaLibrary_t library)
{
    struct rt_binary *b = library_find(library);
    if (!b) return cudaErrorInvalidResourceHandle;
    cudaError_t e = rt_binary_load(g, b);
    if (e) return e;
    const struct isa_module *m = emu_module_isa(gpu_module_emu(b->module));
    if (count) *count = m->kernel_count;
    for (uint32_t i = 0; i < m->kernel_count && i < room; i++) out[i] = kernel_named(b, m->kernels[i]->name);
    return cudaSuccess;
}
CUDART(cudaLibraryGetKernelCount, (unsigned *count, cudaLibrary_t library))
{
    RT_CALL(count ? library_kernels(g, NULL, 0, count, library) : cudaErrorInvalidValue);
}
CUDART(cudaLibraryEnumerateKernels, (cudaKernel_t * out, unsigned room, cudaLibrary_t library))
{
    RT_CALL(out ? library_kernels(g, out, room, NULL, library) : cudaErrorInvalidValue);
}

static cudaError_t library_variable(struct gpu *g, void **out, size_t *bytes, cudaLibrary_t library,
                                    const char *name)
{
    struct rt_binary *b = library_find(library);
    uint64_t address, size;
    if (!name || (!out && !bytes)) return cudaErrorInvalidValue;
    if (!b) return cudaErrorInvalidResourceHandle;
    cudaError_t e = rt_binary_load(g, b);
    if (e) return e;
    if (!emu_find_var(gpu_module_emu(b->module), name, &address, &size)) return cudaErrorSymbolNotFound;
    if (out) *out = (void *)(uintptr_t)address;
    if (bytes) *bytes = size;
    return cudaSuccess;
}
CUDART(cudaLibraryGetGlobal, (void **out, size_t *bytes, cudaLibrary_t library, const char *name))
{
    RT_CALL(library_variable(g, out, bytes, library, name));
}
CUDART(cudaLibraryGetManaged, (void **out, size_t *bytes, cudaLibrary_t library, const char *name))
{
    RT_CALL(library_variable(g, out, bytes, library, name));
}
