/* surface: a cross-shaped sum from one surface to another with zeros outside, the same with the nearest
 * texel, layers and slices that are written as surfaces and read back by a copy. */
#include "test_program.h"
#define KERNELS(K, V) K(cross) K(fill_layers)
PROGRAM(KERNELS)

enum { W = 40, H = 24, LAYERS = 3 };

#ifdef __CUDACC__
extern "C" __global__ void cross(cudaSurfaceObject_t from, cudaSurfaceObject_t zero,
                                 cudaSurfaceObject_t clamp)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    const int dx[5] = {0, 1, -1, 0, 0}, dy[5] = {0, 0, 0, 1, -1};
    uint32_t sum = 0, near = 0;
    for (int k = 0; k < 5; k++) {
        sum += surf2Dread<uint32_t>(from, (x + dx[k]) * 4, y + dy[k], cudaBoundaryModeZero);
        near += surf2Dread<uint32_t>(from, (x + dx[k]) * 4, y + dy[k], cudaBoundaryModeClamp);
    }
    surf2Dwrite(sum, zero, x * 4, y);
    surf2Dwrite(near, clamp, x * 4, y, cudaBoundaryModeTrap);
    surf2Dwrite(7u, zero, (x + W) * 4, y, cudaBoundaryModeZero); /* outside: dropped */
}
extern "C" __global__ void fill_layers(cudaSurfaceObject_t layers, cudaSurfaceObject_t volume,
                                       cudaSurfaceObject_t line)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= W) return;
    surf2DLayeredwrite((uint32_t)(x + 100 * y + 10000 * z), layers, x * 4, y, z);
    uint32_t back = surf2DLayeredread<uint32_t>(layers, x * 4, y, z);
    surf3Dwrite(back * 3, volume, x * 4, y, z);
    if (y == 0 && z == 0 && x < W / 2) surf1Dwrite(make_uint2((unsigned)x, (unsigned)x * 5), line, x * 8);
}
#endif

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    struct cudaResourceDesc res = program_resource(array);
    cudaSurfaceObject_t object;
    CHECK_CUDA(cudaCreateSurfaceObject(&object, &res));
    return object;
}

static uint32_t texel(const uint32_t *image, int x, int y, int clamp)
{
    if (!clamp && (x < 0 || x >= W || y < 0 || y >= H)) return 0;
    x = x < 0 ? 0 : x >= W ? W - 1 : x;
    y = y < 0 ? 0 : y >= H ? H - 1 : y;
    return image[y * W + x];
}

static int same_array(const char *what, cudaArray_t array, const uint32_t *want, size_t width, size_t height,
                      size_t depth)
{
    uint32_t *got = (uint32_t *)calloc(width * height * depth, 4);
    struct cudaExtent extent;
    extent.width = width;
    extent.height = height;
    extent.depth = depth;
    CHECK_CUDA(cudaDeviceSynchronize());
    program_copy3d(array, got, extent, 1);
    return program_same(what, got, want, width * height * depth);
}

int main(void)
{
    static uint32_t image[W * H], none[W * H * LAYERS], want_zero[W * H], want_clamp[W * H],
        want_layers[W * H * LAYERS], want_volume[W * H * LAYERS], want_line[W];
    for (int i = 0; i < W * H; i++) image[i] = program_hash((uint32_t)i);
    for (int i = 0; i < W * H; i++)
        for (int k = 0; k < 5; k++) {
            int x = i % W + (k == 1) - (k == 2), y = i / W + (k == 3) - (k == 4);
            want_zero[i] += texel(image, x, y, 0);
            want_clamp[i] += texel(image, x, y, 1);
        }
    for (int i = 0; i < W * H * LAYERS; i++) {
        want_layers[i] = (uint32_t)(i % W + 100 * (i / W % H) + 10000 * (i / W / H));
        want_volume[i] = 3 * want_layers[i];
    }
    for (int i = 0; i < W; i++) want_line[i] = (uint32_t)(i / 2 * (i % 2 ? 5 : 1));
    unsigned flags = cudaArraySurfaceLoadStore;
    cudaArray_t from = program_array(image, W, H, 0, 0, flags), zero = program_array(none, W, H, 0, 0, flags),
                clamp = program_array(none, W, H, 0, 0, flags);
    cudaArray_t layers = program_array(none, W, H, LAYERS, 0, flags | cudaArrayLayered),
                volume = program_array(none, W, H, LAYERS, 0, flags),
                line = program_array(none, W, 0, 0, 0, flags);
    cudaSurfaceObject_t s0 = surface_of(from), s1 = surface_of(zero), s2 = surface_of(clamp),
                        s3 = surface_of(layers), s4 = surface_of(volume), s5 = surface_of(line);
    LAUNCH(cross, GRID(2, 3, 1), GRID(32, 8, 1), 0, s0, s1, s2);
    LAUNCH(fill_layers, GRID(2, H, LAYERS), 32, 0, s3, s4, s5);
    int ok = same_array("zero", zero, want_zero, W, H, 1) & same_array("clamp", clamp, want_clamp, W, H, 1) &
             same_array("layers", layers, want_layers, W, H, LAYERS) &
             same_array("volume", volume, want_volume, W, H, LAYERS) &
             same_array("line", line, want_line, W, 1, 1);
    CHECK_CUDA(cudaDestroySurfaceObject(s0));
    return program_end("surface", ok);
}
