/* test_gpu_driver.c: the driver API as a program meets it: libcuda.so.1 is opened at run time beside this
 * test, and its functions are found by name and by cuGetProcAddress. */
#define _GNU_SOURCE
#include "base/base.h"
#include "cuda/cuda_driver_types.h"

#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "said_kit.h"

static void *library;

static void *find(const char *name)
{
    void *p = dlsym(library, name);
    if (!p) fail_msg("libcuda.so.1 has no %s", name);
    return p;
}
/* Calls a function of the library with the given parameter types. */
#define CALL(name, types, ...) ((CUresult(*) types)(uintptr_t)find(#name))(__VA_ARGS__)
#define OK(...)                assert_int_equal(CALL(__VA_ARGS__), CUDA_SUCCESS)
#define ERROR(code, ...)       assert_int_equal(CALL(__VA_ARGS__), code)

static const char ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 bias = 5;\n"
    ".visible .entry fill(.param .u64 out, .param .u32 value)\n{\n"
    ".reg .b32 %r<5>; .reg .b64 %d<4>;\n"
    "mov.u32 %r1, %tid.x;\nld.param.u64 %d1, [out];\nld.param.u32 %r2, [value];\n"
    "ld.global.u32 %r3, [bias];\nadd.u32 %r2, %r2, %r3;\nadd.u32 %r2, %r2, %r1;\n"
    "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d3, %d1, %d2;\nst.global.u32 [%d3], %r2;\nret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUfunction kernel;
enum { THREADS = 64 };

static int set_up(void **state)
{
    CUdevice dev;
    OK(cuInit, (unsigned), 0);
    OK(cuDeviceGet, (CUdevice *, int), &dev, 0);
    OK(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), &context, 0, dev);
    OK(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    OK(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &kernel, module, "fill");
    return 0;
}

static int tear_down(void **state)
{
    OK(cuCtxDestroy_v2, (CUcontext), context);
    return 0;
}

static CUdeviceptr alloc(size_t bytes)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, bytes);
    return p;
}

#define LAUNCH_TYPES                                                                                         \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,    \
     void **)

static void check_filled(CUdeviceptr p, uint32_t value)
{
    uint32_t words[THREADS];
    OK(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), words, p, sizeof words);
    for (uint32_t i = 0; i < THREADS; i++) assert_int_equal(words[i], value + 5 + i);
    OK(cuMemsetD32_v2, (CUdeviceptr, unsigned, size_t), p, 0, THREADS);
}

static void every_way_to_launch(void **state)
{
    CUdeviceptr p = alloc(4 * THREADS);
    uint32_t value = 100;
    void *args[] = {&p, &value};
    OK(cuLaunchKernel, LAUNCH_TYPES, kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL);
    check_filled(p, 100);
    struct {
        CUdeviceptr p;
        uint32_t value;
    } block = {p, 200};
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel, LAUNCH_TYPES, kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, NULL, extra);
    check_filled(p, 200);
    CUlaunchConfig config = {1, 1, 1, THREADS, 1, 1, 0, NULL, NULL, 0};
    value = 300;
    OK(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &config, kernel, args, NULL);
    check_filled(p, 300);
    OK(cuFuncSetBlockShape, (CUfunction, int, int, int), kernel, THREADS, 1, 1);
    OK(cuParamSetv, (CUfunction, int, void *, unsigned), kernel, 0, &p, 8);
    OK(cuParamSeti, (CUfunction, int, unsigned), kernel, 8, 400);
    OK(cuParamSetSize, (CUfunction, unsigned), kernel, 12);
    OK(cuLaunchGrid, (CUfunction, int, int), kernel, 1, 1);
    check_filled(p, 400);
    value = 500;
    OK(cuLaunchCooperativeKernel,
       (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **),
       kernel, 1, 1, 1, THREADS, 1, 1, 0, NULL, args);
    check_filled(p, 500);
    OK(cuMemFree_v2, (CUdeviceptr), p);
}

static void a_library_and_its_kernels(void **state)
{
    CUlibrary lib;
    CUkernel k;
    CUfunction f;
    CUdeviceptr p = alloc(4 * THREADS), bias;
    uint32_t value = 1, words[1];
    size_t bytes;
    OK(cuLibraryLoadData,
       (CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned),
       &lib, ptx, NULL, NULL, 0, NULL, NULL, 0);
    OK(cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *), &k, lib, "fill");
    OK(cuKernelGetFunction, (CUfunction *, CUkernel), &f, k);
    ERROR(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *), &k, lib,
          "nothing");
    OK(cuLibraryGetGlobal, (CUdeviceptr *, size_t *, CUlibrary, const char *), &bias, &bytes, lib, "bias");
    assert_int_equal(bytes, 4);
    void *args[] = {&p, &value};
    OK(cuLaunchKernel, LAUNCH_TYPES, f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    OK(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), words, p, 4);
    assert_int_equal(words[0], 6);
    size_t offset;
    OK(cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *), f, 1, &offset, &bytes);
    assert_int_equal(offset, 8);
    assert_int_equal(bytes, 4);
    ERROR(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *), f, 2,
          &offset, &bytes);
    OK(cuLibraryUnload, (CUlibrary), lib);
    ERROR(CUDA_ERROR_INVALID_HANDLE, cuLibraryUnload, (CUlibrary),
          lib); /* a stale handle is told from a live one */
    OK(cuMemFree_v2, (CUdeviceptr), p);
}

static void two_modules_linked(void **state)
{
    static char user[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.extern .global .align 4 .u32 shared_value;\n"
        ".visible .entry get(.param .u64 out)\n{\n.reg .b32 %r<2>; .reg .b64 %d<2>;\n"
        "ld.param.u64 %d1, [out];\nld.global.u32 %r1, [shared_value];\nst.global.u32 [%d1], %r1;\nret;\n}\n";
    static char maker[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 shared_value = 77;\n";
    CUlinkState link;
    CUmodule linked;
    CUfunction get;
    void *cubin;
    size_t bytes;
    char log[4096] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
#define ADD_TYPES                                                                                            \
    (CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned, CUjit_option *, void **)
    OK(cuLinkCreate_v2, (unsigned, CUjit_option *, void **, CUlinkState *), 2, names, values, &link);
    OK(cuLinkAddData_v2, ADD_TYPES, link, CU_JIT_INPUT_PTX, user, sizeof user, "user", 0, NULL, NULL);
    OK(cuLinkAddData_v2, ADD_TYPES, link, CU_JIT_INPUT_PTX, maker, sizeof maker, "maker", 0, NULL, NULL);
    OK(cuLinkComplete, (CUlinkState, void **, size_t *), link, &cubin, &bytes);
    OK(cuModuleLoadData, (CUmodule *, const void *), &linked, cubin);
    OK(cuLinkDestroy, (CUlinkState), link);
    OK(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &get, linked, "get");
    CUdeviceptr p = alloc(4);
    void *args[] = {&p};
    uint32_t word = 0;
    OK(cuLaunchKernel, LAUNCH_TYPES, get, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    OK(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), &word, p, 4);
    assert_int_equal(word, 77);
    OK(cuModuleUnload, (CUmodule), linked);
    /* what is missing is said in the log */
    values[1] = (void *)sizeof log;
    OK(cuLinkCreate_v2, (unsigned, CUjit_option *, void **, CUlinkState *), 2, names, values, &link);
    OK(cuLinkAddData_v2, ADD_TYPES, link, CU_JIT_INPUT_PTX, user, sizeof user, "user", 0, NULL, NULL);
    OK(cuLinkAddData_v2, ADD_TYPES, link, CU_JIT_INPUT_PTX, ".version 8.0\n.target sm_75\n.address_size 64\n",
       43, "", 0, NULL, NULL);
    ERROR(CUDA_ERROR_INVALID_PTX, cuLinkComplete, (CUlinkState, void **, size_t *), link, &cubin, &bytes);
    assert_non_null(strstr(log, "shared_value"));
    OK(cuLinkDestroy, (CUlinkState), link);
    OK(cuMemFree_v2, (CUdeviceptr), p);
}

static void bad_ptx_fills_the_error_log(void **state)
{
    char log[512] = "";
    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUmodule m;
    ERROR(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx,
          (CUmodule *, const void *, unsigned, CUjit_option *, void **), &m,
          ".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { bogus; }", 2, names, values);
    assert_non_null(strstr(log, "bogus"));
    assert_int_equal((size_t)values[1], strlen(log) + 1);
}

static void memory_in_two_and_three_dimensions(void **state)
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 8, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    uint32_t in[4][8], out[4][8] = {{0}};
    for (uint32_t i = 0; i < 32; i++) in[i / 8][i % 8] = i;
    OK(cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &array, &desc);
    CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = in,
                        .srcPitch = 32,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .WidthInBytes = 32,
                        .Height = 4};
    OK(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *), &up);
    CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = array,
                          .srcXInBytes = 8,
                          .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 32,
                          .WidthInBytes = 16,
                          .Height = 2,
                          .Depth = 1};
    OK(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *), &down);
    assert_int_equal(out[0][0], in[1][2]);
    assert_int_equal(out[1][3], in[2][5]);
    assert_int_equal(out[0][4], 0);
    down.Height = 4; /* runs out of the array */
    ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2, (const CUDA_MEMCPY3D *), &down);
    OK(cuArrayDestroy, (CUarray), array);
    ERROR(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy, (CUarray), array);
}

static void surfaces_and_cube_maps(void **state)
{
    CUarray plain, layers, cube = NULL;
    CUsurfObject surface;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY}, kept;
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = 8, .Height = 8, .Depth = 6, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    OK(cuArray3DCreate_v2, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), &plain, &desc);
    desc.Flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST;
    OK(cuArray3DCreate_v2, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), &layers, &desc);
    desc.Flags = CUDA_ARRAY3D_CUBEMAP;
    OK(cuArray3DCreate_v2, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), &cube, &desc);
    OK(cuArrayDestroy, (CUarray), cube);
    desc.Depth = 12;
    ERROR(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), &cube,
          &desc);
    resource.res.array.hArray = plain;
    ERROR(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate, (CUsurfObject *, const CUDA_RESOURCE_DESC *),
          &surface, &resource);
    resource.res.array.hArray = layers;
    OK(cuSurfObjectCreate, (CUsurfObject *, const CUDA_RESOURCE_DESC *), &surface, &resource);
    OK(cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC *, CUsurfObject), &kept, surface);
    assert_ptr_equal(kept.res.array.hArray, layers);
    OK(cuSurfObjectDestroy, (CUsurfObject), surface);
    ERROR(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy, (CUsurfObject), surface);
    OK(cuArrayDestroy, (CUarray), plain);
    OK(cuArrayDestroy, (CUarray), layers);
}

static void streams_and_events(void **state)
{
    CUstream s;
    CUevent a, b;
    float ms = -1;
    OK(cuStreamCreate, (CUstream *, unsigned), &s, 1);
    OK(cuEventCreate, (CUevent *, unsigned), &a, 0);
    OK(cuEventCreate, (CUevent *, unsigned), &b, 0);
    ERROR(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime, (float *, CUevent, CUevent), &ms, a, b);
    OK(cuEventRecord, (CUevent, CUstream), a, s);
    CUdeviceptr p = alloc(4 * THREADS);
    uint32_t value = 0;
    void *args[] = {&p, &value};
    OK(cuLaunchKernel, LAUNCH_TYPES, kernel, 64, 1, 1, THREADS, 1, 1, 0, s, args, NULL);
    OK(cuEventRecord, (CUevent, CUstream), b, s);
    OK(cuStreamWaitEvent, (CUstream, CUevent, unsigned), s, b, 0);
    OK(cuStreamSynchronize, (CUstream), s);
    OK(cuEventElapsedTime, (float *, CUevent, CUevent), &ms, a, b);
    assert_true(ms > 0 && ms < 0.1f); /* exact times: test_rt_events.c */
    OK(cuEventDestroy_v2, (CUevent), a);
    OK(cuEventDestroy_v2, (CUevent), b);
    OK(cuStreamDestroy_v2, (CUstream), s);
    ERROR(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize, (CUstream), s);
    OK(cuMemFree_v2, (CUdeviceptr), p);
}

static void proc_address_by_version(void **state)
{
    void *p = NULL;
    CUdriverProcAddressQueryResult status;
#define PROC_TYPES (const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *)
    OK(cuGetProcAddress_v2, PROC_TYPES, "cuMemAlloc", &p, 12000, 0, &status);
    assert_ptr_equal(p, find("cuMemAlloc_v2"));
    OK(cuGetProcAddress_v2, PROC_TYPES, "cuCtxCreate", &p, 11000, 0, &status);
    assert_ptr_equal(p, find("cuCtxCreate_v2"));
    OK(cuGetProcAddress_v2, PROC_TYPES, "cuCtxCreate", &p, 13000, 0, &status);
    assert_ptr_equal(p, find("cuCtxCreate_v4"));
    ERROR(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2, PROC_TYPES, "cuLaunchKernelEx", &p, 11000, 0, &status);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    ERROR(CUDA_ERROR_NOT_FOUND, cuGetProcAddress_v2, PROC_TYPES, "cuNonsense", &p, 13000, 0, &status);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

static void every_function_of_the_interface_is_there(void **state)
{
    static const char *const names[] = {
#define CU_PROC(name, version, symbol) #symbol,
#include "cuda/libcuda_proc.def"
#undef CU_PROC
#define CU_MISSING(symbol) #symbol,
#include "cuda/libcuda_missing.def"
#undef CU_MISSING
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) (void)find(names[i]);
    ERROR(CUDA_ERROR_NOT_SUPPORTED, cuGraphCreate, (void **, unsigned), NULL, 0);
}

static void errors_have_names_and_texts(void **state)
{
    const char *text;
    OK(cuGetErrorName, (CUresult, const char **), CUDA_ERROR_ILLEGAL_ADDRESS, &text);
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorString, (CUresult, const char **), CUDA_ERROR_ILLEGAL_ADDRESS, &text);
    assert_string_equal(text, "an illegal memory access was encountered");
    ERROR(CUDA_ERROR_INVALID_VALUE, cuGetErrorName, (CUresult, const char **), (CUresult)12345, &text);
}

static void every_attribute_has_an_answer(void **state)
{
    int value, warp;
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++)
        OK(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &value, (CUdevice_attribute)i, 0);
    OK(cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &warp, (CUdevice_attribute)10, 0);
    assert_int_equal(warp, 32);
    ERROR(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &value,
          (CUdevice_attribute)CU_DEVICE_ATTRIBUTE_MAX, 0);
    ERROR(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute, (int *, CUdevice_attribute, CUdevice), &value,
          (CUdevice_attribute)1, 1);
}

/* Last: it leaves the context with a fault, which its end clears. */
static void a_fault_ends_the_context(void **state)
{
    CUdeviceptr nowhere = 64, p = alloc(4);
    uint32_t value = 0;
    void *args[] = {&nowhere, &value};
    OK(cuLaunchKernel, LAUNCH_TYPES, kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize, (void), );
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree_v2, (CUdeviceptr), p);
    tear_down(NULL);
    ERROR(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize, (void), );
    set_up(NULL);
    OK(cuCtxSynchronize, (void), );
}

/* CUDA 13's headers turn cuCtxCreate into the form with parameters; its samples pass zeroed ones. */
static void context_parameters(void **state)
{
    CUctxCreateParams params = {0};
    CUcontext c = NULL;
    OK(cuCtxCreate_v4, (CUcontext *, CUctxCreateParams *, unsigned, CUdevice), &c, &params, 0, 0);
    OK(cuCtxDestroy_v2, (CUcontext), c);
    OK(cuCtxCreate_v4, (CUcontext *, CUctxCreateParams *, unsigned, CUdevice), &c, NULL, 0, 0);
    OK(cuCtxDestroy_v2, (CUcontext), c);
    struct strbuf said = {0};
    params.numExecAffinityParams = 1;
    said_begin();
    ERROR(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, cuCtxCreate_v4,
          (CUcontext *, CUctxCreateParams *, unsigned, CUdevice), &c, &params, 0, 0);
    params = (CUctxCreateParams){.cigParams = (CUctxCigParam *)&params};
    ERROR(CUDA_ERROR_NOT_SUPPORTED, cuCtxCreate_v4, (CUcontext *, CUctxCreateParams *, unsigned, CUdevice),
          &c, &params, 0, 0);
    said_end(&said);
    assert_string_equal(
        strbuf_text(&said),
        "heddle: cuCtxCreate_v4: execution affinity is not supported: a context has all SMs "
        "(sm.count)\nheddle: cuCtxCreate_v4: a context shared with graphics (cigParams) is not "
        "supported\n");
    strbuf_free(&said);
}

static void graphs_are_refused_by_name(void **state)
{
    struct strbuf said = {0};
    said_begin();
    ERROR(CUDA_ERROR_NOT_SUPPORTED, cuGraphCreate, (void), );
    ERROR(CUDA_ERROR_NOT_SUPPORTED, cuGraphCreate, (void), );
    ERROR(CUDA_ERROR_NOT_SUPPORTED, cuStreamBeginCapture_v2, (void), );
    said_end(&said);
    assert_string_equal(
        strbuf_text(&said),
        "heddle: cuGraphCreate is not supported: CUDA graphs are not modelled; launch the kernels "
        "one by one instead\nheddle: cuStreamBeginCapture_v2 is not supported: CUDA graphs are not "
        "modelled; launch the kernels one by one instead\n");
    strbuf_free(&said);
}

static bool open_library(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n < 0) return false;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    snprintf(slash, 64, "/../lib/libcuda.so.1");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library != NULL;
}

int main(void)
{
    setenv("HEDDLE_MACHINE", "maxwell", 1);
    setenv("HEDDLE_QUIET", "1", 1);
    unsetenv("HEDDLE_STATS");
    unsetenv("HEDDLE_SET");
    if (!open_library()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_launch),
        cmocka_unit_test(a_library_and_its_kernels),
        cmocka_unit_test(two_modules_linked),
        cmocka_unit_test(bad_ptx_fills_the_error_log),
        cmocka_unit_test(memory_in_two_and_three_dimensions),
        cmocka_unit_test(surfaces_and_cube_maps),
        cmocka_unit_test(streams_and_events),
        cmocka_unit_test(proc_address_by_version),
        cmocka_unit_test(context_parameters),
        cmocka_unit_test(graphs_are_refused_by_name),
        cmocka_unit_test(every_function_of_the_interface_is_there),
        cmocka_unit_test(errors_have_names_and_texts),
        cmocka_unit_test(every_attribute_has_an_answer),
        cmocka_unit_test(a_fault_ends_the_context),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
