/* test_gpu_split.c: how a program asks for a split of L1 and shared memory, through both APIs' settings, and
 * what the timed machine gives it. The launches are made by a child through libcuda.so.1; its statistics are
 * read afterwards. */
#define _GNU_SOURCE
#include "base/base.h"
#include "cuda/cuda_driver_types.h"
#include "cuda/gpu.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void *library;
#define CALL(name, types, ...) ((CUresult(*) types)(uintptr_t)dlsym(library, #name))(__VA_ARGS__)
#define OK(...)                                                                                              \
    do {                                                                                                     \
        if (CALL(__VA_ARGS__) != CUDA_SUCCESS) return __LINE__;                                              \
    } while (0)

/* A CTA of 32 threads with 2 KB of shared memory. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry small()\n{\n.shared .align 4 .b8 tile[2048];\n.reg .u32 %r;\n"
                          "mov.u32 %r, tile;\nst.shared.u32 [%r], %r;\nret;\n}\n";

static CUresult launch(CUfunction f)
{
    return CALL(cuLaunchKernel,
                (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                 void **, void **),
                f, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

/* 0, or the line that failed. */
static int child(void)
{
    CUdevice dev;
    CUcontext context;
    CUmodule module;
    CUfunction f;
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n < 0) return __LINE__;
    path[n] = 0;
    snprintf(strrchr(path, '/'), 64, "/../lib/libcuda.so.1");
    if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) return __LINE__;
    OK(cuInit, (unsigned), 0);
    OK(cuDeviceGet, (CUdevice *, int), &dev, 0);
    OK(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), &context, 0, dev);
    OK(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    OK(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &f, module, "small");
    if (launch(f)) return __LINE__; /* no wish */
    OK(cuCtxSetCacheConfig, (CUfunc_cache), (CUfunc_cache)1);
    if (launch(f)) return __LINE__; /* the context prefers shared memory */
    OK(cuFuncSetCacheConfig, (CUfunction, CUfunc_cache), f, (CUfunc_cache)2);
    if (launch(f)) return __LINE__; /* the function prefers the L1 */
    OK(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int), f,
       CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 20);
    if (launch(f)) return __LINE__; /* a fifth of 100 KB */
    CUresult (*synchronize)(void) = (CUresult(*)(void))(uintptr_t)dlsym(library, "cuCtxSynchronize");
    if (synchronize()) return __LINE__;
    OK(cuCtxDestroy_v2, (CUcontext), context);
    return 0;
}

static void programs_ask_for_a_split_and_get_it(void **state)
{
    (void)state;
    static const uint32_t kilobytes[] = {64, 100, 8, 32}; /* 16 CTAs of 3 KB: 48 KB; all; one CTA; 20 KB */
    char file[] = "/tmp/heddle_split_XXXXXX.json", text[1 << 18] = "";
    int fd = mkstemps(file, 5), status = -1;
    assert_true(fd >= 0);
    pid_t pid = fork();
    if (!pid) {
        setenv("HEDDLE_MACHINE", "rtx3080", 1);
        setenv("HEDDLE_STATS", file, 1);
        setenv("HEDDLE_QUIET", "1", 1);
        unsetenv("HEDDLE_FUNCTIONAL");
        unsetenv("HEDDLE_SET");
        exit(child());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(fd); /* another file has its name now */
    fd = open(file, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t bytes = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    unlink(file);
    assert_true(bytes > 0);
    const char *at = strstr(text, "\"kernels\"");
    for (size_t i = 0; i < ARRAY_LEN(kilobytes); i++) {
        const char name[] = "\"sm.shared_size\":";
        assert_non_null(at);
        assert_non_null(at = strstr(at, name));
        at += strlen(name);
        assert_int_equal(strtoul(at, NULL, 10), kilobytes[i] << 10);
    }
}

static void the_nearest_wish_counts(void **state)
{
    (void)state;
    assert_int_equal(gpu_shared_wish(-1, 0, 0), 0);
    assert_int_equal(gpu_shared_wish(-1, 0, 1), 101);
    assert_int_equal(gpu_shared_wish(-1, 2, 1), 1);
    assert_int_equal(gpu_shared_wish(-1, 3, 1), 51);
    assert_int_equal(gpu_shared_wish(0, 1, 1), 1);
    assert_int_equal(gpu_shared_wish(37, 1, 1), 38);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_wish_counts),
        cmocka_unit_test(programs_ask_for_a_split_and_get_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
