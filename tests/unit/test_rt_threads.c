/* test_rt_threads.c: several host threads use the runtime at once: allocations, copies, launches, events and
 * errors do not mix. */
#include "rt_kit.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { THREADS = 6, ROUNDS = 12, WORDS = 500 };

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 n, .param .u32 v)\n{\n"
    " .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    " ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;\n"
    " ld.param.u64 %rd1, [p]; mad.wide.u32 %rd2, %r4, 4, %rd1; ld.param.u32 %r6, [v];\n"
    " ld.global.u32 %r7, [%rd2]; add.s32 %r7, %r7, %r6; st.global.u32 [%rd2], %r7; ret;\n}\n";

static char stub;

/* One host thread: no assert here, cmocka's are for the main thread; it counts what went wrong. */
static void *work(void *arg)
{
    uintptr_t me = (uintptr_t)arg, wrong = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t host[WORDS], n = WORDS, v = (uint32_t)me * 1000 + round;
        void *p = NULL, *args[] = {&p, &n, &v};
        cudaStream_t stream;
        wrong += cudaStreamCreate(&stream) != cudaSuccess;
        wrong += cudaMalloc(&p, sizeof host) != cudaSuccess;
        for (uint32_t i = 0; i < WORDS; i++) host[i] = i;
        wrong += cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice) != cudaSuccess;
        wrong += cudaLaunchKernel(&stub, (dim3){4, 1, 1}, (dim3){128, 1, 1}, args, 0, stream) != cudaSuccess;
        if (me % 2) wrong += cudaFree(&wrong) == cudaSuccess; /* an error of this thread ... */
        wrong += cudaStreamSynchronize(stream) != cudaSuccess;
        wrong += cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess;
        for (uint32_t i = 0; i < WORDS; i++) wrong += host[i] != i + v;
        wrong += cudaFree(p) != cudaSuccess;
        wrong += cudaStreamDestroy(stream) != cudaSuccess;
        wrong += (cudaGetLastError() != cudaSuccess) != me % 2; /* ... is seen by this thread alone */
    }
    return (void *)wrong;
}

static void host_threads_do_not_disturb_each_other(void **state)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_int_equal((uintptr_t)wrong, 0);
    }
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    setenv("HEDDLE_QUIET", "1", 1);
    static struct rt_kit_wrapper wrapper;
    wrapper = (struct rt_kit_wrapper){0x466243b1, 1, rt_kit_fatbin(ptx), NULL};
    void **program = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(program, &stub, "add", "add", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(program);
    const struct CMUnitTest tests[] = {cmocka_unit_test(host_threads_do_not_disturb_each_other)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    __cudaUnregisterFatBinary(program);
    free((void *)(uintptr_t)wrapper.data);
    return failed;
}
