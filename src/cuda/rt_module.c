/* rt_module.c: registration of device code, and its loading at first use.
 *
 * nvcc gives every program constructors that register its fat binary, then each kernel (by the address of its
 * host stub), variable and texture reference, before main runs. Nothing is parsed then: the first use of a
 * kernel or symbol loads the binary that it is in. Known from: host_runtime.h, fatbinary_section.h and
 * link.stub of nvcc 13.0. (1) A wrapper of version 2 belongs to relocatable device code: its data is a linked
 * cubin, and its last field points to the fat binaries of the separate objects, ended by NULL, whose PTX is
 * linked here. (2) A binary that cannot be loaded says why once; each use of it returns the same error. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "cuda/rt_module.h"

#include "cuda/rt_api.h"

#include <errno.h>

/* Section .nvFatBinSegment. */
struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *prelinked;
};
enum { WRAPPER_MAGIC = 0x466243b1, PRELINKED_MAX = 1 << 16 };

static struct rt_binary *binary_of(void **handle) { return rt_object_find(handle, RT_BINARY); }

static char *binary_name(uint32_t number)
{
    char text[256];
    snprintf(text, sizeof(text), "%s#%u", program_invocation_short_name, number);
    return mem_strdup(text);
}

static enum gpu_status load_prelinked(struct gpu *g, struct rt_binary *b, const void *const *images)
{
    uint32_t count = 0;
    while (count < PRELINKED_MAX && images[count]) count++;
    size_t *lens = mem_zalloc(sizeof(*lens) * (count + 1)); /* 0: the image says how long it is */
    enum gpu_status s = gpu_module_link(g, b->name, images, lens, count, &b->module);
    free(lens);
    return s;
}

static enum gpu_status load_image(struct gpu *g, struct rt_binary *b)
{
    if (b->code) return gpu_module_load(g, b->name, b->code, b->code_bytes, &b->module);
    const struct fatbin_wrapper *w = b->wrapper;
    if (w->version == 2 && w->prelinked && w->prelinked[0]) return load_prelinked(g, b, w->prelinked);
    return gpu_module_load(g, b->name, w->data, 0, &b->module);
}

static void resolve_variables(struct rt_binary *b)
{
    struct emu_module *m = gpu_module_emu(b->module);
    for (uint32_t i = 0; i < b->variables.len; i++) {
        struct rt_variable *v = b->variables.data[i];
        uint64_t bytes;
        if (!emu_find_var(m, v->name, &v->address, &bytes)) continue; /* unused ones may be dropped by nvcc */
        v->bytes = bytes;
        if (!v->managed) continue;
        *v->managed = (void *)(uintptr_t)v->address;
        rt_table_put(&rt_state()->variables, v->address, v);
    }
}

static void forget_addresses(struct rt_binary *b)
{
    for (uint32_t i = 0; i < b->kernels.len; i++) b->kernels.data[i]->isa = NULL;
    for (uint32_t i = 0; i < b->variables.len; i++) {
        struct rt_variable *v = b->variables.data[i];
        if (v->managed && v->address) rt_table_remove(&rt_state()->variables, v->address);
        v->address = 0;
    }
}

cudaError_t rt_binary_load(struct gpu *g, struct rt_binary *b)
{
    if (b->module) return cudaSuccess;
    if (b->error) return b->error;
    b->error = rt_from_status(load_image(g, b));
    if (b->error) return b->error;
    resolve_variables(b);
    return cudaSuccess;
}

static struct rt_binary *binary_new(void)
{
    struct rt_state *s = rt_state();
    struct rt_binary *b = mem_zalloc(sizeof(*b));
    b->name = binary_name(++s->binary_count);
    rt_object_add(b, RT_BINARY);
    vec_push(&s->binaries, b);
    return b;
}

/* A key may meanwhile belong to another binary that was mapped to the same address: only its own entry is
 * removed. */
static void table_drop(struct rt_table *t, const void *host, const void *value)
{
    if (host && rt_table_get(t, rt_key(host)) == value) rt_table_remove(t, rt_key(host));
}

void rt_binary_free(struct gpu *g, struct rt_binary *b)
{
    struct rt_state *s = rt_state();
    forget_addresses(b);
    if (g && b->module) gpu_module_unload(g, b->module);
    for (uint32_t i = 0; i < b->kernels.len; i++) {
        struct rt_kernel *k = b->kernels.data[i];
        table_drop(&s->kernels, k->host, k);
        free(k->name);
        rt_object_remove(k);
    }
    for (uint32_t i = 0; i < b->variables.len; i++) {
        struct rt_variable *v = b->variables.data[i];
        table_drop(&s->variables, v->host, v);
        free(v->name);
        free(v);
    }
    for (uint32_t i = 0; i < b->texrefs.len; i++) {
        struct rt_texref *t = b->texrefs.data[i];
        table_drop(&s->texrefs, t->host, t);
        free(t->name);
        free(t);
    }
    for (uint32_t i = 0; i < s->binaries.len; i++) {
        if (s->binaries.data[i] != b) continue;
        memmove(&s->binaries.data[i], &s->binaries.data[i + 1], sizeof(b) * (s->binaries.len - i - 1));
        s->binaries.len--;
        break;
    }
    vec_free(&b->kernels);
    vec_free(&b->variables);
    vec_free(&b->texrefs);
    free(b->name);
    free(b->owned);
    rt_object_remove(b);
}

void rt_modules_reset(struct gpu *g)
{
    struct rt_state *s = rt_state();
    for (uint32_t i = 0; i < s->binaries.len; i++) {
        struct rt_binary *b = s->binaries.data[i];
        forget_addresses(b);
        if (b->module) gpu_module_unload(g, b->module);
        b->module = NULL;
        if (b->code) b->error = cudaErrorContextIsDestroyed; /* a library's image may be gone by now */
    }
}

struct rt_kernel *rt_binary_add_kernel(struct rt_binary *b, const void *host, const char *name)
{
    struct rt_kernel *k = mem_zalloc(sizeof(*k));
    k->binary = b;
    k->host = host;
    k->name = mem_strdup(name);
    k->dynamic_shared_max = -1;
    k->carveout = -1;
    rt_object_add(k, RT_KERNEL);
    vec_push(&b->kernels, k);
    if (host) rt_table_put(&rt_state()->kernels, rt_key(host), k);
    return k;
}

cudaError_t rt_kernel_find(struct gpu *g, const void *func, struct rt_kernel **out)
{
    struct rt_kernel *k = rt_table_get(&rt_state()->kernels, rt_key(func));
    if (!k) k = rt_object_find(func, RT_KERNEL);
    if (!k) return cudaErrorInvalidDeviceFunction;
    cudaError_t e = rt_binary_load(g, k->binary);
    if (e) return e;
    if (!k->isa) k->isa = emu_find_kernel(gpu_module_emu(k->binary->module), k->name);
    *out = k;
    return k->isa ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t rt_variable_find(struct gpu *g, const void *symbol, struct rt_variable **out)
{
    struct rt_variable *v = rt_table_get(&rt_state()->variables, rt_key(symbol));
    if (!v) return cudaErrorInvalidSymbol;
    cudaError_t e = rt_binary_load(g, v->binary);
    if (e) return e;
    *out = v;
    return v->address ? cudaSuccess : cudaErrorInvalidSymbol;
}

bool rt_managed_variable_at(uint64_t address)
{
    struct rt_state *s = rt_state();
    for (uint32_t i = 0; i < s->binaries.len; i++) {
        const struct rt_binary *b = s->binaries.data[i];
        for (uint32_t k = 0; k < b->variables.len; k++) {
            const struct rt_variable *v = b->variables.data[k];
            if (v->managed && v->address && address - v->address < v->bytes) return true;
        }
    }
    return false;
}

/* ---- what the constructors of a program call ---- */

CUDART_RETURNS(void **, __cudaRegisterFatBinary, (void *wrapper))
{
    const struct fatbin_wrapper *w = wrapper;
    gpu_lock();
    struct rt_binary *b = binary_new();
    b->wrapper = wrapper;
    if (!w || w->magic != WRAPPER_MAGIC) b->error = cudaErrorInvalidKernelImage;
    gpu_unlock();
    return (void **)b;
}

CUDART_RETURNS(void, __cudaRegisterFatBinaryEnd, (void **handle)) { (void)handle; }

/* Runs at exit, or when a library of the program is closed. */
CUDART_RETURNS(void, __cudaUnregisterFatBinary, (void **handle))
{
    gpu_lock();
    struct rt_binary *b = binary_of(handle);
    if (b) rt_binary_free(b->module ? gpu_get() : NULL, b);
    gpu_unlock();
}

CUDART_RETURNS(void, __cudaRegisterFunction,
               (void **handle, const char *host, char *device, const char *name, int thread_limit, void *tid,
                void *bid, dim3 *block, dim3 *grid, int *warp_size))
{
    gpu_lock();
    struct rt_binary *b = binary_of(handle);
    if (b && host && name) rt_binary_add_kernel(b, host, name);
    gpu_unlock();
}

static void register_variable(void **handle, const void *host, void **managed, const char *name, size_t bytes)
{
    gpu_lock();
    struct rt_binary *b = binary_of(handle);
    if (b && host && name) {
        struct rt_variable *v = mem_zalloc(sizeof(*v));
        *v = (struct rt_variable){
            .binary = b, .host = host, .managed = managed, .name = mem_strdup(name), .bytes = bytes};
        vec_push(&b->variables, v);
        rt_table_put(&rt_state()->variables, rt_key(host), v);
    }
    gpu_unlock();
}

CUDART_RETURNS(void, __cudaRegisterVar,
               (void **handle, char *host, char *device, const char *name, int ext, size_t bytes,
                int constant, int global))
{
    register_variable(handle, host, NULL, name, bytes);
}

CUDART_RETURNS(void, __cudaRegisterManagedVar,
               (void **handle, void **host_pointer, char *device, const char *name, int ext, size_t bytes,
                int constant, int global))
{
    register_variable(handle, host_pointer, host_pointer, name, bytes);
}

/* The program is about to touch a __managed__ variable of this binary. */
CUDART_RETURNS(char, __cudaInitModule, (void **handle))
{
    struct gpu *g;
    cudaError_t e = rt_enter(&g);
    if (!e) {
        gpu_lock();
        struct rt_binary *b = binary_of(handle);
        e = b ? rt_binary_load(g, b) : cudaErrorInvalidResourceHandle;
        gpu_unlock();
    }
    rt_done(e);
    return !e;
}

static void register_texref(void **handle, const struct textureReference *host, const char *name,
                            int normalized)
{
    gpu_lock();
    struct rt_binary *b = binary_of(handle);
    if (b && host && name) {
        struct rt_texref *t = mem_zalloc(sizeof(*t));
        *t = (struct rt_texref){
            .binary = b, .host = host, .name = mem_strdup(name), .normalized_read = normalized != 0};
        vec_push(&b->texrefs, t);
        rt_table_put(&rt_state()->texrefs, rt_key(host), t);
    }
    gpu_unlock();
}

CUDART_RETURNS(void, __cudaRegisterTexture,
               (void **handle, const struct textureReference *host, const void **device, const char *name,
                int dimensions, int normalized, int ext))
{
    register_texref(handle, host, name, normalized);
}

/* Host-side shadows of shared variables: only the device emulation of CUDA 3 and older used them. */
CUDART_RETURNS(void, __cudaRegisterShared, (void **handle, void **pointer)) {}
CUDART_RETURNS(void, __cudaRegisterSharedVar,
               (void **handle, void **pointer, size_t bytes, size_t alignment, int storage))
{
}
