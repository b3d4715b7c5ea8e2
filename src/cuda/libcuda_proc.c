/* libcuda_proc.c: cuGetProcAddress, and the functions that Heddle lacks. */
#include "cuda/libcuda.h"

#include <stdatomic.h>

/* ---- missing functions ----
 * Each exists, so that programs link and find it, names itself once and refuses. Arguments are ignored, which
 * the calling convention allows. */

static void say_missing(atomic_flag *said, const char *name)
{
    if (!atomic_flag_test_and_set(said)) gpu_say_unsupported(name);
}

#define CU_MISSING(name)                                                                                     \
    CU_EXPORT CUresult name(void);                                                                           \
    CUresult name(void)                                                                                      \
    {                                                                                                        \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                          \
        say_missing(&said, #name);                                                                           \
        return CUDA_ERROR_NOT_SUPPORTED;                                                                     \
    }
#ifndef HEDDLE_CHECK_CUDA_H
#include "cuda/libcuda_missing.def"
#endif
#undef CU_MISSING

CU_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                       CUdriverProcAddressQueryResult *status);
CU_EXPORT CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags);

/* ---- the table of all functions ---- */

/* Only addresses are taken here: the table names each symbol under a type of its own. */
typedef void any_function(void);
#define CU_PROC(name, version, symbol) extern any_function proc_##symbol __asm__(#symbol);
#include "cuda/libcuda_proc.def"
#undef CU_PROC

static const struct proc {
    const char *name;
    int version;
    any_function *function;
} procs[] = {
#define CU_PROC(name, version, symbol) {#name, version, proc_##symbol},
#include "cuda/libcuda_proc.def"
#undef CU_PROC
};

#define CU_TWIN(symbol, twin) extern any_function proc_##twin __asm__(#twin);
#include "cuda/libcuda_twins.def"
#undef CU_TWIN

static const struct twin {
    any_function *function, *per_thread;
} twins[] = {
#define CU_TWIN(symbol, twin) {proc_##symbol, proc_##twin},
#include "cuda/libcuda_twins.def"
#undef CU_TWIN
};

/* The form for per-thread default streams, where it differs. */
static any_function *per_thread(any_function *f)
{
    for (size_t i = 0; i < ARRAY_LEN(twins); i++)
        if (twins[i].function == f) return twins[i].per_thread;
    return f;
}

static int compare_name(const void *key, const void *row)
{
    return strcmp(key, ((const struct proc *)row)->name);
}

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    /* of the flags; 1 is the legacy stream, and the two exclude each other */
    enum { PER_THREAD_STREAM = 2 };
    if (!name || !out || flags > PER_THREAD_STREAM) return CUDA_ERROR_INVALID_VALUE;
    const struct proc *end = procs + ARRAY_LEN(procs), *best = NULL;
    const struct proc *any = bsearch(name, procs, ARRAY_LEN(procs), sizeof *procs, compare_name);
    const struct proc *p = any;
    while (p && p > procs && !strcmp(p[-1].name, name)) p--;
    for (; p && p < end && !strcmp(p->name, name); p++)
        if (p->version <= version) best = p; /* rows of a name go up in version */
    *out = NULL;
    if (best) {
        any_function *f = flags == PER_THREAD_STREAM ? per_thread(best->function) : best->function;
        memcpy(out, &f, sizeof *out);
    }
    CUdriverProcAddressQueryResult result = best  ? CU_GET_PROC_ADDRESS_SUCCESS
                                            : any ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                  : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (status) *status = result;
    return best ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(name, out, version, flags, NULL);
}
