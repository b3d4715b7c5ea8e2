/* endless.c: a CUDA program whose kernel never ends: the first CTAs leave, the others loop for ever.
 * For the tests of the progress line and of Ctrl-C. */
#include "cuda/cuda_driver_types.h"

#include <stdio.h>

CUresult cuInit(unsigned flags);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **params, void **extra);
CUresult cuCtxSynchronize(void);

#define NAME "a_kernel_of_a_rather_long_name_that_would_never_fit_on_a_narrow_terminal_and_never_ends"

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry " NAME "()\n{\n.reg .u32 %c, %n; .reg .pred %q;\n"
                          "mov.u32 %c, %ctaid.x;\nmov.u32 %n, 0;\nsetp.lt.u32 %q, %c, 20;\n@%q bra DONE;\n"
                          "LOOP:\nadd.u32 %n, %n, 1;\nbra LOOP;\nDONE:\nret;\n}\n";

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&kernel, module, NAME))
        return 3;
    puts("endless: started");
    fflush(stdout);
    if (cuLaunchKernel(kernel, 100, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL)) return 3;
    cuCtxSynchronize();
    puts("endless: came to an end"); /* what no test may see */
    return 0;
}
