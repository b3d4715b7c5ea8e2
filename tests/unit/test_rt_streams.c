/* test_rt_streams.c: streams and events of the runtime: what returns when, which memory is read when, whose
 * stream 0 is, and where a fault shows, without a clock and with one. */
#include "cuda/gpu_impl.h"
#include "rt_kit.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
cudaError_t cudaStreamQuery(cudaStream_t s);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t s);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, cudaStream_t s);
cudaError_t cudaMemcpyAsync_ptsz(void *dst, const void *src, size_t bytes, int kind, cudaStream_t s);
cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t bytes, int kind);
cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t s);
cudaError_t cudaLaunchKernel_ptsz(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                  cudaStream_t stream);

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 v)\n{\n"
    " .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    " ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;\n"
    " ld.param.u64 %rd1, [p]; mad.wide.u32 %rd2, %r4, 4, %rd1; ld.param.u32 %r6, [v];\n"
    " ld.global.u32 %r7, [%rd2]; add.s32 %r7, %r7, %r6; st.global.u32 [%rd2], %r7; ret;\n}\n"
    ".visible .entry wait(.param .u64 flag)\n{\n.reg .u64 %f; .reg .u32 %v; .reg .pred %q;\nld.param.u64 %f, "
    "[flag];\n"
    "loop:\nld.volatile.global.u32 %v, [%f];\nsetp.eq.u32 %q, %v, 0;\n@%q bra loop;\nret;\n}\n";

enum { WORDS = 512 };
static char add_stub, wait_stub;

static bool is_timed(void) { return !getenv("HEDDLE_FUNCTIONAL"); }

static cudaError_t launch_add(void *p, uint32_t v, cudaStream_t stream)
{
    uint32_t n = WORDS;
    void *args[] = {&p, &n, &v};
    return cudaLaunchKernel(&add_stub, (dim3){4, 1, 1}, (dim3){128, 1, 1}, args, 0, stream);
}

static void *device_words(void)
{
    void *p = NULL;
    assert_int_equal(cudaMalloc(&p, WORDS * 4), cudaSuccess);
    assert_int_equal(cudaMemset(p, 0, WORDS * 4), cudaSuccess);
    return p;
}

static uint32_t *pinned_words(void)
{
    void *p = NULL;
    assert_int_equal(cudaMallocHost(&p, WORDS * 4), cudaSuccess);
    memset(p, 0, WORDS * 4);
    return p;
}

static void expect_words(const uint32_t *p, uint32_t value)
{
    for (uint32_t i = 0; i < WORDS; i++) assert_int_equal(p[i], value);
}

/* ---- memory of copies ---- */

static void pageable_memory_is_read_at_the_call_and_written_before_it_returns(void **state)
{
    uint32_t host[WORDS], back[WORDS] = {0};
    cudaStream_t s;
    void *p = device_words();
    assert_int_equal(cudaStreamCreate(&s), cudaSuccess);
    for (uint32_t i = 0; i < WORDS; i++) host[i] = 7;
    assert_int_equal(launch_add(p, 1, s), cudaSuccess); /* so that the copy has to wait */
    assert_int_equal(cudaMemcpyAsync(p, host, sizeof host, cudaMemcpyHostToDevice, s), cudaSuccess);
    memset(host, 0, sizeof host);
    assert_int_equal(launch_add(p, 5, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(back, p, sizeof back, cudaMemcpyDeviceToHost, s), cudaSuccess);
    expect_words(back, 12);
    assert_int_equal(cudaStreamDestroy(s), cudaSuccess);
    assert_int_equal(cudaFree(p), cudaSuccess);
}

static void a_copy_to_pinned_memory_is_there_after_its_stream(void **state)
{
    uint32_t *pinned = pinned_words();
    cudaStream_t s;
    void *p = device_words();
    assert_int_equal(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(launch_add(p, 3, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(pinned, p, WORDS * 4, cudaMemcpyDeviceToHost, s), cudaSuccess);
    if (is_timed()) assert_int_equal(pinned[0], 0); /* nothing has waited for it yet */
    assert_int_equal(cudaStreamQuery(s), cudaSuccess);
    expect_words(pinned, 3);
    assert_int_equal(cudaMemsetAsync(p, 0x11, WORDS * 4, s), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(pinned, p, WORDS * 4, cudaMemcpyDeviceToHost, s), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(s), cudaSuccess); /* its work still runs */
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    expect_words(pinned, 0x11111111);
    assert_int_equal(cudaFree(p), cudaSuccess);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
}

/* ---- order ---- */

static void the_host_frees_a_kernel_that_a_stream_runs(void **state)
{
    if (!is_timed()) skip(); /* without a clock a kernel runs at its launch, to its end */
    uint32_t *flag = pinned_words();
    cudaStream_t s;
    void *p = device_words(), *args[] = {&flag};
    uint32_t back[WORDS];
    assert_int_equal(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaLaunchKernel(&wait_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, args, 0, s),
                     cudaSuccess);
    assert_int_equal(launch_add(p, 4, NULL), cudaSuccess); /* the default stream does not wait for s */
    assert_int_equal(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
    expect_words(back, 4);
    flag[0] = 1;
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(s), cudaSuccess);
    assert_int_equal(cudaFree(p), cudaSuccess);
    assert_int_equal(cudaFreeHost(flag), cudaSuccess);
}

static void events_order_streams_and_tell_times(void **state)
{
    cudaStream_t a, b;
    cudaEvent_t begin, end, never;
    uint32_t back[WORDS];
    float ms = -1;
    void *p = device_words();
    assert_int_equal(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreate(&begin), cudaSuccess);
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    assert_int_equal(cudaEventCreate(&never), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaEventRecord(begin, a), cudaSuccess);
    assert_int_equal(launch_add(p, 1, a), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(p, p, 4, cudaMemcpyDeviceToDevice, a), cudaSuccess);
    assert_int_equal(cudaEventRecord(end, a), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(b, end, 0), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(b, never, 0), cudaSuccess); /* never recorded: nothing to wait for */
    assert_int_equal(cudaMemsetAsync(p, 0, WORDS * 4, b), cudaSuccess);
    assert_int_equal(launch_add(p, 2, b), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, begin, end), is_timed() ? cudaErrorNotReady : cudaSuccess);
    cudaGetLastError();
    assert_int_equal(cudaEventSynchronize(end), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
    assert_true(ms > 0 && ms < 0.1f); /* exact times: test_rt_events.c */
    assert_int_equal(cudaStreamSynchronize(b), cudaSuccess);
    assert_int_equal(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
    expect_words(back, 2);
    assert_int_equal(cudaStreamDestroy(a), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(b), cudaSuccess);
    assert_int_equal(cudaFree(p), cudaSuccess);
}

/* A thread's own default stream, as a program built with --default-stream per-thread uses it. */
static void *own_stream(void *p)
{
    uint32_t n = WORDS, v = 6, back[WORDS];
    void *args[] = {&p, &n, &v};
    uintptr_t wrong =
        cudaLaunchKernel_ptsz(&add_stub, (dim3){4, 1, 1}, (dim3){128, 1, 1}, args, 0, NULL) != cudaSuccess;
    wrong += cudaStreamSynchronize_ptsz(NULL) != cudaSuccess;
    wrong += cudaMemcpy_ptds(back, p, sizeof back, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (uint32_t i = 0; i < WORDS; i++) wrong += back[i] != 6;
    struct gpu *g = gpu_get();
    if (wrong) return NULL;
    return (void *)(uintptr_t)gpu_stream_per_thread(g);
}

static void every_thread_has_a_default_stream_of_its_own(void **state)
{
    void *p[2] = {device_words(), device_words()}, *id[2];
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, own_stream, p[i]), 0);
        pthread_join(t, &id[i]);
        assert_non_null(id[i]);
    }
    assert_ptr_not_equal(id[0], id[1]);
    struct gpu *g = gpu_get();
    if (g->timed)
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t at = timed_kernel_count(g->timed) - 2 + i;
            assert_int_equal(timed_kernel_at(g->timed, at)->stream, (uintptr_t)id[i]);
        }
    for (int i = 0; i < 2; i++) assert_int_equal(cudaFree(p[i]), cudaSuccess);
}

/* ---- faults ---- */

static void a_fault_shows_where_the_program_waits_and_sticks(void **state)
{
    cudaStream_t s;
    cudaEvent_t e;
    void *p = device_words();
    assert_int_equal(cudaStreamCreate(&s), cudaSuccess);
    assert_int_equal(cudaEventCreate(&e), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(launch_add((void *)16, 1, s), cudaSuccess);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    cudaError_t queued = is_timed() ? cudaSuccess : cudaErrorIllegalAddress; /* it has run already */
    assert_int_equal(launch_add(p, 1, s), queued);
    assert_int_equal(cudaMemsetAsync(p, 1, 64, s), queued);
    assert_int_equal(cudaEventRecord(e, s), queued);
    assert_int_equal(cudaStreamSynchronize(s), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaEventSynchronize(e), cudaErrorIllegalAddress);
    assert_int_equal(launch_add(p, 1, NULL), cudaErrorIllegalAddress);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
    assert_int_equal(cudaStreamSynchronize(s),
                     cudaErrorInvalidResourceHandle); /* the stream went with the context */
    cudaGetLastError();
    uint32_t back[WORDS];
    p = device_words();
    assert_int_equal(launch_add(p, 9, NULL), cudaSuccess);
    assert_int_equal(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
    expect_words(back, 9);
}

static void a_reset_ends_what_is_queued(void **state)
{
    cudaStream_t s;
    void *p = device_words();
    assert_int_equal(cudaStreamCreate(&s), cudaSuccess);
    assert_int_equal(launch_add(p, 1, s), cudaSuccess);
    assert_int_equal(cudaMemsetAsync(p, 1, WORDS * 4, s), cudaSuccess);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    p = device_words();
    assert_int_equal(launch_add(p, 1, NULL), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}

int main(void)
{
    setenv("HEDDLE_QUIET", "1", 1);
    unsetenv("HEDDLE_STATS");
    uint8_t *image = rt_kit_fatbin(ptx);
    struct rt_kit_wrapper wrapper = {0x466243b1, 1, image, NULL};
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &add_stub, "add", "add", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &wait_stub, "wait", "wait", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pageable_memory_is_read_at_the_call_and_written_before_it_returns),
        cmocka_unit_test(a_copy_to_pinned_memory_is_there_after_its_stream),
        cmocka_unit_test(the_host_frees_a_kernel_that_a_stream_runs),
        cmocka_unit_test(events_order_streams_and_tell_times),
        cmocka_unit_test(every_thread_has_a_default_stream_of_its_own),
        cmocka_unit_test(a_fault_shows_where_the_program_waits_and_sticks),
        cmocka_unit_test(a_reset_ends_what_is_queued),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    __cudaUnregisterFatBinary(handle);
    free(image);
    return failed;
}
