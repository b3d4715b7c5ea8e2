/* test_rt.c: libcudart through its own functions, as a program built by nvcc would call them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt_kit.h"

#define OK(call) assert_int_equal((call), cudaSuccess)
#define REFUSED(call, error)                                                                                 \
    do {                                                                                                     \
        assert_int_equal((call), (error));                                                                   \
        assert_int_equal(cudaGetLastError(), (error));                                                       \
    } while (0)

static const char program_ptx[] =
    ".version 6.5\n.target sm_52\n.address_size 64\n"
    ".visible .const .align 4 .f32 factor;\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_word = 3;\n"
    /* out[tid] = factor * tid + n + d; counter += 1 */
    ".visible .entry line(.param .u64 out, .param .u32 n, .param .f64 d)\n{\n"
    "  .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .f32 %f<8>; .reg .f64 %fd<2>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; ld.param.f64 %fd1, [d];\n"
    "  mov.u32 %r2, %tid.x; ld.const.f32 %f1, [factor]; cvt.rn.f32.u32 %f2, %r2; mul.f32 %f3, %f1, %f2;\n"
    "  cvt.rn.f32.u32 %f4, %r1; add.f32 %f3, %f3, %f4; cvt.rn.f32.f64 %f5, %fd1; add.f32 %f3, %f3, %f5;\n"
    "  mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f3;\n"
    "  setp.ne.u32 %p1, %r2, 0; @%p1 ret;\n"
    "  mov.u64 %rd4, counter; atom.global.add.u32 %r3, [%rd4], 1;\n"
    "  mov.u64 %rd5, shared_word; ld.global.u32 %r4, [%rd5]; add.u32 %r4, %r4, 1; st.global.u32 [%rd5], %r4; "
    "ret;\n}\n"
    ".visible .entry narrow(.param .u64 out) .maxntid 64, 1, 1\n{\n  ret;\n}\n"
    ".visible .entry wild()\n{\n  .reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
    "  mov.u64 %rd1, 16; mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry fetch(.param .u64 out, .param .u64 tex)\n{\n"
    "  .reg .b64 %rd<5>; .reg .b32 %r<3>; .reg .f32 %f<8>;\n"
    "  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [tex]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;\n"
    "  add.f32 %f1, %f1, 0f3F000000; mov.f32 %f2, 0f3FC00000;\n"
    "  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd2, {%f1, %f2}];\n"
    "  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; st.global.f32 [%rd4], %f3; ret;\n}\n";

static struct rt_kit_wrapper wrapper;
static void **program;
/* Their addresses stand for the stubs of the kernels. */
static char line, narrow, wild, fetch, missing;
static float factor;
static uint32_t counter, *shared_word;
static const dim3 one = {1, 1, 1}, warp = {32, 1, 1};

static void program_register(void)
{
    wrapper = (struct rt_kit_wrapper){0x466243b1, 1, rt_kit_fatbin(program_ptx), NULL};
    program = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(program, &line, "line", "line", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(program, &narrow, "narrow", "narrow", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(program, &wild, "wild", "wild", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(program, &fetch, "fetch", "fetch", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(program, &missing, "missing", "missing", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(program, (char *)&factor, "factor", "factor", 0, 4, 1, 0);
    __cudaRegisterVar(program, (char *)&counter, "counter", "counter", 0, 4, 0, 0);
    __cudaRegisterManagedVar(program, (void **)&shared_word, "shared_word", "shared_word", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(program);
}

static int setup(void **state)
{
    OK(cudaDeviceReset());
    cudaGetLastError();
    return 0;
}

/* ---- launches ---- */

struct args {
    void *out;
    uint32_t n;
    double d;
};

static void expect_line(struct args *a, float at_three)
{
    float got[32];
    OK(cudaMemcpy(got, a->out, sizeof(got), cudaMemcpyDeviceToHost));
    assert_true(got[3] == at_three);
}

static struct args args_new(void)
{
    struct args a = {.n = 7, .d = 0.5};
    float two = 2;
    OK(cudaMalloc(&a.out, 128));
    OK(cudaMemcpyToSymbol(&factor, &two, 4, 0, cudaMemcpyHostToDevice));
    return a;
}

static void every_launch_path_runs_the_kernel(void **state)
{
    struct args a = args_new();
    void *args[] = {&a.out, &a.n, &a.d};
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    cudaKernel_t kernel;

    a.n = 1; /* CUDA 13 */
    OK((cudaError_t)__cudaPushCallConfiguration(one, warp, 0, NULL));
    OK(__cudaGetKernel(&kernel, &line));
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    OK(__cudaLaunchKernel(kernel, grid, block, args, shared, stream));
    expect_line(&a, 7.5f);

    a.n = 2; /* CUDA 9 to 12 */
    OK((cudaError_t)__cudaPushCallConfiguration(one, warp, 0, NULL));
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    OK(cudaLaunchKernel(&line, grid, block, args, shared, stream));
    expect_line(&a, 8.5f);

    a.n = 3; /* CUDA 8 */
    OK(cudaConfigureCall(one, warp, 0, NULL));
    OK(cudaSetupArgument(&a.out, 8, 0));
    OK(cudaSetupArgument(&a.n, 4, 8));
    OK(cudaSetupArgument(&a.d, 8, 16));
    OK(cudaLaunch(&line));
    expect_line(&a, 9.5f);

    a.n = 4;
    OK(cudaLaunchCooperativeKernel(&line, one, warp, args, 0, NULL));
    expect_line(&a, 10.5f);

    a.n = 5;
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
    cudaLaunchConfig_t config = {.gridDim = one, .blockDim = warp, .attrs = &attribute, .numAttrs = 1};
    OK(cudaLaunchKernelExC(&config, &line, args));
    expect_line(&a, 11.5f);
    uint32_t runs;
    OK(cudaMemcpyFromSymbol(&runs, &counter, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(runs, 10);
}

static void a_launch_that_cannot_be_is_refused(void **state)
{
    struct args a = args_new();
    void *args[] = {&a.out, &a.n, &a.d}, *holes[] = {&a.out, NULL, &a.d};
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    REFUSED(cudaLaunchKernel(&line, (dim3){0, 1, 1}, warp, args, 0, NULL), cudaErrorInvalidConfiguration);
    REFUSED(cudaLaunchKernel(&line, (dim3){1, 65536, 1}, warp, args, 0, NULL), cudaErrorInvalidConfiguration);
    REFUSED(cudaLaunchKernel(&line, one, (dim3){1025, 1, 1}, args, 0, NULL), cudaErrorInvalidConfiguration);
    REFUSED(cudaLaunchKernel(&line, one, (dim3){1, 1, 65}, args, 0, NULL), cudaErrorInvalidConfiguration);
    REFUSED(cudaLaunchKernel(&line, one, warp, args, 1 << 20, NULL), cudaErrorInvalidValue);
    REFUSED(cudaLaunchKernel(&line, one, warp, NULL, 0, NULL), cudaErrorInvalidValue);
    REFUSED(cudaLaunchKernel(&line, one, warp, holes, 0, NULL), cudaErrorInvalidValue);
    REFUSED(cudaLaunchKernel(&narrow, one, (dim3){65, 1, 1}, args, 0, NULL), cudaErrorInvalidValue);
    REFUSED(cudaLaunchKernel(&missing, one, warp, args, 0, NULL), cudaErrorInvalidDeviceFunction);
    REFUSED(cudaLaunchKernel(&factor, one, warp, args, 0, NULL), cudaErrorInvalidDeviceFunction);
    REFUSED(cudaLaunchKernel(NULL, one, warp, args, 0, NULL), cudaErrorInvalidDeviceFunction);
    REFUSED(cudaLaunchKernel(&line, one, warp, args, 0, (cudaStream_t)&a), cudaErrorInvalidResourceHandle);
    REFUSED(cudaLaunchCooperativeKernel(&line, (dim3){1 << 20, 1, 1}, warp, args, 0, NULL),
            cudaErrorCooperativeLaunchTooLarge);
    REFUSED(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
    REFUSED(cudaLaunch(&line), cudaErrorMissingConfiguration);
    REFUSED(cudaSetupArgument(&a, 8, 0), cudaErrorMissingConfiguration);
}

static void a_fault_is_told_by_the_next_call_and_by_all_after_it(void **state)
{
    void *p;
    int value;
    OK(cudaLaunchKernel(&wild, one, one, NULL, 0, NULL));
    OK(cudaGetLastError());
    REFUSED(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    OK(cudaGetLastError());
    REFUSED(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
    OK(cudaSetDevice(0)); /* not of the context */
    OK(cudaDeviceGetAttribute(&value, 10, 0));
    assert_int_equal(value, 32);
    OK(cudaDeviceReset());
    OK(cudaMalloc(&p, 4));

    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    REFUSED(cudaLaunchKernel(&wild, one, one, NULL, 0, NULL), cudaErrorIllegalAddress);
    unsetenv("CUDA_LAUNCH_BLOCKING");
}

static void attributes_tell_and_set_the_limits_of_a_kernel(void **state)
{
    struct cudaFuncAttributes a;
    int blocks;
    OK(cudaFuncGetAttributes(&a, &narrow));
    assert_int_equal(a.maxThreadsPerBlock, 64);
    assert_int_equal(a.constSizeBytes, 4);
    assert_int_equal(a.ptxVersion, 52);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &line, 128, 0));
    assert_int_equal(blocks, 16); /* maxwell: 64 warps */
    REFUSED(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &line, 0, 0), cudaErrorInvalidValue);
    REFUSED(cudaFuncSetAttribute(&line, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 28),
            cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(&line, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &line, 128, 2048));
    assert_int_equal(blocks, 0);
    OK(cudaFuncSetAttribute(&line, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10));
}

/* ---- memory ---- */

static void copies_hold_to_their_direction_and_to_the_allocation(void **state)
{
    uint8_t *p, host[256] = {1, 2, 3};
    OK(cudaMalloc((void **)&p, 200));
    OK(cudaMemcpy(p, host, 200, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(host, p, 4, cudaMemcpyDefault));
    REFUSED(cudaMemcpy(p, host, 201, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(host, host + 8, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(host, p, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(p, host, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(p, NULL, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(p, host, 4, 7), cudaErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy2D(p, 4, host, 16, 8, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    REFUSED(cudaMemcpy2D(p, 100, host, 16, 8, 3, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
    REFUSED(cudaMemset(p, 0, 201), cudaErrorInvalidValue);
    OK(cudaFree(p));
    REFUSED(cudaFree(p), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(p, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(host, p, 4, cudaMemcpyDefault), cudaErrorInvalidValue);
    OK(cudaFree(NULL));
}

static void every_kind_of_memory_is_known_for_what_it_is(void **state)
{
    struct {
        void *p;
        int type;
    } rows[5];
    static uint8_t own[4096];
    struct cudaPointerAttributes a;
    OK(cudaMalloc(&rows[0].p, 16));
    OK(cudaMallocHost(&rows[1].p, 16));
    OK(cudaMallocManaged(&rows[2].p, 16, cudaMemAttachGlobal));
    OK(cudaHostRegister(own, sizeof(own), 0));
    assert_int_equal(__cudaInitModule(program), 1);
    rows[3].p = own;
    rows[4].p = shared_word;
    int types[] = {cudaMemoryTypeDevice, cudaMemoryTypeHost, cudaMemoryTypeManaged, cudaMemoryTypeHost,
                   cudaMemoryTypeManaged};
    for (int i = 0; i < 5; i++) {
        OK(cudaPointerGetAttributes(&a, rows[i].p));
        assert_int_equal(a.type, types[i]);
        assert_ptr_equal(a.devicePointer, rows[i].p);
    }
    int local;
    OK(cudaPointerGetAttributes(&a, &local));
    assert_int_equal(a.type, cudaMemoryTypeUnregistered);
    assert_int_equal(a.device, cudaInvalidDeviceId);
    REFUSED(cudaFree(rows[1].p), cudaErrorInvalidValue);
    REFUSED(cudaFreeHost(rows[0].p), cudaErrorInvalidValue);
    REFUSED(cudaHostRegister(own + 64, 64, 0), cudaErrorHostMemoryAlreadyRegistered);
    OK(cudaHostUnregister(own));
    REFUSED(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
    OK(cudaMallocAsync(&rows[0].p, 64, NULL));
    OK(cudaFreeAsync(rows[0].p, NULL));
    REFUSED(cudaFreeAsync(rows[0].p, NULL), cudaErrorInvalidValue);
}

static void managed_variables_are_the_same_word_on_both_sides(void **state)
{
    struct args a = args_new();
    void *args[] = {&a.out, &a.n, &a.d};
    assert_int_equal(__cudaInitModule(program), 1);
    assert_int_equal(*shared_word, 3);
    *shared_word = 40;
    OK(cudaLaunchKernel(&line, one, warp, args, 0, NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(*shared_word, 41);
}

static void symbols_are_bounded_and_reset_with_the_device(void **state)
{
    size_t bytes;
    uint32_t word = 77, wide[2] = {0};
    OK(cudaGetSymbolSize(&bytes, &counter));
    assert_int_equal(bytes, 4);
    OK(cudaMemcpyToSymbol(&counter, &word, 4, 0, cudaMemcpyHostToDevice));
    REFUSED(cudaMemcpyToSymbol(&counter, wide, 8, 0, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpyToSymbol(&counter, wide, 4, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpyToSymbol(&word, wide, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
    REFUSED(cudaMemcpyToSymbol(&counter, wide, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
    OK(cudaDeviceReset());
    OK(cudaMemcpyFromSymbol(&word, &counter, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(word, 5);
}

/* ---- arrays and textures ---- */

static const struct cudaChannelFormatDesc float_texels = {32, 0, 0, 0, cudaChannelFormatKindFloat};

static void arrays_are_filled_by_rows_and_by_runs(void **state)
{
    float rows[12], back[12] = {0};
    cudaArray_t a;
    for (int i = 0; i < 12; i++) rows[i] = (float)i;
    OK(cudaMallocArray(&a, &float_texels, 4, 3, 0));
    OK(cudaMemcpy2DToArray(a, 0, 0, rows, 16, 16, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(back, a, 8, 0, 24, cudaMemcpyDeviceToHost)); /* two of row 0, four of row 1 */
    assert_memory_equal(back, rows + 2, 24);
    REFUSED(cudaMemcpy2DToArray(a, 4, 0, rows, 16, 16, 3, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpyToArray(a, 0, 2, rows, 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    struct cudaMemcpy3DParms p = {.srcArray = a,
                                  .srcPos = {1, 1, 0},
                                  .dstPtr = {back, 8, 2, 2},
                                  .extent = {2, 2, 1},
                                  .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&p));
    assert_true(back[0] == 5 && back[1] == 6 && back[2] == 9 && back[3] == 10);
    p.dstArray = a;
    REFUSED(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    OK(cudaFreeArray(a));
    REFUSED(cudaFreeArray(a), cudaErrorInvalidResourceHandle);
    struct cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
    REFUSED(cudaMallocArray(&a, &three, 4, 3, 0), cudaErrorInvalidChannelDescriptor);
    REFUSED(cudaMallocArray(&a, &float_texels, 0, 3, 0), cudaErrorInvalidValue);
}

static void a_texture_object_reads_its_array(void **state)
{
    float rows[64], got[32];
    cudaArray_t a;
    cudaTextureObject_t t;
    void *out;
    for (int i = 0; i < 64; i++) rows[i] = (float)i;
    OK(cudaMalloc(&out, 128));
    OK(cudaMallocArray(&a, &float_texels, 32, 2, 0));
    OK(cudaMemcpyToArray(a, 0, 0, rows, sizeof(rows), cudaMemcpyHostToDevice));
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray, .res.array.array = a};
    struct cudaTextureDesc d = {.addressMode = {cudaAddressModeClamp, cudaAddressModeClamp}}, kept;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    void *args[] = {&out, &t};
    OK(cudaLaunchKernel(&fetch, one, warp, args, 0, NULL));
    OK(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    assert_memory_equal(got, rows + 32, sizeof(got));
    OK(cudaGetTextureObjectTextureDesc(&kept, t));
    assert_int_equal(kept.addressMode[1], cudaAddressModeClamp);
    OK(cudaDestroyTextureObject(t));
    REFUSED(cudaGetTextureObjectTextureDesc(&kept, t), cudaErrorInvalidValue);
}

static void a_texture_that_cannot_be_is_refused(void **state)
{
    uint8_t *p;
    cudaTextureObject_t t;
    OK(cudaMalloc((void **)&p, 1024));
    struct cudaResourceDesc r = {.resType = cudaResourceTypeLinear};
    struct cudaTextureDesc d = {0};
    r.res.linear.devPtr = p;
    r.res.linear.desc = (struct cudaChannelFormatDesc){32, 0, 0, 0, cudaChannelFormatKindSigned};
    r.res.linear.sizeInBytes = 256;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    d.filterMode = cudaFilterModeLinear;
    REFUSED(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidFilterSetting);
    d = (struct cudaTextureDesc){.readMode = cudaReadModeNormalizedFloat};
    REFUSED(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidNormSetting);
    d = (struct cudaTextureDesc){0};
    r.res.linear.devPtr = p + 4;
    REFUSED(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidValue);
    r.res.linear.devPtr = p;
    r.res.linear.desc.x = 24;
    REFUSED(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidChannelDescriptor);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = (cudaArray_t)p;
    REFUSED(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidResourceHandle);
    REFUSED(cudaCreateTextureObject(&t, NULL, &d, NULL), cudaErrorInvalidValue);
}

/* ---- streams, events, libraries ---- */

static void add_three(void *user) { *(int *)user += 3; }

static void stale_and_made_up_handles_are_errors(void **state)
{
    cudaStream_t s;
    cudaEvent_t e, f;
    float ms = -1;
    int calls = 0;
    OK(cudaStreamCreate(&s));
    OK(cudaLaunchHostFunc(s, add_three, &calls));
    assert_int_equal(calls, 3);
    OK(cudaEventCreate(&e));
    OK(cudaEventCreate(&f));
    REFUSED(cudaEventElapsedTime(&ms, e, f), cudaErrorInvalidResourceHandle); /* not recorded */
    OK(cudaEventRecord(e, s));
    OK(cudaEventRecord(f, s));
    OK(cudaEventElapsedTime(&ms, e, f));
    assert_true(ms == 0); /* nothing was done between them */
    REFUSED(cudaStreamSynchronize((cudaStream_t)e), cudaErrorInvalidResourceHandle);
    OK(cudaStreamDestroy(s));
    REFUSED(cudaStreamDestroy(s), cudaErrorInvalidResourceHandle);
    REFUSED(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
    REFUSED(cudaEventRecord(e, s), cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(e));
    REFUSED(cudaEventQuery(e), cudaErrorInvalidResourceHandle);
    OK(cudaDeviceReset());
    REFUSED(cudaEventQuery(f), cudaErrorInvalidResourceHandle); /* went with the context */
}

/* Where copies take no time of the machine (copy.timed), events count 16 bytes a nanosecond for them. */
static void the_time_between_events_counts_copies(void **state)
{
    enum { BYTES = 64000 };
    static uint8_t host[BYTES];
    void *device;
    cudaEvent_t e[3];
    float ms[2];
    OK(cudaMalloc(&device, BYTES));
    for (int i = 0; i < 3; i++) {
        OK(cudaEventCreate(&e[i]));
        OK(cudaEventRecord(e[i], NULL));
        OK(cudaMemcpy(device, host, BYTES >> i, cudaMemcpyHostToDevice));
    }
    for (int i = 0; i < 2; i++) OK(cudaEventElapsedTime(&ms[i], e[i], e[i + 1]));
    assert_true(ms[0] == 4e-3f); /* 4000 ns */
    assert_true(ms[1] == 2e-3f);
}

static void a_library_is_loaded_from_text(void **state)
{
    cudaLibrary_t library;
    cudaKernel_t k;
    OK(cudaLibraryLoadData(&library, program_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&k, library, "narrow"));
    void *out = NULL, *args[] = {&out};
    OK(cudaLaunchKernel(k, one, warp, args, 0, NULL));
    REFUSED(cudaLibraryGetKernel(&k, library, "nothing"), cudaErrorSymbolNotFound);
    OK(cudaLibraryUnload(library));
    REFUSED(cudaLaunchKernel(k, one, warp, args, 0, NULL), cudaErrorInvalidDeviceFunction);
    REFUSED(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
}

static void what_is_lacking_says_so(void **state)
{
    void *graph;
    REFUSED(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
}

static void a_binary_that_is_none_is_an_error_at_its_use(void **state)
{
    static struct rt_kit_wrapper broken = {1234, 1, NULL, NULL};
    static char stub;
    void **handle = __cudaRegisterFatBinary(&broken);
    __cudaRegisterFunction(handle, &stub, "x", "x", -1, NULL, NULL, NULL, NULL, NULL);
    REFUSED(cudaLaunchKernel(&stub, one, warp, NULL, 0, NULL), cudaErrorInvalidKernelImage);
    __cudaUnregisterFatBinary(handle);
    REFUSED(cudaLaunchKernel(&stub, one, warp, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    __cudaUnregisterFatBinary(handle); /* a second time: nothing happens */
}

int main(void)
{
    setenv("HEDDLE_QUIET", "1", 1);
    program_register();
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(every_launch_path_runs_the_kernel),
        TEST(a_launch_that_cannot_be_is_refused),
        TEST(a_fault_is_told_by_the_next_call_and_by_all_after_it),
        TEST(attributes_tell_and_set_the_limits_of_a_kernel),
        TEST(copies_hold_to_their_direction_and_to_the_allocation),
        TEST(every_kind_of_memory_is_known_for_what_it_is),
        TEST(managed_variables_are_the_same_word_on_both_sides),
        TEST(symbols_are_bounded_and_reset_with_the_device),
        TEST(arrays_are_filled_by_rows_and_by_runs),
        TEST(a_texture_object_reads_its_array),
        TEST(a_texture_that_cannot_be_is_refused),
        TEST(stale_and_made_up_handles_are_errors),
        TEST(the_time_between_events_counts_copies),
        TEST(a_library_is_loaded_from_text),
        TEST(what_is_lacking_says_so),
        TEST(a_binary_that_is_none_is_an_error_at_its_use),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    __cudaUnregisterFatBinary(program);
    free((void *)(uintptr_t)wrapper.data);
    return failed;
}
