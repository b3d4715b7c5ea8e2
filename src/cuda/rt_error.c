/* rt_error.c: error codes, their texts, and what a thread remembers of them.
 *
 * (1) Every entry records its own failure; cudaGetLastError returns and clears it. (2) A fault of a kernel
 * ends the context: the launch itself has answered by then, so it is reported by the next call that needs the
 * context, and by every one after it until cudaDeviceReset; cudaGetLastError alone does not report it. Both
 * as measured on an H200 with CUDA 13.0. With CUDA_LAUNCH_BLOCKING=1 the launch reports it (rt_launch.c). */
#include "cuda/rt_api.h"
#include "cuda/rt_state.h"

struct error_row {
    int code;
    const char *name, *text;
};

static const struct error_row error_rows[] = {
#define RT_ERROR(name, code, text) {code, #name, text},
#include "cuda/rt_error.def"
#undef RT_ERROR
};

static const struct error_row *find_error(int code)
{
    size_t low = 0, high = ARRAY_LEN(error_rows);
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (error_rows[mid].code < code)
            low = mid + 1;
        else
            high = mid;
    }
    return low < ARRAY_LEN(error_rows) && error_rows[low].code == code ? &error_rows[low] : NULL;
}

cudaError_t rt_from_status(enum gpu_status s)
{
    static const cudaError_t errors[] = {
        [GPU_OK] = cudaSuccess,
        [GPU_OUT_OF_MEMORY] = cudaErrorMemoryAllocation,
        [GPU_INVALID_VALUE] = cudaErrorInvalidValue,
        [GPU_INVALID_PTX] = cudaErrorInvalidPtx,
        [GPU_NO_BINARY] = cudaErrorNoKernelImageForDevice,
        [GPU_NOT_FOUND] = cudaErrorSymbolNotFound,
        [GPU_INVALID_HANDLE] = cudaErrorInvalidResourceHandle,
        [GPU_LAUNCH_FAILED] = cudaErrorLaunchFailure,
        [GPU_BAD_LAUNCH] = cudaErrorInvalidConfiguration,
        [GPU_TOO_MANY_RESOURCES] = cudaErrorLaunchOutOfResources,
        [GPU_ILLEGAL_ADDRESS] = cudaErrorIllegalAddress,
        [GPU_MISALIGNED] = cudaErrorMisalignedAddress,
        [GPU_ASSERT] = cudaErrorAssert,
        [GPU_TIMEOUT] = cudaErrorLaunchTimeout,
        [GPU_ILLEGAL_INSTRUCTION] = cudaErrorIllegalInstruction,
        [GPU_NOT_SUPPORTED] = cudaErrorNotSupported,
        [GPU_NOT_READY] = cudaErrorNotReady,
        [GPU_NO_DEVICE] = cudaErrorNoDevice,
    };
    return (size_t)s < ARRAY_LEN(errors) ? errors[s] : cudaErrorUnknown;
}

cudaError_t rt_find_gpu(struct gpu **out)
{
    *out = gpu_get();
    return *out ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t rt_enter_launch(struct gpu **out)
{
    cudaError_t e = rt_find_gpu(out);
    if (e) return e;
    rt_state_refresh(*out);
    return rt_from_status(gpu_sticky(*out));
}

cudaError_t rt_enter(struct gpu **out)
{
    cudaError_t e = rt_enter_launch(out);
    return e ? e : rt_from_status(gpu_settle(*out));
}

cudaError_t rt_done(cudaError_t e)
{
    if (e) rt_thread()->last_error = e;
    return e;
}

CUDART(cudaGetLastError, (void))
{
    cudaError_t e = rt_thread()->last_error;
    rt_thread()->last_error = cudaSuccess;
    return e;
}

CUDART(cudaPeekAtLastError, (void)) { return rt_thread()->last_error; }

CUDART_RETURNS(const char *, cudaGetErrorName, (cudaError_t error))
{
    const struct error_row *row = find_error((int)error);
    return row ? row->name : "unrecognized error code";
}

CUDART_RETURNS(const char *, cudaGetErrorString, (cudaError_t error))
{
    const struct error_row *row = find_error((int)error);
    return row ? row->text : "unrecognized error code";
}
