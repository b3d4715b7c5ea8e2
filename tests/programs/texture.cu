/* texture: texture objects over an array (linear filtering, normalised coordinates, clamp and wrap), pitched
 * memory (point) and linear memory. Filter weights have 8 bits of fraction (CUDA C Programming Guide, texture
 * fetching); coordinates here need no more. */
#include "test_program.h"
#define KERNELS(K, V) K(sample_array) K(sample_linear) K(sample_bytes)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void sample_array(cudaTextureObject_t clamp, cudaTextureObject_t wrap, const float *xy,
                                        float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[2 * i] = tex2D<float>(clamp, xy[2 * i], xy[2 * i + 1]);
    out[2 * i + 1] = tex2D<float>(wrap, xy[2 * i] * (1.0f / 16), xy[2 * i + 1] * (1.0f / 16));
}
extern "C" __global__ void sample_linear(cudaTextureObject_t words, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int4 v = tex1Dfetch<int4>(words, n - 1 - i);
    out[i] = (float)(v.x + 2 * v.y + 3 * v.z + 4 * v.w);
}
extern "C" __global__ void sample_bytes(cudaTextureObject_t bytes, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex2D<float>(bytes, x + 0.5f, y + 0.5f);
}
#endif

static float texel(const float *image, int x, int y, int wrap)
{
    x = wrap ? (x % 16 + 16) % 16 : x < 0 ? 0 : x > 15 ? 15 : x;
    y = wrap ? (y % 16 + 16) % 16 : y < 0 ? 0 : y > 15 ? 15 : y;
    return image[y * 16 + x];
}
static float filtered(const float *image, float x, float y, int wrap)
{
    float xb = x - 0.5f, yb = y - 0.5f, fx = floorf(xb), fy = floorf(yb);
    float a = xb - fx, b = yb - fy;
    int i = (int)fx, j = (int)fy;
    return (1 - a) * (1 - b) * texel(image, i, j, wrap) + a * (1 - b) * texel(image, i + 1, j, wrap) +
           (1 - a) * b * texel(image, i, j + 1, wrap) + a * b * texel(image, i + 1, j + 1, wrap);
}

int main(void)
{
    enum { N = 600, W = 50, H = 20 };
    float image[256], xy[2 * N], want[2 * N], want_linear[100], want_bytes[W * H];
    int words[400];
    unsigned char bytes[W * H];
    for (int i = 0; i < 256; i++) image[i] = (float)(program_hash(i) % 100);
    for (int i = 0; i < 400; i++) words[i] = (int)(program_hash(i) % 2000) - 1000;
    for (int i = 0; i < W * H; i++)
        want_bytes[i] = (float)(bytes[i] = (unsigned char)program_hash(i)) / 255.0f;
    for (int i = 0; i < N; i++) {
        xy[2 * i] = (float)(program_hash(2 * i) % (24 * 16)) / 16 -
                    4.0f; /* 16ths: the products of weights fit the 8 bits too */
        xy[2 * i + 1] = (float)(program_hash(2 * i + 1) % (24 * 16)) / 16 - 4.0f;
        want[2 * i] = filtered(image, xy[2 * i], xy[2 * i + 1], 0);
        want[2 * i + 1] = filtered(image, xy[2 * i], xy[2 * i + 1], 1);
    }
    for (int i = 0; i < 100; i++)
        want_linear[99 - i] =
            (float)(words[4 * i] + 2 * words[4 * i + 1] + 3 * words[4 * i + 2] + 4 * words[4 * i + 3]);

    cudaArray_t array;
    struct cudaChannelFormatDesc f32;
    memset(&f32, 0, sizeof f32);
    f32.x = 32;
    f32.f = cudaChannelFormatKindFloat;
    CHECK_CUDA(cudaMallocArray(&array, &f32, 16, 16));
    CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, image, 64, 64, 16, cudaMemcpyHostToDevice));
    struct cudaResourceDesc res;
    struct cudaTextureDesc tex;
    memset(&res, 0, sizeof res);
    memset(&tex, 0, sizeof tex);
    res.resType = cudaResourceTypeArray;
    res.res.array.array = array;
    tex.filterMode = cudaFilterModeLinear;
    tex.addressMode[0] = tex.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t clamp, wrap, linear, pitched;
    CHECK_CUDA(cudaCreateTextureObject(&clamp, &res, &tex, NULL));
    tex.addressMode[0] = tex.addressMode[1] = cudaAddressModeWrap;
    tex.normalizedCoords = 1;
    CHECK_CUDA(cudaCreateTextureObject(&wrap, &res, &tex, NULL));

    memset(&res, 0, sizeof res);
    memset(&tex, 0, sizeof tex);
    res.resType = cudaResourceTypeLinear;
    res.res.linear.devPtr = program_device(words, sizeof words);
    res.res.linear.desc.x = res.res.linear.desc.y = res.res.linear.desc.z = res.res.linear.desc.w = 32;
    res.res.linear.desc.f = cudaChannelFormatKindSigned;
    res.res.linear.sizeInBytes = sizeof words;
    CHECK_CUDA(cudaCreateTextureObject(&linear, &res, &tex, NULL));

    void *image2;
    size_t pitch;
    CHECK_CUDA(cudaMallocPitch(&image2, &pitch, W, H));
    CHECK_CUDA(cudaMemcpy2D(image2, pitch, bytes, W, W, H, cudaMemcpyHostToDevice));
    memset(&res, 0, sizeof res);
    res.resType = cudaResourceTypePitch2D;
    res.res.pitch2D.devPtr = image2;
    res.res.pitch2D.desc.x = 8;
    res.res.pitch2D.desc.f = cudaChannelFormatKindUnsigned;
    res.res.pitch2D.width = W;
    res.res.pitch2D.height = H;
    res.res.pitch2D.pitchInBytes = pitch;
    tex.readMode = cudaReadModeNormalizedFloat;
    CHECK_CUDA(cudaCreateTextureObject(&pitched, &res, &tex, NULL));

    int n = N, n4 = 100, w = W, h = H;
    float *dxy = (float *)program_device(xy, sizeof xy), *a = (float *)program_device(NULL, sizeof want),
          *b = (float *)program_device(NULL, 400), *c = (float *)program_device(NULL, sizeof want_bytes);
    LAUNCH(sample_array, (n + 63) / 64, 64, 0, clamp, wrap, dxy, a, n);
    LAUNCH(sample_linear, 4, 32, 0, linear, b, n4);
    LAUNCH(sample_bytes, GRID(2, 3, 1), GRID(32, 8, 1), 0, pitched, c, w, h);
    int ok = program_near("array", (float *)program_fetch(a, sizeof want), want, 2 * N, 1e-3f) &
             program_same("linear", program_fetch(b, 400), want_linear, 100) &
             program_near("bytes", (float *)program_fetch(c, sizeof want_bytes), want_bytes, W * H, 1e-6f);
    CHECK_CUDA(cudaDestroyTextureObject(clamp));
    CHECK_CUDA(cudaFreeArray(array));
    return program_end("texture", ok);
}
