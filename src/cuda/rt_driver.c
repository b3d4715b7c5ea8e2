/* rt_driver.c: cudaGetDriverEntryPoint: the way from the runtime to libcuda.so.1 beside it. That library
 * knows which variant of a name (cuMemAlloc, cuMemAlloc_v2) a CUDA version means: its cuGetProcAddress_v2
 * answers. */
#include "cuda/rt_driver.h"

#include "cuda/rt_api.h"

#include <dlfcn.h>

typedef int get_proc_address_fn(const char *symbol, void **out, int version, uint64_t flags, int *status);

static void *find_symbol(const char *symbol, int version, unsigned long long flags)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return NULL;
    void *found = NULL;
    get_proc_address_fn *get = NULL;
    *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    int status = 0;
    if (get && get(symbol, &found, version, flags, &status) == 0 && found) return found;
    return dlsym(library, symbol); /* the library stays loaded: programs hold its functions */
}

cudaError_t rt_driver_find(const char *symbol, int version, unsigned long long flags, void **out,
                           enum cudaDriverEntryPointQueryResult *result)
{
    if (!symbol || !out) return cudaErrorInvalidValue;
    *out = find_symbol(symbol, version, flags);
    if (result) *result = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return *out || result ? cudaSuccess : cudaErrorSymbolNotFound;
}

CUDART(cudaGetDriverEntryPointByVersion,
       (const char *symbol, void **out, unsigned version, unsigned long long flags,
        enum cudaDriverEntryPointQueryResult *result))
{
    return rt_done(rt_driver_find(symbol, (int)version, flags, out, result));
}
CUDART_ALIAS(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz);
