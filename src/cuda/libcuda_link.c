/* libcuda_link.c: cuLink*: the driver's linker. */
#include "cuda/bundle.h"
#include "cuda/libcuda_module.h"

struct CUlinkState_st {
    struct handle head;
    struct bundle_writer bundle;
    /* The program keeps the options until cuLinkDestroy: the log buffers are filled at the end. */
    unsigned option_count;
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
    if (r || (r = cu_read_file(path, &data, &len))) return r;
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
    struct cu_jit j;
    cu_jit_read(&j, s->option_count, s->names, s->values);
    const void *image = s->bundle.bytes.data;
    size_t len = s->bundle.bytes.len;
    struct gpu_module *trial = NULL;
    r = cu_status(gpu_module_link_with(cu_gpu(), "linked", &image, &len, 1, &j.options, &trial));
    cu_jit_finish(&j, r, s->option_count, s->names, s->values);
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
