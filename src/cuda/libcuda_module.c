/* libcuda_module.c: modules, their functions and variables, and the libraries of CUDA 12 and later. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "cuda/libcuda.h"

#include "cuda/bundle.h"
#include "cuda/fatbin.h"

#include <errno.h>

static VEC(CUlibrary) libraries;
static uint32_t library_serial;

/* ---- modules ---- */

CUresult cu_module_from(CUcontext ctx, const char *name, const void *image, size_t len,
                        const struct gpu_load_options *options, CUmodule *out)
{
    if (!image || !out) return CUDA_ERROR_INVALID_VALUE;
    struct gpu *g = cu_gpu();
    struct gpu_module *gpu = NULL;
    CUresult r = cu_status(gpu_module_link_with(g, name, &image, &len, 1, options, &gpu));
    if (r) return r;
    gpu_lock();
    CUmodule m = handle_new(HANDLE_MODULE, sizeof *m);
    m->context = ctx;
    m->gpu = gpu;
    m->generation = gpu_generation(g);
    if (ctx) vec_push(&ctx->modules, m);
    gpu_unlock();
    *out = m;
    return CUDA_SUCCESS;
}

void cu_module_destroy(CUmodule m)
{
    gpu_lock();
    CUcontext ctx = m->context;
    for (uint32_t i = 0; ctx && i < ctx->modules.len; i++)
        if (ctx->modules.data[i] == m) ctx->modules.data[i] = ctx->modules.data[--ctx->modules.len];
    for (uint32_t i = 0; i < m->functions.len; i++) {
        free(m->functions.data[i]->name);
        handle_free(m->functions.data[i]);
    }
    vec_free(&m->functions);
    gpu_module_unload(cu_gpu(), m->gpu);
    handle_free(m);
    gpu_unlock();
}

/* A reset ended every module of the device; a library goes on with a fresh one at its next use, and the
 * handles of its kernels stay. */
static void refresh(CUmodule m)
{
    CUlibrary l = m->library;
    struct gpu *g = cu_gpu();
    if (!l || m->generation == gpu_generation(g)) return;
    gpu_lock();
    struct gpu_module *fresh = NULL;
    m->generation = gpu_generation(g);
    bool ok = gpu_module_link(g, l->name, &l->image, &l->len, 1, &fresh) == GPU_OK; /* else: said on stderr */
    if (ok) {
        gpu_module_unload(g, m->gpu);
        m->gpu = fresh;
    }
    for (uint32_t i = 0; i < m->functions.len; i++) {
        CUfunction f = m->functions.data[i];
        f->kernel = ok ? emu_find_kernel(gpu_module_emu(fresh), f->name) : NULL;
    }
    gpu_unlock();
}

static struct emu_module *emu_of(CUmodule m)
{
    if (!handle_is(m, HANDLE_MODULE)) return NULL;
    refresh(m);
    return gpu_module_emu(m->gpu);
}

static CUfunction function_new(CUmodule m, const struct isa_kernel *k)
{
    CUfunction f = handle_new(HANDLE_FUNCTION, sizeof *f);
    const struct machine *machine = gpu_machine(cu_gpu());
    f->module = m;
    f->name = mem_strdup(k->name);
    f->kernel = k;
    f->dynamic_shared_max = (int)machine->cta_shared_bytes - (int)k->shared_bytes;
    f->carveout = -1;
    vec_push(&m->functions, f);
    return f;
}

CUresult cu_find_function(CUmodule m, const char *name, CUfunction *out)
{
    struct emu_module *emu = emu_of(m);
    if (!emu) return CUDA_ERROR_INVALID_HANDLE;
    if (!name || !out) return CUDA_ERROR_INVALID_VALUE;
    CUresult r = CUDA_SUCCESS;
    gpu_lock();
    *out = NULL;
    for (uint32_t i = 0; i < m->functions.len; i++)
        if (!strcmp(m->functions.data[i]->name, name)) *out = m->functions.data[i];
    if (!*out) {
        const struct isa_kernel *k = emu_find_kernel(emu, name);
        if (k)
            *out = function_new(m, k);
        else
            r = CUDA_ERROR_NOT_FOUND;
    }
    gpu_unlock();
    return r;
}

CUfunction cu_function(const void *h)
{
    if (!handle_is(h, HANDLE_FUNCTION)) return NULL;
    CUfunction f = (CUfunction)h;
    refresh(f->module);
    return f;
}

static CUresult find_global(CUmodule m, const char *name, CUdeviceptr *address, size_t *bytes)
{
    struct emu_module *emu = emu_of(m);
    uint64_t at, size;
    if (!emu) return CUDA_ERROR_INVALID_HANDLE;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!emu_find_var(emu, name, &at, &size)) return CUDA_ERROR_NOT_FOUND;
    if (address) *address = at;
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
}

static CUresult enumerate(CUmodule m, CUfunction *out, unsigned count)
{
    struct emu_module *emu = emu_of(m);
    if (!emu) return CUDA_ERROR_INVALID_HANDLE;
    const struct isa_module *isa = emu_module_isa(emu);
    for (uint32_t i = 0; i < isa->kernel_count && i < count; i++) {
        CUresult r = cu_find_function(m, isa->kernels[i]->name, &out[i]);
        if (r) return r;
    }
    return CUDA_SUCCESS;
}

/* ---- options of the just-in-time compiler ---- */

struct jit {
    struct gpu_load_options options;
    struct strbuf log;
};

static void jit_read(struct jit *j, unsigned count, const CUjit_option *names, void **values)
{
    *j = (struct jit){0};
    j->options.log = &j->log;
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == CU_JIT_MAX_REGISTERS) j->options.regs_max = (uint32_t)(uintptr_t)values[i];
}

static void *option_value(unsigned count, const CUjit_option *names, void **values, CUjit_option name)
{
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == name) return values[i];
    return NULL;
}

static void copy_log(const char *text, unsigned count, const CUjit_option *names, void **values,
                     CUjit_option buffer, CUjit_option size)
{
    char *to = option_value(count, names, values, buffer);
    size_t room = (size_t)(uintptr_t)option_value(count, names, values, size);
    size_t len = strlen(text);
    if (to && room) {
        len = MIN(len, room - 1);
        memcpy(to, text, len);
        to[len] = 0;
    }
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == size) values[i] = (void *)(uintptr_t)(to && room ? len + 1 : 0);
}

/* Fills the log buffers, which say on return how much was written. */
static void jit_finish(struct jit *j, CUresult r, unsigned count, const CUjit_option *names, void **values)
{
    const char *text = strbuf_text(&j->log);
    copy_log(r ? text : "", count, names, values, CU_JIT_ERROR_LOG_BUFFER,
             CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    copy_log(r ? "" : text, count, names, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    for (unsigned i = 0; names && values && i < count; i++)
        if (names[i] == CU_JIT_WALL_TIME)
            values[i] = NULL; /* 0.0f: host time is no part of a simulated device */
    strbuf_free(&j->log);
}

static CUresult load(CUcontext ctx, const char *name, const void *image, size_t len, unsigned count,
                     const CUjit_option *names, void **values, CUmodule *out)
{
    struct jit j;
    jit_read(&j, count, names, values);
    CUresult r = cu_module_from(ctx, name, image, len, &j.options, out);
    jit_finish(&j, r, count, names, values);
    return r;
}

static CUresult read_file(const char *path, char **data, size_t *len)
{
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    FILE *f = fopen(path, "rb");
    if (!f) return CUDA_ERROR_FILE_NOT_FOUND;
    struct strbuf text = {0};
    char buffer[65536];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, f)) > 0) strbuf_add(&text, buffer, got);
    bool bad = ferror(f) != 0;
    fclose(f);
    if (bad || !text.len) {
        strbuf_free(&text);
        return bad ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_INVALID_IMAGE;
    }
    *data = text.data;
    *len = text.len;
    return CUDA_SUCCESS;
}

/* ---- cuModule* ---- */

CU_API(cuModuleLoadDataEx,
       (CUmodule * out, const void *image, unsigned count, CUjit_option *names, void **values))
{
    CUcontext ctx;
    CUresult r = cu_enter(&ctx);
    return r ? r : load(ctx, "module", image, 0, count, names, values, out);
}
CU_API(cuModuleLoadData, (CUmodule * out, const void *image))
{
    return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}
CU_API(cuModuleLoadFatBinary, (CUmodule * out, const void *image))
{
    return cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

CU_API(cuModuleLoad, (CUmodule * out, const char *path))
{
    CUcontext ctx;
    char *data;
    size_t len;
    CUresult r = cu_enter(&ctx);
    if (r || (r = read_file(path, &data, &len))) return r;
    r = load(ctx, path, data, len, 0, NULL, NULL, out);
    free(data);
    return r;
}

CU_API(cuModuleUnload, (CUmodule m))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!handle_is(m, HANDLE_MODULE) || !m->context) return CUDA_ERROR_INVALID_HANDLE;
    cu_module_destroy(m);
    return CUDA_SUCCESS;
}

CU_API(cuModuleGetFunction, (CUfunction * out, CUmodule m, const char *name))
{
    CUresult r = cu_enter(NULL);
    return r ? r : cu_find_function(m, name, out);
}

CU_API(cuModuleGetFunctionCount, (unsigned *count, CUmodule m))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!emu_of(m)) return CUDA_ERROR_INVALID_HANDLE;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = emu_module_isa(emu_of(m))->kernel_count;
    return CUDA_SUCCESS;
}

CU_API(cuModuleEnumerateFunctions, (CUfunction * out, unsigned count, CUmodule m))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    return out ? enumerate(m, out, count) : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuModuleGetGlobal_v2, (CUdeviceptr * address, size_t *bytes, CUmodule m, const char *name))
{
    CUresult r = cu_enter(NULL);
    return r ? r : find_global(m, name, address, bytes);
}

CU_API(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* ---- cuLibrary*, cuKernel* ---- */

/* Bytes to keep of an image whose owner may take it away; 0 where only the owner's own memory can hold it. */
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

static CUresult library_load(CUlibrary *out, const char *name, const void *image, size_t len, void *owned,
                             unsigned count, const CUjit_option *names, void **values)
{
    CUmodule m;
    CUresult r = load(NULL, name, image, len, count, names, values, &m);
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
    char name[128]; /* for messages: the program, and which of its parts in the order of loading */
    gpu_lock();
    snprintf(name, sizeof name, "%s#%u", program_invocation_short_name, ++library_serial);
    gpu_unlock();
    return library_load(out, name, owned ? owned : image, 0, owned, count, names, values);
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
    r = read_file(path, &data, &len);
    return r ? r : library_load(out, path, data, len, data, count, names, values);
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
    *out = (CUkernel)(void *)
        f; /* a kernel and its function are one object here: there is one context to load it to */
    return r;
}

CU_API(cuLibraryGetKernelCount, (unsigned *count, CUlibrary l))
{
    CUmodule m;
    CUresult r = library_module(l, &m);
    if (r) return r;
    if (!emu_of(m)) return CUDA_ERROR_INVALID_HANDLE;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = emu_module_isa(emu_of(m))->kernel_count;
    return CUDA_SUCCESS;
}

CU_API(cuLibraryEnumerateKernels, (CUkernel * out, unsigned count, CUlibrary l))
{
    CUmodule m;
    CUresult r = library_module(l, &m);
    if (r) return r;
    return out ? enumerate(m, (CUfunction *)(void *)out, count) : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuLibraryGetGlobal, (CUdeviceptr * address, size_t *bytes, CUlibrary l, const char *name))
{
    CUmodule m;
    CUresult r = library_module(l, &m);
    return r ? r : find_global(m, name, address, bytes);
}

/* Managed variables live in device memory like all others; the host can reach that too. */
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

/* ---- cuLink* ---- */

struct CUlinkState_st {
    struct handle head;
    struct bundle_writer bundle;
    unsigned
        option_count; /* the program keeps these until cuLinkDestroy: the log buffers are filled at the end */
    CUjit_option *names;
    void **values;
};

CU_API(cuLinkCreate_v2, (unsigned count, CUjit_option *names, void **values, CUlinkState *out))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    CUlinkState s = handle_new(HANDLE_LINK, sizeof *s);
    bundle_begin(&s->bundle);
    s->option_count = count;
    s->names = names;
    s->values = values;
    *out = s;
    return CUDA_SUCCESS;
}

CU_API(cuLinkAddData_v2, (CUlinkState s, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned count, CUjit_option *names, void **values))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!handle_is(s, HANDLE_LINK)) return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size) return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_CUBIN) return CUDA_ERROR_NO_BINARY_FOR_GPU; /* machine code of a real GPU */
    if (type == CU_JIT_INPUT_LIBRARY || type == CU_JIT_INPUT_NVVM) return CUDA_ERROR_NOT_SUPPORTED;
    bundle_add(&s->bundle, data, size);
    return CUDA_SUCCESS;
}

CU_API(cuLinkAddFile_v2, (CUlinkState s, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *names, void **values))
{
    char *data;
    size_t len;
    CUresult r = cu_enter(NULL);
    if (r || (r = read_file(path, &data, &len))) return r;
    r = cuLinkAddData_v2(s, type, data, len, path, count, names, values);
    free(data);
    return r;
}

CU_API(cuLinkCreate, (unsigned count, CUjit_option *names, void **values, CUlinkState *out))
{
    return cuLinkCreate_v2(count, names, values, out);
}
CU_API(cuLinkAddData, (CUlinkState s, CUjitInputType type, void *data, size_t size, const char *name,
                       unsigned count, CUjit_option *names, void **values))
{
    return cuLinkAddData_v2(s, type, data, size, name, count, names, values);
}
CU_API(cuLinkAddFile, (CUlinkState s, CUjitInputType type, const char *path, unsigned count,
                       CUjit_option *names, void **values))
{
    return cuLinkAddFile_v2(s, type, path, count, names, values);
}

/* The "cubin" is a bundle of the inputs, which the loader links each time; linking it once here finds the
 * errors. */
CU_API(cuLinkComplete, (CUlinkState s, void **cubin, size_t *size))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    if (!handle_is(s, HANDLE_LINK)) return CUDA_ERROR_INVALID_HANDLE;
    struct jit j;
    jit_read(&j, s->option_count, s->names, s->values);
    const void *image = s->bundle.bytes.data;
    size_t len = s->bundle.bytes.len;
    struct gpu_module *trial = NULL;
    r = cu_status(gpu_module_link_with(cu_gpu(), "linked", &image, &len, 1, &j.options, &trial));
    jit_finish(&j, r, s->option_count, s->names, s->values);
    if (r) return r;
    gpu_module_unload(cu_gpu(), trial);
    if (cubin) *cubin = s->bundle.bytes.data;
    if (size) *size = len;
    return CUDA_SUCCESS;
}

CU_API(cuLinkDestroy, (CUlinkState s))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!handle_is(s, HANDLE_LINK)) return CUDA_ERROR_INVALID_HANDLE;
    vec_free(&s->bundle.bytes);
    handle_free(s);
    return CUDA_SUCCESS;
}
