/* capability: the compute capability and the number of SMs that a program sees are the same before and after
 * its first kernel, by every call that tells them. Prints them. */
#include "test_program.h"
#define KERNELS(K, V) K(touch)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void touch(unsigned *out) { *out = 1; }
#else
enum {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76
};
struct cudaDeviceProp { /* of CUDA 13 */
    char name[256];
    char before_major[104];
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount;
    char rest[620];
};
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *, int);
cudaError_t cudaDeviceGetAttribute(int *, int, int);
#endif

static int seen(void)
{
    struct cudaDeviceProp p;
    int major, minor;
    CHECK_CUDA(cudaGetDeviceProperties(&p, 0));
    CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    return p.major == major && p.minor == minor ? major * 10 + minor : -1;
}

static int sms_seen(void)
{
    struct cudaDeviceProp p;
    int sms;
    CHECK_CUDA(cudaGetDeviceProperties(&p, 0));
    CHECK_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    return p.multiProcessorCount == sms ? sms : -1;
}

int main(void)
{
    int before = seen(), sms = sms_seen();
    unsigned *out = (unsigned *)program_device(NULL, 4);
    LAUNCH(touch, 1, 1, 0, out);
    CHECK_CUDA(cudaDeviceSynchronize());
    printf("compute capability %d.%d\n", before / 10, before % 10);
    printf("multiprocessors %d\n", sms);
    return program_end("capability", before > 0 && seen() == before && sms > 0 && sms_seen() == sms);
}
