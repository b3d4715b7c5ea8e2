/* rt_unsupported.c: the functions that libcudart lacks, so that a program which only links to one runs, and a
 * program that calls one gets its name. Arguments are ignored, which the C calling conventions of 64-bit
 * hosts allow. */
#include "cuda/rt_api.h"

#include <stdatomic.h>

static cudaError_t refuse(const char *name, atomic_flag *said)
{
    if (!atomic_flag_test_and_set(said)) gpu_say_unsupported(name);
    return rt_done(cudaErrorNotSupported);
}

#define RT_UNSUPPORTED(name)                                                                                 \
    CUDART(name, (void))                                                                                     \
    {                                                                                                        \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                          \
        return refuse(#name, &said);                                                                         \
    }
#include "cuda/rt_unsupported.def"
