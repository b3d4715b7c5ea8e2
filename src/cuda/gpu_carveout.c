/* gpu_carveout.c: how much of an SM's memory a program wants as shared memory. Only the timing model uses
 * it. */
#include "cuda/gpu.h"

uint32_t gpu_shared_wish(int carveout, int function_cache, int device_cache)
{
    enum { PREFER_NONE, PREFER_SHARED, PREFER_L1, PREFER_EQUAL };
    if (carveout >= 0) return 1 + (uint32_t)carveout;
    switch (function_cache != PREFER_NONE ? function_cache : device_cache) {
    case PREFER_SHARED: return 1 + 100;
    case PREFER_L1: return 1 + 0;
    case PREFER_EQUAL: return 1 + 50;
    default: return 0;
    }
}
