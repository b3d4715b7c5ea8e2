/* ends.c HOW [LAUNCHES]: a CUDA program that runs kernels and then ends in the way that is asked for, for the
 * tests of what is kept at each kind of end. */
#define _GNU_SOURCE
#include "cuda/cuda_driver_types.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CUresult cuInit(unsigned flags);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **params, void **extra);
CUresult cuCtxSynchronize(void);

/* A kernel that counts to 20, and one that writes where nothing is. */
static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry counts()\n{\n.reg .u32 %n; .reg .pred %q;\nmov.u32 %n, 0;\n"
                          "LOOP:\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %q, %n, 20;\n@%q bra LOOP;\nret;\n}\n"
                          ".visible .entry faults()\n{\n.reg .u64 %a;\nmov.u64 %a, 4096;\n"
                          "st.global.u32 [%a], 1;\nret;\n}\n";

static CUmodule module;

static void launch(const char *name)
{
    CUfunction kernel;
    if (cuModuleGetFunction(&kernel, module, name) ||
        cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL))
        exit(3);
}

/* In the program's own code, until a signal comes. */
static void wait_here(void)
{
    printf("ends: waiting as %ld\n", (long)getpid());
    fflush(stdout);
    for (;;) pause();
}

static int end(const char *how)
{
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "_exit5")) _exit(5);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "segv")) raise(SIGSEGV); /* as a bad pointer does */
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "wait")) wait_here();
    if (!strcmp(how, "queued")) { /* a kernel that was launched and never waited for */
        launch("counts");
        _exit(0);
    }
    if (!strcmp(how, "fault")) { /* and the program takes no notice */
        launch("faults");
        cuCtxSynchronize();
    }
    return !strcmp(how, "exit5") ? 5 : 0;
}

int main(int argc, char **argv)
{
    CUcontext context;
    int launches = argc > 2 ? atoi(argv[2]) : 2;
    if (argc < 2 || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, ptx))
        return 3;
    for (int i = 0; i < launches; i++) {
        launch("counts");
        if (cuCtxSynchronize()) return 3;
    }
    return end(argv[1]);
}
