/* libcuda_module.c: modules of a context, their functions and variables. */
#include "cuda/libcuda_module.h"

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

struct emu_module *cu_module_emu(CUmodule m)
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
    struct emu_module *emu = cu_module_emu(m);
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

CUresult cu_find_global(CUmodule m, const char *name, CUdeviceptr *address, size_t *bytes)
{
    struct emu_module *emu = cu_module_emu(m);
    uint64_t at, size;
    if (!emu) return CUDA_ERROR_INVALID_HANDLE;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    if (!emu_find_var(emu, name, &at, &size)) return CUDA_ERROR_NOT_FOUND;
    if (address) *address = at;
    if (bytes) *bytes = size;
    return CUDA_SUCCESS;
}

CUresult cu_enumerate_functions(CUmodule m, CUfunction *out, unsigned count)
{
    struct emu_module *emu = cu_module_emu(m);
    if (!emu) return CUDA_ERROR_INVALID_HANDLE;
    const struct isa_module *isa = emu_module_isa(emu);
    for (uint32_t i = 0; i < isa->kernel_count && i < count; i++) {
        CUresult r = cu_find_function(m, isa->kernels[i]->name, &out[i]);
        if (r) return r;
    }
    return CUDA_SUCCESS;
}

/* ---- loading ---- */

CUresult cu_module_load(CUcontext ctx, const char *name, const void *image, size_t len, const void *origin,
                        unsigned count, const CUjit_option *names, void **values, CUmodule *out)
{
    struct cu_jit j;
    cu_jit_read(&j, count, names, values);
    j.options.origin = origin;
    CUresult r = cu_module_from(ctx, name, image, len, &j.options, out);
    cu_jit_finish(&j, r, count, names, values);
    return r;
}

CUresult cu_read_file(const char *path, char **data, size_t *len)
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
    return r ? r : cu_module_load(ctx, "module", image, 0, image, count, names, values, out);
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
    if (r || (r = cu_read_file(path, &data, &len))) return r;
    r = cu_module_load(ctx, path, data, len, data, 0, NULL, NULL, out);
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
    if (!cu_module_emu(m)) return CUDA_ERROR_INVALID_HANDLE;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = emu_module_isa(cu_module_emu(m))->kernel_count;
    return CUDA_SUCCESS;
}

CU_API(cuModuleEnumerateFunctions, (CUfunction * out, unsigned count, CUmodule m))
{
    CUresult r = cu_enter(NULL);
    if (r) return r;
    return out ? cu_enumerate_functions(m, out, count) : CUDA_ERROR_INVALID_VALUE;
}

CU_API(cuModuleGetGlobal_v2, (CUdeviceptr * address, size_t *bytes, CUmodule m, const char *name))
{
    CUresult r = cu_enter(NULL);
    return r ? r : cu_find_global(m, name, address, bytes);
}

CU_API(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode))
{
    CUresult r = cu_ready();
    if (r) return r;
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}
