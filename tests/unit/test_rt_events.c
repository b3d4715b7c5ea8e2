/* test_rt_events.c: the times between events, exactly: without a clock, and on a machine whose copies take
 * time. */
#include "rt_kit.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, cudaStream_t s);

#define OK(call) assert_int_equal((call), cudaSuccess)

/* All clocks tick once a nanosecond. A copy takes 2000 ns and then, to the device, 1 ns for each byte. */
static const char settings[] =
    "clock.core=1000000\nclock.xbar=1000000\nclock.l2=1000000\nclock.dram=1000000\n"
    "copy.timed=true\ncopy.to_device=1000\ncopy.to_host=500\ncopy.on_device=2000\n"
    "copy.latency=2000";

/* Sleeps for the nanoseconds of its parameter. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry nap(.param .u32 ns)\n{\n.reg .u32 %n;\n"
                          "ld.param.u32 %n, [ns]; nanosleep.u32 %n;\nret;\n}\n";

static char nap;

static bool is_timed(void) { return !getenv("HEDDLE_FUNCTIONAL"); }

struct span {
    cudaEvent_t from, to;
};

static struct span span_begin(void)
{
    struct span s;
    OK(cudaEventCreate(&s.from));
    OK(cudaEventCreate(&s.to));
    OK(cudaEventRecord(s.from, NULL));
    return s;
}

/* Nanoseconds since its begin. A float holds these milliseconds to a part in 2^24. */
static uint64_t span_end(struct span s)
{
    float ms = -1;
    OK(cudaEventRecord(s.to, NULL));
    OK(cudaEventSynchronize(s.to));
    OK(cudaEventElapsedTime(&ms, s.from, s.to));
    OK(cudaEventDestroy(s.from));
    OK(cudaEventDestroy(s.to));
    return (uint64_t)((double)ms * 1e6 + 0.5);
}

static uint64_t copy_ns(void *dst, const void *src, size_t bytes, int kind)
{
    struct span s = span_begin();
    OK(cudaMemcpyAsync(dst, src, bytes, kind, NULL));
    return span_end(s);
}

static void nothing_takes_no_time(void **state) { assert_int_equal(span_end(span_begin()), 0); }

/* Without a clock: 16 bytes a nanosecond. */
static void a_copy_takes_its_latency_and_its_bytes(void **state)
{
    enum { BYTES = 64000 };
    void *device, *other, *host;
    OK(cudaMalloc(&device, BYTES));
    OK(cudaMalloc(&other, BYTES));
    OK(cudaMallocHost(&host, BYTES));
    const bool timed = is_timed();
    assert_int_equal(copy_ns(device, host, BYTES, cudaMemcpyHostToDevice), timed ? 2000 + BYTES : BYTES / 16);
    assert_int_equal(copy_ns(host, device, BYTES, cudaMemcpyDeviceToHost),
                     timed ? 2000 + 2 * BYTES : BYTES / 16);
    assert_int_equal(copy_ns(other, device, BYTES, cudaMemcpyDeviceToDevice),
                     timed ? 2000 + BYTES / 2 : BYTES / 16);
    OK(cudaFree(device));
    OK(cudaFree(other));
    OK(cudaFreeHost(host));
}

static uint64_t nap_ns(uint32_t ns, uint32_t times)
{
    void *args[] = {&ns};
    struct span s = span_begin();
    for (uint32_t i = 0; i < times; i++)
        OK(cudaLaunchKernel(&nap, (dim3){1, 1, 1}, (dim3){32, 1, 1}, args, 0, NULL));
    return span_end(s);
}

/* A longer sleep is longer by the difference; the rest of the kernel is short. Without a clock a kernel takes
 * a cycle for each warp instruction of an SM if all SMs had as many: one here. */
static void a_kernel_takes_the_time_of_the_machine(void **state)
{
    nap_ns(0, 1); /* its code is in the caches from here on */
    const uint64_t once = nap_ns(50000, 1), longer = nap_ns(150000, 1);
    if (is_timed()) {
        assert_in_range(once, 50000, 51500);
        assert_int_equal(longer, once + 100000);
        assert_int_equal(nap_ns(50000, 3), 3 * once);
    } else {
        assert_int_equal(once, 1);
        assert_int_equal(longer, 1);
        assert_int_equal(nap_ns(50000, 3), 3);
    }
}

/* A copy and a kernel one after the other: the sum of both. The kernel begins in the cycle in which the copy
 * ends; on an idle machine it begins a cycle after its launch. */
static void times_of_one_stream_add_up(void **state)
{
    enum { BYTES = 16000 };
    void *device, *host;
    uint32_t ns = 20000;
    void *args[] = {&ns};
    OK(cudaMalloc(&device, BYTES));
    OK(cudaMallocHost(&host, BYTES));
    const uint64_t copy = copy_ns(device, host, BYTES, cudaMemcpyHostToDevice), kernel = nap_ns(ns, 1);
    struct span s = span_begin();
    OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, NULL));
    OK(cudaLaunchKernel(&nap, (dim3){1, 1, 1}, (dim3){32, 1, 1}, args, 0, NULL));
    assert_int_equal(span_end(s), copy + kernel - is_timed());
    OK(cudaFree(device));
    OK(cudaFreeHost(host));
}

int main(void)
{
    setenv("HEDDLE_QUIET", "1", 1);
    setenv("HEDDLE_MACHINE", "fermi", 1);
    setenv("HEDDLE_SET", settings, 1);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    struct rt_kit_wrapper wrapper = {0x466243b1, 1, rt_kit_fatbin(ptx), NULL};
    void **program = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(program, &nap, "nap", "nap", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(program);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_takes_no_time),
        cmocka_unit_test(a_copy_takes_its_latency_and_its_bytes),
        cmocka_unit_test(a_kernel_takes_the_time_of_the_machine),
        cmocka_unit_test(times_of_one_stream_add_up),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    __cudaUnregisterFatBinary(program);
    free((void *)(uintptr_t)wrapper.data);
    return failed;
}
